"""Every stage of a generation as text for the operator: what was found, merged, scored, selected, and both packets."""

from __future__ import annotations

from collections.abc import Iterator

from memory.continuity.types import ArcCandidate, ScoredArc, Stages


def describe(stages: Stages) -> str:
    """Return the stages in order, one section each; it holds people's words, so it is for the operator's eyes."""
    selection = stages.selection
    sections: tuple[tuple[str, Iterator[str]], ...] = (
        ("Owner", iter((stages.owner_key, f"fingerprint {stages.fingerprint}, wording {stages.wording}"))),
        ("Relationship state", (f"{name}: {value}" for name, value in stages.relationship.model_dump().items())),
        ("Candidates", map(_candidate, stages.candidates)),
        ("Merged", map(_candidate, stages.merged)),
        ("Scores", map(_scored, stages.scored)),
        ("Core context", map(_scored, selection.core)),
        ("Active arcs", map(_scored, selection.active)),
        ("Left out", (f"{_scored(one)} ({reason})" for one, reason in selection.left_out)),
        ("Internal packet", iter(stages.internal_packet.splitlines())),
        ("Preview", iter(stages.preview.splitlines())),
    )
    return "\n\n".join("\n".join((f"=== {title}", *(list(lines) or ["(none)"]))) for title, lines in sections)


def _candidate(one: ArcCandidate) -> str:
    """Return one candidate on one line."""
    return (
        f"[{one.kind}] {one.text} — {one.evidence}, confidence {one.confidence}, stickiness {one.stickiness}, "
        f"{one.conversations_ago} conversations ago, from {', '.join(one.sources)}"
    )


def _scored(one: ScoredArc) -> str:
    """Return one arc with its score and what the score is made of."""
    parts = " ".join(f"{name} {value:+.2f}" for name, value in one.breakdown.items())
    general = ", generalized" if one.arc.generalized else ""
    return f"{one.score:.2f} = {parts} · {one.arc.arc_id} [{one.arc.kind}{general}] {one.arc.summary}"
