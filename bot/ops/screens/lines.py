"""Output of the commands: tables that can be read at 80 columns; nothing that people wrote can steer the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from bot.ops.checks.check import Check, worst
from bot.ops.copies.checkpoints import Verdict
from bot.ops.copies.folder import Backup
from bot.ops.copies.restore import Restored
from bot.ops.format import NO_TITLE, joined, printable, short_ids, size, when
from bot.ops.records.quarantine import FailedPart, Quarantined
from bot.ops.records.sessions import ListedSession, chat_of
from bot.ops.runs.status import Status
from bot.replies import ago, plural
from memory.sessions.hydrator import HydrationReport
from memory.text import shorten

COLORS = {"ok": "green", "behind": "green", "warn": "yellow", "missing": "yellow", "fail": "red", "wrong": "red"}
MEANINGS = {
    "ok": "in order",
    "behind": "in order: the log's last turns make up for it",
    "missing": "in order: it is rebuilt from the log",
    "wrong": "see below",
}
STATUS_WORDS = {"awaiting_clarification": "asked back", "shutdown_clean": "at rest"}


def said(text: str, style: str = "") -> Text:
    """Return text of any origin as it may be shown: no markup, no control characters."""
    return Text(printable(text), style=style)


def facts(rows: Sequence[tuple[str, RenderableType]]) -> Table:
    """Return names and values side by side; a name that repeats is shown once."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    before = None
    for name, value in rows:
        table.add_row("" if name == before else name, said(value) if isinstance(value, str) else value)
        before = name
    return table


def columns(*names: str) -> Table:
    """Return an empty table with these columns: `name#` is a number's, `name!` is never wrapped."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for name in names:
        number = name.endswith("#")
        justify: JustifyMethod = "right" if number else "left"
        table.add_column(name.rstrip("#!"), justify=justify, no_wrap=name[-1:] in ("#", "!"), overflow="fold")
    return table


# --- status, sessions -----------------------------------------------------------------------------------------------


def show_status(console: Console, status: Status, zone: tzinfo) -> None:
    """Show the state of the bot."""
    rows: list[tuple[str, RenderableType]] = [
        ("bot", _running(status)),
        ("last start", _boot(status, zone)),
        *(("it found", line) for line in status.start_report or (("nothing to recover",) if status.boot else ())),
        *(("unfinished", line) for line in status.unfinished or ("nothing",)),
        ("inbox", _counts(status.inbox)),
        ("outbox", _counts(status.outbox)),
        ("sessions", _sessions(status)),
        ("checkpoints", _checkpoints(status)),
        ("database", f"{status.database} ({size(status.database_bytes)})"),
    ]
    if status.reading:
        rows.append(("memory", status.reading))
    if status.reactions:
        rows.append(("reactions", ", ".join(f"{n} {printable(emoji)}" for emoji, n in status.reactions.items())))
    rows += [("worker", line) for line in status.workers]
    if status.unreachable_chats:
        rows.append(("unreachable", plural(status.unreachable_chats, "chat") + " blocked or left the bot"))
    console.print(facts(rows))


def _running(status: Status) -> Text:
    if status.running:
        return Text(f"running{f' (process {status.pid})' if status.pid else ''}", style="green")
    return Text("not running", style="yellow")


def _boot(status: Status, zone: tzinfo) -> str:
    if status.boot is None:
        return "never"
    started = when(status.boot.started_at_ms, status.now_ms, zone)
    if status.boot.stopped_at_ms is not None:
        return f"{started}, stopped in order {ago(status.now_ms - status.boot.stopped_at_ms)}"
    return started if status.running else f"{started}, did not stop in order: the next start carries on"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or "empty"


def _sessions(status: Status) -> str:
    total = sum(status.sessions.values())
    named = [f"{count} {STATUS_WORDS.get(state, state)}" for state, count in sorted(status.sessions.items())]
    listed = f" ({', '.join(named)})" if named else ""
    return f"{plural(total, 'session')} with {plural(status.turns, 'turn')}{listed}"


def _checkpoints(status: Status) -> str:
    aside = len(status.checkpoints_set_aside)
    return plural(status.checkpoints, "file") + (f", {aside} damaged ones set aside" if aside else "")


def show_sessions(console: Console, listed: Sequence[ListedSession], now_ms: int, limit: int) -> None:
    """Show the sessions, the latest first; a star marks where the next message of its chat goes."""
    if not listed:
        console.print("There are no sessions yet.")
        return
    table = columns("session", "", "chat", "turns#", "last turn", "status", "about")
    for each in listed:
        row = each.row
        table.add_row(
            Text(each.short, no_wrap=True),
            "*" if each.current else "",
            said(chat_of(row.conversation_id)),
            str(row.turn_count),
            ago(now_ms - row.last_turn_at_ms) if row.turn_count else "-",
            STATUS_WORDS.get(row.status, row.status),
            said(row.title or NO_TITLE),
        )
    console.print(table)
    more = f"; at most {limit} are listed (--limit)" if len(listed) == limit else ""
    console.print(f"* = current in its chat{more}. `show SESSION` tells all about one.", style="dim", highlight=False)


# --- checkpoints ----------------------------------------------------------------------------------------------------


def show_verdicts(console: Console, verdicts: Sequence[Verdict], set_aside: Sequence[str]) -> None:
    """Show the checks that are not simply in order, their finds, and the sum."""
    short = short_ids([verdict.session_id for verdict in verdicts])
    table = columns("session", "", "checkpoint", "at turn#", "log at#", "")
    notes: list[tuple[str, RenderableType]] = []
    for verdict in verdicts:
        if verdict.level != "ok" or verdict.findings:
            table.add_row(
                said(short[verdict.session_id]),
                Text(verdict.level, style=COLORS[verdict.level]),
                verdict.checkpoint,
                "-" if verdict.checkpoint_seq is None else str(verdict.checkpoint_seq),
                str(verdict.log_seq),
                MEANINGS[verdict.level],
            )
            notes += [(short[verdict.session_id], finding) for finding in verdict.findings]
    _show_rows(console, table, notes)
    wrong = sum(verdict.level == "wrong" for verdict in verdicts)
    total = plural(len(verdicts), "session")
    if wrong:
        bad = Text(f"{wrong} of {total} not in order.", style="red")
        console.print(bad + Text(" `hydrate --all` repairs what can be repaired.", style="default"))
    else:
        console.print(f"{total}: checkpoints and log agree.", style="green", highlight=False)
    for name in set_aside:
        console.print(said(f"set aside: {name}", "dim"))


def show_reports(console: Console, reports: Sequence[HydrationReport], *, done: str) -> None:
    """Show the sources of hydrations, of many only those not simply in order; `done` is their result in words."""
    short = short_ids([report.session_id for report in reports])
    table = columns("session", "from", "checkpoint", "folded#", "healed#")
    notes: list[tuple[str, RenderableType]] = []
    for report in reports:
        if len(reports) == 1 or report.checkpoint != "used" or report.turns_healed or report.warnings:
            name = short[report.session_id]
            folded, healed = str(report.turns_folded), str(report.turns_healed)
            table.add_row(said(name), report.base, report.checkpoint, folded, healed)
            notes += [(name, note) for note in _notes(report)]
    _show_rows(console, table, notes)
    plain = len(reports) - table.row_count
    console.print(f"{plural(len(reports), 'session')} {done}{f'; {plain} in order' if plain else ''}.", highlight=False)


def _notes(report: HydrationReport) -> list[str]:
    notes = list(report.warnings)
    notes += [f"moved aside: {Path(report.quarantined).name}"] if report.quarantined else []
    return notes + (["the database had lost it"] if report.session_restored and not report.warnings else [])


def _show_rows(console: Console, table: Table, notes: Sequence[tuple[str, RenderableType]]) -> None:
    """Show a table and, at full width below it, notes about its rows."""
    if table.row_count:
        console.print(table)
        console.print()
    if notes:
        console.print(facts(notes))
        console.print()


# --- doctor ---------------------------------------------------------------------------------------------------------


def show_checks(console: Console, found: Sequence[Check]) -> None:
    """Show every check, the remedy below those that need one, and the sum."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for check in found:
        text = said(check.says)
        if check.do:
            text.append(f"\n→ {printable(check.do)}", style="bold" if check.level == "fail" else "dim")
        table.add_row(Text(check.level, style=COLORS[check.level]), check.id, text)
    console.print(table)
    counts = {level: sum(check.level == level for check in found) for level in ("fail", "warn", "ok")}
    words = {"fail": "failed", "warn": "to look at", "ok": "ok"}
    summary = ", ".join(f"{count} {words[level]}" for level, count in counts.items() if count)
    console.print(Text(f"\n{summary}", style=COLORS[worst(found)]))


# --- schema ---------------------------------------------------------------------------------------------------------


def show_migrated(console: Console, waiting: Sequence[str], applied: Sequence[str]) -> None:
    """Show the migrations that a database needed, and those applied."""
    if not waiting:
        console.print("Nothing is pending: the schema is up to date.")
        return
    for name in waiting:
        console.print(f"pending: {name}", highlight=False)
    if applied:
        console.print(f"Applied {len(applied)}.", style="green", highlight=False)


# --- backup, quarantine ---------------------------------------------------------------------------------------------


def show_backup(console: Console, backup: Backup) -> None:
    """Show the backup that was made."""
    console.print(said(f"{backup.folder}: {_holds(backup)}"), highlight=False)
    console.print("It holds everything people wrote: keep it as private as the data.", style="dim")


def _holds(backup: Backup) -> str:
    parts = (backup.sessions, "session"), (backup.turns, "turn"), (backup.checkpoints, "checkpoint")
    return joined(plural(count, noun) for count, noun in parts)


def show_restored(console: Console, restored: Restored, zone: tzinfo, now_ms: int) -> None:
    """Show the restored backup, where the earlier data is, and the work of the next start."""
    backup = restored.backup
    rows = [("restored", f"{_holds(backup)}, of {when(backup.created_at_ms, now_ms, zone)}")]
    rows += [("set aside", str(path)) for path in restored.set_aside]
    rows += [("left out", f"{each}: it is none of the program's") for each in map(printable, restored.dropped)]
    rows += [("next start", line) for line in restored.unfinished]
    console.print(facts(rows))


def show_failed_parts(console: Console, found: Sequence[FailedPart], now_ms: int) -> None:
    """Show the messages that Telegram refused for good."""
    if not found:
        console.print("Telegram refused nothing for good.")
        return
    table = columns("part!", "chat", "since", "why", "text")
    for each in found:
        chat, text = chat_of(each.part.conversation_id), shorten(each.part.text, 60)
        table.add_row(each.part.part_id, said(chat), ago(now_ms - each.created_at_ms), said(each.error), said(text))
    console.print(table)
    console.print("`outbox retry PART` puts one back; the bot must be stopped.", style="dim", highlight=False)


def show_quarantined(console: Console, found: Sequence[Quarantined], now_ms: int) -> None:
    """Show the messages that were given up."""
    if not found:
        console.print("Nothing was given up on.")
        return
    table = columns("update", "chat", "came", "tries#", "retry", "why")
    for each in found:
        table.add_row(
            str(each.update_id),
            said(chat_of(each.conversation_id) if each.conversation_id else "-"),
            ago(now_ms - each.received_at_ms),
            str(each.attempts),
            "yes" if each.readable else "no",
            said(each.error),
        )
    console.print(table)
    console.print("`quarantine retry UPDATE` puts one back; the bot must be stopped.", style="dim", highlight=False)
