"""Session notes and waiting readings <-> rows: every statement about them is built here, every row is read here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError

from memory.errors import Conflict, UnknownSession
from memory.notes.types import SessionNotes
from memory.ports import Database, Row, Statement
from memory.types import ConversationTurn

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


# --- pure -----------------------------------------------------------------------------------------------------------


def ask_to_read_again(session_id: str) -> list[Statement]:
    """Return what belongs to the transaction in which a turn is taken back: notes of before count as unread."""
    return [Statement("notes_undone", {"session_id": session_id})]


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
        return [stored.notes for stored in found if stored.notes and stored.session_id != except_session_id]

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
