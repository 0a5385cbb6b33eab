"""/loops as a pure list: what is shown, in which order, how it reads."""

import pytest

from bot import replies
from bot.features.loops import LISTED, Listed, changed, loop_line, loop_list, open_matters
from memory.state.state_manager import close_loop
from memory.testing import START_MS, make_state
from memory.types import OpenLoop

DAY_MS = 86_400_000


def loop(number=1, **overrides):
    fields = {
        "loop_id": f"t_{number}.1",
        "kind": "task",
        "owner": "user",
        "text": f"matter {number}",
        "turn_id": f"t_{number}",
        "opened_seq": number,
        "opened_at_ms": START_MS,
        "touched_at_ms": START_MS + number,
    }
    return OpenLoop(**(fields | overrides))


def state(session_id, *loops, **overrides):
    return make_state(session_id=session_id, open_loops=loops, **overrides)


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({}, "1. matter 1 (yours)"),
        ({"owner": "assistant"}, "1. matter 1 (mine)"),
        ({"due_at_ms": START_MS + DAY_MS}, "1. matter 1 (yours, due tomorrow at 22:13)"),
        ({"due_at_ms": START_MS - 1}, "1. matter 1 (yours, overdue)"),
        ({"status": "snoozed", "due_at_ms": START_MS + DAY_MS}, "1. matter 1 (yours, sleeps until tomorrow at 22:13)"),
    ],
)
def test_a_line_says_whose_turn_it_is_and_when(overrides, line):
    """Owner, due date, lateness and sleep are words."""
    assert loop_line(1, loop(**overrides), START_MS, "UTC") == line


def test_the_current_session_comes_first_then_the_last_touched():
    """Matters of other sessions follow, ended ones are left out."""
    states = [state("s_2", loop(2)), state("s_1", loop(1)), state("s_3", loop(3), loop(4, status="done"))]

    assert [each.loop.text for each in open_matters(states, "s_1")] == ["matter 1", "matter 3", "matter 2"]


def test_a_fresh_session_shows_only_its_own():
    """What was before is not brought up, not even in a list."""
    states = [state("s_1", loop(1), isolated=True), state("s_2", loop(2))]

    assert [each.session_id for each in open_matters(states, "s_1")] == ["s_1"]


def test_a_long_list_is_cut_and_says_so():
    """Eight have buttons, the rest are counted; none at all is a sentence."""
    shown = loop_list([Listed("s_1", loop(number)) for number in range(LISTED + 3)], START_MS, "UTC")

    assert len(shown.buttons) == LISTED
    assert "and 3 more" in shown.text
    assert shown.buttons[0][0].payload == {"session_id": "s_1", "loop_id": "t_0.1"}
    assert loop_list([], START_MS, "UTC").text == replies.LOOPS_NONE


def test_a_change_touches_one_session_and_refuses_what_is_gone():
    """An unknown session or loop is a KeyError: the tap then says that it is gone."""
    states = [state("s_1", loop(1)), state("s_2", loop(2))]
    after = changed(states, "s_1", lambda one: close_loop(one, "t_1.1", "done", 9))

    assert [each.open_loops[0].status for each in after] == ["done", "open"]
    for session_id, loop_id in (("s_9", "t_1.1"), ("s_1", "t_9.1")):
        with pytest.raises(KeyError):
            changed(states, session_id, lambda one, wanted=loop_id: close_loop(one, wanted, "done", 9))
