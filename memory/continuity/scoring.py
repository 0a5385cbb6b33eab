"""Scoring with a visible breakdown, and the selection of core and active arcs (001)."""

from __future__ import annotations

from memory.continuity.types import (
    ACTIVE_MAX,
    CORE_MAX,
    Arc,
    ArcKind,
    Level,
    Persona,
    Role,
    ScoredArc,
    Selection,
    Stickiness,
)

CONFIDENCE_WEIGHT: dict[Level, float] = {"high": 1.0, "medium": 0.6, "low": 0.2}
STICKINESS_WEIGHT: dict[Stickiness, float] = {"high": 0.6, "normal": 0.3, "low": 0.0}
RECENCY_STEP: dict[Stickiness, float] = {"high": 0.04, "normal": 0.08, "low": 0.15}
"""Penalty for each conversation since; a sticky arc fades more slowly."""
RECENCY_MAX = 0.9
EMPHASIS = 0.15
DIVERSITY_STEP = 0.05
"""Penalty for each arc of the same kind that was selected before."""
CORE_MIN = 0.75
"""The second and third core arc must reach this; the first need not."""
ACTIVE_MIN = 0.15

_EMPHASIZED: dict[Role, frozenset[ArcKind]] = {
    "assistant": frozenset({"project", "constraint"}),
    "companion": frozenset({"theme", "relationship"}),
    "roleplay": frozenset({"story"}),
}


def score(arcs: tuple[Arc, ...], persona: Persona) -> tuple[ScoredArc, ...]:
    """Return every arc with its score, best first; ties go to the arc touched last, then to the id."""
    scored = [_score_one(arc, persona) for arc in arcs]
    return tuple(sorted(scored, key=_order))


def select(scored: tuple[ScoredArc, ...]) -> Selection:
    """Pick 1-3 core and up to 7 active arcs: highest scores, each further arc of one kind a little lower.

    There is a core arc whenever there is an arc at all.
    """
    core, rest = _pick(list(scored), CORE_MAX, CORE_MIN, taken=[], first_always=True)
    active, rest = _pick(rest, ACTIVE_MAX, ACTIVE_MIN, taken=[one.arc.kind for one in core], first_always=False)
    return Selection(
        core=tuple(core),
        active=tuple(active),
        left_out=tuple((one, "too weak" if one.score < ACTIVE_MIN else "no room") for one in rest),
    )


def without(selection: Selection, arc_ids: frozenset[str]) -> Selection:
    """Return the selection without the named arcs; active ones move up when no core arc is left."""
    core = tuple(one for one in selection.core if one.arc.arc_id not in arc_ids)
    active = tuple(one for one in selection.active if one.arc.arc_id not in arc_ids)
    if not core:
        core, active = active[:1], active[1:]
    return selection.model_copy(update={"core": core, "active": active})


def _fading(arc: Arc) -> float:
    """The penalty for the conversations since; none while its day is near: then it matters as much as on the first."""
    return (
        0.0
        if arc.worth.get("near")
        else min(RECENCY_MAX, round(RECENCY_STEP[arc.stickiness] * arc.conversations_ago, 4))
    )


def _score_one(arc: Arc, persona: Persona) -> ScoredArc:
    """Return one arc with the parts of its score: those that 001 names, and the worth of its note now."""
    breakdown = {
        "confidence": CONFIDENCE_WEIGHT[arc.confidence],
        "stickiness": STICKINESS_WEIGHT[arc.stickiness],
        "emphasis": EMPHASIS if arc.kind in _EMPHASIZED[persona.role] else 0.0,
        "recency": -_fading(arc),
        **{name: round(part, 4) for name, part in arc.worth.items() if name not in {"confidence", "recency"} and part},
    }
    return ScoredArc(arc=arc, score=round(sum(breakdown.values()), 4), breakdown=breakdown)


def _order(scored: ScoredArc) -> tuple[float, int, str]:
    """Best first; total, so that the same arcs always come in the same order."""
    return (-scored.score, -scored.arc.last_touched_at_ms, scored.arc.arc_id)


def _pick(
    pool: list[ScoredArc], room: int, least: float, *, taken: list[ArcKind], first_always: bool
) -> tuple[list[ScoredArc], list[ScoredArc]]:
    """Take the best of the pool one after another, counting kinds; return the arcs taken and those left."""
    picked: list[ScoredArc] = []
    kinds = list(taken)
    while pool and len(picked) < room:
        best = min((_diversified(one, kinds) for one in pool), key=_order)
        if best.score < least and not (first_always and not picked):
            break
        picked.append(best)
        kinds.append(best.arc.kind)
        pool = [one for one in pool if one.arc.arc_id != best.arc.arc_id]
    return picked, pool


def _diversified(scored: ScoredArc, kinds: list[ArcKind]) -> ScoredArc:
    """Lower the score by the number of arcs of the same kind that stand already."""
    penalty = -round(DIVERSITY_STEP * kinds.count(scored.arc.kind), 4)
    breakdown = {**scored.breakdown, "diversity": penalty}
    return ScoredArc(arc=scored.arc, score=round(sum(breakdown.values()), 4), breakdown=breakdown)
