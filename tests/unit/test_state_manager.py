"""The fold of turns into the state of a session: counts, status, and the question that waits."""

import pytest

from memory.state.state_manager import apply_turn, new_state, read_turn, session_title, taken_up
from memory.types import ConversationTurn

MINUTE_MS = 60_000


def turn(seq, user, assistant="Okay.", **overrides):
    values = {
        "turn_id": f"t{seq}",
        "session_id": "s_1",
        "conversation_id": "tg:1:2:0",
        "seq": seq,
        "user_text": user,
        "assistant_text": assistant,
        "created_at_ms": seq * MINUTE_MS,
        "language": "en",
    }
    return ConversationTurn(**(values | overrides))


def after(*exchanges, **overrides):
    state = new_state("s_1", "tg:1:2:0")
    for seq, (user, assistant) in enumerate(exchanges, 1):
        state = apply_turn(state, turn(seq, user, assistant, **overrides))
    return state


def test_a_turn_moves_the_counters():
    """A turn leaves its number, id, time, intent and response type in the state."""
    state = apply_turn(new_state("s", "c"), turn(1, "Hello", intent="chat"))

    assert (state.turn_count, state.last_seq, state.last_turn_id, state.last_turn_at_ms) == (1, 1, "t1", MINUTE_MS)
    assert (state.last_intent, state.last_response_type) == ("chat", "answer")


def test_a_turn_seen_before_changes_nothing():
    """Folding the tail twice gives the same state."""
    state = after(("Hello", "Hi."))

    assert apply_turn(state, turn(1, "Hello", "Hi.")) is state


@pytest.mark.parametrize("asked", ["Which one?", "いつですか？", "متى؟", "Well, **when?**", "(Really?)"])
def test_a_question_at_the_end_of_a_reply_waits(asked):
    """In any script, whatever closes behind the mark: then the session awaits a clarification (002)."""
    state = after(("Book it", f"Sure. {asked}"))

    assert state.status == "awaiting_clarification"
    assert len(state.pending_clarifications) == 1


def test_a_question_in_the_middle_does_not_wait():
    """Only how a reply ends counts, and the next reply settles it."""
    assert after(("Book it", "Which one? I took the first.")).status == "active"
    assert after(("Book it", "Which one?"), ("The first", "Booked.")).pending_clarifications == ()


def test_what_a_turn_is_needs_no_language():
    """Commands, questions, answers to what was asked, and whether something was done."""
    waiting = after(("Book it", "Which one?"))

    assert read_turn(waiting, "/loops", "Nothing.").intent == "command"
    assert read_turn(waiting, "the first", "Done.", acted=True) == read_turn(waiting, "x", "y", acted=True)
    assert read_turn(waiting, "the first", "Done.", acted=True).response_type == "action"
    assert read_turn(new_state("s", "c"), "wann?", "Um drei?").intent == "question"
    assert read_turn(new_state("s", "c"), "wann?", "Um drei?").response_type == "question"


def test_a_session_is_called_by_how_it_began_until_the_keeper_names_it():
    """Neither a command nor what somebody else wrote gives a name."""
    assert session_title(after(("The tiles for the kitchen. Which?", "Green."), ("ok", "Good."))).startswith(
        "The tiles"
    )
    assert session_title(after(("/start", "Hi."))) == ""
    assert session_title(after(("Buy now!", "No."), third_party=True)) == ""


def test_a_session_that_is_taken_up_counts_its_silence_from_now():
    """However old it is, the next message goes on in it."""
    state = taken_up(after(("Hello", "Hi.")), 99)

    assert (state.status, state.taken_up_at_ms, state.edits) == ("resuming", 99, 1)
