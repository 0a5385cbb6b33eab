"""Which messages without an answer go along with the next one of their person, and what the model is told of them."""

from __future__ import annotations

import pytest

from bot.intake.inbox import GOES_ON, INTERRUPTED, WAITS
from bot.intake.updates import Envelope
from bot.turns.steps.unanswered import APART_MS, MOST_AGE_MS, MOST_TRIES, goes_along, is_of_this_talk, written_before

HOUR_MS = 3_600_000


def envelope(text: str, sent_at_ms: int, message_id: int) -> Envelope:
    return Envelope(
        1, message_id, "tg:1:7:0", 7, None, private=True, kind="text", text=text, message_id=message_id,
        sent_at_ms=sent_at_ms,
    )  # fmt: skip


@pytest.mark.parametrize(
    "reason",
    ["Status 500", "Status 401", "Status 429", "ModelHTTPError 503", "TimeoutError", "BrokenOff", "Garbage", "NoKey",
     "it did not begin in time", "the person has had all turns of this minute", INTERRUPTED],
)  # fmt: skip
def test_a_message_goes_along_when_the_way_to_the_model_failed(reason):
    """Out of reach, too late, too busy, a limit, a death: the words themselves may be answered."""
    assert goes_along(reason)


@pytest.mark.parametrize(
    "reason",
    ["Declined", "CutOff", "TooLong", "Endless", "Refused", "Status 400", "Status 403", "Status 413", "unreachable",
     "away: 503", WAITS, GOES_ON],
)  # fmt: skip
def test_a_message_waits_that_would_fail_again_or_has_a_question(reason):
    """Declined for itself, too long, without its file, or waiting at the gate: the next one is answered alone."""
    assert not goes_along(reason)


def test_a_message_holds_up_others_three_times_at_most():
    """It may be the one that no answer comes to; not so where no message can be the cause."""
    assert goes_along("TimeoutError", tries=MOST_TRIES - 1)
    assert not goes_along("TimeoutError", tries=MOST_TRIES)
    assert goes_along("Status 503", tries=99)


def test_a_message_of_the_day_before_waits():
    """What it was about may be over."""
    assert goes_along("Status 503", age_ms=MOST_AGE_MS)
    assert not goes_along("Status 503", age_ms=MOST_AGE_MS + 1)


@pytest.mark.parametrize(
    ("origins", "received_at", "goes"),
    [
        (["first"], 5, True),
        (["gap", "first"], 5, True),
        (["fresh", "first"], 5, False),
        (["fresh", "first"], 15, True),
        (["gap", "fresh", "first"], 5, False),
        (["private", "first"], 15, True),
        (["gap", "private"], 5, False),
        ([], 5, True),
    ],
)
def test_a_message_stays_on_its_side_of_a_clean_start(origins, received_at, goes):
    """Sessions begin every ten milliseconds, the last stands first and is the current one."""
    last = len(origins) - 1
    starts = [
        {"session_id": f"s{last - n}", "origin": origin, "created_at_ms": 10 * (last - n)}
        for n, origin in enumerate(origins)
    ]

    assert is_of_this_talk(received_at, starts, f"s{last}") is goes


def test_a_message_of_hours_ago_is_told_with_its_time():
    """“In an hour” counts from when it was written; those that came together need no time."""
    old, new = envelope("back in an hour", HOUR_MS, 1), envelope("hello?", 3 * HOUR_MS, 3)
    close = envelope("are you there", 3 * HOUR_MS - APART_MS + 1, 2)

    [line] = written_before([old, close, new], "UTC")

    assert line.startswith("“back in an hour” was written on Thu 1 Jan 01:00")
