"""Kill the process at any step: what was acknowledged is there, what was not is whole or absent, and work goes on."""

import asyncio
import os
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from core_child import live
from loopback.forked import Forked, finished
from loopback.traced import needs_strace, traced

from memory.search.query import Query
from memory.testing import open_memory
from memory.types import SessionState

CONVERSATION = "tg:1:1:0"
TURNS = 2

pytestmark = pytest.mark.crash


def run(folder, turns=TURNS, **environment):
    """Run the child to its end; return its lines and its return code (-9 when it was killed)."""
    return finished(live, str(folder), "turns", str(turns), env=environment)


def points_of(folder, turns=TURNS):
    """Return how many fault points a whole run passes, and their names."""
    log = folder / "points.log"
    run(folder / "points", turns, CONTINUITY_FAULT_LOG=str(log))
    names = log.read_text().split()
    return len(names), set(names)


async def check(folder, acknowledged):
    """Assert that acknowledged turns are there, seqs have no holes, and row, log and checkpoint agree."""
    async with open_memory(folder) as memory:
        survey = await memory.hydrator.survey()
        await memory.hydrator.adopt(survey.orphans)
        session_id = await memory.store.current_session_id(CONVERSATION)
        if session_id is None:
            assert not acknowledged
            return
        found = await memory.hydrator.hydrate(session_id)
        stored = await memory.store.turns_after(session_id, 0)
        assert [turn.seq for turn in stored] == list(range(1, len(stored) + 1))
        assert set(acknowledged) <= {turn.turn_id for turn in stored}
        assert len(stored) <= len(acknowledged) + 1
        assert found.state.last_seq == len(stored)
        assert found.report.warnings == ()
        assert list(memory.checkpoints.folder.glob(".*.tmp")) == []
        if stored:
            assert memory.checkpoints.load(session_id).state.last_seq == len(stored)


def lines_of_turns(lines):
    return [line for line in lines if line.startswith("t_")]


@pytest.mark.sweep
async def test_a_kill_at_every_fault_point_loses_and_repeats_nothing(tmp_path):
    """The child dies at point 1, 2, 3 … of recording two turns; after a restart all is as if nothing had happened."""
    count, names = points_of(tmp_path)
    assert {"before_commit", "after_commit", "index_before_write", "checkpoint_renamed"} <= names
    assert "checkpoint_temp_written" in names
    final_states = set()
    for point in range(1, count + 1):
        folder = tmp_path / str(point)
        lines, code = run(folder, CONTINUITY_FAULT=f"#{point}")
        assert code == -signal.SIGKILL
        await check(folder, lines_of_turns(lines))
        lines, code = run(folder)
        assert code == 0
        state = SessionState.model_validate_json(lines[-2])
        final_states.add(state.model_copy(update={"status": "active"}).model_dump_json())
        await check(folder, [f"t_{n}" for n in range(1, TURNS + 1)])

    assert len(final_states) == 1


async def test_a_death_between_a_turn_and_its_index_hides_it_from_no_search(tmp_path):
    """The turn is stored, its index is not; the next process finds it."""
    lines, code = run(tmp_path, CONTINUITY_FAULT="index_before_write:2")
    assert (lines_of_turns(lines), code) == (["t_1", "t_2"], -signal.SIGKILL)

    async with open_memory(tmp_path) as memory:
        found = await memory.searcher.search(Query(CONVERSATION, "Please plan a day in Rome"))

    assert {each.ref for each in found} == {"t_1", "t_2"}


@pytest.mark.sweep
async def test_a_kill_during_the_recovery_changes_nothing(tmp_path):
    """Dead before the checkpoint of turn 1, then dead again at every point of the next start: the end is the same."""
    for point in range(1, 9):
        folder = tmp_path / str(point)
        run(folder, CONTINUITY_FAULT="after_commit:1")
        run(folder, CONTINUITY_FAULT=f"#{point}")
        lines, code = run(folder)
        assert code == 0
        assert SessionState.model_validate_json(lines[-2]).last_seq == TURNS
        await check(folder, [f"t_{n}" for n in range(1, TURNS + 1)])


async def test_a_turn_acknowledged_before_its_commit_would_be_lost(tmp_path):
    """Negative control: the check fails for a turn that was claimed but not committed when the process died."""
    folder = tmp_path / "control"
    lines, _ = run(folder, CONTINUITY_FAULT="before_commit:2")

    with pytest.raises(AssertionError):
        await check(folder, [*lines_of_turns(lines), "t_2"])


@pytest.mark.parametrize("after", [1, 40, 150])
def test_every_acknowledged_write_survives_a_kill(tmp_path, after):
    """Four writers share commits; killed in full run, all that they were told is stored is stored, pairs whole."""
    said, errors = tmp_path / "said", tmp_path / "errors"
    os.mkfifo(said)
    folder = tmp_path / "data"
    child = Forked(live, str(folder), "writes", folder=tmp_path, env={}, log_path=said, error_path=errors)
    with said.open(encoding="utf-8") as lines:
        acknowledged = {lines.readline().strip() for _ in range(after)}
        child.send_signal(signal.SIGKILL)
        acknowledged |= {line.strip() for line in lines.read().split("\n")[:-1]}
    assert child.join() == -signal.SIGKILL

    with closing(sqlite3.connect(folder / "continuity.db")) as db:
        stored = {row[0] for row in db.execute("SELECT turn_id FROM conversation_turns")}
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert acknowledged <= stored
    whole = {turn_id for turn_id in stored if not turn_id.endswith(".pair")}
    assert {f"{turn_id}.pair" for turn_id in whole} == stored - whole


@pytest.mark.soak
async def test_a_storm_of_kills_loses_nothing_acknowledged(tmp_path):
    """One session, recorded by process after process, each killed at a moment of its own; seed and kills are told."""
    seed, kills = int(os.environ.get("CONTINUITY_SOAK_SEED", "1")), int(os.environ.get("CONTINUITY_SOAK_KILLS", "500"))
    chance, folder, said = random.Random(seed), tmp_path / "data", tmp_path / "said"
    for _ in range(kills):
        child = Forked(live, str(folder), "turns", "1000000", folder=Path.cwd(), env={}, log_path=said)
        await asyncio.sleep(chance.uniform(0.05, 0.8))
        child.send_signal(signal.SIGKILL)
        assert await child.wait() == -signal.SIGKILL, said.read_text()[-2000:]
    acknowledged = lines_of_turns(said.read_text().splitlines())
    print(f"{kills} kills, seed {seed}, {len(acknowledged)} turns acknowledged")  # noqa: T201 - part of the result

    async with open_memory(folder) as memory:
        hydrated = await memory.hydrator.hydrate(await memory.store.current_session_id(CONVERSATION))
        stored = await memory.store.turns_after(hydrated.state.session_id, 0)
        assert [turn.turn_id for turn in stored] == [f"t_{seq}" for seq in range(1, len(stored) + 1)]
        assert set(acknowledged) <= {turn.turn_id for turn in stored}
        assert len(stored) <= len(acknowledged) + kills
        assert hydrated.state.last_seq == len(stored)
        assert hydrated.report.warnings == ()


@pytest.mark.soak
@pytest.mark.parametrize("first", ["after_commit:1", "before_commit:2", "checkpoint_temp_written:1"])
async def test_three_deaths_in_a_row_change_nothing(tmp_path, first):
    """Dead at a point, dead again at every point of the next start, and once more at every point of the one after."""
    tried = 0
    for second in range(1, 9):
        for third in range(1, 9):
            folder = tmp_path / f"{second}-{third}"
            for fault in (first, f"#{second}", f"#{third}"):
                run(folder, CONTINUITY_FAULT=fault)
            lines, code = run(folder)
            assert code == 0
            assert SessionState.model_validate_json(lines[-2]).last_seq == TURNS
            await check(folder, [f"t_{n}" for n in range(1, TURNS + 1)])
            tried += 1
    assert tried == 64


async def prepare(folder):
    async with open_memory(folder):
        """Only migrate, so that every fsync under strace is a write's."""


@needs_strace
def test_a_sync_that_fails_is_not_acknowledged(tmp_path):
    """The third fsync answers EIO: that write is refused and absent, those before and after it are stored."""
    asyncio.run(prepare(tmp_path))
    fault = ("-o", os.devnull, "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=3")
    done = traced(fault, live, str(tmp_path), "errors", env={})

    lines = done.stdout.splitlines()
    refused = [line for line in lines if line.startswith("refused")]
    assert len(refused) == 1
    assert "reports an I/O error; check it" in refused[0]
    with closing(sqlite3.connect(tmp_path / "continuity.db")) as db:
        stored = {f"stored {row[0]}" for row in db.execute("SELECT seq FROM conversation_turns")}
    assert stored == {line for line in lines if line.startswith("stored")}
    assert lines[-1] == "end"
