"""The fields of 002 in a session's state that are views of the ledger: filled when it is saved, ignored when loaded."""

from __future__ import annotations

from typing import Final

from memory.ledger.types import Ledger
from memory.ledger.views import Scope, entities_of, job_refs_of, loops_of, to_do, within
from memory.types import SessionState

FILLED_MAX: Final = 40
"""Open matters that a state holds at most, the nearest first: it is written with each turn."""


def filled(state: SessionState, ledger: Ledger, now_ms: int) -> SessionState:
    """The state with its open matters, running reminders and references as the ledger has them now.

    Of a session that was started fresh only its own notes count; stories belong to their personas, so none is here.
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
