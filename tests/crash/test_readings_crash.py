"""Kill the process at any step of a reading: the turns are read after the restart, each once, with the same outcome."""

import signal
import sqlite3
from contextlib import closing

import pytest
from core_child import live
from loopback.forked import finished

STEPS = ("after_commit", "reading_done", "reading_stored")
MODEL_STEPS = ("model_reading_claimed", "model_reading_answered", "model_reading_stored")

pytestmark = pytest.mark.crash


def run(folder, how="readings", **environment):
    """Run the child to its end; return its lines and its return code (-9 when it was killed)."""
    return finished(live, str(folder), how, env=environment)


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


def rows(folder, query):
    with closing(sqlite3.connect(folder / "continuity.db")) as db:
        return db.execute(query).fetchall()


def test_a_kill_at_every_step_of_a_reading_by_a_model_asks_it_at_most_once_more(tmp_path):
    """The outcome is that of a life without a death, every answer that was stored is paid for once."""
    log = tmp_path / "points.log"
    lines, _ = run(tmp_path / "whole", "model", CONTINUITY_FAULT_LOG=str(log))
    *asked, whole, _ = lines
    points = log.read_text().split()
    steps = [f"{name}:{nth}" for name in MODEL_STEPS for nth in range(1, points.count(name) + 1)]
    assert (asked, len(steps)) == (["asked 1", "asked 2"], len(MODEL_STEPS) * 2)
    for step in steps:
        folder = tmp_path / step
        before, code = run(folder, "model", CONTINUITY_FAULT=step)
        assert code == -signal.SIGKILL
        after, code = run(folder, "model")
        assert (after[-2], code) == (whole, 0)
        asked = [line for line in (*before, *after) if line.startswith("asked")]
        assert len(asked) <= 3
        assert rows(folder, "SELECT COUNT(*) FROM model_readings") == [(2,)]
        assert waiting(folder) == 0


def test_a_reading_that_kills_the_process_is_not_done_a_third_time(tmp_path):
    """Two deaths with the model's answer in hand: then the rules' notes stay, and nothing waits."""
    for _ in range(2):
        _, code = run(tmp_path, "model", CONTINUITY_FAULT="model_reading_answered")
        assert code == -signal.SIGKILL
    lines, code = run(tmp_path, "model", CONTINUITY_FAULT="model_reading_answered:2")

    assert code == 0
    assert [line for line in lines if line.startswith("asked")] == ["asked 2"]
    assert rows(tmp_path, "SELECT COUNT(*) FROM readings") == [(0,)]
