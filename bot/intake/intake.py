"""One update comes in: who sent it, is it for us, and is it on disk before Telegram may forget it (P1, P2, P14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import structlog

from bot.intake.access import Gate
from bot.intake.chat_moves import ChatMoves
from bot.intake.inbox import Arrival, Inbox
from bot.intake.local import is_local
from bot.intake.raw_json import Malformed, TooDeep, first_update_id, read_json, write_json
from bot.intake.updates import Envelope, Me, identity, is_placeless, read_move, read_update, sender
from memory import faults
from memory.errors import StorageError, Unstorable

log = structlog.get_logger(__name__)


class NotTaken(Exception):
    """The update is not on our disk; Telegram has to send it again."""


async def _nobody(_: int, __: int) -> bool:
    return False


class Intake:
    """What polling and the webhook hand raw updates to.

    An update is taken at most once per identity; what a stranger sent is handed to `stranger` and never stored; what
    is not for us is dropped. While `trouble` says that the database cannot be relied on, nothing is taken, also when
    this one row would fit: an update that is confirmed has to be answered.
    """

    def __init__(
        self,
        inbox: Inbox,
        gate: Gate,
        me: Me,
        *,
        deliver: Callable[[Envelope], None],
        stranger: Callable[[Envelope], None],
        trouble: Callable[[], str | None] = lambda: None,
        moves: ChatMoves | None = None,
        is_move: Callable[[int, int], Awaitable[bool]] = _nobody,
    ) -> None:
        """`is_move` is asked when somebody who is not let in says that a group has moved."""
        self._inbox = inbox
        self._gate = gate
        self._me = me
        self._deliver = deliver
        self._stranger = stranger
        self._trouble = trouble
        self._moves = moves
        self._is_move = is_move

    async def take_body(self, body: bytes) -> None:
        """Take the update that a webhook call carries. Raises `NotTaken`, and `Malformed` when it carries none."""
        try:
            raw = read_json(body)
        except TooDeep as exc:
            await self.set_aside(first_update_id(body), str(exc))
            return
        if identity(raw) is None:
            raise Malformed("not an update: there is no update_id")
        await self.take(raw)

    async def take(self, raw: object) -> None:
        """Write the update down, then hand it to its lane. Raises `NotTaken`, and nothing else, whatever the JSON.

        A crash before the write: Telegram delivers it again. After it: the next start replays the row.
        """
        try:
            await self._take(raw)
        except NotTaken:
            raise
        except Exception as exc:
            log.exception("update could not be handled", update_id=identity(raw))
            await self.set_aside(identity(raw), f"{type(exc).__name__} while it was taken")

    async def _take(self, raw: object) -> None:
        move = read_move(raw)
        if move is not None:
            await self._moved(*move, admitted=self._gate.admits(sender(raw)))
            return
        envelope, admitted = read_update(raw, self._me), self._gate.admits(sender(raw))
        if envelope is None or is_local(envelope.chat_id):  # what comes over HTTP has a door of its own
            if admitted and is_placeless(raw):
                await self.set_aside(identity(raw), "it names neither a sender nor a chat")
            return
        if not admitted:
            self._stranger(envelope)
            return
        try:
            payload = write_json(raw)
        except TooDeep as exc:
            await self.set_aside(envelope.update_id, str(exc))
            return
        faults.point("inbox_before_write")
        arrival = await self._stored(envelope.update_id, envelope.conversation_id, payload, about=envelope)
        if arrival.is_new:
            faults.point("inbox_after_write")
            self._deliver(replace(envelope, behind=arrival.behind, fresh=True))

    async def _moved(self, before: int, after: int, *, admitted: bool) -> None:
        """Note that a group became a supergroup, whoever made it one; a crash before: Telegram tells it again.

        A stranger's word alone counts for nothing.
        """
        try:
            if self._moves is not None and (admitted or await self._is_move(before, after)):
                await self._moves.record(before, after)
        except StorageError as exc:
            raise NotTaken(f"the move of chat {before} is not noted: {exc}") from exc

    async def set_aside(self, update_id: int | None, reason: str) -> None:
        """Note that an update was passed over; nothing of what it holds is kept. Raises `NotTaken`."""
        log.warning("update passed over", update_id=update_id, reason=reason)
        if update_id is not None:
            await self._stored(update_id, None, "", error=reason)

    async def _stored(
        self,
        update_id: int,
        conversation_id: str | None,
        payload: str,
        *,
        error: str | None = None,
        about: Envelope | None = None,
    ) -> Arrival:
        trouble = self._trouble()
        if trouble:
            raise NotTaken(f"update {update_id} not taken: {trouble}")
        try:
            return await self._inbox.put(
                self._me,
                update_id,
                conversation_id,
                payload,
                error=error,
                chat_id=about.chat_id if about else None,
                message_id=about.message_id if about else None,
            )
        except Unstorable:
            if error is not None:
                raise NotTaken(f"update {update_id} not taken: not even that it was passed over is stored") from None
            raise  # passed over: it would come again and again
        except StorageError as exc:
            log.error("update not taken: storage", update_id=update_id, error=str(exc))  # noqa: TRY400 - expected
            raise NotTaken(f"update {update_id} not taken: {exc}") from exc
