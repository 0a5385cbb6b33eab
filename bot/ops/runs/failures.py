"""Messages that could not be answered: their chat, the cause and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.intake.fields import as_object, as_text
from bot.intake.inbox import GOES_ON, INTERRUPTED, WAITS
from bot.intake.raw_json import Malformed, TooDeep, read_json
from bot.people.spending import TOO_FAST, USED_UP
from bot.replies import ago, plural
from memory.ports import Database, Row

_STATUS: Final = re.compile(r"Status (\d{3})")
_BUSY: Final = 429
_OUT_OF_ORDER: Final = 500
_REFUSED: Final = {
    400: ("the model's provider did not understand the request", "look at its log line, and at CONTINUITY_MODEL"),
    401: ("the model's provider refused the key", "check the key; `doctor --live` tries it"),
    402: ("the account at the model's provider is empty", "top it up, then retry"),
    403: ("the model's provider refused the key", "check the key and what it may use; `doctor --live` tries it"),
    404: ("the model's provider does not know this model", "check the name in CONTINUITY_MODEL"),
    408: ("the model's provider took too long", "retry; nothing else is wrong here"),
    413: ("the message is too long for the model", "choose a model that takes more, or set CONTINUITY_CONTEXT_TOKENS"),
    _BUSY: ("the model's provider has too many requests", "wait, or raise the limit there"),
}
_NAMED: Final = {
    "NoKey": ("the model's key is not set", "set it and start again; `doctor` names the variable"),
    "BrokenOff": ("the model's answer broke off", "retry; if it repeats, look at the network"),
    "Garbage": ("the model answered what makes no sense", "retry; if it repeats, choose another model"),
    "TimeoutError": ("the model fell silent for too long", "retry; if it repeats, look at CONTINUITY_MODEL_TIMEOUT_S"),
    "Error": ("the model's provider broke off with an error", "retry; if it repeats, look at its own status page"),
    "Refused": ("the model's provider refused the request", "look at the log"),
    "ContractBroken": (
        "the model did not answer as a keeper of notes has to", "name a stronger one in CONTINUITY_MEMORY_MODEL"
    ),
    "Endless": ("the model called tools without end", "retry; if it repeats, choose another model"),
    "TooLong": ("the model's answer had no end", "retry; if it repeats, choose another model"),
    "CutOff": ("the model's answer was cut off at the provider's limit", "retry with a shorter request"),
    "Declined": ("the model's provider withheld the answer", "nothing can be done here"),
    "it did not begin in time": (
        "the model did not begin to answer in time", "retry; if it repeats, look at CONTINUITY_MODEL_TIMEOUT_S"
    ),
    USED_UP: (
        "the person has used up today's tokens", "nothing is broken; raise the limit, or wait for tomorrow"
    ),
    TOO_FAST: (
        "the person wrote faster than the limit allows", "nothing is broken; retry"
    ),
    "unreachable": ("a file could not be fetched from Telegram", "retry"),
}  # fmt: skip
NOT_BROKEN: Final = frozenset(name for name in _NAMED if name.startswith("the person"))
"""Failures that a limit means to bring about."""
LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class FailedMessages:
    """Messages of one chat that failed for one reason."""

    conversation_id: str
    count: int
    since_ms: int
    error: str

    @property
    def cause(self) -> str:
        """Why they failed, for somebody who runs the bot."""
        return cause_of(self.error)[0]

    @property
    def remedy(self) -> str:
        """Advice about it."""
        return cause_of(self.error)[1]


def cause_of(error: str) -> tuple[str, str]:
    """The cause of a failed message, and the remedy.

    >>> cause_of("Status 401")[0]
    "the model's provider refused the key"
    """
    if found := _STATUS.match(error):
        code = int(found[1])
        if code >= _OUT_OF_ORDER:
            return f"the model's provider is out of order ({code})", "wait, then retry"
        return _REFUSED.get(code, (f"the model's provider refused the request ({code})", "look at the log"))
    name = error.partition(":")[0].strip()
    return _NAMED.get(name, (f"the model could not be reached ({error or 'no reason known'})", "look at the log"))


@dataclass(frozen=True, slots=True)
class FailedMessage:
    """One message, of one update or of several, that waits for [Try again], /retry or the operator."""

    turn_id: str
    conversation_id: str
    text: str
    """Its words; "" when they cannot be read."""
    error: str
    since_ms: int


def _marks() -> dict[str, str]:
    """Marks of messages that wait for the person's choice: nothing failed."""
    return {"waits": WAITS, "goes_on": GOES_ON, "interrupted": INTERRUPTED}


async def list_failed(db: Database) -> list[FailedMessage]:
    """The messages that failed one by one, the latest first, of at most 200 updates. Raises `StorageUnavailable`."""
    found: dict[str, FailedMessage] = {}
    for row in await db.read("ops_failed_messages", limit=LISTED, **_marks()):
        turn_id, text = row["turn_id"] or "", words_in(row["payload"])
        if later := found.get(turn_id):
            text = "\n".join(filter(None, (text, later.text)))
        found[turn_id] = FailedMessage(
            turn_id, row["conversation_id"] or "", text, row["error"] or "", row["received_at_ms"]
        )
    return list(found.values())


async def list_waiting(db: Database) -> Sequence[Row]:
    """Messages under way or waiting for a choice, parts that are not sent yet: chat, state, count, since when.

    The oldest first. Raises `StorageUnavailable`.
    """
    return await db.read("ops_waiting", **_marks())


def words_in(payload: str) -> str:
    """The words of a message as it came in; "" when it has none or cannot be read."""
    try:
        raw = as_object(read_json(payload))
    except (Malformed, TooDeep):
        return ""
    named = (as_object(raw.get(name)) for name in ("message", "edited_message", "local_message"))
    return next((text for each in named if (text := as_text(each.get("text")) or as_text(each.get("caption")))), "")


async def read_failures(db: Database) -> tuple[FailedMessages, ...]:
    """The failures that wait for [Try again] or /retry, the latest first. Raises `StorageUnavailable`."""
    return tuple(_failure(row) for row in await db.read("ops_failures", **_marks()))


def _failure(row: Row) -> FailedMessages:
    return FailedMessages(row["conversation_id"] or "", row["n"], row["since_ms"], row["error"] or "")


def in_words(failures: Iterable[FailedMessages], now_ms: int) -> tuple[str, ...]:
    """Each cause once, over all chats: `2 messages failed since 3 minutes ago: …. …`."""
    by_error: dict[str, list[FailedMessages]] = {}
    for failure in failures:
        by_error.setdefault(failure.error, []).append(failure)
    lines = []
    for found in by_error.values():
        count = plural(sum(each.count for each in found), "message")
        since = ago(now_ms - min(each.since_ms for each in found))
        lines.append(f"{count} failed (the first {since}): {found[0].cause}; {found[0].remedy}")
    return tuple(lines)
