"""One update comes in: who sent it, is it for us, and is it on disk before Telegram may forget it (P1, P2, P14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from bot.intake.access import Gate
from bot.intake.chat_moves import ReportedMoves, Unanswered
from bot.intake.fields import as_object
from bot.intake.inbox import Arrival, Inbox, NewRow
from bot.intake.local import is_local
from bot.intake.raw.reader import (
    POLL,
    ended_poll,
    identity,
    is_placeless,
    poll_update,
    read_move,
    read_update,
    sender,
)
from bot.intake.raw_json import Malformed, TooDeep, first_update_id, read_json, write_json
from bot.intake.slices import in_slices
from bot.intake.updates import Envelope, Me
from memory.errors import StorageError, Unstorable
from memory.process import faults

log = structlog.get_logger(__name__)

_ABOUT_OURS = frozenset({"tap", "reaction"})
"""Updates that name a message of ours, and no message of somebody's: the probe looks for ours under its number."""


class NotTaken(Exception):
    """The update is not on our disk; Telegram has to send it again."""


Refuse = Callable[[Sequence[Envelope]], Awaitable[Collection[int]]]
"""Answers taps that are obeyed in no case, and returns their updates: nothing of them has to be written down."""


async def none_refused(_: Sequence[Envelope]) -> Collection[int]:
    """Refuse no tap."""
    return ()


@dataclass(frozen=True, slots=True)
class _Read:
    """An update that was read: whose it is, and its row, None for none."""

    raw: object
    envelope: Envelope | None
    payload: str | None


class Intake:
    """Takes raw updates from polling and the webhook.

    An update is taken at most once per identity; a stranger's is handed to `stranger` and never stored; updates not
    for us are dropped; taps that `refuse` has answered are not stored either. While `trouble` says that the database
    cannot be relied on, nothing is taken, also when this one row would fit: an update that is confirmed has to be
    answered.
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
        moves: ReportedMoves | None = None,
        refuse: Refuse = none_refused,
    ) -> None:
        self._inbox = inbox
        self._gate = gate
        self._me = me
        self._deliver = deliver
        self._stranger = stranger
        self._trouble = trouble
        self._moves = moves
        self._refuse = refuse

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

    async def take_all(self, raws: Sequence[object], taken: Callable[[object], None]) -> None:
        """Take the updates of one poll, in order, with one write for all; `taken` is told of each.

        Raises `NotTaken` at the first that could not be taken, and nothing else; those before it were. A crash before
        the write: Telegram delivers all of them again. Behind it: the next start replays their rows.
        """
        together: list[_Read] = []
        async for raw in in_slices(raws):
            read = self._read(raw)
            if read is not None:
                together.append(read)
                continue
            await self._take_together(together, taken)
            together = []
            await self.take(raw)
            taken(raw)
        await self._take_together(together, taken)

    async def _take_together(self, reads: Sequence[_Read], taken: Callable[[object], None]) -> None:
        """Write these down at once; when that fails one by one, so that the one to blame holds up no other."""
        try:
            arrivals = await self._stored_together(reads)
        except Exception as exc:  # noqa: BLE001 - whose fault it is shows when each is taken alone
            log.info("updates are taken one by one", error=str(exc), updates=len(reads))
            for read in reads:
                await self.take(read.raw)
                taken(read.raw)
            return
        for read in reads:
            self._hand_on(read, arrivals)
            taken(read.raw)

    def _hand_on(self, read: _Read, arrivals: Mapping[int, Arrival]) -> None:
        """Let an update be worked on, once, unless it was known already, was refused, or is not for us."""
        if read.envelope is None:
            return
        if read.payload is None:
            self._stranger(read.envelope)
            return
        arrival = arrivals.get(id(read))
        if arrival is not None and arrival.is_new:
            faults.point("inbox_after_write")
            self._deliver(replace(read.envelope, behind=arrival.behind, fresh=True))

    async def take(self, raw: object) -> None:
        """Write the update down, then hand it to its lane. Raises `NotTaken`, and nothing else, for any JSON.

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
        poll_id = ended_poll(raw)
        if poll_id is not None:
            await self._ended(as_object(raw)[POLL], poll_id)
            return
        try:
            read = self._readable(raw)
        except TooDeep as exc:
            await self.set_aside(identity(raw), str(exc))
            return
        if read is None:
            await self.set_aside(identity(raw), "it names neither a sender nor a chat")
            return
        if groups := self._namesakes(read):
            await self._look_for_move(read, groups)
            read = self._readable(raw) or read
        self._hand_on(read, await self._stored_together([read]))

    def _read(self, raw: object) -> _Read | None:
        """Return an update that may be written down with others; None when `take` has more to do, or to say."""
        try:
            alone = read_move(raw) is not None or ended_poll(raw) is not None
            read = None if alone else self._readable(raw)
            return None if read is None or self._namesakes(read) else read
        except Exception:  # noqa: BLE001 - `take` tells of it
            return None

    def _readable(self, raw: object) -> _Read | None:
        """Return an update with whose it is; None when it names nobody that can be told. Raises `TooDeep`."""
        envelope, admitted = read_update(raw, self._me), self._gate.admits(sender(raw))
        nobody = envelope is None or is_local(envelope.chat_id)  # what comes over HTTP has a door of its own
        if envelope is None or nobody or (envelope.kind == "reaction" and not admitted):
            return None if admitted and is_placeless(raw) else _Read(raw, None, None)
        return _Read(raw, envelope, write_json(raw) if admitted else None)

    async def _stored_together(self, reads: Sequence[_Read]) -> dict[int, Arrival]:
        """Store the rows of these updates in one transaction; return how each arrived. Raises `NotTaken`."""
        known = [(each, each.envelope, each.payload) for each in reads if each.envelope and each.payload is not None]
        taps = [envelope for _, envelope, _ in known if envelope.kind == "tap"]
        refused = await self._refuse(taps) if taps else ()
        rows = {
            id(read): NewRow(
                envelope.update_id,
                envelope.conversation_id,
                payload,
                chat_id=envelope.chat_id,
                message_id=None if envelope.kind in _ABOUT_OURS else envelope.message_id,
                brought=tuple(self._inbox.brought(envelope)),
            )
            for read, envelope, payload in known
            if envelope.update_id not in refused
        }
        for _ in rows:
            faults.point("inbox_before_write")
        return dict(zip(rows, await self._stored(list(rows.values())), strict=True)) if rows else {}

    async def _moved(self, before: int, after: int, *, admitted: bool) -> None:
        """Note that a group became a supergroup, by anybody's hand; a crash before: Telegram tells it again.

        A stranger's word alone counts for nothing.
        """
        try:
            if self._moves is not None and (admitted or await self._moves.is_so(before, after)):
                await self._moves.kept.record(before, after)
        except (StorageError, Unanswered) as exc:
            raise NotTaken(f"the move of chat {before} is not noted: {exc}") from exc

    def _namesakes(self, read: _Read) -> Sequence[int]:
        """Return the groups that the chat of an update may have been before it became a supergroup."""
        envelope = read.envelope
        if self._moves is None or envelope is None or read.payload is None:
            return ()
        return self._moves.kept.namesakes(envelope.chat_id, envelope.title)

    async def _look_for_move(self, read: _Read, groups: Sequence[int]) -> None:
        """Find out whether a move was missed, before a conversation of its own is begun for who moved."""
        try:
            if self._moves is not None and read.envelope is not None:
                await self._moves.find(read.envelope.chat_id, groups)
        except (StorageError, Unanswered) as exc:
            raise NotTaken(f"whether a group has moved is not known: {exc}") from exc

    async def _ended(self, poll: Mapping[str, object], poll_id: str) -> None:
        """Write down the end of a poll for each chat that it was sent to; of any other nothing is stored (P14).

        A crash before the last of them: Telegram tells it again, and rows already there change nothing.
        """
        try:
            places = await self._inbox.places_of_poll(self._me, poll_id) if poll_id else ()
        except StorageError as exc:
            raise NotTaken(f"the end of a poll is not taken: {exc}") from exc
        for place in places:
            update = poll_update(poll, place["conversation_id"], place)
            envelope = read_update(update, self._me)
            if envelope is not None and self._gate.admits(envelope.user_id):
                read = _Read(update, envelope, write_json(update))
                self._hand_on(read, await self._stored_together([read]))

    async def set_aside(self, update_id: int | None, reason: str) -> None:
        """Note that an update was passed over; nothing of its content is kept. Raises `NotTaken`."""
        log.warning("update passed over", update_id=update_id, reason=reason)
        if update_id is not None:
            await self._stored([NewRow(update_id, None, "", reason)])

    async def _stored(self, rows: Sequence[NewRow]) -> list[Arrival]:
        named = f"update {rows[0].update_id}" if len(rows) == 1 else f"{len(rows)} updates"
        trouble = self._trouble()
        if trouble:
            raise NotTaken(f"{named} not taken: {trouble}")
        try:
            return await self._inbox.put_all(self._me, rows)
        except Unstorable:
            if any(row.error is not None for row in rows):
                raise NotTaken(f"{named} not taken: not even that it was passed over is stored") from None
            raise  # passed over: it would come again and again
        except StorageError as exc:
            update_ids = [row.update_id for row in rows]
            log.error("updates not taken: storage", update_ids=update_ids, error=str(exc))  # noqa: TRY400 - expected
            raise NotTaken(f"{named} not taken: {exc}") from exc
