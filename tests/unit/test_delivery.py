"""Delivery decides: what a failure means, how long to wait, whether a part is proven unsent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    PassportDecryptionError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from bot.delivery.after_failure import after_failure, backoff_s
from bot.delivery.message_ids import HighestMessageIds, scope_of
from bot.delivery.outbox import Part
from bot.delivery.probe import proven_unsent
from bot.delivery.rate_limit import RateLimiter, RateLimits
from bot.delivery.telegram_calls import Failure, classify
from bot.intake.telegram_request import NotSent

PART = Part(
    part_id="o_1", bot_id=9, conversation_id="c", chat_id=7, thread_id=None, position=1, turn_id="t_1", part_no=0,
    kind="reply", text="hello", attempts=1,
)  # fmt: skip


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (TimedOut(), Failure.MAYBE_SENT),
        (caused(TimedOut(), NotSent()), Failure.NOT_SENT),
        (caused(NetworkError("x"), NotSent()), Failure.NOT_SENT),
        (caused(NetworkError("x"), ConnectionError()), Failure.MAYBE_SENT),
        (NetworkError("Bad Gateway"), Failure.MAYBE_SENT),
        (TelegramError("Invalid server response"), Failure.MAYBE_SENT),
        (RetryAfter(3), Failure.WAIT),
        (Forbidden("bot was blocked by the user"), Failure.BLOCKED),
        (BadRequest("Chat not found"), Failure.BLOCKED),
        (ChatMigrated(-100200), Failure.MIGRATED),
        (BadRequest("Message is not modified: specified new message content"), Failure.UNCHANGED),
        (BadRequest("Message to edit not found"), Failure.NOT_FOUND),
        (BadRequest("Message can't be edited"), Failure.NOT_FOUND),
        (BadRequest("Message is too long"), Failure.REFUSED),
        (BadRequest("Can't parse entities: unsupported"), Failure.REFUSED),
        (BadRequest("BUTTON_DATA_INVALID"), Failure.REFUSED),
        (BadRequest("Message thread not found"), Failure.NO_TOPIC),
        (BadRequest("TOPIC_CLOSED"), Failure.NO_TOPIC),
        (BadRequest("Message to be replied not found"), Failure.NO_ORIGINAL),
        (BadRequest("not enough rights to send text messages to the chat"), Failure.BLOCKED),
        (BadRequest("have no rights to send a message"), Failure.BLOCKED),
        (BadRequest("CHAT_WRITE_FORBIDDEN"), Failure.BLOCKED),
        (Conflict("terminated by other getUpdates request"), Failure.MAYBE_SENT),
        (InvalidToken(), Failure.NOT_SENT),
        (EndPointNotFound("no such method"), Failure.REFUSED),
        (PassportDecryptionError("x"), Failure.REFUSED),
    ],
)
def test_an_error_says_what_became_of_the_message(error, failure):
    """Only errors before the request left are "surely not sent"."""
    assert classify(error) is failure


def test_the_next_step_after_each_failure():
    """Maybe sent is probed, a wait is kept exactly, the refused comes plainer, a lost edit becomes a message."""
    edit = replace(PART, edits_message_id=5)
    bold = replace(PART, entities=({"type": "bold", "offset": 0, "length": 1},))

    assert after_failure(PART, Failure.MAYBE_SENT, TelegramError("x")).action == "probe"
    assert after_failure(replace(PART, attempts=12), Failure.MAYBE_SENT, TelegramError("x")).action == "give_up"
    assert after_failure(PART, Failure.WAIT, RetryAfter(7)).wait_s == 7
    assert after_failure(bold, Failure.REFUSED, BadRequest("x")).part.entities == ()
    assert after_failure(PART, Failure.REFUSED, BadRequest("x")).part.bare
    with_buttons = replace(PART, bare=True, markup={"inline_keyboard": [[]]})
    assert after_failure(replace(PART, bare=True), Failure.REFUSED, BadRequest("x")).action == "give_up"
    assert after_failure(with_buttons, Failure.REFUSED, BadRequest("x")).part.markup is None
    assert after_failure(edit, Failure.NOT_FOUND, BadRequest("x")).part.edits_message_id is None
    assert after_failure(replace(edit, bare=True), Failure.REFUSED, BadRequest("x")).part.edits_message_id is None
    assert after_failure(edit, Failure.UNCHANGED, BadRequest("x")).action == "done"
    topic, quoting = replace(PART, thread_id=3, reply_to_message_id=4), replace(PART, reply_to_message_id=4)
    assert after_failure(topic, Failure.NO_TOPIC, BadRequest("x")).part == PART
    assert after_failure(quoting, Failure.NO_ORIGINAL, BadRequest("x")).part == PART
    bare = replace(PART, bare=True)
    assert after_failure(bare, Failure.NO_TOPIC, BadRequest("x")).action == "give_up"
    assert after_failure(bare, Failure.NO_ORIGINAL, BadRequest("x")).action == "give_up"
    assert after_failure(PART, Failure.MIGRATED, ChatMigrated(-100200)).part.chat_id == -100200


def test_a_part_is_proven_unsent_only_within_the_probed_ids():
    """When more ids were given out than were probed, or none was known, nothing is proven."""
    marked = replace(PART, after_message_id=100)

    assert proven_unsent(marked, top=105, reach=12)
    assert not proven_unsent(marked, top=112, reach=12)
    assert not proven_unsent(marked, top=100, reach=0)
    assert not proven_unsent(PART, top=5, reach=12)


def test_private_chats_share_a_counter_and_supergroups_do_not():
    """Message ids of one bot's private chats and small groups come from one counter."""
    water = HighestMessageIds()
    water.saw(7, 10)
    water.saw(-1001234567890, 5000)
    water.saw(8, 9)

    assert (water.top(8), water.top(-55), water.top(-1001234567890)) == (10, 10, 5000)
    assert scope_of(-1009999999999) == -1009999999999
    assert water.top(-1001111111111) is None


def test_the_back_off_grows_and_has_an_end():
    """1, 1, 2, 4 … at most a minute."""
    assert [backoff_s(tries) for tries in range(9)] == [1, 1, 2, 4, 8, 16, 32, 32, 32]


def test_a_private_chat_gets_a_burst_and_then_one_message_a_second():
    """Three go at once, the fourth waits for its second; another chat does not, and rest fills the burst again."""
    pace = RateLimiter()
    for _ in range(3):
        assert pace.wait_s(7, 100.0) == 0
        pace.sent(7, 100.0)

    assert pace.wait_s(7, 100.25) == 0.75
    assert pace.wait_s(8, 100.25) == 0
    assert pace.wait_s(7, 101.0) == 0
    pace.sent(7, 101.0)
    assert pace.wait_s(7, 101.5) == 0.5
    assert pace.wait_s(7, 102.0) == 0
    assert [pace.sent(7, 200.0) or pace.wait_s(7, 200.0) for _ in range(4)] == [0, 0, 1, 2]


def test_a_group_gets_twenty_messages_a_minute():
    """The twenty-first waits until the first is a minute old."""
    pace = RateLimiter()
    for number in range(20):
        pace.sent(-5, 100.0 + number)

    assert pace.wait_s(-5, 121.0) == 39.0
    assert pace.wait_s(-6, 121.0) == 0


def test_thirty_messages_a_second_over_all():
    """All chats together wait when the second is full."""
    pace = RateLimiter()
    for chat_id in range(1, 31):
        pace.sent(chat_id, 100.0)

    assert pace.wait_s(99, 100.5) == 0.5


@pytest.mark.parametrize("workers", [1, 2, 4, 7])
def test_thirty_messages_a_second_over_all_workers(workers):
    """Each sends its part: together they never send more, and hardly less."""
    sent = 0
    for pace in [RateLimiter() for _ in range(workers)]:
        pace.workers = workers
        while pace.wait_s(chat_id := sent + 1, 100.0) == 0:
            pace.sent(chat_id, 100.0)
            sent += 1

    assert 30 - workers < sent <= 30


def test_a_stall_holds_only_its_chat():
    """A 429 names one chat's waiting time."""
    pace = RateLimiter(RateLimits(private_gap_s=0))
    pace.stall(7, 105.0)

    assert (pace.wait_s(7, 100.0), pace.wait_s(8, 100.0)) == (5.0, 0.0)
