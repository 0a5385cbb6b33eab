"""The end of work on an update: one transaction for the inbox, what is said, and whatever else changed (P2, P4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from bot.delivery.outbox import Message, Outbox, Part, Target
from bot.delivery.sender import Delivery, backoff_s
from bot.intake.inbox import Inbox
from bot.intake.updates import Envelope
from memory.errors import StorageUnavailable
from memory.ports import Database, Statement

log = structlog.get_logger(__name__)

_T = TypeVar("_T")


class Committer:
    """Commits, then delivers. Nothing is said that is not written down; nothing is finished that is not said."""

    def __init__(self, db: Database, inbox: Inbox, outbox: Outbox, delivery: Delivery) -> None:
        self._db = db
        self._inbox = inbox
        self._outbox = outbox
        self._delivery = delivery

    async def done(
        self, batch: Sequence[Envelope], messages: Sequence[Message], *effects: Statement, turn_id: str | None = None
    ) -> None:
        """Finish these updates and say this. Raises `Conflict` when they were finished already: nothing is said."""
        ends = [self._inbox.done(envelope) for envelope in batch]
        await self.write(Target.of(batch[-1]), messages, *ends, *effects, turn_id=turn_id)

    async def parked(self, batch: Sequence[Envelope], messages: Sequence[Message], reason: str, turn_id: str) -> None:
        """Let these updates wait for the user's word and say so."""
        ends = [self._inbox.park(envelope, turn_id, reason) for envelope in batch]
        await self.write(Target.of(batch[-1]), messages, *ends, turn_id=turn_id)

    async def quarantined(
        self, batch: Sequence[Envelope], messages: Sequence[Message], reason: str, turn_id: str | None
    ) -> None:
        """Take these updates out of the traffic for good and say so."""
        ends = [self._inbox.quarantine(envelope, reason) for envelope in batch]
        await self.write(Target.of(batch[-1]), messages, *ends, turn_id=turn_id)

    async def write(
        self, target: Target, messages: Sequence[Message], *effects: Statement, turn_id: str | None = None
    ) -> None:
        """Commit effects and messages as one, then hand the messages to delivery. Raises `Conflict`."""
        parts, rows = self.compose(target, messages, turn_id)
        await until_stored(lambda: self._db.write(*effects, *rows))
        self._delivery.deliver(parts)

    def compose(
        self, target: Target, messages: Sequence[Message], turn_id: str | None = None
    ) -> tuple[list[Part], list[Statement]]:
        """Return the parts of several messages and the statements that write them down."""
        composed = [self._outbox.compose(target, message, turn_id) for message in messages]
        return [p for parts, _ in composed for p in parts], [s for _, rows in composed for s in rows]


async def until_stored(write: Callable[[], Awaitable[_T]]) -> _T:
    """Try until the disk takes it (P10): an answer that was paid for is kept in memory and not made again (P4)."""
    tries = 0
    while True:
        try:
            return await write()
        except StorageUnavailable as exc:
            tries += 1
            log.error("waiting for storage", error=str(exc), tries=tries)  # noqa: TRY400 - expected, it says what to do
            await asyncio.sleep(backoff_s(tries))
