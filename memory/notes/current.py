"""What is known of a conversation now: the notes of its sessions, merged, read up to the last turn when it is shown."""

from __future__ import annotations

import logging

from memory.errors import StorageUnavailable
from memory.language.languages import Languages
from memory.notes.readings import Readings
from memory.notes.types import SessionNotes
from memory.notes.view import NotesView, merge
from memory.ports import Clock
from memory.sessions.evidence import state_of_row
from memory.storage.store import Store

STATES_READ = 12
_ENDED = ('"done"', '"answered"', '"dropped"')

log = logging.getLogger(__name__)


class CurrentNotes:
    """Gives what is alive in a conversation; nobody else merges notes."""

    def __init__(self, store: Store, readings: Readings, languages: Languages, clock: Clock) -> None:
        self._store = store
        self._readings = readings
        self._languages = languages
        self._clock = clock

    async def sessions(
        self, conversation_id: str, *, only: str | None = None, catch_up: bool = True
    ) -> list[SessionNotes]:
        """Return the notes of the conversation's latest sessions, oldest first.

        `only` names a session that was started fresh: then nothing of others is told. Without `catch_up` nothing is
        read first, as in the path of an answer; what cannot be stored is told as far as it was read.
        Raises `StorageUnavailable`.
        """
        if catch_up:
            await self._catch_up(conversation_id)
        found = await self._readings.notes.of_conversation(conversation_id)
        return [notes for notes in found if only in (None, notes.session_id)]

    async def _ended(self, conversation_id: str) -> frozenset[str]:
        """Return the ids of matters that a session ended as its loops: "the first one is done", said of a list."""
        rows = await self._store.sessions(conversation_id, limit=STATES_READ)
        states = [state_of_row(row)[0] for row in rows if any(word in row.state_json for word in _ENDED)]
        loops = (loop for state in states if state for loop in state.open_loops)
        return frozenset(loop.loop_id for loop in loops if loop.status in {"done", "answered", "dropped"})

    async def _catch_up(self, conversation_id: str) -> None:
        try:
            await self._readings.catch_up(conversation_id)
        except StorageUnavailable as exc:
            log.info("notes are told as far as they were read: %s", exc)

    async def view(
        self, conversation_id: str, *, only: str | None = None, user_id: int | None = None, catch_up: bool = True
    ) -> NotesView:
        """Return what is alive in the conversation now, best first; with `user_id` nothing that others said there."""
        notes = await self.sessions(conversation_id, only=only, catch_up=catch_up)
        view = merge(notes, self._clock.now_ms(), self._languages, ended=await self._ended(conversation_id))
        if user_id is None:
            return view
        rows = await self._store.db.read("turns_of_others", conversation_id=conversation_id, user_id=user_id)
        foreign = {row["turn_id"] for row in rows}
        kept = (each for each in view.standings if foreign.isdisjoint(each.note.turn_ids))
        return view.model_copy(update={"standings": tuple(kept)})
