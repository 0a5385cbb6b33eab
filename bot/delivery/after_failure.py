"""The step after a call that failed: again, a probe, or nothing more (P5). Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from telegram.error import ChatMigrated, RetryAfter, TelegramError

from bot.delivery.outbox import Part
from bot.delivery.telegram_calls import Failure

MAX_ATTEMPTS = 12
"""Calls for one part before it is given up; with the back-off that is about five minutes of outage."""

_REFUSALS = (Failure.REFUSED, Failure.NO_TOPIC, Failure.NO_ORIGINAL)


def backoff_s(attempts: int) -> float:
    """Return how long to wait before the next try, in seconds: 1, 2, 4 … 60."""
    return float(min(60, 2 ** min(attempts, 6) // 2 or 1))


@dataclass(frozen=True, slots=True)
class Next:
    """The step for a part after a call that failed."""

    action: Literal["again", "probe", "give_up", "done"]
    wait_s: float = 0.0
    part: Part | None = None
    """The part to go on with, when it has changed."""


def after_failure(part: Part, failure: Failure, error: TelegramError) -> Next:  # noqa: PLR0911 - a table of cases
    """Decide how to go on after a failed call (DESIGN sections 4 and 6)."""
    if failure is Failure.WAIT and isinstance(error, RetryAfter):
        return Next("again", wait_s=retry_after_s(error))
    if failure is Failure.NOT_SENT:
        return Next("again", wait_s=backoff_s(part.attempts))
    if failure is Failure.UNCHANGED:
        return Next("done")
    if failure is Failure.NOT_FOUND and part.edits_message_id is not None:
        return Next("probe" if part.attempts > 1 else "again", part=replace(part, edits_message_id=None))
    if failure is Failure.MIGRATED and isinstance(error, ChatMigrated):
        return Next("again", part=replace(part, chat_id=error.new_chat_id))
    if failure in _REFUSALS and (other := _otherwise(part, failure)):
        return Next("again", part=other)
    if failure is Failure.MAYBE_SENT and part.attempts < MAX_ATTEMPTS:
        return Next("probe", wait_s=backoff_s(part.attempts))
    return Next("give_up")


def _otherwise(part: Part, failure: Failure) -> Part | None:
    """Return a refused part as Telegram may take it, None when nothing is left to try."""
    if failure is Failure.NO_TOPIC and part.thread_id is not None:  # the place is gone, the people are not
        return replace(part, thread_id=None, reply_to_message_id=None)
    if failure is Failure.NO_ORIGINAL and part.reply_to_message_id is not None:
        return replace(part, reply_to_message_id=None)
    plainer = _plainer(part)
    if plainer is None and part.edits_message_id is not None:
        return replace(part, edits_message_id=None)
    return plainer


def _plainer(part: Part) -> Part | None:
    """Return a refused part with less around its text: no entities, no options, no buttons; None for bare text."""
    if part.entities:
        return replace(part, entities=())
    if not part.bare:
        return replace(part, bare=True)
    return replace(part, markup=None) if part.markup else None


def retry_after_s(error: RetryAfter) -> float:
    """Return the seconds that Telegram asks to wait."""
    wait = error.retry_after
    return wait.total_seconds() if isinstance(wait, timedelta) else float(wait)
