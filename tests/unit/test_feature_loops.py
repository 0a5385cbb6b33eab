"""/loops as a pure list: what is shown, in which order, how it reads."""

import pytest

from bot import replies
from bot.answers.open_list import listed_loop, listed_matter, open_matters
from bot.features.loops import LISTED, changed_notes, loop_line, loop_list
from memory.notes.types import Matter, SessionNotes
from memory.notes.view import NotesView, Standing
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
        ({"owner": "other"}, "1. matter 1"),
        ({"due_at_ms": START_MS + DAY_MS}, "1. matter 1 (yours, due tomorrow at 22:13)"),
        ({"due_at_ms": START_MS - 1}, "1. matter 1 (yours, overdue)"),
        ({"due_at_ms": START_MS + DAY_MS, "due_exact": False}, "1. matter 1 (yours, due tomorrow)"),
        ({"due_at_ms": START_MS + 7 * DAY_MS, "due_exact": False}, "1. matter 1 (yours, due on Tue 21 Nov)"),
        ({"due_at_ms": START_MS - 1, "due_exact": False}, "1. matter 1 (yours, due today)"),
        ({"due_at_ms": START_MS - DAY_MS, "due_exact": False}, "1. matter 1 (yours, overdue)"),
        (
            {"status": "snoozed", "snoozed_until_ms": START_MS + DAY_MS},
            "1. matter 1 (yours, snoozed, back tomorrow at 22:13)",
        ),
        (
            {"status": "snoozed", "due_at_ms": START_MS + DAY_MS, "snoozed_until_ms": START_MS + 2 * DAY_MS},
            "1. matter 1 (yours, due tomorrow at 22:13, snoozed, back on Thu 16 Nov at 22:13)",
        ),
    ],
)
def test_a_line_says_whose_turn_it_is_and_when(overrides, line):
    """Owner, due date, lateness and sleep are words."""
    assert loop_line(1, listed_loop("s_1", loop(**overrides)), START_MS, "UTC") == line


def noted(number=1, session_id="s_1", **overrides):
    fields = {
        "matter_id": f"t_{number}.u0", "kind": "task", "text": f"matter {number}", "turn_ids": (f"t_{number}",),
        "said_at_ms": START_MS,
    }  # fmt: skip
    note = Matter(**(fields | overrides))
    return Standing(note=note, session_id=session_id, value=3.0, waits=1.0, stems=frozenset({f"matter{number}"}))


def test_what_was_noted_comes_first_then_loops_of_sessions_not_read():
    """A session that was read shows its matters and none of its loops; ended loops are left out."""
    view = NotesView(standings=(noted(1, text="call Ana", quoted="user"),), session_ids=frozenset({"s_1"}))
    states = [state("s_1", loop(1)), state("s_2", loop(2)), state("s_3", loop(3), loop(4, status="done"))]

    assert [each.words for each in open_matters(view, states, "s_1")] == ["“call Ana”", "matter 3", "matter 2"]


def test_somebody_else_s_matter_names_them():
    """Whose turn it is: yours, mine, or a name."""
    view = NotesView(standings=(noted(1, owner="Priya", kind="promise"),), session_ids=frozenset({"s_1"}))

    assert loop_line(1, open_matters(view, [], None)[0], START_MS, "UTC") == "1. matter 1 (Priya)"


def test_an_event_has_a_day_and_nobody_s_turn():
    """Nobody has to do anything about it: it only happens, on that day."""
    view = NotesView(standings=(noted(1, kind="event", due_at_ms=START_MS + DAY_MS),), session_ids=frozenset({"s_1"}))
    listed = [listed_matter("s_1", each) for each in view.matters]

    assert loop_line(1, listed[0], START_MS, "UTC") == "1. matter 1 (tomorrow)"


def test_a_fresh_session_shows_only_its_own():
    """What was before is not brought up, not even in a list."""
    states = [state("s_1", loop(1), isolated=True), state("s_2", loop(2))]

    assert [each.session_id for each in open_matters(NotesView(), states, "s_1")] == ["s_1"]


def test_a_long_list_is_cut_and_says_so():
    """Eight have buttons, the rest are counted; none at all is a sentence."""
    shown = loop_list([listed_loop("s_1", loop(number)) for number in range(LISTED + 3)], START_MS, "UTC")

    assert len(shown.buttons) == LISTED
    assert "and 3 more" in shown.text
    assert shown.buttons[0][0].payload == {"session_id": "s_1", "loop_id": "t_0.1"}
    assert loop_list([], START_MS, "UTC").text == replies.say("loops_none")


def test_a_matter_is_ended_in_the_notes_of_its_session():
    """One matter changes; one that is not there any more is a KeyError, and the tap says so."""
    matters = tuple(noted(n).note for n in (1, 2))
    notes = SessionNotes(session_id="s_1", conversation_id="tg:1:1:0", matters=matters)

    after = changed_notes("t_1.u0", {"status": "settled"})(notes)

    assert [each.status for each in after.matters] == ["settled", "open"]
    with pytest.raises(KeyError):
        changed_notes("t_9.u0", {"status": "settled"})(notes)
