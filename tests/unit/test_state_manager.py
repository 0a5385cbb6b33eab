"""The fold of turns into the state of a session."""

import pytest

from memory.language.languages import Languages
from memory.state.state_manager import (
    MAX_JOB_STEPS,
    apply_turn,
    begin_job,
    close_loop,
    end_job,
    keep_job_steps,
    live_loops,
    new_state,
    open_loop,
    read_turn,
    session_title,
    snooze_loop,
    undo,
)
from memory.types import ConversationTurn, JobStep, SessionState

LANGUAGES = Languages.load()
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
        state = apply_turn(state, turn(seq, user, assistant, **overrides), LANGUAGES)
    return state


def texts(state: SessionState):
    return [loop.text for loop in live_loops(state)]


def test_a_turn_moves_the_counters():
    """A turn leaves its number, id, time, intent and response type in the state."""
    state = apply_turn(new_state("s", "c"), turn(1, "Hello", intent="greeting"), LANGUAGES)

    assert (state.turn_count, state.last_seq, state.last_turn_id, state.last_turn_at_ms) == (1, 1, "t1", MINUTE_MS)
    assert (state.last_intent, state.last_response_type) == ("greeting", "answer")


def test_a_turn_seen_before_changes_nothing():
    """Folding a turn a second time returns the very same state."""
    state = after(("I need to call the bank tomorrow.", "Okay."))

    assert apply_turn(state, turn(1, "I need to call the bank tomorrow."), LANGUAGES) is state


def test_a_promise_of_the_user_opens_a_loop():
    """What the user has to do is an open loop of the user, with its turn as evidence."""
    (loop,) = after(("I need to finish the budget report.", "Good luck!")).open_loops

    assert (loop.loop_id, loop.owner, loop.turn_id, loop.status) == ("t1.1", "user", "t1", "open")


def test_a_report_closes_the_loop_it_is_about():
    """Of two open matters the one that the report names is done."""
    state = after(
        ("I need to finish the budget report.", "Okay."),
        ("I have to water the plants tonight.", "Okay."),
        ("I finished the budget report.", "Great!"),
    )

    assert texts(state) == ["I have to water the plants tonight."]


def test_a_question_put_off_stays_open_until_it_is_answered():
    """A reply that puts a question off leaves it with the assistant; a later reply about it answers it."""
    asked = ("How much is a flight to Rome?", "I'm not sure, I'll check and get back to you.")
    state = after(asked)

    assert [(loop.kind, loop.owner) for loop in live_loops(state)] == [("question", "assistant")]
    assert texts(after(asked, ("ok", "I found the flight to Rome: it costs 120 euros."))) == []


def test_a_question_of_the_assistant_waits_for_its_answer():
    """A question at the end of the reply is pending and sets the status until the user answers."""
    asked = ("Book a table for Friday.", "For four or five people?")
    state = after(asked)

    assert state.status == "awaiting_clarification"
    assert after(asked, ("Five.", "Booked.")).status == "active"


def test_the_request_behind_a_clarification_is_done_with_the_answer():
    """A request that had to wait for an answer of the user is closed when the reply to it asks nothing more."""
    state = after(("Book a table for Friday.", "For four or five people?"), ("Five.", "Booked for five."))

    assert texts(state) == []


def test_closing_an_unknown_loop_is_an_error():
    """A loop that is not there cannot be closed or snoozed."""
    with pytest.raises(KeyError):
        close_loop(new_state("s", "c"), "t1.1", "done", 5)
    with pytest.raises(KeyError):
        snooze_loop(new_state("s", "c"), "t1.1", 5, 5)


def test_a_loop_opened_and_closed_by_hand_counts_as_edits():
    """Changes between turns count up `edits`, so that two states can be put in order."""
    state = open_loop(new_state("s", "c"), "Buy milk", turn_id="t9", at_ms=7)
    state = close_loop(state, "t9.1", "done", 8)

    assert state.edits == 2
    assert live_loops(state) == ()


def test_a_snoozed_loop_wakes_with_the_first_turn_after_its_time():
    """A snoozed loop is open again as soon as a turn comes after the time it was snoozed to."""
    state = after(("I need to call the bank.", "Okay."))
    state = snooze_loop(state, "t1.1", 3 * MINUTE_MS, MINUTE_MS)
    early = apply_turn(state, turn(2, "Nice weather."), LANGUAGES)
    late = apply_turn(early, turn(3, "Nice weather again."), LANGUAGES)

    assert (early.open_loops[0].status, late.open_loops[0].status) == ("snoozed", "open")


def test_words_of_others_open_no_loops():
    """A forwarded message promises nothing in the user's name."""
    assert after(("I will call the bank tomorrow.", "Noted."), third_party=True).open_loops == ()


def test_of_an_authored_reply_only_its_own_words_promise_and_ask():
    """A reply that repeats somebody's promise and question makes neither the assistant's; its own do count."""
    said = "You said: “I'll send it tomorrow. Shall we go to Rome?”"
    silent = after(("What did I say?", said), authored="Okay.")
    asking = after(("What did I say?", f"{said} Shall I show more?"), authored="Okay. Shall I show more?")

    assert (silent.open_loops, silent.pending_clarifications, silent.status) == ((), (), "active")
    assert [pending.question for pending in asking.pending_clarifications] == ["Shall I show more?"]
    assert after(("What did I say?", said)) != silent


def test_a_forwarded_message_answers_no_question():
    """What somebody else wrote does not answer what the assistant asked the user."""
    state = after(("Book a table for Friday.", "For four or five people?"))
    state = apply_turn(state, turn(2, "Five.", "A nice message.", third_party=True), LANGUAGES)

    assert state.status == "awaiting_clarification"


def test_a_job_that_ended_is_forgotten():
    """A finished job is no longer active and "that task" does not mean it any more."""
    state = after(("Remind me to call Ana.", "I will."), job_refs=("job_1",))
    ended = end_job(state, "job_1")

    assert (state.active_job_refs, ended.active_job_refs) == (("job_1",), ())
    assert "job_1" not in ended.resolved_entities.values()
    assert end_job(ended, "job_1") is ended


def test_a_question_passed_over_stays_as_an_open_question():
    """A question of the assistant that nobody answers is first waited for, then kept as an open loop of the user."""
    state = after(
        ("I moved to a new flat.", "Congratulations! Which city is it in?"),
        ("By the way, what is 5 times 7?", "35."),
        ("And 6 times 7?", "42."),
        ("And 7 times 7?", "49."),
    )

    assert [(loop.kind, loop.owner) for loop in live_loops(state)] == [("question", "user")]
    assert state.status == "active"


def test_the_title_names_what_is_talked_about():
    """A session is named by the conversation's own words."""
    state = after(("Let's plan the Lisbon trip in May.", "The Lisbon trip sounds lovely."))

    assert "lisbon" in session_title(state).lower()
    assert session_title(new_state("s", "c")) == ""


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Hi there", "greeting"),
        ("Thank you!", "thanks"),
        ("yes", "confirm"),
        ("why?", "clarify"),
        ("What is the capital of Mongolia?", "question"),
        ("Please translate this into French.", "request"),
        ("Remind me tomorrow at nine to call Ana.", "reminder"),
        ("/start", "command"),
    ],
)
def test_the_intent_of_a_message(text, intent):
    """The signs of a turn say what the user's message does."""
    assert read_turn(new_state("s", "c"), text, "Okay.", LANGUAGES).intent == intent


def test_a_turn_that_is_taken_back_has_changed_nothing():
    """What it closed is open again, what it opened is dropped, and a job that it ended is at work again."""
    state = begin_job(after(("I need to call the bank tomorrow.", "Okay.")), "j_1")
    state = apply_turn(state, turn(2, "I called the bank. I need to buy cat food."), LANGUAGES)
    step = {"turn_id": "t2", "job_id": "j_1", "status": "done", "due_at_ms": 5, "was_status": "delivered"}
    state = keep_job_steps(end_job(state, "j_1"), [JobStep(**step)])
    assert texts(state) == ["I need to buy cat food."]

    state = undo(state, ["t2"])
    assert texts(state) == ["I need to call the bank tomorrow."]
    assert state.active_job_refs == ("j_1",)
    assert state.resolved_entities["that task"] == "j_1"


def test_all_that_one_turn_did_to_jobs_can_be_taken_back():
    """Also when it ended more than are kept of older turns, and something else was said since."""
    ended = [
        JobStep(turn_id="t2", job_id=f"j_{number}", status="cancelled", due_at_ms=5, was_status="scheduled")
        for number in range(MAX_JOB_STEPS + 5)
    ]
    older = JobStep(turn_id="t1", job_id="j", status="scheduled", due_at_ms=5)
    state = keep_job_steps(keep_job_steps(keep_job_steps(new_state("s", "c"), [older]), ended), [])

    assert list(state.job_steps) == ended
    assert len(keep_job_steps(state, [older]).job_steps) == MAX_JOB_STEPS
