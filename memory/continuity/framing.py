"""Role- and immersion-aware framing: the same matter, said as fits the persona, and vaguer when it is uncertain."""

from __future__ import annotations

from hashlib import blake2b

from memory.continuity.text import generalize, one_line, words
from memory.continuity.types import (
    SUMMARY_MAX_CHARS,
    TITLE_MAX_CHARS,
    Arc,
    ArcCandidate,
    BootstrapOwner,
    DroppedArc,
    Persona,
    Role,
)

_UNSURE: dict[Role, str] = {
    "assistant": "Possibly still of interest: {title}. Details are uncertain.",
    "companion": "Perhaps: {title}. Let it come up by itself.",
    "roleplay": "Touched on in the story: {title}. Details are open.",
}


def frame(
    candidates: tuple[ArcCandidate, ...], owner: BootstrapOwner, dropped: tuple[DroppedArc, ...]
) -> tuple[Arc, ...]:
    """Return the arcs of the candidates, framed for the owner's persona.

    Candidates are left out that the user dropped and about which nothing new was said, and those without a word left
    once uncertain specifics are gone.
    """
    arcs: dict[str, Arc] = {}
    for candidate in candidates:
        if not _was_dropped(candidate, dropped):
            arc = _frame_one(candidate, owner)
            if arc is not None:
                arcs.setdefault(arc.arc_id, arc)
    return tuple(arcs.values())


def arc_id_of(owner: BootstrapOwner, candidate: ArcCandidate) -> str:
    """An id that stays the same for the same note of the same owner."""
    matter = f"{owner.artifact_key}\x1f{candidate.sources[0]}"
    return f"a_{blake2b(matter.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"


def _was_dropped(candidate: ArcCandidate, dropped: tuple[DroppedArc, ...]) -> bool:
    """Return whether all the evidence of the candidate was there already when the user dropped it."""
    return any(set(candidate.sources) <= set(arc.sources) for arc in dropped)


def _frame_one(candidate: ArcCandidate, owner: BootstrapOwner) -> Arc | None:
    """Frame one candidate, or return None when nothing safe to say is left."""
    unsure = _is_uncertain(candidate, owner.persona)
    title = generalize(candidate.title) if unsure else candidate.title
    if not words(title):
        return None
    return Arc(
        arc_id=arc_id_of(owner, candidate),
        number=candidate.number,
        kind=candidate.kind,
        title=one_line(title, TITLE_MAX_CHARS),
        summary=_unsure_summary(title, owner.persona) if unsure else candidate.text,
        confidence=candidate.confidence,
        stickiness=candidate.stickiness,
        sources=candidate.sources,
        last_touched_at_ms=candidate.last_touched_at_ms,
        conversations_ago=candidate.conversations_ago,
        worth=candidate.worth,
        generalized=unsure,
    )


def _is_uncertain(candidate: ArcCandidate, persona: Persona) -> bool:
    """Return whether to be vague: at low confidence, and in a loose story at anything less than certain."""
    loose = persona.role == "roleplay" or persona.immersion == "unbounded"
    return candidate.confidence == "low" or (loose and candidate.confidence == "medium")


def _unsure_summary(title: str, persona: Persona) -> str:
    """Return a sentence with the subject alone."""
    role: Role = "assistant" if persona.immersion == "minimal" else persona.role
    return one_line(_UNSURE[role].format(title=one_line(title, TITLE_MAX_CHARS)), SUMMARY_MAX_CHARS)
