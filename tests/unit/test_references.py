"""What short words stand for."""

import pytest

from memory.language.languages import Languages
from memory.state.references import options_of, resolve
from memory.state.state_manager import new_state, open_loop
from memory.types import PendingClarification

ENGLISH = Languages.load().get("en")


def asked(question, *options):
    pending = PendingClarification(question=question, options=options, turn_id="t1", asked_seq=1, asked_at_ms=1)
    return new_state("s", "c").model_copy(update={"pending_clarifications": (pending,), "last_turn_id": "t1"})


@pytest.mark.parametrize(
    ("question", "reply", "options"),
    [
        ("Red or blue?", "Red or blue?", ("Red", "blue")),
        ("Do you want tea, coffee or juice?", "Do you want tea, coffee or juice?", ("tea", "coffee", "juice")),
        ("Which one?", "1. Green tea\n2. Black coffee\nWhich one?", ("Green tea", "Black coffee")),
        ("When shall we meet?", "When shall we meet?", ()),
    ],
)
def test_the_choices_that_a_question_offers(question, reply, options):
    """Choices come from a list in the reply or from "A, B or C?"."""
    assert options_of(question, reply, ENGLISH) == options


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("the second one", "blue"),
        ("the first", "red"),
        ("number 2", "blue"),
        ("the last one", "blue"),
        ("blue", "blue"),
    ],
)
def test_a_choice_is_bound_to_the_option(text, meaning):
    """An ordinal or a name picks one of the options offered."""
    assert resolve(asked("Red or blue?", "red", "blue"), text, ENGLISH) == {text: meaning}


def test_yes_stands_for_the_question_it_answers():
    """A bare yes means the question that was asked."""
    assert resolve(asked("Shall I book the table?"), "Yes!", ENGLISH) == {"yes": "Shall I book the table?"}


def test_why_stands_for_the_turn_it_comments_on():
    """With no question pending, "why?" is about the last turn."""
    state = new_state("s", "c").model_copy(update={"last_turn_id": "t9"})

    assert resolve(state, "why?", ENGLISH) == {"why": "t9"}


def test_that_task_is_the_loop_touched_last():
    """Of several matters the one touched last is meant."""
    state = open_loop(new_state("s", "c"), "Buy milk", turn_id="t1", at_ms=1)
    state = open_loop(state, "Call Ana", turn_id="t2", at_ms=2)

    assert resolve(state, "How is that task going?", ENGLISH)["that task"] == "t2.1"
    assert resolve(state, "drop the first one", ENGLISH)["the first one"] == "t1.1"


def test_a_choice_out_of_range_means_nothing():
    """The fifth of two options is nothing, and raises nothing."""
    assert resolve(asked("Red or blue?", "red", "blue"), "the fifth one", ENGLISH) == {}
