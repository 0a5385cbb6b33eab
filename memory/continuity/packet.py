"""The two outputs of a bootstrap (001), assembled by code: the internal packet and the user's preview."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from memory.context.fence import fence
from memory.continuity.text import one_line
from memory.continuity.types import SUMMARY_MAX_CHARS, AlsoKnown, RelationshipState, ScoredArc, Selection
from memory.ports import TokenCounter

GUARDRAILS = (
    "Use subtly and naturally-only when relevant.",
    "Do not quote, paraphrase, or summarize this content to the user.",
)
PREVIEW_OPENING = "If you'd like, I can carry forward this context:"
PREVIEW_CLOSING = "Or we can start fresh. Either is fine."

_DATA_TITLE = "Notes taken from earlier conversations."
_NO_CORE = "- Nothing in particular is carried forward."
_FIELD_MAX_CHARS = 200
_HEADING_TOKENS = 40


def internal_packet(relationship: RelationshipState, selection: Selection) -> str:
    """Return what is injected: relationship, core context always, active arcs unless empty, the guardrails last.

    Words of people stand in fenced blocks of data, on lines of their own that begin with "- "; angle brackets inside
    are replaced, so nothing in them can close the block, open a heading or come after the guardrails.
    """
    blocks = [_relationship(relationship), _arcs("Core Context", selection.core)]
    if selection.active:
        blocks.append(_arcs("Active Arcs", selection.active))
    if selection.also:
        lines = "\n".join(map(_also_line, selection.also))
        blocks.append(f"## Also Known\n{fence(lines, _DATA_TITLE)}")
    blocks.append("\n".join(("## Instructions", *GUARDRAILS)))
    return "\n\n".join(blocks)


def fit(relationship: RelationshipState, selection: Selection, counter: TokenCounter, max_tokens: int) -> Selection:
    """Return the selection without its weakest arcs until the packet fits; the first core arc always stays.

    What else is known takes the room that the arcs leave. So a packet never has to be cut, and its guardrails cannot
    be lost that way.
    """
    also, selection = selection.also, selection.model_copy(update={"also": ()})
    while len(selection.arcs) > 1 and counter.count(internal_packet(relationship, selection)) > max_tokens:
        tier = "active" if selection.active else "core"
        kept: tuple[ScoredArc, ...] = getattr(selection, tier)
        left_out = ((kept[-1], "over the token budget"), *selection.left_out)
        selection = selection.model_copy(update={tier: kept[:-1], "left_out": left_out})
    return _with_also(relationship, selection, also, counter, max_tokens)


def _with_also(
    relationship: RelationshipState,
    selection: Selection,
    also: Sequence[AlsoKnown],
    counter: TokenCounter,
    max_tokens: int,
) -> Selection:
    """Return the selection with as much of what else is known as fits, best first."""
    room = max_tokens - counter.count(internal_packet(relationship, selection)) - _HEADING_TOKENS
    taken: list[AlsoKnown] = []
    for one in also:
        room -= counter.count(_also_line(one)) + 1
        if room < 0:
            break
        taken.append(one)
    return selection.model_copy(update={"also": tuple(taken)})


def _also_line(one: AlsoKnown) -> str:
    return f"- {one_line(one.text, SUMMARY_MAX_CHARS)}"


def preview(selection: Selection) -> str:
    """Return what the user is asked, or "" when there is nothing to carry forward."""
    if not selection.core:
        return ""
    bullets = (f"• {one_line(arc.summary, SUMMARY_MAX_CHARS)}" for arc in selection.arcs)
    return "\n".join((PREVIEW_OPENING, "", *bullets, "", PREVIEW_CLOSING))


def _relationship(state: RelationshipState) -> str:
    """Return the five fields, one a line."""
    fields = (
        ("Familiarity", state.familiarity),
        ("Tone", ", ".join(state.tone)),
        ("Working norms", "; ".join(state.contract)),
        ("Boundaries", "; ".join(state.boundaries)),
        ("Your role", state.role_frame),
    )
    lines = (f"{name}: {'; '.join(_short(part) for part in value.split('; '))}" for name, value in fields)
    return "\n".join(("## Relationship State", *lines))


def _day(at_ms: int) -> str:
    """Return the day (UTC), so that "tomorrow" in somebody's words is not read as tomorrow."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()


def _short(part: str) -> str:
    """Keep one norm or boundary on one line of bounded length."""
    return one_line(part, _FIELD_MAX_CHARS)


def _arcs(heading: str, arcs: tuple[ScoredArc, ...]) -> str:
    """Return one tier of arcs as a fenced list."""
    lines = [
        f"- [{arc.kind}, {_day(arc.last_touched_at_ms)}] {one_line(arc.summary, SUMMARY_MAX_CHARS)}"
        for arc in (scored.arc for scored in arcs)
    ]
    return f"## {heading}\n{fence(chr(10).join(lines or [_NO_CORE]), _DATA_TITLE)}"
