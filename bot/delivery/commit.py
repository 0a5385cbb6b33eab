"""The end of work on an update: one transaction for the inbox, the messages and all other changes (P2, P4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from bot.delivery.outbox import Outbox, OutgoingMessage, Part, Target
from bot.delivery.sender import Delivery
from bot.delivery.storing import until_stored
from bot.intake.inbox import Inbox
from bot.intake.updates import Envelope
from bot.pauses import FULL, Pauses
from memory.errors import StorageDamaged, StorageUnavailable
from memory.ports import Database, Statement

_T = TypeVar("_T")


PATIENCE_S = 20.0
"""So long a refusing disk is waited for before the person hears of it."""


class PatienceEnded(StorageUnavailable):
    """Refused for as long as anybody waits: to wait for the same again would only be to wait twice."""


class Committer:
    """Commits, then delivers. Nothing is said that is not written down; nothing is finished that is not said."""

    def __init__(
        self,
        db: Database,
        inbox: Inbox,
        outbox: Outbox,
        delivery: Delivery,
        *,
        patience_s: float = PATIENCE_S,
        pauses: Pauses = FULL,
    ) -> None:
        self._db = db
        self._inbox = inbox
        self._outbox = outbox
        self._delivery = delivery
        self._patience_s = patience_s
        self._pauses = pauses

    async def done(
        self,
        batch: Sequence[Envelope],
        messages: Sequence[OutgoingMessage],
        *effects: Statement,
        turn_id: str | None = None,
    ) -> None:
        """Finish these updates and say this. Raises `Conflict` when they were finished already: nothing is said."""
        ends = [self._inbox.done(envelope) for envelope in batch]
        await self.write(Target.of(batch[-1]), messages, *ends, *effects, turn_id=turn_id)

    async def parked(
        self,
        batch: Sequence[Envelope],
        messages: Sequence[OutgoingMessage],
        reason: str,
        turn_id: str,
        effects: Sequence[Statement] = (),
    ) -> None:
        """Let these updates wait for the user's word, and tell the user."""
        ends = [*effects, *(self._inbox.park(envelope, turn_id, reason) for envelope in batch)]
        await self.write(Target.of(batch[-1]), messages, *ends, turn_id=turn_id)

    async def quarantined(
        self,
        batch: Sequence[Envelope],
        messages: Sequence[OutgoingMessage],
        reason: str,
        turn_id: str | None,
        effects: Sequence[Statement] = (),
    ) -> None:
        """Take these updates out of the traffic for good, and tell the user."""
        ends = [*effects, *(self._inbox.quarantine(envelope, reason) for envelope in batch)]
        await self.write(Target.of(batch[-1]), messages, *ends, turn_id=turn_id)

    async def write(
        self, target: Target, messages: Sequence[OutgoingMessage], *effects: Statement, turn_id: str | None = None
    ) -> None:
        """Commit effects and messages as one, then hand the messages to delivery. Raises as `say` does."""
        await self.say(target, messages, lambda *rows: self._db.write(*effects, *rows), turn_id=turn_id)

    async def say(
        self,
        target: Target,
        messages: Sequence[OutgoingMessage],
        store: Callable[..., Awaitable[_T]],
        *,
        turn_id: str | None = None,
    ) -> _T:
        """Let `store(*rows)` commit the rows of these messages together with its own, then hand them to delivery.

        Returns the result of `store`. Raises `Conflict`, or `StorageUnavailable` when patience is at its end:
        nothing was stored and nothing is said.
        """
        parts, rows = self.compose(target, messages, turn_id)
        result = await self.until_stored(lambda: store(*rows))
        self._delivery.deliver(parts)
        return result

    async def refused(self, batch: Sequence[Envelope], message: OutgoingMessage, reason: str, turn_id: str) -> None:
        """Let these updates wait for the user's word and tell the user, in one try: the disk has refused long enough.

        Raises `StorageUnavailable` when it refuses this too, `Conflict` when the updates were finished meanwhile.
        """
        parts, rows = self.compose(Target.of(batch[-1]), [message], turn_id)
        await self._db.write(*(self._inbox.park(envelope, turn_id, reason) for envelope in batch), *rows)
        self._delivery.deliver(parts)

    def compose(
        self, target: Target, messages: Sequence[OutgoingMessage], turn_id: str | None = None
    ) -> tuple[list[Part], list[Statement]]:
        """Return the parts of several messages and the statements that write them down."""
        mark = self._delivery.marked
        composed = [
            self._outbox.compose(target, message, turn_id, *(() if number else (mark,)))
            for number, message in enumerate(messages)
        ]
        return [p for parts, _ in composed for p in parts], [s for _, rows in composed for s in rows]

    async def until_stored(self, write: Callable[[], Awaitable[_T]]) -> _T:
        """Try until the disk takes it (P10), but not for ever.

        Raises `StorageUnavailable` when patience is at its end: nothing was stored. The caller tells the
        person then, and lets others have the place (`Dispatch`).
        """
        try:
            return await until_stored(write, self._pauses, passes=_passes, patience_s=self._patience_s)
        except StorageUnavailable as exc:
            if not _passes(exc):
                raise
            raise PatienceEnded(str(exc)) from exc


def _passes(error: Exception) -> bool:
    """Return True for a refusal that waiting may mend."""
    return isinstance(error, StorageUnavailable) and not isinstance(error, StorageDamaged | PatienceEnded)
