"""The marks in a session's state of the notes that its prompts begin with. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from memory.ledger.types import Ledger
from memory.ledger.views import Scope
from memory.types import NotesMark, SessionState

MAX_MARKS: Final = 6
"""Blocks that a session knows at once: of a group one for each scope and clock."""


def mark_for(state: SessionState, scope: Scope, time_zone: str) -> NotesMark | None:
    """The mark of the block that is frozen for this scope and clock; None when one has to be taken."""
    compaction_id = state.compaction.compaction_id if state.compaction else ""
    wanted = (scope.persona, scope.session_id is not None, time_zone, compaction_id)
    found = [
        mark
        for mark in state.notes_marks
        if (mark.persona, mark.of_session, mark.time_zone, mark.compaction_id) == wanted
    ]
    return found[-1] if found else None


def new_mark(state: SessionState, ledger: Ledger, scope: Scope, time_zone: str, now_ms: int) -> NotesMark:
    """The mark of a block that is taken now."""
    return NotesMark(
        version=ledger.version,
        at_ms=now_ms,
        time_zone=time_zone,
        persona=scope.persona,
        of_session=scope.session_id is not None,
        compaction_id=state.compaction.compaction_id if state.compaction else "",
    )


def marked(state: SessionState, mark: NotesMark | None) -> SessionState:
    """The state that remembers a block, in the transaction of the first reply that was given with it."""
    if mark is None or mark in state.notes_marks:
        return state
    kept = [
        each
        for each in state.notes_marks
        if each.compaction_id == mark.compaction_id or each.persona != mark.persona  # who answered here
    ]
    return state.model_copy(update={"notes_marks": (*kept, mark)[-MAX_MARKS:]})


def played_in(state: SessionState | None, persona: str, plays: Collection[str]) -> str:
    """The persona whose story a session may tell: this one, where it `plays` a role or none did before, else that."""
    before = () if persona in plays else (mark.persona for mark in reversed(state.notes_marks if state else ()))
    return next((each for each in before if each in plays), persona)
