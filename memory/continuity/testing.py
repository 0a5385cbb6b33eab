"""Public makers for tests of the continuity bootstrap: an owner, past sessions, loops, topics, memories, arcs."""

from __future__ import annotations

from typing import Any

from memory.continuity.types import Arc, BootstrapOwner, PastSession, Persona
from memory.testing import START_MS, make_state
from memory.types import Memory, OpenLoop, SessionState, Topic

CONVERSATION_ID = "tg:1:7:0"
USER_ID = 7


def make_persona(**overrides: Any) -> Persona:
    """Return a plain assistant, unless told otherwise."""
    fields: dict[str, Any] = {
        "name": "assistant",
        "role": "assistant",
        "immersion": "balanced",
        "tone": ("clear", "calm"),
        "instructions": "Be of help.",
    }
    return Persona.model_validate(fields | overrides)


def make_owner(**overrides: Any) -> BootstrapOwner:
    """Return user 7 in their private chat with the plain assistant; persona fields may be given too."""
    own = {name: overrides.pop(name) for name in ("conversation_id", "user_id", "persona") if name in overrides}
    fields = {"conversation_id": CONVERSATION_ID, "user_id": USER_ID, "persona": make_persona(**overrides)}
    return BootstrapOwner.model_validate(fields | own)


def make_loop(text: str = "Send the report to Anna", **overrides: Any) -> OpenLoop:
    """Return something the user said they would do."""
    fields: dict[str, Any] = {
        "loop_id": "t_1.1",
        "kind": "commitment",
        "owner": "user",
        "text": text,
        "turn_id": "t_1",
        "opened_seq": 1,
        "opened_at_ms": START_MS,
        "touched_at_ms": START_MS,
    }
    return OpenLoop.model_validate(fields | overrides)


def make_topic(name: str = "lisbon trip", weight: float = 0.8) -> Topic:
    """Return a topic of the whole session."""
    return Topic(name=name, weight=weight, first_seq=1, last_seq=9)


def make_session(**overrides: Any) -> PastSession:
    """Return a session of four turns; fields of its state (`open_loops`, `active_topics`, …) may be given too."""
    own = {name: overrides.pop(name) for name in PastSession.model_fields if name in overrides}
    session_id = own.get("session_id", "s_1")
    state: SessionState = make_state(**{"session_id": session_id, "conversation_id": CONVERSATION_ID} | overrides)
    fields: dict[str, Any] = {
        "session_id": session_id,
        "title": "",
        "state": state,
        "turn_count": 4,
        "last_turn_at_ms": START_MS,
    }
    return PastSession.model_validate(fields | own)


def make_memory(text: str = "Prefers short answers.", **overrides: Any) -> Memory:
    """Return a preference of the user, promoted with a high score in session `s_1`."""
    fields: dict[str, Any] = {
        "memory_id": "m_1",
        "user_id": USER_ID,
        "kind": "preference",
        "subject": "answers",
        "text": text,
        "score": 0.9,
        "turn_id": "t_1",
        "session_id": "s_1",
        "at_ms": START_MS,
    }
    return Memory.model_validate(fields | overrides)


def make_arc(title: str = "report for Anna", **overrides: Any) -> Arc:
    """Return a certain project of the last conversation; its id is made of its title."""
    fields: dict[str, Any] = {
        "arc_id": f"a_{title.replace(' ', '_')}",
        "kind": "project",
        "title": title,
        "summary": f"In progress: {title}",
        "confidence": "high",
        "stickiness": "normal",
        "sources": ("t_1.1",),
        "last_touched_at_ms": START_MS,
        "conversations_ago": 0,
    }
    return Arc.model_validate(fields | overrides)
