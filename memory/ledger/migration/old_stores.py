"""The opening of a ledger: a conversation's rows in the stores before it are read, carried over and cleared."""

from __future__ import annotations

from memory.ledger.ledgers import Carried
from memory.ledger.migration.carry_over import OldRows, carry_over, session_lines_of
from memory.ports import Database, Reads, Row, Statement

_ERASED = ("erase_old_memories", "erase_old_session_notes", "erase_old_jobs")


class OldStores:
    """Gathers the notes for a ledger that was never opened; reads only."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def __call__(self, conversation_id: str) -> Carried:
        """Return the first notes, and the statements that clear the old rows. Raises `StorageUnavailable`."""
        rows = await self._db.read_chain(_reading(conversation_id))
        ledger, changes, left = carry_over(conversation_id, rows)
        here = {"conversation_id": conversation_id}
        also = [Statement(name, here) for name in _ERASED] if rows.sessions else []
        lines = session_lines_of(conversation_id, rows.session_notes)
        also += [Statement("session_line_insert", line) for line in lines]
        return Carried(ledger, changes, also, left)


def _reading(conversation_id: str) -> Reads[OldRows]:
    here = {"conversation_id": conversation_id}
    sessions: list[Row] = yield Statement("old_sessions", here)
    if not sessions:
        return OldRows()
    memories: list[Row] = yield Statement("old_memories", here)
    session_notes: list[Row] = yield Statement("old_session_notes", here)
    jobs: list[Row] = yield Statement("old_jobs", here)
    dropped: list[Row] = yield Statement("old_dropped_arcs", {"prefix": f"{conversation_id}|"})
    turns: list[Row] = yield Statement("old_turns", here)
    return OldRows(sessions, memories, session_notes, jobs, dropped, turns)
