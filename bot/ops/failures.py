"""Messages that could not be answered: how many, in which chat, why, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bot.replies import ago, plural
from bot.turns.parked import GOES_ON, WAITS
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
    "Endless": ("the model called tools without end", "retry; if it repeats, choose another model"),
    "TooLong": ("the model's answer had no end", "retry; if it repeats, choose another model"),
    "CutOff": ("the model's answer was cut off at the provider's limit", "retry with a shorter request"),
    "Declined": ("the model's provider withheld the answer", "nothing can be done here"),
}


@dataclass(frozen=True, slots=True)
class FailedMessages:
    """Messages of one chat that failed for one reason."""

    conversation_id: str
    count: int
    since_ms: int
    error: str
    """As it was stored with them, e.g. `Status 401`."""

    @property
    def cause(self) -> str:
        """Why, for somebody who runs the bot."""
        return cause_of(self.error)[0]

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return cause_of(self.error)[1]


def cause_of(error: str) -> tuple[str, str]:
    """Why a message failed, and what to do.

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


async def read_failures(db: Database) -> tuple[FailedMessages, ...]:
    """The failures that wait for [Try again] or /retry, the latest first. Raises `StorageUnavailable`."""
    return tuple(_failure(row) for row in await db.read("ops_failures", waits=WAITS, goes_on=GOES_ON))


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
