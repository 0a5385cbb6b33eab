"""What the readers before the ledger noted of a conversation: the notes of its sessions, merged."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory.language.languages import Languages
from memory.notes.lines import loop_of
from memory.notes.store import NotesStore
from memory.notes.types import Matter, SessionNotes
from memory.notes.view import NotesView, merge
from memory.ports import Clock
from memory.sessions.evidence import state_of_row
from memory.state.loops import says_the_same
from memory.state.state_manager import undo
from memory.storage.store import SessionRow, Store
from memory.types import OpenLoop, SessionState

STATES_READ = 12
_TELLING = ('"undone":["', '"done"', '"answered"', '"dropped"')
"""Words of a state in which something was taken back or ended."""


class CurrentNotes:
    """Gives what is alive in a conversation; nobody else merges notes."""

    def __init__(self, store: Store, languages: Languages, clock: Clock) -> None:
        self.rows = NotesStore(store.db)
        self._store = store
        self._languages = languages
        self._clock = clock

    async def sessions(
        self,
        conversation_id: str,
        *,
        only: str | None = None,
        catch_up: bool = True,  # noqa: ARG002 - nobody reads by rules any more
    ) -> list[SessionNotes]:
        """Return the notes of the conversation's latest sessions, oldest first.

        `only` names a session that was started fresh: then nothing of others is told. Raises `StorageUnavailable`.
        """
        return _told(
            await self.rows.of_conversation(conversation_id),
            _undone(await self._states(conversation_id)),
            only,
        )

    async def _states(self, conversation_id: str, rows: Sequence[SessionRow] | None = None) -> list[SessionState]:
        """Return the states of the latest sessions in which something ended or was taken back."""
        if rows is None:
            rows = await self._store.sessions(conversation_id, limit=STATES_READ)
        found = (state_of_row(row)[0] for row in rows if any(word in row.state_json for word in _TELLING))
        return [state for state in found if state]

    async def view(
        self,
        conversation_id: str,
        *,
        only: str | None = None,
        user_id: int | None = None,
        catch_up: bool = True,  # noqa: ARG002 - nobody reads by rules any more
        rows: Sequence[SessionRow] | None = None,
        without: Collection[str] = (),
    ) -> NotesView:
        """Return what is alive in the conversation now, best first; with `user_id` nothing that others said there.

        `rows` are its latest `STATES_READ` sessions, when they were read just now.

        Nothing that rests on a turn which the person took back; `without` says of further turns how it would be.
        """
        found = await self.rows.of_conversation(conversation_id)
        states = await self._states(conversation_id, rows)
        if without:
            states = [undo(state, without) for state in states]
        undone = _undone(states)
        notes = _told(found, undone, only)
        view = merge(notes, self._clock.now_ms(), self._languages, ended=ended_in(states, notes))
        if undone:
            stands = (each for each in view.standings if undone.isdisjoint(each.note.turn_ids))
            view = view.model_copy(update={"standings": tuple(stands)})
        if user_id is None:
            return view
        others = await self._store.db.read("turns_of_others", conversation_id=conversation_id, user_id=user_id)
        foreign = {row["turn_id"] for row in others}
        kept = (each for each in view.standings if foreign.isdisjoint(each.note.turn_ids))
        return view.model_copy(update={"standings": tuple(kept)})


def _undone(states: Sequence[SessionState]) -> frozenset[str]:
    """Return the turns of which the person said that what was noted of them is wrong."""
    return frozenset(turn_id for state in states for turn_id in state.undone)


def ended_in(states: Sequence[SessionState], notes: Sequence[SessionNotes]) -> set[str]:
    """Return the ids of the matters that sessions ended as their loops: "the first one is done", said of a list."""
    loops = (loop for state in states for loop in state.open_loops)
    ended = [loop for loop in loops if loop.status in {"done", "answered", "dropped"}]
    return {matter.matter_id for each in notes for matter in each.matters if _is_ended(matter, ended)}


def _told(found: Sequence[SessionNotes], undone: frozenset[str], only: str | None) -> list[SessionNotes]:
    """Return the notes that may be told, `only` those of one session, without what was taken back."""
    return [_named_again(notes, undone) for notes in found if only in (None, notes.session_id)]


def _named_again(notes: SessionNotes, undone: frozenset[str]) -> SessionNotes:
    """Return the notes without a title that rests on what was taken back; the next reading gives another."""
    if undone.isdisjoint(notes.standing_turn_ids):
        return notes
    return notes.model_copy(update={"title": "", "standing": ""})


def _is_ended(matter: Matter, ended: Sequence[OpenLoop]) -> bool:
    """Return whether a loop that ended is this matter: by its id, or in most of its words, said in the same turn.

    A matter that was spoken of again since then is open again.
    """
    return any(
        loop.loop_id == matter.matter_id
        or (matter.said_at_ms <= loop.touched_at_ms and says_the_same(loop, loop_of(matter)))
        for loop in ended
    )
