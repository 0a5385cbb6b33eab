"""Cut the power at any moment: on every disk that this may leave, what was acknowledged is there, the rest whole."""

from __future__ import annotations

import os
import random
import shutil

import pytest
from loopback.traced import needs_strace
from power_cut import Disk, Recording, record

from memory.errors import CheckpointDamaged, CheckpointMissing
from memory.testing import open_memory

CONVERSATION = "tg:1:1:0"
TURNS = 3
SEED = int(os.environ.get("CONTINUITY_SOAK_SEED", "1"))

pytestmark = [pytest.mark.crash, needs_strace, pytest.mark.sweep]


@pytest.fixture(scope="module")
def lives(tmp_path_factory):
    """Record two lives on the same files: the first makes them, the second finds them."""
    root = tmp_path_factory.mktemp("lives")
    return Recording([*lived(root, "turns", TURNS), *lived(root, "turns", TURNS + 1)])


def lived(root, how: str, turns: int):
    return record(root, str(root / "data"), how, str(turns))


def acknowledged(recording: Recording, cut: int, kind: str) -> int:
    """Return the number of the last turn (`t_`) or checkpoint (`c_`) that the child had been told of."""
    return max((int(line.removeprefix(kind)) for line in recording.said(cut) if line.startswith(kind)), default=0)


def checkpoint_faults(memory, number: int) -> list[str]:
    """Say what is wrong with the checkpoint file, when that of turn `number` was acknowledged."""
    try:
        found = memory.checkpoints.load("s_1").state.last_seq
    except CheckpointMissing:
        found = 0
    except CheckpointDamaged as exc:
        return [str(exc)]
    return [] if found >= number else [f"checkpoint {number} was acknowledged, the disk has {found}"]


async def faults(folder, recording: Recording, cut: int) -> list[str]:
    """Start on this disk and return every promise that is broken there."""
    turns = acknowledged(recording, cut, "t_")
    async with open_memory(folder) as memory:
        found = checkpoint_faults(memory, acknowledged(recording, cut, "c_"))
        survey = await memory.hydrator.survey()
        await memory.hydrator.adopt(survey.orphans)
        session_id = await memory.store.current_session_id(CONVERSATION)
        if session_id is None:
            return [*found, f"{turns} turns were acknowledged, there is no session"] if turns else found
        hydrated = await memory.hydrator.hydrate(session_id)
        seqs = [turn.seq for turn in await memory.store.turns_after(session_id, 0)]
        if seqs != list(range(1, len(seqs) + 1)) or not turns <= len(seqs) <= turns + 1:
            found.append(f"{turns} turns were acknowledged, the log has {seqs}")
        if hydrated.state.last_seq != len(seqs):
            found.append(f"the state ends at {hydrated.state.last_seq}, the log at {len(seqs)}")
        return [*found, *hydrated.report.warnings, *await memory.db.integrity()]


async def tried(tmp_path, recording: Recording, images) -> tuple[int, list[str]]:
    """Start on every image; return how many different ones there were, and what was broken on them."""
    seen: set[int] = set()
    found: list[str] = []
    for cut, what, disk in images:
        state = hash((content_of(disk), acknowledged(recording, cut, "t_"), acknowledged(recording, cut, "c_")))
        if state not in seen:
            seen.add(state)
            root = tmp_path / "image"
            shutil.rmtree(root, ignore_errors=True)
            disk.lay_out(root)
            broken = await faults(root / "data", recording, cut)
            found += [f"cut {cut}, {what} arrived, seed {SEED}: {fault}" for fault in broken]
    return len(seen), found


def content_of(disk: Disk):
    return frozenset(disk.folders), frozenset((path, bytes(disk.contents[i])) for path, i in disk.names.items())


async def test_a_power_cut_at_any_moment_loses_nothing_acknowledged(tmp_path, lives):
    """Before each sync and each word: all of the unsynced arrived, nothing, or torn parts in any order."""
    count, broken = await tried(tmp_path, lives, lives.images(random.Random(SEED), per_cut=1))

    assert count > len(lives.cuts())
    assert broken == []


async def test_a_kill_at_any_system_call_loses_nothing_acknowledged(tmp_path, lives):
    """A kill leaves what the calls before it did, synced or not: every such state since the first word of the child."""
    cuts = range(len(lives.steps) // 2, len(lives.steps) + 1, 6)
    count, broken = await tried(tmp_path, lives, ((cut, "all", lives.disk(cut)) for cut in cuts))

    assert count > len(cuts) // 2
    assert broken == []


@pytest.mark.soak
async def test_thousands_of_power_cuts_lose_nothing_acknowledged(tmp_path, lives):
    """The same with more chances; CONTINUITY_SOAK_SEED makes others."""
    count, broken = await tried(tmp_path, lives, lives.images(random.Random(SEED), per_cut=40))
    print(f"{count} images, seed {SEED}")  # noqa: T201 - what was tried is part of the result

    assert broken == []


@pytest.mark.soak
async def test_a_kill_at_each_system_call_loses_nothing_acknowledged(tmp_path, lives):
    """Every single call of both lives, from the first file on."""
    cuts = range(len(lives.steps) + 1)
    count, broken = await tried(tmp_path, lives, ((cut, "all", lives.disk(cut)) for cut in cuts))
    print(f"{count} states")  # noqa: T201 - what was tried is part of the result

    assert broken == []


async def test_without_the_sync_of_a_commit_acknowledged_turns_are_lost(tmp_path):
    """Negative control: with synchronous=NORMAL the same power cuts lose turns."""
    hasty = Recording(lived(tmp_path / "hasty", "hasty", TURNS))
    _, broken = await tried(tmp_path, hasty, hasty.images(random.Random(SEED), per_cut=0))

    assert any("turns were acknowledged" in fault for fault in broken)


async def test_without_the_sync_of_the_folder_acknowledged_checkpoints_are_lost(tmp_path, lives):
    """Negative control: the same lives without the calls that sync a folder lose checkpoints that were told written."""
    unsynced = lives.without_folder_syncs()
    _, broken = await tried(tmp_path, unsynced, unsynced.images(random.Random(SEED), per_cut=0))

    assert any("checkpoint" in fault and "was acknowledged" in fault for fault in broken)
