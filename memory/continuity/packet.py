"""The two outputs of a bootstrap (001), assembled by code: the internal packet and the user's preview."""

from __future__ import annotations

from memory.context.fence import fence
from memory.continuity.text import one_line
from memory.continuity.types import SUMMARY_MAX_CHARS, RelationshipState, ScoredArc, Selection
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


def internal_packet(relationship: RelationshipState, selection: Selection) -> str:
    """Return the injected text: relationship, core context always, active arcs unless empty, the guardrails last.

    Words of people stand in fenced blocks of data, on lines of their own that begin with "- "; angle brackets inside
    are replaced, so nothing in them can close the block, open a heading or come after the guardrails.
    """
    blocks = [_relationship(relationship), _arcs("Core Context", selection.core)]
    if selection.active:
        blocks.append(_arcs("Active Arcs", selection.active))
    blocks.append("\n".join(("## Instructions", *GUARDRAILS)))
    return "\n\n".join(blocks)


def fit(relationship: RelationshipState, selection: Selection, counter: TokenCounter, max_tokens: int) -> Selection:
    """Return the selection without its weakest arcs until the packet fits; the first core arc always stays.

    So a packet never has to be cut, and its guardrails cannot be lost that way.
    """
    while len(selection.arcs) > 1 and counter.count(internal_packet(relationship, selection)) > max_tokens:
        tier = "active" if selection.active else "core"
        kept: tuple[ScoredArc, ...] = getattr(selection, tier)
        left_out = ((kept[-1], "over the token budget"), *selection.left_out)
        selection = selection.model_copy(update={tier: kept[:-1], "left_out": left_out})
    return selection


def preview(selection: Selection) -> str:
    """Return the question to the user, or "" when there is nothing to carry forward."""
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
    lines = (
        f"{name}: {'; '.join(one_line(part, _FIELD_MAX_CHARS) for part in value.split('; '))}" for name, value in fields
    )
    learned = [*([f"- Who this is: {state.who}"] if state.who else []), *(f"- Likes: {each}" for each in state.norms)]
    known = fence("\n".join(learned), _DATA_TITLE)
    return "\n".join(filter(None, ("## Relationship State", *lines, known)))


def _arcs(heading: str, arcs: tuple[ScoredArc, ...]) -> str:
    """Return one tier of arcs as a fenced list."""
    lines = [f"- #{scored.arc.number} {one_line(scored.arc.summary, SUMMARY_MAX_CHARS)}" for scored in arcs]
    return f"## {heading}\n{fence(chr(10).join(lines or [_NO_CORE]), _DATA_TITLE)}"
