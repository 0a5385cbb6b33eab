"""What is open in a conversation, as /loops and the concierge list it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot import replies
from memory.notes.lines import loop_of
from memory.notes.types import Matter
from memory.notes.view import NotesView, loops
from memory.state.state_manager import live_loops
from memory.types import OpenLoop, SessionState

TEXT_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class ListedLoop:
    """One open matter as a loop, the session that knows it, and how it is worded."""

    session_id: str
    loop: OpenLoop
    words: str
    whose: str
    """Whose turn it is, "" for somebody's who is not known by name."""
    noted: bool = False
    """True for a matter of the session's notes, False for a loop of its state."""
    is_event: bool = False
    """True for what happens on its day; nobody has to act."""


def listed_loop(session_id: str, loop: OpenLoop) -> ListedLoop:
    """Return a loop of a session's state for the list."""
    return ListedLoop(session_id, loop, replies.shorten(loop.text, TEXT_CHARS), _whose(loop.owner, ""))


def listed_matter(session_id: str, matter: Matter) -> ListedLoop:
    """Return a matter that was noted for the list: quoted as it was said, and whose turn it is."""
    words = replies.shorten(matter.text, TEXT_CHARS)
    words = replies.say("quoted", text=words) if matter.quoted else words
    is_event = matter.kind == "event" and matter.due_at_ms is not None
    whose = _whose(matter.owner, matter.owner)
    return ListedLoop(session_id, loop_of(matter), words, whose, noted=True, is_event=is_event)


def _whose(owner: str, other: str) -> str:
    return {"user": replies.say("loop_yours"), "assistant": replies.say("loop_mine")}.get(owner, other)


def open_matters(view: NotesView, states: Sequence[SessionState], current_id: str | None) -> list[ListedLoop]:
    """Return what is open: the matters that were noted, best first, then loops of sessions not read yet.

    A session that was started fresh shows only its own.
    """
    current = next((state for state in states if state.session_id == current_id), None)
    if current and current.isolated:
        states = [current]
    noted = [
        listed_matter(standing.session_id, standing.note)
        for standing in loops(view)
        if isinstance(standing.note, Matter)
    ]
    unread = [state for state in states if state.session_id not in view.session_ids]
    known = {each.loop.loop_id for each in noted}
    theirs = [
        listed_loop(state.session_id, loop)
        for state in unread
        for loop in live_loops(state)
        if loop.loop_id not in known
    ]
    return noted + sorted(theirs, key=lambda each: (-each.loop.touched_at_ms, each.loop.loop_id))
