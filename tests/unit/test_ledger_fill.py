"""The fields of 002 in a session's state: views of the ledger, and nothing of their own."""

from __future__ import annotations

from memory.keeper.session_lines import current_task
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Add, Ledger
from memory.state.fields import filled
from memory.testing import START_MS, make_state

BY = Actor("model", START_MS)


def ledger():
    rings = {"rings_from": "2030-01-01T09:00", "time_zone": "UTC", "session_id": "s_2"}
    found, _ = apply_all(
        Ledger("tg:1:1:0"),
        [
            Add(kind="task", text="Call Ana", note_id="n_1", fields={"session_id": "s_1", "turn_ids": ("t_1",)}),
            Add(kind="task", text="Take the bins out", note_id="n_2", fields=rings),
            Add(kind="fact", text="Lia is allergic to nuts", note_id="n_3"),
        ],
        BY,
    )
    return found


def test_a_state_is_filled_from_the_ledger():
    """What is open, what rings, and what a number stands for; whatever stood there goes."""
    state = filled(make_state(active_job_refs=("old",)), ledger(), START_MS)

    assert [(loop.loop_id, loop.turn_id) for loop in state.open_loops] == [("n_2", ""), ("n_1", "t_1")]
    assert state.active_job_refs == ("n_2",)
    assert state.resolved_entities == {"#2": "n_2", "#1": "n_1"}


def test_of_a_fresh_session_only_its_own_notes_count():
    """What other sessions noted is not in its state."""
    state = filled(make_state(session_id="s_1", isolated=True), ledger(), START_MS)

    assert [loop.loop_id for loop in state.open_loops] == ["n_1"]


def test_the_current_task_is_the_newest_open_matter_or_the_title():
    """004 phase 3: what a compaction keeps beside its summary."""
    assert current_task(ledger(), "s_1", "the bins") == "Call Ana"
    assert current_task(ledger(), "s_9", "the bins") == "the bins"
