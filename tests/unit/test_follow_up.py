"""A promise for a certain time is kept as a reminder; errands end with their day; an offer swallows nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.answers.follow_up import with_follow_ups
from bot.answers.responder import Answer, Ask
from bot.reminders.rules import FOLLOW_UP, Reminder, reminder_text
from memory.language.languages import Languages
from memory.state.state_manager import apply_turn, live_loops, new_state
from memory.types import ConversationContextPacket, ConversationTurn

LANGUAGES = Languages.load()
NOW_MS = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000


def asked(text="Could you check the trains?"):
    packet = ConversationContextPacket(
        conversation_id="c", session_id="s", session_status="active", context_compiled_at_ms=NOW_MS
    )
    return Ask("t1", "tg:1:2:0", 2, "Ada", text, new_state("s", "c"), packet, "", "Europe/Berlin", NOW_MS)


def said(state, text, reply="Noted.", at_ms=NOW_MS):
    turn = ConversationTurn(
        turn_id=f"t{state.last_seq + 1}", session_id="s", conversation_id="c", seq=state.last_seq + 1, user_text=text,
        assistant_text=reply, language="en", created_at_ms=at_ms,
    )  # fmt: skip
    return apply_turn(state, turn, LANGUAGES)


def test_a_promise_with_a_time_becomes_a_job():
    """Due when it was promised, by the person's clock; the same turn makes it once."""
    answer = with_follow_ups(asked(), Answer("I'll check the trains tomorrow at 9 and let you know."), LANGUAGES)
    (made,) = [effect.params for effect in answer.effects]

    assert (made["kind"], made["due_at_ms"]) == (FOLLOW_UP, NOW_MS + 20 * HOUR)
    assert (
        with_follow_ups(asked(), Answer("I'll check the trains tomorrow at 9."), LANGUAGES).effects[0].params["job_id"]
        == made["job_id"]
    )


@pytest.mark.parametrize(
    "reply",
    [
        "The train leaves tomorrow at 9.",
        "Shall I check tomorrow at 9?",
        "I'll check it.",
        "You need to be there at 9 tomorrow.",
    ],
)
def test_what_is_no_promise_with_a_time_makes_no_job(reply):
    """Facts, offers, promises without a time."""
    assert with_follow_ups(asked(), Answer(reply), LANGUAGES).effects == ()


def test_an_answer_that_set_a_reminder_makes_no_second_one():
    """The model's tool has done it."""
    answer = Answer("I'll remind you tomorrow at 9.", job_refs=("j1",))

    assert with_follow_ups(asked(), answer, LANGUAGES) is answer


def test_a_follow_up_says_what_it_is():
    """It is told from a reminder that was asked for."""
    reminder = Reminder("j", "tg:1:2:0", "s", 2, FOLLOW_UP, "I'll check the trains", "scheduled", NOW_MS, "UTC")

    assert reminder_text(reminder, NOW_MS).startswith("🔔 As promised")


def test_an_errand_ends_when_its_day_is_long_over():
    """Nobody spoke of it again: two days later it is not open any more; a date far ahead stays open."""
    state = said(new_state("s", "c"), "I need to buy milk today.")
    state = said(state, "I need to renew my passport by 12 December.")
    later = said(state, "What a day.", at_ms=NOW_MS + 50 * HOUR)
    much_later = said(state, "What a day.", at_ms=NOW_MS + 40 * 24 * HOUR)

    assert [loop.text for loop in live_loops(later)] == ["I need to renew my passport by 12 December."]
    assert [loop.text for loop in live_loops(much_later)] == ["I need to renew my passport by 12 December."]


def test_an_offer_is_answered_by_yes_or_no_only():
    """Whatever else is said next is a message of its own."""
    state = said(new_state("s", "c"), "I am planning a trip to Rome.", "Nice! Would you like me to look for hotels?")
    assert state.pending_clarifications

    other = said(state, "My sister works at Siemens in Munich.")
    assert other.pending_clarifications
    assert not said(state, "Yes please").pending_clarifications
