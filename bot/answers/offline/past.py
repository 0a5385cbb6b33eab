"""What was said in a conversation, as the concierge looks at it: turns of this session and of others, memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import structlog

from bot.answers.responder import Ask
from memory.errors import ContinuityError
from memory.sessions.evidence import state_of_row
from memory.storage.store import Store
from memory.types import ConversationTurn, Memory, SessionState

MAX_SESSIONS: Final = 8
"""At most this many other sessions are read for notes; what lies further back, the search and the memories find."""
MAX_TURNS: Final = 120
"""At most this many of a session's turns are read, the newest."""
MAX_MEMORIES: Final = 200
_MEMORY_FIELDS: Final = {"created_at_ms": "at_ms"}
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Past:
    """What was said here: turns of this session and of others, oldest first, with what was promoted from them."""

    own: tuple[ConversationTurn, ...] = ()
    others: tuple[tuple[SessionState, tuple[ConversationTurn, ...]], ...] = ()
    memories: tuple[Memory, ...] = ()
    trouble: bool = False
    undone: frozenset[str] = frozenset()
    """Turns whose notes the person took back."""

    @property
    def turns(self) -> tuple[ConversationTurn, ...]:
        """All turns, oldest first within each session."""
        return tuple(turn for _, turns in self.others for turn in turns) + self.own

    @property
    def kept(self) -> list[ConversationTurn]:
        """The turns whose notes stand."""
        return [turn for turn in self.turns if turn.turn_id not in self.undone]


async def read_past(store: Store, ask: Ask) -> Past:
    """Return what was said here; what the packet holds alone, when the database cannot be read."""
    try:
        return await _read(store, ask)
    except ContinuityError as exc:
        log.warning("the concierge answers from the last messages alone", error=str(exc))
        return Past(own=ask.packet.history, trouble=True)


async def _read(store: Store, ask: Ask) -> Past:
    own = await store.last_turns(ask.state.session_id, MAX_TURNS)
    if ask.state.isolated:
        return Past(own=tuple(own), undone=frozenset(ask.state.undone))
    rows = await store.sessions(ask.conversation_id, limit=MAX_SESSIONS + 1)
    others = []
    for row in reversed(rows):
        state = state_of_row(row)[0]
        if state is not None and row.session_id != ask.state.session_id:
            turns = await store.last_turns(row.session_id, MAX_TURNS)
            others.append((state, tuple(turns)))
    undone = {turn_id for state in (ask.state, *(state for state, _ in others)) for turn_id in state.undone}
    return Past(tuple(own), tuple(others[-MAX_SESSIONS:]), await _memories(store, ask), undone=frozenset(undone))


async def _memories(store: Store, ask: Ask) -> tuple[Memory, ...]:
    rows = await store.db.read(
        "continuity_memories", conversation_id=ask.conversation_id, user_id=ask.user_id, limit=MAX_MEMORIES
    )
    return tuple(Memory.model_validate({_MEMORY_FIELDS.get(k, k): v for k, v in row.items()}) for row in rows)
