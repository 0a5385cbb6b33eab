"""Open loops: what a turn opens, touches, closes, and how their number is kept small."""

import pytest

from memory.language.intents import read_sentences
from memory.language.languages import Languages
from memory.language.sentences import plain_sentence
from memory.state.loops import MAX_CLOSED, MAX_OPEN, LoopDraft, Moment, add, asks_back, bounded, closed, defers
from memory.state.state_manager import apply_turn, live_loops, new_state
from memory.types import ConversationTurn

LANGUAGES = Languages.load()
ENGLISH = LANGUAGES.get("en")
MINUTE_MS = 60_000


def draft(text, **overrides):
    values = {"kind": "task", "owner": "user", "sentence": plain_sentence(text, ENGLISH)}
    return LoopDraft(**(values | overrides))


def talk(*say, language="en", **overrides):
    state = new_state("s", "c")
    for seq, (user, assistant) in enumerate(zip(say[::2], say[1::2], strict=True), 1):
        values = {
            "turn_id": f"t{seq}",
            "session_id": "s",
            "conversation_id": "c",
            "seq": seq,
            "user_text": user,
            "assistant_text": assistant,
            "language": language,
            "created_at_ms": seq * MINUTE_MS,
        }
        state = apply_turn(state, ConversationTurn(**(values | overrides)), LANGUAGES)
    return state


def test_loop_ids_are_the_turn_and_a_counter():
    """Two matters of one turn are `<turn_id>.1` and `<turn_id>.2`."""
    loops = add((), [draft("Buy milk"), draft("Call the bank")], Moment("t7", 7, 0), ENGLISH)

    assert [loop.loop_id for loop in loops] == ["t7.1", "t7.2"]


def test_a_matter_that_is_open_is_not_opened_twice():
    """The same matter said again only touches its loop."""
    loops = add((), [draft("I need to call the dentist")], Moment("t1", 1, 10), ENGLISH)
    loops = add(loops, [draft("I still have to call the dentist")], Moment("t2", 2, 20), ENGLISH)

    assert [(loop.loop_id, loop.touched_at_ms) for loop in loops] == [("t1.1", 20)]


def test_the_number_of_loops_is_bounded():
    """At most twelve live loops and eight that ended are kept, the ones touched last."""
    loops = ()
    for n in range(40):
        loops = add(loops, [draft(f"Read chapter{n} of volume{n}")], Moment(f"t{n}", n, n), ENGLISH)
    ended = tuple(closed(loop.model_copy(update={"loop_id": f"x{i}"}), "done", i, None) for i, loop in enumerate(loops))

    kept = bounded((*loops, *ended))

    assert [loop.loop_id for loop in loops] == [f"t{n}.1" for n in range(40 - MAX_OPEN, 40)]
    assert len({loop.loop_id for loop in kept if loop.status == "done"}) == MAX_CLOSED


def test_a_due_day_is_kept_with_the_loop():
    """A day said with a promise is its due date, counted from the time of the turn."""
    (loop,) = talk("I'll send the offer tomorrow.", "Fine.").open_loops

    assert loop.due_at_ms is not None
    assert loop.due_at_ms > loop.opened_at_ms


def test_a_job_takes_the_place_of_a_loop():
    """What a job will do is not an open loop of the assistant as well."""
    state = talk("Remind me to call Ana.", "I'll remind you.", job_refs=("job_1",))

    assert state.open_loops == ()
    assert state.active_job_refs == ("job_1",)
    assert state.resolved_entities["that task"] == "job_1"


def test_a_yes_to_did_you_closes_the_matter():
    """When the assistant asks whether it is done, "yes" closes it."""
    state = talk("I have to clean the garage.", "Okay.", "hi", "Hi! Did you clean the garage?", "yes", "Great!")

    assert live_loops(state) == ()


def test_a_report_about_something_else_closes_nothing():
    """A report closes what it names and nothing else."""
    state = talk("I need to call Ana.", "Okay.", "I called Tom yesterday.", "How is he?")

    assert [loop.text for loop in live_loops(state)] == ["I need to call Ana."]


def test_a_story_that_shares_a_word_closes_nothing():
    """Something that happened with Ana last year is not the call that is still to be made."""
    state = talk("I need to call Ana.", "Okay.", "I went to Paris with Ana last summer.", "How was it?")

    assert len(live_loops(state)) == 1


def test_a_promise_with_cancel_in_it_is_not_called_off():
    """A promise to cancel something opens a matter; it does not drop one."""
    state = talk("I need to pay the order.", "Okay.", "I must cancel the subscription.", "Okay.")

    assert len(live_loops(state)) == 2


def test_an_answer_that_ends_with_a_question_is_an_answer():
    """Only a question in place of an answer leaves the matter open."""
    answered = read_sentences("The museum opens at ten on Sundays and closes at six. Shall I book tickets?", ENGLISH)
    asked = read_sentences("Sure, for which day?", ENGLISH)

    assert not asks_back(answered, ENGLISH)
    assert asks_back(asked, ENGLISH)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I don't know, let me check.", True),
        ("I'll look into it and get back to you.", True),
        ("It opens at ten.", False),
        ("Should I check that for you?", False),
    ],
)
def test_a_reply_that_puts_off(reply, expected):
    """Putting off is a promise to look, or not knowing; an offer is not."""
    assert defers(read_sentences(reply, ENGLISH), ENGLISH) is expected


def test_a_failed_turn_leaves_the_request_open():
    """When the assistant refuses or fails, what was asked stays open."""
    state = talk("Translate my letter.", "Something went wrong.", response_type="error")

    assert [(loop.kind, loop.owner) for loop in live_loops(state)] == [("request", "assistant")]
