"""Kill the process at any step of a reading: the turns are read after the restart, with the same outcome."""

import signal
import sqlite3
from contextlib import closing

import pytest
from core_child import live
from loopback.forked import finished

STEPS = ("keeper_claimed", "keeper_answered", "keeper_stored")

pytestmark = pytest.mark.crash


def run(folder, **environment):
    """Run the child to its end; return its lines and its return code (-9 when it was killed)."""
    return finished(live, str(folder), "keeper", env=environment)


def rows(folder, query):
    with closing(sqlite3.connect(folder / "continuity.db")) as db:
        return db.execute(query).fetchall()


@pytest.mark.sweep
def test_a_kill_at_every_step_of_a_reading_asks_the_model_at_most_once_more(tmp_path):
    """The outcome is that of a life without a death, every answer that was stored is paid for once."""
    log = tmp_path / "points.log"
    lines, _ = run(tmp_path / "whole", CONTINUITY_FAULT_LOG=str(log))
    *asked, title, notes, _ = lines
    points = log.read_text().split()
    steps = [f"{name}:{nth}" for name in STEPS for nth in range(1, points.count(name) + 1)]
    assert (asked, title, notes) == (["asked 1", "asked 2"], "the plumber", "1 Call the plumber done")
    assert len(steps) == len(STEPS) * 2
    for step in steps:
        folder = tmp_path / step
        before, code = run(folder, CONTINUITY_FAULT=step)
        assert code == -signal.SIGKILL
        after, code = run(folder)
        assert (after[-3:], code) == ([title, notes, "end"], 0)
        assert len([line for line in (*before, *after) if line.startswith("asked")]) <= 3
        assert rows(folder, "SELECT COUNT(*) FROM model_readings") == [(2,)]
        assert rows(folder, "SELECT COUNT(*) FROM readings") == [(0,)]
        assert rows(folder, "SELECT COUNT(*) FROM keeper_leases") == [(0,)]


def test_a_reading_that_kills_the_process_is_not_done_a_third_time(tmp_path):
    """Two deaths with the model's answer in hand: the turns wait until new ones come."""
    for _ in range(2):
        _, code = run(tmp_path, CONTINUITY_FAULT="keeper_answered")
        assert code == -signal.SIGKILL
    lines, code = run(tmp_path, CONTINUITY_FAULT="keeper_answered:2")

    assert code == 0
    assert [line for line in lines if line.startswith("asked")] == ["asked 2"]
    assert rows(tmp_path, "SELECT COUNT(*) FROM readings") == [(0,)]
