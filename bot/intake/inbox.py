"""Rows of the table `inbox`: Telegram's updates and their states (P1, P2, P10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.intake.raw.reader import read_update
from bot.intake.raw_json import Malformed, TooDeep, read_json
from bot.intake.slices import in_slices
from bot.intake.updates import Envelope, Me
from memory.errors import StorageError, Unstorable
from memory.ports import Clock, Database, Row, Statement

WAITS = "waits for the user's word on what to carry forward"
"""The mark of messages that a session's first question holds back; every other parked row has an error instead."""
GOES_ON = "goes on, the user was asked what to carry forward"
INTERRUPTED = "interrupted long ago"
"""The mark of messages about which the person is asked whether they still want an answer."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The fate of an update that came in."""

    is_new: bool
    """False when it was there already: nothing was written."""
    behind: int | None = None
    """The update before it in its conversation, when that one is not finished; any worker may have written it down."""


@dataclass(frozen=True, slots=True)
class Parked:
    """An update that waits for a word of its person."""

    envelope: Envelope
    reason: str
    """Why it waits: a mark, or the failure."""
    tries: int
    """How often its person was told that its turn has no answer."""
    position: int


@dataclass(frozen=True, slots=True)
class NewRow:
    """The row of one update; with an `error` it is only set aside."""

    update_id: int
    conversation_id: str | None
    payload: str
    error: str | None = None
    chat_id: int | None = None
    message_id: int | None = None
    brought: tuple[Statement, ...] = ()
    """Statements that store the files, or the poll, that came with it."""


class Inbox:
    """Rows of the table `inbox`: write down, claim, finish, replay."""

    def __init__(self, db: Database, clock: Clock, boot_id: str) -> None:
        self._db = db
        self._clock = clock
        self._boot_id = boot_id
        self._position = 0
        self.storage_error: str | None = None
        """The error of the last write; None when all is well (P10, `/health`)."""

    async def open(self) -> None:
        """Find the last position. Raises `StorageUnavailable`."""
        row = await self._db.read_one("inbox_last_position")
        self._position = row["position"] if row else 0

    async def put(
        self, me: Me, update_id: int, conversation_id: str | None, payload: str, *, error: str | None = None
    ) -> Arrival:
        """Write one update down. Raises `StorageError`: nothing was stored."""
        (arrival,) = await self.put_all(me, [NewRow(update_id, conversation_id, payload, error)])
        return arrival

    async def put_all(self, me: Me, rows: Sequence[NewRow]) -> list[Arrival]:
        """Write several updates down in one transaction, in this order. Raises `StorageError`: nothing was stored."""
        now_ms = self._clock.now_ms()
        try:
            brought = [statement for row in rows for statement in row.brought]
            results = await self._db.write(*(self.insert(me, row, now_ms) for row in rows), *brought)
        except StorageError as exc:
            if not isinstance(exc, Unstorable):  # its fault, not the database's
                self.storage_error = str(exc)
            raise
        self.storage_error = None
        return [
            Arrival(is_new=True, behind=next((row["behind"] for row in result.rows), None))
            if result.changed == 1
            else Arrival(is_new=False)
            for result in results[: len(rows)]
        ]

    def insert(self, me: Me, row: NewRow, now_ms: int) -> Statement:
        """Return the statement that writes one update down; one that is known already changes nothing."""
        self._position += 1
        values = {
            "bot_id": me.bot_id,
            "update_id": row.update_id,
            "position": self._position,
            "conversation_id": row.conversation_id,
            "payload": row.payload,
            "state": "quarantined" if row.error else "received",
            "error": row.error,
            "received_at_ms": now_ms,
            "done_at_ms": now_ms if row.error else None,
            "chat_id": row.chat_id,
            "message_id": row.message_id,
        }
        return Statement("inbox_insert", values)

    def brought(self, envelope: Envelope) -> list[Statement]:
        """Return the statements that write down the files of a message as wanted, and where its poll was sent.

        A file that is known already stays as it is.
        """
        where = {name: getattr(envelope, name) for name in ("bot_id", "conversation_id", "chat_id", "user_id")}
        now_ms = self._clock.now_ms()
        poll = {name: getattr(envelope, name) for name in ("poll_id", "thread_id", "message_id")}
        polls = [Statement("poll_sent", where | poll | {"received_at_ms": now_ms})]
        return (polls if envelope.poll_id and envelope.kind == "text" else []) + [
            Statement(
                "file_want",
                where
                | asdict(file)
                | {
                    "file_id": f"{envelope.bot_id}:{envelope.chat_id}:{file.message_id}",
                    "received_at_ms": now_ms,
                },
            )
            for file in envelope.files
        ]

    async def places_of_poll(self, me: Me, poll_id: str) -> list[Row]:
        """Return where a poll was sent, and by whom. Raises `StorageUnavailable`."""
        return list(await self._db.read("poll_places", bot_id=me.bot_id, poll_id=poll_id))

    async def claim(self, envelopes: Sequence[Envelope], turn_id: str) -> None:
        """Note that this process works on these updates, for this turn (P3). Raises Conflict, StorageUnavailable."""
        await self._db.write(
            *(
                Statement("inbox_claim", {**_key(envelope), "boot_id": self._boot_id, "turn_id": turn_id}, expect=1)
                for envelope in envelopes
            )
        )

    async def excuse(self, turn_ids: Iterable[str]) -> None:
        """Take back the attempts of turns that are not to blame for the last death. Raises StorageUnavailable."""
        statements = [Statement("inbox_excuse", {"turn_id": turn_id}) for turn_id in sorted(turn_ids)]
        if statements:
            await self._db.write(*statements)

    async def known(self, update_ids: Iterable[int], me: Me) -> set[int]:
        """Return which of these updates were written down before. Raises `StorageUnavailable`."""
        asked = sorted(set(update_ids))
        if not asked:
            return set()
        of_bot = [Statement("inbox_is_known", {"bot_id": me.bot_id, "update_id": update_id}) for update_id in asked]
        return {row["update_id"] for rows in await self._db.read_all(*of_bot) for row in rows}

    async def blame(self, update_ids: Iterable[int], me: Me) -> None:
        """Count an attempt of updates whose claim was not stored when their work hung. Raises StorageUnavailable."""
        of_bot = [{"bot_id": me.bot_id, "update_id": update_id} for update_id in sorted(update_ids)]
        if of_bot:
            await self._db.write(*(Statement("inbox_blame", key) for key in of_bot))

    def done(self, envelope: Envelope) -> Statement:
        """Return the statement that finishes an update; a second one for the same update is a Conflict (P2)."""
        return Statement("inbox_done", {**_key(envelope), "done_at_ms": self._clock.now_ms()}, expect=1)

    def park(self, envelope: Envelope, turn_id: str, reason: str) -> Statement:
        """Return the statement that lets an update wait for the user's word."""
        return Statement("inbox_park", {**_key(envelope), "turn_id": turn_id, "error": reason}, expect=1)

    def quarantine(self, envelope: Envelope, reason: str) -> Statement:
        """Return the statement that takes an update out of the traffic for good (P3)."""
        values = {**_key(envelope), "error": reason, "done_at_ms": self._clock.now_ms()}
        return Statement("inbox_quarantine", values, expect=1)

    async def unfinished(self, me: Me) -> list[Envelope]:
        """Return the updates that an earlier process left unfinished, in order of arrival."""
        return await _envelopes(await self._db.read("inbox_unfinished", bot_id=me.bot_id), me)

    async def of_leases(self, me: Me, worker: int, names: str, mark: str, *, begun: bool) -> list[Envelope]:
        """Return unfinished updates of chats that a worker holds, and those parked there with this mark, in order."""
        where = {"bot_id": me.bot_id, "worker": worker, "names": names, "goes_on": mark, "begun": int(begun)}
        return await _envelopes(await self._db.read("inbox_of_leases", **where), me)

    async def received(self, me: Me, turn_id: str) -> list[Envelope]:
        """Return the updates of one turn that was put back to work."""
        return await _envelopes(await self._db.read("inbox_received_turn", turn_id=turn_id), me)

    async def held(self, me: Me, conversation_id: str, marks: tuple[str, str], turn_id: str) -> list[Envelope]:
        """Return updates parked here with one of these marks, and those claimed for this turn, in order."""
        one, other = marks
        where = {"conversation_id": conversation_id, "one": one, "other": other, "turn_id": turn_id}
        return await _envelopes(await self._db.read("inbox_held", **where), me)

    async def held_anywhere(self, me: Me, mark: str) -> list[Envelope]:
        """Return updates parked with this mark, conversation by conversation, in order."""
        return await _envelopes(await self._db.read("inbox_held_anywhere", bot_id=me.bot_id, mark=mark), me)

    async def parked(self, turn_id: str) -> int:
        """Return how many updates of a turn wait for the user's word."""
        row = await self._db.read_one("inbox_parked_count", turn_id=turn_id)
        return row["n"] if row else 0

    async def parked_here(self, me: Me, conversation_id: str) -> list[Parked]:
        """Return the updates of a conversation that wait for a word of their person, in order."""
        rows = await self._db.read("inbox_parked_here", conversation_id=conversation_id)
        found = [(_envelope(row, me), row) for row in rows]
        return [
            Parked(envelope, row["error"] or "", row["tries"], row["position"])
            for envelope, row in found
            if envelope is not None
        ]

    def take_up(self, was: str, turn_id: str, count: int) -> Statement:
        """Return the statement by which this process takes the updates of a turn that waits for another turn.

        A Conflict when somebody else was first.
        """
        values = {"was": was, "turn_id": turn_id, "boot_id": self._boot_id, "at_ms": self._clock.now_ms()}
        return Statement("inbox_take_up", values, expect=count)

    async def reopened(self, envelope: Envelope) -> bool:
        """Return True when a turn of this conversation was put back to work and has not been begun yet."""
        where = {"conversation_id": envelope.conversation_id, "update_id": envelope.update_id}
        return await self._db.read_one("inbox_reopened", **where) is not None

    async def still_open(self, envelopes: Sequence[Envelope]) -> list[Envelope]:
        """Return those of one conversation's updates that are not finished."""
        first = envelopes[0]
        where = {"bot_id": first.bot_id, "conversation_id": first.conversation_id}
        left = {row["update_id"] for row in await self._db.read("inbox_open_ids", **where)}
        return [envelope for envelope in envelopes if envelope.update_id in left]

    async def latest_parked(self, conversation_id: str) -> str | None:
        """Return the turn id of the newest parked turn of a conversation."""
        row = await self._db.read_one("inbox_parked_latest", conversation_id=conversation_id)
        return row["turn_id"] if row else None


def _key(envelope: Envelope) -> dict[str, Any]:
    return {"bot_id": envelope.bot_id, "update_id": envelope.update_id}


async def _envelopes(rows: list[Row], me: Me) -> list[Envelope]:
    found = [_envelope(row, me) async for row in in_slices(rows)]
    return [envelope for envelope in found if envelope is not None]


def _envelope(row: Row, me: Me) -> Envelope | None:
    try:
        envelope = read_update(read_json(row["payload"]), me)
    except (Malformed, TooDeep):
        return None
    if envelope is None:
        return None
    known = {name: row[name] for name in ("turn_id", "attempts", "waits", "received_at_ms")}
    return replace(envelope, **known)
