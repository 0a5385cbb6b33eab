"""The fields of 002 that show the ledger: open matters, running reminders and references, filled when saved. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memory.ledger.types import Ledger, Note
from memory.ledger.views import Scope, is_snoozed, to_do, to_ring, within
from memory.types import OpenLoop, SessionState

FILLED_MAX: Final = 40
"""Open matters that a state holds at most, the nearest first: it is written with each turn."""
_LOOP_KIND: Final = {"task": "task", "promise": "commitment", "question": "question"}


def open_loop(note: Note, now_ms: int) -> OpenLoop:
    """The open loop that 002 names, for a note that waits for somebody."""
    return OpenLoop.model_validate(
        {
            "loop_id": note.note_id,
            "kind": _LOOP_KIND.get(note.kind, "request"),
            "owner": note.owner if note.owner in {"user", "assistant"} else "other",
            "text": note.text,
            "status": "snoozed" if is_snoozed(note, now_ms) else "open",
            "turn_id": note.turn_ids[0] if note.turn_ids else "",
            "opened_seq": 0,
            "opened_at_ms": note.said_at_ms,
            "touched_at_ms": note.said_at_ms,
            "due_at_ms": note.due_at_ms,
            "due_exact": note.due_exact,
            "snoozed_until_ms": note.snoozed_until_ms,
        }
    )


def loops_of(notes: Iterable[Note], now_ms: int) -> tuple[OpenLoop, ...]:
    """Open matters as `SessionState` and packet hold them (002 section 3.3)."""
    return tuple(open_loop(note, now_ms) for note in to_do(notes, now_ms))


def job_refs_of(notes: Iterable[Note]) -> tuple[str, ...]:
    """Note ids of the assistant's own work for later (002 section 3.3)."""
    return tuple(note.note_id for note in to_ring(notes))


def entities_of(notes: Iterable[Note], now_ms: int) -> dict[str, str]:
    """References and their notes: `#12` → the note's id (002 section 3.3)."""
    return {f"#{note.number}": note.note_id for note in to_do(notes, now_ms)}


def filled(state: SessionState, ledger: Ledger, now_ms: int) -> SessionState:
    """The state with its open matters, running reminders and references as the ledger has them now.

    They are filled when it is saved, and ignored when it is loaded. Of a session that was started fresh only its own
    notes count; stories belong to their personas, so none is here.
    """
    scope = Scope(session_id=state.session_id if state.isolated else None)
    notes = [note for note in within(ledger, scope) if note.is_real]
    waiting = to_do(notes, now_ms)[:FILLED_MAX]
    return state.model_copy(
        update={
            "open_loops": loops_of(waiting, now_ms),
            "active_job_refs": job_refs_of(notes)[:FILLED_MAX],
            "resolved_entities": entities_of(waiting, now_ms),
        }
    )
