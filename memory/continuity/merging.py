"""Normalization: candidates that speak of one matter become one, with all their evidence."""

from __future__ import annotations

from typing import NamedTuple

from memory.continuity.text import stems
from memory.continuity.types import SOURCES_MAX, ArcCandidate, Evidence, Level, Stickiness

_SAME = 0.6
"""Share of common words from which two candidates are one matter."""

_RANK: dict[Evidence, int] = {"note": 0, "loop": 1, "decision": 2, "preference": 3, "fact": 4}
_LEVELS: tuple[Level, ...] = ("low", "medium", "high")
_STICKINESS: tuple[Stickiness, ...] = ("low", "normal", "high")


class _Matter(NamedTuple):
    """A candidate with its words, which are compared often."""

    candidate: ArcCandidate
    said: frozenset[str]
    named: frozenset[str]


def merge(candidates: tuple[ArcCandidate, ...]) -> tuple[ArcCandidate, ...]:
    """Return one candidate per matter: the words of the strongest evidence, the sources of all.

    Independent evidence raises the confidence by one level; the most recent mention decides the age.
    """
    merged: list[_Matter] = []
    for candidate in sorted(candidates, key=_order):
        other = _Matter(candidate, stems(f"{candidate.title} {candidate.text}"), stems(candidate.title))
        at = next((i for i, kept in enumerate(merged) if _one_matter(kept, other)), None)
        if at is None:
            merged.append(other)
        else:
            merged[at] = merged[at]._replace(candidate=_fold(merged[at].candidate, candidate))
    return tuple(matter.candidate for matter in merged)


def _order(candidate: ArcCandidate) -> tuple[int, int, int, str]:
    """Strongest evidence first, then the most recent; the sources make it total."""
    return (_RANK[candidate.evidence], candidate.conversations_ago, -candidate.last_touched_at_ms, candidate.sources[0])


def _one_matter(kept: _Matter, other: _Matter) -> bool:
    """Tell whether two candidates are about the same thing: most words in common, or one title."""
    if not kept.said or not other.said:
        return kept.candidate.text == other.candidate.text
    if len(kept.said & other.said) / len(kept.said | other.said) >= _SAME:
        return True
    return kept.named == other.named and kept.candidate.kind == other.candidate.kind


def _fold(kept: ArcCandidate, other: ArcCandidate) -> ArcCandidate:
    """Add the evidence of `other` to `kept`, whose words and kind stay."""
    independent = not set(other.sources) <= set(kept.sources)
    level = max(_LEVELS.index(kept.confidence), _LEVELS.index(other.confidence))
    return kept.model_copy(
        update={
            "confidence": _LEVELS[min(level + independent, len(_LEVELS) - 1)],
            "stickiness": _STICKINESS[max(_STICKINESS.index(kept.stickiness), _STICKINESS.index(other.stickiness))],
            "sources": tuple(dict.fromkeys((*kept.sources, *other.sources)))[:SOURCES_MAX],
            "last_touched_at_ms": max(kept.last_touched_at_ms, other.last_touched_at_ms),
            "conversations_ago": min(kept.conversations_ago, other.conversations_ago),
        }
    )
