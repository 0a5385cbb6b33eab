"""Kill the process at any step of a reading: the turns are read after the restart, each once, with the same outcome."""

import signal
import sqlite3
from contextlib import closing

import pytest
from core_child import live
from loopback.forked import finished

STEPS = ("after_commit", "reading_done", "reading_stored")

pytestmark = pytest.mark.crash


def run(folder, **environment):
    """Run the child to its end; return its lines and its return code (-9 when it was killed)."""
    return finished(live, str(folder), "readings", env=environment)


def waiting(folder):
    with closing(sqlite3.connect(folder / "continuity.db")) as db:
        return db.execute("SELECT COUNT(*) FROM readings").fetchone()[0]


def test_a_kill_at_every_step_of_a_reading_changes_nothing(tmp_path):
    """The child dies at each step of both readings; after a restart the notes are those of a life without a death."""
    log = tmp_path / "points.log"
    lines, _ = run(tmp_path / "whole", CONTINUITY_FAULT_LOG=str(log))
    whole, points = lines[0], log.read_text().split()
    steps = [f"{name}:{nth}" for name in STEPS for nth in range(1, points.count(name) + 1)]
    assert len(steps) == len(STEPS) * 2
    for step in steps:
        folder = tmp_path / step
        _, code = run(folder, CONTINUITY_FAULT=step)
        assert code == -signal.SIGKILL
        lines, code = run(folder)
        assert (lines, code) == ([whole, "end"], 0)
        assert waiting(folder) == 0
