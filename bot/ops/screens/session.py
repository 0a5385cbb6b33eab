"""Output of `show`: the state of a session, its turns, the last prompts and the next one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

import orjson
from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bot.ops.format import NO_TITLE, moment, when
from bot.ops.records.sessions import Found, Shown, chat_of
from bot.ops.screens.lines import STATUS_WORDS, columns, facts, said
from bot.replies import plural
from memory.context.context_builder import reference_text
from memory.packets import RetrievedItem, TierReceipt
from memory.ports import Row
from memory.state.state_manager import session_title
from memory.text import shorten
from memory.types import ConversationTurn, SessionState

DIGEST_CHARS = 12
ORIGINS = {
    "first": "the first of its chat",
    "gap": "opened after a silence",
    "fresh": "opened with /fresh",
    "continue": "opened with /continue",
}


def show(console: Console, shown: Shown, zone: tzinfo) -> None:
    """Show everything about a session."""
    console.print(facts(_head(shown, zone)))
    _section(console, "state", facts(_state(shown, zone)))
    if shown.turns:
        _section(console, f"last {plural(len(shown.turns), 'turn')}", _turns(shown.turns, zone))
    if shown.snapshots:
        _section(console, "what the model was given", _snapshots(shown.snapshots, zone))
    if shown.packet:
        _section(console, "the packet as it would be now", _receipts(shown.packet.receipts))
        console.print(said(f"history: {plural(len(shown.packet.history), 'turn')} verbatim"))
        _scores(console, shown.packet.retrieved)
        console.print(said("\n" + (reference_text(shown.packet) or "nothing but the history"), "dim"))


def _section(console: Console, title: str, body: RenderableType) -> None:
    console.print()
    console.print(Rule(title, align="left", style="dim"))
    console.print(body)


def _head(shown: Shown, zone: tzinfo) -> list[tuple[str, RenderableType]]:
    state, row, report = shown.state, shown.row, shown.report
    rows: list[tuple[str, RenderableType]] = [
        ("session", state.session_id),
        ("about", session_title(state) or NO_TITLE),
        ("chat", f"{chat_of(state.conversation_id)} ({state.conversation_id})"),
        ("status", STATUS_WORDS.get(state.status, state.status)),
        ("turns", f"{state.turn_count}, the last {_last(state, shown.now_ms, zone)}"),
    ]
    if row:
        by = f" by user {row.user_id}" if row.user_id is not None else ""
        rows.append(("opened", f"{moment(row.created_at_ms, zone)}{by}, {ORIGINS.get(row.origin, row.origin)}"))
    used = f"from {report.base}, checkpoint {report.checkpoint}"
    rows.append(("hydration", f"{used}, {plural(report.turns_folded, 'turn')} folded, {report.turns_healed} to heal"))
    rows += [("", Text(warning, style="yellow")) for warning in report.warnings]
    if file := shown.checkpoint:
        saved = f"{when(file.saved_at_ms, shown.now_ms, zone)}{' by an orderly stop' if file.clean else ''}"
        rows.append(("checkpoint", f"{file.bytes:,} bytes, {saved}, digest {file.digest[:DIGEST_CHARS]}"))
    return rows


def _last(state: SessionState, now_ms: int, zone: tzinfo) -> str:
    return when(state.last_turn_at_ms, now_ms, zone) if state.last_turn_at_ms else "never"


def _state(shown: Shown, zone: tzinfo) -> list[tuple[str, RenderableType]]:
    state = shown.state
    topics = ", ".join(f"{topic.name} {topic.weight:.2f}" for topic in state.active_topics)
    rows: list[tuple[str, RenderableType]] = [("topics", topics or "none")]
    for loop in state.open_loops:
        due = f", due {moment(loop.due_at_ms, zone)}" if loop.due_at_ms else ""
        rows.append(("loops", f"[{loop.status}] {loop.text} ({loop.kind} of the {loop.owner}{due})"))
    rows += [("asked", f"{asked.question} (turn {asked.asked_seq})") for asked in state.pending_clarifications]
    rows += [("jobs", f"{job.title}: {job.status} {job.progress}".strip()) for job in shown.jobs]
    rows += [("means", f"“{name}” is {ref}") for name, ref in state.resolved_entities.items()]
    if state.isolated:
        rows.append(("isolated", "yes: started fresh, nothing of other sessions reaches the model"))
    if state.rolling_summary:
        rows.append((f"summary (to {state.summarized_through_seq})", state.rolling_summary))
    for done in shown.compactions:
        undone = ", undone" if done.undone_at_ms else ""
        tokens = f"{done.tokens_before} → {done.tokens_after} tokens"
        rows.append(("compacted", f"turns {done.from_seq}-{done.through_seq}: {tokens}, {done.method}{undone}"))
    return rows


def _turns(turns: Sequence[ConversationTurn], zone: tzinfo) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for turn in turns:
        marks = [moment(turn.created_at_ms, zone), turn.intent, f"{turn.tokens} tokens"]
        marks += [f"called {call.name}" for call in turn.tool_calls]
        table.add_row(str(turn.seq), "", said(" · ".join(marks), "dim"))
        table.add_row("", Text("user", style="cyan"), said(turn.user_text))
        table.add_row("", Text("bot", style="green"), said(turn.assistant_text))
    return table


def _snapshots(snapshots: Sequence[Row], zone: tzinfo) -> Table:
    table = columns("packet of", "turns#", "left out#", "found#", "loops#", "tokens#", "by tier")
    for row in reversed(snapshots):
        table.add_row(
            moment(row["compiled_at_ms"], zone),
            str(row["message_history_count"]),
            str(row["messages_truncated"]),
            str(row["retrieved_count"]),
            str(row["open_threads_count"]),
            str(row["total_tokens"]),
            said(_by_tier(row["receipts_json"])),
        )
    return table


def _by_tier(receipts_json: str) -> str:
    try:
        receipts = [TierReceipt.model_validate(each) for each in orjson.loads(receipts_json)]
    except ValueError:
        return "unreadable"
    return ", ".join(f"{receipt.tier} {receipt.used_tokens}" for receipt in receipts if receipt.used_tokens)


def _receipts(receipts: Sequence[TierReceipt]) -> Table:
    table = columns("tier!", "budget#", "used#", "items#", "cut items#", "cut tokens#", "")
    for receipt in receipts:
        table.add_row(
            receipt.tier.replace("_", " "),
            str(receipt.budget_tokens),
            str(receipt.used_tokens),
            str(receipt.items),
            str(receipt.cut_items),
            str(receipt.cut_tokens),
            said(receipt.error or "", "red"),
        )
    used = sum(receipt.used_tokens for receipt in receipts)
    cut = sum(receipt.cut_tokens for receipt in receipts)
    table.add_row(Text("sum", style="bold"), "", str(used), "", "", str(cut), "")
    return table


def show_found(console: Console, found: Found) -> None:
    """Show the finds of a search for a turn's words, and why."""
    console.print(said(f"turn {found.turn.seq}: {shorten(found.turn.user_text, 200)}", "bold"))
    if not found.items:
        console.print("Nothing else in its conversation bears on it.")
    _scores(console, found.items)


def _scores(console: Console, items: Sequence[RetrievedItem]) -> None:
    if not items:
        return
    table = columns("score#", "found", "because")
    for item in items:
        reasons = ", ".join(f"{name} {value:.2f}" for name, value in item.breakdown.items() if value)
        table.add_row(f"{item.score:.2f}", said(shorten(item.text, 60)), said(reasons, "dim"))
    console.print(table)
