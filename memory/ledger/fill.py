"""The fields of 002 in a session's state, views of the ledger: filled when it is saved, ignored when it is loaded."""

from __future__ import annotations

from memory.ledger.types import Ledger
from memory.ledger.views import Scope, entities_of, job_refs_of, loops_of, within
from memory.types import PendingClarification, SessionState, Topic


def filled(
    state: SessionState,
    ledger: Ledger,
    now_ms: int,
    title: str,
    *,
    pending: tuple[PendingClarification, ...] = (),
    persona: str = "",
) -> SessionState:
    """The state with its open matters, topics, running reminders and references as the ledger has them now.

    `title` is what the keeper calls the session, or its day and first words; `pending` what the last reply asks
    (`memory.context.context_builder.pending`). Of a session that was started fresh only its own notes count.
    """
    scope = Scope(persona=persona, session_id=state.session_id if state.isolated else None)
    notes = within(ledger, scope)
    topics = (Topic(name=title, weight=1.0, first_seq=1, last_seq=max(1, state.last_seq)),) if title else ()
    return state.model_copy(
        update={
            "open_loops": loops_of(notes, now_ms),
            "active_topics": topics,
            "pending_clarifications": pending,
            "active_job_refs": job_refs_of(notes),
            "resolved_entities": entities_of(notes, now_ms),
        }
    )
