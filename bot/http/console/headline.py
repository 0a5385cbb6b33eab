"""The one line about the state of the bot: red when people get no answers, amber when something needs a look. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.replies import ago, plural
from memory.text import shorten

Level = Literal["good", "warn", "bad"]

LATE_TIMES_TIMEOUT: Final = 2
"""A message that is not answered after twice the time that a model may be silent waits longer than it should."""
LATE_SENDING_MS: Final = 60_000
"""A private chat takes a message a second, a group twenty a minute: one that waits for a minute is held up."""
NAMED_CHATS: Final = 3
MINUTES_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Waiting:
    """Messages or parts of one chat in one state that is not the last one."""

    chat: str
    state: str
    """received, claimed, queued, sending or parked."""
    count: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Failures of one reason, in all chats together."""

    title: str
    """`2 messages failed: the model's provider refused the key`."""
    remedy: str
    chats: tuple[str, ...]
    latest_ms: int
    breaks: bool
    """False for failures that a limit means to bring about."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The parts of the headline."""

    now_ms: int
    problems: Sequence[str] = ()
    """Sentences about the faults that `/health` names."""
    failures: Sequence[Breakdown] = ()
    waiting: Sequence[Waiting] = ()
    answered_at_ms: int | None = None
    """Time of the last answer, None before the first."""
    took_ms: int = 0
    unread: str = ""
    """Cause of the last reading's failure; "" when it did not fail."""
    timeout_ms: int = 60_000
    """Longest silence of a model."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A level, one sentence, and further lines."""

    level: Level
    text: str
    more: tuple[str, ...] = ()


def headline(facts: Facts) -> Headline:
    """The worst trouble first.

    >>> headline(Facts(now_ms=0)).text
    'Running. Nobody has written yet.'
    """
    bad, warn = _bad(facts), _warn(facts)
    calm = [_waits(each, facts.now_ms) for each in facts.waiting if not _is_late(each, facts)]
    calm += [_failed(each) for each in facts.failures if not each.breaks]
    worst = [*bad, *warn]
    if not worst:
        return Headline("good", _well(facts), tuple(calm))
    return Headline("bad" if bad else "warn", worst[0], (*worst[1:], *calm))


def _bad(facts: Facts) -> list[str]:
    lines = [_sentence(each) for each in facts.problems]
    return lines + [f"{_failed(each)} {_sentence(each.remedy)}" for each in facts.failures if _is_now(each, facts)]


def _warn(facts: Facts) -> list[str]:
    lines = [f"{_waits(each, facts.now_ms)[:-1]}, longer than it should be." for each in facts.waiting
             if _is_late(each, facts)]  # fmt: skip
    over = [each for each in facts.failures if each.breaks and not _is_now(each, facts)]
    lines += [f"{_failed(each)} Answers have come since; what failed waits below." for each in over]
    if facts.unread:
        lines.append(f"The last reading for notes failed: {facts.unread}. It's tried again; answers don't wait for it.")
    return lines


def _is_now(failure: Breakdown, facts: Facts) -> bool:
    """Whether no answer has come since the failure."""
    return failure.breaks and (facts.answered_at_ms is None or failure.latest_ms >= facts.answered_at_ms)


def _is_late(waiting: Waiting, facts: Facts) -> bool:
    limits = {
        "received": LATE_TIMES_TIMEOUT * facts.timeout_ms,
        "claimed": LATE_TIMES_TIMEOUT * facts.timeout_ms,
        "queued": LATE_SENDING_MS,
        "sending": LATE_SENDING_MS,
    }
    return waiting.state in limits and facts.now_ms - waiting.since_ms > limits[waiting.state]


_STATES: Final = {
    "received": ("message", "waiting to be answered"),
    "claimed": ("message", "being answered"),
    "queued": ("answer", "waiting to be sent"),
    "sending": ("answer", "on the way to Telegram"),
    "parked": ("message", "waiting for the person's choice"),
}


def _waits(waiting: Waiting, now_ms: int) -> str:
    noun, what = _STATES[waiting.state]
    count = plural(waiting.count, noun)
    return f"{waiting.chat}: {count} {what} (for {_clock(now_ms - waiting.since_ms)})."


def _clock(elapsed_ms: int) -> str:
    """A length of time in words: `under a minute`, `3 minutes`, `2 hours`."""
    minutes = max(0, elapsed_ms) // 60_000
    if not minutes:
        return "under a minute"
    return plural(minutes, "minute") if minutes < MINUTES_SHOWN else plural(minutes // 60, "hour")


def _failed(failure: Breakdown) -> str:
    named = ", ".join(failure.chats[:NAMED_CHATS])
    more = f" and {len(failure.chats) - NAMED_CHATS} more" if len(failure.chats) > NAMED_CHATS else ""
    return f"{_sentence(failure.title)[:-1]} ({named}{more})."


def _sentence(text: str) -> str:
    text = shorten(text, 300).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _well(facts: Facts) -> str:
    if facts.answered_at_ms is None:
        return "Running. Nobody has written yet."
    when = ago(facts.now_ms - facts.answered_at_ms)
    return f"Answering. The last answer was made {when}, in {facts.took_ms / 1000:.1f} s."
