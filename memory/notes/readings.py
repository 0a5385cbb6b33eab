"""The job behind the reply that keeps session notes up to date: durable, read once, never in an answer's way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from memory.errors import Conflict, StorageUnavailable
from memory.faults import point
from memory.language.languages import Languages
from memory.notes.requests import BEFORE_TURNS, CHUNK_TURNS, carried, request_of, unread
from memory.notes.rules import read_by_rules
from memory.notes.store import NotesStore, StoredNotes, WaitingReading, end_reading, put_notes
from memory.notes.types import ReadByRules, ReadingRequest, SessionNotes
from memory.ports import Clock
from memory.sessions.evidence import state_of_row
from memory.storage.store import Store
from memory.types import ConversationTurn

UNREAD_TURNS = 20
"""A session with so many unread turns is read without waiting for quiet."""
LOOK_EVERY_S = 5.0

ZoneOf = Callable[[int | None], Awaitable[str]]
"""The IANA time zone by which somebody lives."""

log = logging.getLogger(__name__)


async def utc(_: int | None) -> str:
    """Return UTC, whoever asks."""
    return "UTC"


class Readings:
    """Reads what is new in sessions, one conversation at a time.

    A row waits from the transaction of the turn until that of its notes. So a process that dies at any step does the
    reading again, and what was stored is never read twice. Rules run in a thread: they take milliseconds a turn.
    """

    def __init__(
        self,
        store: Store,
        languages: Languages,
        clock: Clock,
        *,
        by_rules: ReadByRules = read_by_rules,
        zone_of: ZoneOf = utc,
    ) -> None:
        self.notes = NotesStore(store.db)
        self._store = store
        self._languages = languages
        self._clock = clock
        self._by_rules = by_rules
        self._zone_of = zone_of
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self) -> None:
        """Read what falls due until cancelled; what fails is logged and tried at the next look."""
        while True:
            try:
                await self.read_due()
            except StorageUnavailable as exc:
                log.warning("sessions are read later: %s", exc)
            except Exception:
                log.exception("a session could not be read")
            await asyncio.sleep(LOOK_EVERY_S)

    async def read_due(self) -> int:
        """Read the sessions that are due now, at most 20, and return how many. Raises `StorageUnavailable`."""
        due = await self.notes.due(self._clock.now_ms(), UNREAD_TURNS, by_model=False)
        for waiting in due:
            await self._read_session(waiting)
        return len(due)

    async def catch_up(self, conversation_id: str) -> None:
        """Read everything that is unread in a conversation, due or not, so that what is shown next is current.

        Call it before notes are shown. Raises `StorageUnavailable`.
        """
        for waiting in await self.notes.unread(conversation_id):
            await self._read_session(waiting)

    async def catch_up_session(self, session_id: str) -> None:
        """Read everything that is unread in one session, as before a compaction. Raises `StorageUnavailable`."""
        row = await self._store.session(session_id)
        if row:
            for waiting in await self.notes.unread(row.conversation_id):
                if waiting.session_id == session_id:
                    await self._read_session(waiting)

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[None]:
        """Keep readings from a conversation, for whoever takes turns away (P13)."""
        async with self._one(conversation_id):
            yield

    async def read_anew(
        self, turns: Sequence[ConversationTurn], others: Sequence[SessionNotes], old: SessionNotes | None
    ) -> SessionNotes:
        """Return a session's notes made anew from these turns (one at least), with what was ended by hand in the old.

        Stores nothing; for whoever takes turns away (P13).
        """
        notes: SessionNotes | None = None
        for start in range(0, len(turns), CHUNK_TURNS):
            chunk, before = turns[start : start + CHUNK_TURNS], turns[max(0, start - BEFORE_TURNS) : start]
            notes = await self._read(await self._request(chunk, before, notes, others))
        if notes is None:
            raise ValueError("there are no turns to read")
        return carried(notes, old) if old else notes

    # --- inside -----------------------------------------------------------------------------------------------------

    async def _read_session(self, waiting: WaitingReading) -> None:
        """Read all unread turns of a session by rules and store the notes, twenty turns at a time.

        What a crash leaves behind: before a write nothing, the row waits and the turns are read again; after it the
        notes, and the row is gone unless turns came meanwhile.
        """
        async with self._one(waiting.conversation_id):
            try:
                if not await self._store_rules(waiting):  # it was read before, or its last turns are gone
                    await self._store.db.write(end_reading(waiting.session_id, waiting.last_seq))
            except Conflict as exc:  # a choice made by hand, or something forgotten by another process: next time
                log.debug("session %s is read again: %s", waiting.session_id, exc)

    async def _store_rules(self, waiting: WaitingReading) -> bool:
        """Return whether there was anything to read."""
        stored = before = await self.notes.load(waiting.session_id)
        others: list[SessionNotes] | None = None
        while turns := await self._unread_turns(stored):
            others = await self._others(waiting) if others is None else others
            notes = await self._read(await self._request(turns, await self._before(turns[0]), stored.notes, others))
            point("reading_done")
            await self._store.db.write(
                put_notes(stored, notes, stored.by_model, turns[-1]), end_reading(waiting.session_id, turns[-1].seq)
            )
            point("reading_stored")
            stored = StoredNotes(stored.session_id, notes, stored.by_model, stored.version + 1)
        return stored is not before

    async def _unread_turns(self, stored: StoredNotes) -> list[ConversationTurn]:
        seq = stored.notes.read_through_seq if stored.notes else 0
        return await self._store.turns_after(stored.session_id, seq, limit=CHUNK_TURNS)

    async def _before(self, first: ConversationTurn) -> list[ConversationTurn]:
        return await self._store.turns_between(first.session_id, first.seq - BEFORE_TURNS, first.seq - 1)

    async def _others(self, waiting: WaitingReading) -> list[SessionNotes]:
        """Return the notes of the other sessions; none for a session that was started fresh."""
        row = await self._store.session(waiting.session_id)
        state = state_of_row(row)[0] if row else None
        if state is not None and state.isolated:
            return []
        return await self.notes.of_conversation(waiting.conversation_id, except_session_id=waiting.session_id)

    async def _request(
        self,
        turns: Sequence[ConversationTurn],
        before: Sequence[ConversationTurn],
        notes: SessionNotes | None,
        others: Sequence[SessionNotes],
    ) -> ReadingRequest:
        zone, now_ms = await self._zone_of(turns[-1].user_id), self._clock.now_ms()
        return request_of(turns, before, notes, others, self._languages, zone=zone, now_ms=now_ms)

    async def _read(self, request: ReadingRequest) -> SessionNotes:
        """Return the notes by rules, made in a thread; a defect in them costs these turns only and is logged."""
        try:
            return await asyncio.to_thread(self._by_rules, request, self._languages)
        except Exception:
            log.exception("turns up to %s of session %s were not read", request.turns[-1].seq, request.session_id)
            return unread(request)

    @asynccontextmanager
    async def _one(self, conversation_id: str) -> AsyncIterator[None]:
        lock = self._locks.get(conversation_id)
        if lock is None:
            lock = self._locks[conversation_id] = asyncio.Lock()
        async with lock:
            yield
