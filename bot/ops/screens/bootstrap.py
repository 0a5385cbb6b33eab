"""Output of `bootstrap list`, people's preferences, and `bootstrap run`, the stages in the order of making them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bot.ops.format import short_ids
from bot.ops.records.bootstrap import Chosen
from bot.ops.records.sessions import chat_of
from bot.ops.screens.lines import columns, said
from bot.replies import plural
from memory.continuity.types import ScoredArc, Stages
from memory.text import shorten

TEXT_CHARS = 80


def show_chosen(console: Console, chosen: Sequence[Chosen]) -> None:
    """Show who is asked after a silence, one line for each conversation."""
    if not chosen:
        console.print("Nobody has said anything yet.")
        return
    short = short_ids([one.session_id for one in chosen])
    table = columns("session", "chat", "persona", "new conversations")
    for one in chosen:
        mode = f"{one.preference.mode}{' without a preview' if one.preference.skip_preview else ''}"
        table.add_row(said(short[one.session_id]), chat_of(one.conversation_id), said(one.persona), mode)
    console.print(table)


def show(console: Console, stages: Stages) -> None:
    """Print relationship, candidates, scores, selection and both packets."""
    state = stages.relationship
    console.rule("relationship state", align="left")
    for name, value in (
        ("familiarity", state.familiarity),
        ("tone", ", ".join(state.tone)),
        ("contract", "; ".join(state.contract)),
        ("boundaries", "; ".join(state.boundaries)),
        ("role frame", state.role_frame),
        ("who this is", state.who),
        ("likes", "; ".join(state.norms)),
    ):
        console.print(f"{name}: {value}", highlight=False)
    console.rule(plural(len(stages.candidates), "candidate"), align="left")
    for one in stages.candidates:
        line = f"{one.kind} ({one.confidence}, {one.stickiness}): {shorten(one.text, TEXT_CHARS)}"
        console.print(line, highlight=False)
    console.rule("scores", align="left")
    console.print(_scores(stages))
    for title, text in (("internal packet", stages.internal_packet), ("preview", stages.preview)):
        console.rule(title, align="left")
        console.print(text or "nothing to carry forward", highlight=False)


def _scores(stages: Stages) -> Table:
    """Return one row for each arc: its place, its score and the parts of the score."""
    table = Table("tier", "kind", "title", "score", "made of", box=None)
    tiers = (("core", stages.selection.core), ("active", stages.selection.active))
    for tier, arcs in tiers:
        for one in arcs:
            table.add_row(*_cells(tier, one))
    for one, why in stages.selection.left_out:
        table.add_row(*_cells(f"left out: {why}", one))
    return table


def _cells(tier: str, one: ScoredArc) -> tuple[str, ...]:
    made_of = ", ".join(f"{name} {value:+.2f}" for name, value in one.breakdown.items())
    return tier, one.arc.kind, one.arc.title, f"{one.score:.2f}", made_of
