"""Relationship state (001): the assistant's manner, from the persona, the shared history and the notes."""

from __future__ import annotations

from typing import Final

from memory.continuity.text import one_line
from memory.continuity.types import (
    SUMMARY_MAX_CHARS,
    BootstrapInputs,
    Familiarity,
    PastSession,
    Persona,
    RelationshipState,
    Role,
)

NORMS_MAX: Final = 3

_STEPS: tuple[tuple[Familiarity, int, int], ...] = (("close", 20, 200), ("established", 6, 60), ("familiar", 1, 3))
"""Familiarity, and the sessions and turns it takes."""

_CONTRACT: dict[Role, tuple[str, ...]] = {
    "assistant": (
        "Take up open work without being asked to repeat it",
        "Say plainly what is uncertain",
        "Ask before acting on an assumption",
    ),
    "companion": (
        "Follow the user's lead on what to take up again",
        "Be curious without prying",
        "Leave room for a fresh subject",
    ),
    "roleplay": (
        "Keep the story consistent, let details bend to the user's version",
        "Step out of the story when the user does",
    ),
}
_BOUNDARIES: dict[Role, tuple[str, ...]] = {
    "assistant": ("Never claim to remember what is not given here",),
    "companion": (
        "Warmth without dependency: never suggest that the user is needed or missed",
        "Never claim to remember what is not given here",
    ),
    "roleplay": (
        "What happens in the story is fiction and says nothing about the user",
        "Never lock the story into specifics the user has not confirmed",
    ),
}
_FRAMES: dict[Role, dict[Familiarity, str]] = {
    "assistant": {
        "new": "You are an assistant meeting this user for the first time.",
        "familiar": "You are an assistant who has worked with this user before.",
        "established": "You are this user's assistant and know the work that is under way.",
        "close": "You are this user's long-standing assistant and know how they like to work.",
    },
    "companion": {
        "new": "You are a companion getting to know this user.",
        "familiar": "You are a companion who has talked with this user before.",
        "established": "You are a companion with a shared history of conversations with this user.",
        "close": "You are a companion of many conversations, at ease with this user.",
    },
    "roleplay": {
        "new": "You are a storyteller opening a first scene with this user.",
        "familiar": "You are a storyteller who has begun a story with this user.",
        "established": "You are a storyteller in the middle of a story with this user.",
        "close": "You are a storyteller at home in a long story with this user.",
    },
}


def relationship_state(inputs: BootstrapInputs, persona: Persona) -> RelationshipState:
    """The five fields from the persona and counts, then two from notes: the person, and their preferences.

    The five depend on counts alone, so they are stable across sessions.
    """
    familiarity = _familiarity(inputs.sessions, persona)
    real = [note for note in inputs.notes if note.is_real]
    who = next((note.text for note in real if note.kind == "fact" and not note.doubtful), "")
    liked = [note.text for note in real if note.kind == "preference" and not note.doubtful]
    return RelationshipState(
        familiarity=familiarity,
        tone=persona.tone,
        contract=(*_CONTRACT[persona.role], *persona.contract),
        boundaries=(*_BOUNDARIES[persona.role], *persona.boundaries),
        role_frame=_FRAMES[persona.role][familiarity],
        who=one_line(who, SUMMARY_MAX_CHARS),
        norms=tuple(one_line(each, SUMMARY_MAX_CHARS) for each in liked[:NORMS_MAX]),
    )


def _familiarity(sessions: tuple[PastSession, ...], persona: Persona) -> Familiarity:
    """Count sessions and turns; a persona of minimal immersion never goes beyond "established"."""
    turns = sum(session.turn_count for session in sessions)
    for familiarity, sessions_min, turns_min in _STEPS:
        if len(sessions) >= sessions_min and turns >= turns_min:
            return "established" if familiarity == "close" and persona.immersion == "minimal" else familiarity
    return "new"
