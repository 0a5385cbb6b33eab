"""The console's one line about the bot: green, amber or red, and true."""

from __future__ import annotations

import pytest

from bot.http.console.headline import Breakdown, Facts, Waiting, headline
from bot.joining.health import BotFault

MINUTE_MS = 60_000
NOW_MS = 100 * MINUTE_MS
KEY = Breakdown(
    "2 messages failed: the model's provider refused the key", "check the key", ("Sam",), NOW_MS, breaks=True
)
BUDGET = Breakdown("1 message held back: the tokens of today are used up", "wait", ("Sam",), NOW_MS, breaks=False)


def waits(state: str, minutes: int) -> Waiting:
    """A message or an answer of Sam's that has waited for so long."""
    return Waiting("Sam", state, 1, NOW_MS - minutes * MINUTE_MS)


def test_a_fault_is_said_without_the_word_by_which_programs_know_it():
    """A driver's own words stand behind what they are about."""
    assert BotFault("loop", "the bot stood still for 7.0 s").sentence == "the bot stood still for 7.0 s"
    assert (
        BotFault("storage", "disk is full").sentence
        == str(BotFault("storage", "disk is full"))
        == "storage: disk is full"
    )


@pytest.mark.parametrize(
    ("facts", "level", "text"),
    [
        (Facts(NOW_MS), "good", "Nobody has written yet"),
        (Facts(NOW_MS, answered_at_ms=NOW_MS, took_ms=3200), "good", "in 3.2 s"),
        (Facts(NOW_MS, problems=["storage: disk is full"], failures=[KEY]), "bad", "Storage: disk is full"),
        (Facts(NOW_MS, problems=["the bot stood still for 7.0 s"]), "bad", "The bot stood still for 7.0 s."),
        (Facts(NOW_MS, failures=[KEY], answered_at_ms=NOW_MS - 1), "bad", "refused the key (Sam). Check the key."),
        (Facts(NOW_MS, failures=[KEY], answered_at_ms=NOW_MS + 1), "warn", "Answers have come since"),
        (Facts(NOW_MS, failures=[BUDGET], answered_at_ms=NOW_MS - 1), "good", "Answering."),
        (Facts(NOW_MS, waiting=[waits("claimed", 1)]), "good", "Running."),
        (
            Facts(NOW_MS, waiting=[waits("claimed", 3)]),
            "warn",
            "answered (for 3 minutes), longer than it should be",
        ),
        (Facts(NOW_MS, waiting=[waits("queued", 2)]), "warn", "waiting to be sent"),
        (Facts(NOW_MS, waiting=[waits("parked", 90)]), "good", "Running."),
        (Facts(NOW_MS, unread="the model's provider refused the key"), "warn", "reading for notes failed"),
    ],
)
def test_the_worst_is_said_first_and_in_its_colour(facts, level, text):
    """Red when people get no answers, amber when something needs a look; a choice or a limit is neither."""
    found = headline(facts)

    assert found.level == level
    assert text in found.text


def test_what_waits_for_a_choice_is_told_below():
    """Nobody is called for it, and it is not forgotten either."""
    assert headline(Facts(NOW_MS, waiting=[waits("parked", 3)])).more == (
        "Sam: 1 message waiting for the person's choice (for 3 minutes).",
    )


def test_nothing_is_said_to_go_out_while_it_fails():
    """A reading that failed beside messages that fail makes no line that contradicts the red one."""
    found = headline(Facts(NOW_MS, failures=[KEY], unread="the model's provider refused the key"))

    assert found.level == "bad"
    assert not [line for line in found.more if "go out" in line]
