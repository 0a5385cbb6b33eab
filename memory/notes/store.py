"""Session notes and waiting readings <-> rows: every statement about them is built here, every row is read here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import ValidationError

from memory.errors import Conflict, StorageUnavailable, UnknownSession
from memory.notes.types import ReadingRequest, SessionNotes
from memory.ports import Database, Row, Statement
from memory.types import ConversationTurn

QUIET_MS = 120_000
"""How long a session is silent before it is read."""
SESSIONS_MAX = 40
"""How many sessions of a conversation, the latest first, have their notes merged."""

Change = Callable[[SessionNotes], SessionNotes]


@dataclass(frozen=True, slots=True)
class StoredNotes:
    """The notes of one session as they are stored; `version` is what the next write must name, 0 = none are."""

    session_id: str
    notes: SessionNotes | None = None
    """None before the first reading, and when they cannot be read: then they are made again."""
    by_model: SessionNotes | None = None
    """As a model last left them: it reads on from there, also where rules stood in for it since."""
    version: int = 0


@dataclass(frozen=True, slots=True)
class WaitingReading:
    """A session with turns that are to be read."""

    session_id: str
    conversation_id: str
    user_id: int | None
    last_seq: int
    due_at_ms: int
    attempts: int


@dataclass(frozen=True, slots=True)
class ReadingOutcome:
    """What came of asking a model."""

    kept: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    error: str = ""
    """The kind of failure, "" when it answered."""
    input_tokens: int = 0
    output_tokens: int = 0


# --- pure -----------------------------------------------------------------------------------------------------------


def ask_to_read(turn: ConversationTurn) -> Statement:
    """Return what belongs to the transaction of a turn: it is read when the session falls quiet."""
    params = {
        "session_id": turn.session_id,
        "conversation_id": turn.conversation_id,
        "user_id": turn.user_id,
        "last_seq": turn.seq,
        "due_at_ms": turn.created_at_ms + QUIET_MS,
    }
    return Statement("put_reading", params)


def ask_to_read_again(session_id: str) -> list[Statement]:
    """Return what belongs to the transaction in which a turn is taken back: what was noted is read again without it."""
    return [Statement(name, {"session_id": session_id}) for name in ("notes_undone", "read_again")]


def put_notes(
    stored: StoredNotes, notes: SessionNotes, by_model: SessionNotes | None, last: ConversationTurn
) -> Statement:
    """Return the write of a session's notes over `stored`.

    `Conflict` when somebody else wrote since, and for first notes when `last`, the last turn that was read, is not
    where it was: it or one before it was forgotten.
    """
    params = {
        "session_id": notes.session_id,
        "notes_json": notes.model_dump_json(),
        "model_json": by_model.model_dump_json() if by_model else "",
        "read_through_seq": notes.read_through_seq,
        "model_seq": by_model.read_through_seq if by_model else 0,
        "written_at_ms": notes.written_at_ms,
    }
    if stored.version:
        return Statement("update_notes", params | {"version": stored.version}, expect=1)
    first = {"conversation_id": notes.conversation_id, "turn_id": last.turn_id, "seq": last.seq}
    return Statement("insert_notes", params | first, expect=1)


def rewrite_notes(stored: StoredNotes, notes: SessionNotes, last: ConversationTurn, now_ms: int) -> list[Statement]:
    """Return what puts notes that were read again in the place of all that was there; a model may read them again."""
    ask = ask_to_read(last)
    return [
        Statement("erase_reading", {"session_id": last.session_id}),
        put_notes(stored, notes, None, last),
        Statement(ask.name, {**ask.params, "due_at_ms": now_ms}),
    ]


def end_reading(session_id: str, through_seq: int) -> Statement:
    """Return the end of a reading; a turn that came meanwhile waits on."""
    return Statement("end_reading", {"session_id": session_id, "through_seq": through_seq})


def claim_reading(session_id: str, max_attempts: int) -> Statement:
    """Count an attempt before a model is asked; `Conflict` when there were enough, or when nothing waits any more."""
    return Statement("claim_reading", {"session_id": session_id, "max_attempts": max_attempts}, expect=1)


def postpone_reading(session_id: str, due_at_ms: int) -> Statement:
    """Let a model be asked again later."""
    return Statement("postpone_reading", {"session_id": session_id, "due_at_ms": due_at_ms})


def renew_reading(session_id: str) -> Statement:
    """Begin to count again for the turns that are left."""
    return Statement("renew_reading", {"session_id": session_id})


def log_model_reading(reading_id: str, request: ReadingRequest, model: str, outcome: ReadingOutcome) -> Statement:
    """Return the record of what asking a model cost and brought; it holds no text."""
    params = {
        "reading_id": reading_id,
        "session_id": request.session_id,
        "conversation_id": request.conversation_id,
        "model": model,
        "from_seq": request.turns[0].seq,
        "through_seq": request.turns[-1].seq,
        "kept": outcome.kept,
        "dropped_json": json.dumps(outcome.dropped, sort_keys=True),
        "error": outcome.error,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "at_ms": request.now_ms,
    }
    return Statement("insert_model_reading", params)


def erase_session(session_id: str) -> list[Statement]:
    """Return what takes everything that was read in a session away (P13)."""
    names = ("erase_notes", "erase_reading", "erase_model_readings")
    return [Statement(name, {"session_id": session_id}) for name in names]


def read_stored(row: Row) -> StoredNotes:
    """Return what a row holds; never raises for what is in it."""
    notes = _notes(row["notes_json"])
    return StoredNotes(row["session_id"], notes, _notes(row["model_json"]) if notes else None, row["version"])


def _notes(text: str) -> SessionNotes | None:
    try:
        return SessionNotes.model_validate_json(text) if text else None
    except ValidationError:
        return None


# --- orchestration --------------------------------------------------------------------------------------------------


class NotesStore:
    """Reads notes and changes them by hand; each raises `StorageUnavailable`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def load(self, session_id: str) -> StoredNotes:
        """Return the notes of a session with their version."""
        row = await self._db.read_one("notes_of_session", session_id=session_id)
        return read_stored(row) if row else StoredNotes(session_id)

    async def of_session(self, session_id: str) -> SessionNotes | None:
        """Return what was read in a session, None before the first reading."""
        return (await self.load(session_id)).notes

    async def stored(self, conversation_id: str) -> list[StoredNotes]:
        """Return the notes of all sessions of a conversation with their versions, oldest first."""
        rows = await self._db.read("notes_of_conversation", conversation_id=conversation_id, limit=2**31)
        return [read_stored(row) for row in reversed(rows)]

    async def of_conversation(self, conversation_id: str, *, except_session_id: str = "") -> list[SessionNotes]:
        """Return what was read in the latest 40 sessions of a conversation, oldest first."""
        rows = await self._db.read("notes_of_conversation", conversation_id=conversation_id, limit=SESSIONS_MAX)
        found = [read_stored(row) for row in reversed(rows)]
        await self._have_read_again([stored.session_id for stored in found if stored.notes is None])
        return [stored.notes for stored in found if stored.notes and stored.session_id != except_session_id]

    async def _have_read_again(self, session_ids: Sequence[str]) -> None:
        """Ask for new notes in the place of some that cannot be read; whoever may only look leaves it to others."""
        if session_ids:
            with suppress(StorageUnavailable):
                await self._db.write(*(Statement("read_again", {"session_id": each}) for each in session_ids))

    async def change(self, session_id: str, change: Change, *also: Statement) -> SessionNotes:
        """Store a change made by hand (a matter is done, is dropped) together with `also`; return the new notes.

        `change` is pure and may be called more than once: a reading that ends meanwhile comes first. Raises
        `UnknownSession` when nothing was read there, `Conflict` of `also`, whatever `change` raises.
        """
        for last_try in (False, True):
            stored = await self.load(session_id)
            if stored.notes is None:
                raise UnknownSession(f"session '{session_id}' has no notes")
            notes = change(stored.notes)
            by_model = change(stored.by_model) if stored.by_model else None
            write = Statement(
                "change_notes",
                {
                    "session_id": session_id,
                    "notes_json": notes.model_dump_json(),
                    "model_json": by_model.model_dump_json() if by_model else "",
                    "version": stored.version,
                },
                expect=1,
            )
            try:
                await self._db.write(write, *also)
            except Conflict:
                if last_try or (await self.load(session_id)).version == stored.version:
                    raise
            else:
                return notes
        raise AssertionError("the loop returns or raises")

    async def due(self, now_ms: int, unread_turns: int, *, by_model: bool, limit: int = 20) -> list[WaitingReading]:
        """Return the sessions that are to be read now, the longest due first."""
        rows = await self._db.read(
            "readings_due", now_ms=now_ms, unread_turns=unread_turns, by_model=int(by_model), limit=limit
        )
        return [WaitingReading(**row) for row in rows]

    async def unread(self, conversation_id: str) -> list[WaitingReading]:
        """Return the sessions of a conversation with turns that stand in no notes yet, the oldest first."""
        rows = await self._db.read("readings_here", conversation_id=conversation_id)
        return [WaitingReading(**row) for row in rows]

    async def spent(self, conversation_id: str, since_ms: int) -> tuple[int, int]:
        """Return the tokens that the model took since then to talk, and to read what was said."""
        here = {"conversation_id": conversation_id, "since_ms": since_ms}
        talk = await self._db.read_one("spent_on_talk", **here)
        reading = await self._db.read_one("spent_on_reading", **here)
        return (talk["tokens"] if talk else 0, reading["tokens"] if reading else 0)

    async def waiting(self, now_ms: int) -> int:
        """Return how many readings are due."""
        row = await self._db.read_one("readings_waiting", now_ms=now_ms)
        return row["n"] if row else 0
