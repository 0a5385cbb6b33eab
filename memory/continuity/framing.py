"""Role- and immersion-aware framing: the same matter, said as fits the persona, and vaguer when it is uncertain."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

from memory.continuity.text import generalize, one_line, stems, words
from memory.continuity.types import (
    SUMMARY_MAX_CHARS,
    TITLE_MAX_CHARS,
    Arc,
    ArcCandidate,
    ArcKind,
    BootstrapOwner,
    DroppedArc,
    Persona,
    Role,
)


class _Labels(NamedTuple):
    """What stands before the words of the evidence; neutral, so that it reads well to the model and to the user."""

    project: str
    decision: str
    theme: str
    question: str
    story: str
    relationship: str
    constraint: str


_PLAIN = _Labels(
    project="In progress",
    decision="Decided",
    theme="Recurring subject",
    question="Open question",
    story="Story thread",
    relationship="Good to know",
    constraint="Keep in mind",
)
_LABELS: dict[Role, _Labels] = {
    "assistant": _PLAIN,
    "companion": _PLAIN._replace(
        project="Something being worked on",
        decision="A choice that was made",
        theme="Something explored together",
        question="A question left open together",
        story="A shared story",
        relationship="What matters in these talks",
    ),
    "roleplay": _PLAIN._replace(
        project="A thread in motion",
        decision="A turn the story took",
        theme="A motif of the story",
        question="A mystery still open",
        story="Story so far",
        relationship="How it is played",
        constraint="A rule of the story",
    ),
}
_UNSURE: dict[Role, str] = {
    "assistant": "Possibly still of interest: {title}. Details are uncertain.",
    "companion": "Perhaps: {title}. Let it come up by itself.",
    "roleplay": "Touched on in the story: {title}. Details are open.",
}


def frame(
    candidates: tuple[ArcCandidate, ...], owner: BootstrapOwner, dropped: tuple[DroppedArc, ...]
) -> tuple[Arc, ...]:
    """Return the arcs of the candidates, framed for the owner's persona.

    Left out are those that the user dropped and about which nothing new was said, and those of which nothing is left
    once uncertain specifics are gone.
    """
    arcs: dict[str, Arc] = {}
    for candidate in candidates:
        if not _was_dropped(candidate, dropped):
            arc = _frame_one(candidate, owner)
            if arc is not None:
                arcs.setdefault(arc.arc_id, arc)
    return tuple(arcs.values())


def labels_of(persona: Persona) -> _Labels:
    """Return the labels of a persona; minimal immersion allows only the plain ones, whatever the role."""
    return _PLAIN if persona.immersion == "minimal" else _LABELS[persona.role]


def arc_id_of(owner: BootstrapOwner, kind: ArcKind, title: str) -> str:
    """Return an id that stays the same for the same matter of the same owner."""
    matter = "\x1f".join((owner.artifact_key, kind, *sorted(words(title))))
    return f"a_{blake2b(matter.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"


def _was_dropped(candidate: ArcCandidate, dropped: tuple[DroppedArc, ...]) -> bool:
    """Tell whether all the evidence of the candidate was there already when the user dropped it."""
    return any(set(candidate.sources) <= set(arc.sources) for arc in dropped)


def _frame_one(candidate: ArcCandidate, owner: BootstrapOwner) -> Arc | None:
    """Frame one candidate, or return None when nothing safe to say is left."""
    unsure = _is_uncertain(candidate, owner.persona)
    title = generalize(candidate.title) if unsure else candidate.title
    if not words(title):
        return None
    return Arc(
        arc_id=arc_id_of(owner, candidate.kind, candidate.title),
        kind=candidate.kind,
        title=one_line(title, TITLE_MAX_CHARS),
        summary=_unsure_summary(title, owner.persona) if unsure else _summary(candidate, owner.persona),
        confidence=candidate.confidence,
        stickiness=candidate.stickiness,
        sources=candidate.sources,
        last_touched_at_ms=candidate.last_touched_at_ms,
        conversations_ago=candidate.conversations_ago,
        worth=candidate.worth,
        generalized=unsure,
    )


def _is_uncertain(candidate: ArcCandidate, persona: Persona) -> bool:
    """Low confidence is uncertain; a story of unbounded immersion is not locked into anything less than certain."""
    loose = persona.role == "roleplay" or persona.immersion == "unbounded"
    return candidate.confidence == "low" or (loose and candidate.confidence == "medium")


def _summary(candidate: ArcCandidate, persona: Persona) -> str:
    """Put the label before the words of the evidence, unless they say it themselves ("I decided to …")."""
    if candidate.evidence == "note":
        return candidate.text
    labels = labels_of(persona)
    label = labels.decision if candidate.evidence == "decision" else str(getattr(labels, candidate.kind))
    if stems(label) <= stems(candidate.text):
        return candidate.text
    promised = " (the assistant's part)" if candidate.by_assistant else ""
    return one_line(f"{label}{promised}: {candidate.text}", SUMMARY_MAX_CHARS)


def _unsure_summary(title: str, persona: Persona) -> str:
    """Say only what it was about."""
    role: Role = "assistant" if persona.immersion == "minimal" else persona.role
    return one_line(_UNSURE[role].format(title=one_line(title, TITLE_MAX_CHARS)), SUMMARY_MAX_CHARS)
