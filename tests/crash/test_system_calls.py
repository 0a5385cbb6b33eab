"""System calls that kill or fail, planted by strace: what was acknowledged is there, the rest whole or refused."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from core_child import live
from loopback.traced import needs_strace, traced

from memory.testing import open_memory

KILLED_AT = ("pwrite64", "fdatasync", "fsync", "unlink", "ftruncate", "openat")
FAILURES = (
    ("fdatasync", "EIO"),
    ("pwrite64", "ENOSPC"),
    ("pwrite64", "EIO"),
    ("pwrite64", "EDQUOT"),
    ("ftruncate", "EIO"),
)

pytestmark = [pytest.mark.crash, needs_strace]


def planted(
    folder: Path, call: str, fault: str, *words: str, only: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the child with a fault in such calls that touch these files."""
    names = only or ("continuity.db", "continuity.db-wal", "checkpoints")
    paths = [word for name in names for word in ("-P", str(folder / name))]
    strace = ("-o", os.devnull, *paths, "-e", f"trace={call}", "-e", f"inject={call}:{fault}")
    return traced(strace, live, str(folder), *words, env={})


async def prepare(folder: Path) -> None:
    async with open_memory(folder):
        """Only migrate, so that every call under strace is a turn's."""


async def broken(folder: Path, lines: list[str]) -> list[str]:
    """Start on what is left; return what was acknowledged and is not there, or is not whole."""
    acknowledged = {line for line in lines if line.startswith("t_")}
    async with open_memory(folder) as memory:
        survey = await memory.hydrator.survey()
        await memory.hydrator.adopt(survey.orphans)
        stored = [turn.turn_id for turn in await memory.store.turns_after("s_1", 0)]
        whole = [] if await memory.db.integrity() == () else ["the database is damaged"]
        holes = [] if stored == [f"t_{number}" for number in range(1, len(stored) + 1)] else [f"the log has {stored}"]
        return [*sorted(acknowledged - set(stored)), *whole, *holes]


async def kill_at(folder: Path, call: str, nth: int) -> bool:
    """Die at the nth such call, start again, and say whether it did die; the promises are checked."""
    await prepare(folder)
    done = await asyncio.to_thread(planted, folder, call, f"signal=KILL:when={nth}", "turns", "3")
    died = done.returncode == -signal.SIGKILL
    assert died or done.returncode == 0, done.stderr[-2000:]
    assert await broken(folder, done.stdout.splitlines()) == [], f"{call} {nth}"
    return died


@pytest.mark.parametrize(("call", "nth"), [("pwrite64", 7), ("fdatasync", 2)])
async def test_a_kill_in_the_middle_of_a_system_call_loses_nothing_acknowledged(tmp_path, call, nth):
    """In the middle of a commit's pages, and at its sync."""
    assert await kill_at(tmp_path / "data", call, nth)


@pytest.mark.soak
@pytest.mark.parametrize("call", KILLED_AT)
async def test_a_kill_at_every_system_call_loses_nothing_acknowledged(tmp_path, call):
    """The first such call of three turns, the second, the third … until none is left."""
    nth = 1
    while await kill_at(tmp_path / str(nth), call, nth):
        nth += 1
    assert nth > 1
    print(f"{call}: killed at {nth - 1} calls")  # noqa: T201 - what was tried is part of the result


@pytest.mark.parametrize(("call", "error"), FAILURES)
def test_a_call_that_fails_is_refused_in_a_sentence(tmp_path, call, error):
    """From the fifth such call on, for a while: what was acknowledged is there, and work goes on.

    What was refused at its sync may turn up after a restart: it was written, and nobody knows whether it lasts.
    """
    asyncio.run(prepare(tmp_path))
    done = planted(tmp_path, call, f"error={error}:when=5..7", "errors")

    lines = done.stdout.splitlines()
    assert "Traceback" not in done.stderr
    with closing(sqlite3.connect(tmp_path / "continuity.db")) as db:
        stored = {f"stored {row[0]}" for row in db.execute("SELECT seq FROM conversation_turns")}
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    refused = {f"stored {line.split(':')[0].removeprefix('refused ')}" for line in lines if line.startswith("refused")}
    acknowledged = {line for line in lines if line.startswith("stored")}
    assert acknowledged <= stored <= acknowledged | refused
    assert refused or call == "ftruncate"
    assert len(lines) == 6
    assert lines[-1] == "end"


@pytest.mark.parametrize(
    ("call", "error"),
    [*(("openat", each) for each in ("EACCES", "EMFILE", "ENFILE", "EROFS", "EIO")), ("pread64", "EIO")],
)
def test_a_database_that_cannot_be_opened_ends_in_a_sentence(tmp_path, call, error):
    """No permission, too many files, a read-only or a failing disk: one sentence that names the file, no traceback."""
    asyncio.run(prepare(tmp_path))
    done = planted(tmp_path, call, f"error={error}:when=1+", "errors", only=("continuity.db",))

    assert done.returncode == 1
    assert str(tmp_path / "continuity.db") in done.stderr.splitlines()[-1]
