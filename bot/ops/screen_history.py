"""How `starts` and `history` look."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from rich.console import Console

from bot.ops.format import moment
from bot.ops.history import Day, Start
from bot.ops.screen import columns, said

BAR_CHARS = 24


def show_starts(console: Console, starts: Sequence[Start], zone: ZoneInfo) -> None:
    """Show the starts, the latest first."""
    if not starts:
        console.print("It was never started.")
        return
    table = columns("started!", "ended", "it found")
    for start in starts:
        table.add_row(
            moment(start.boot.started_at_ms, zone), start.ended, said(", ".join(start.found) or "nothing to recover")
        )
    console.print(table)


def show_days(console: Console, days: Sequence[Day]) -> None:
    """Show the days on which something happened, with a bar for the turns."""
    busy = [day for day in days if day.turns or day.starts]
    if not busy:
        console.print(f"Nothing happened within {len(days)} days.", highlight=False)
        return
    most = max(day.turns for day in busy) or 1
    table = columns("day!", "turns#", "tokens#", "starts#", "")
    for day in busy:
        bar = "█" * round(day.turns / most * BAR_CHARS)
        table.add_row(day.day, str(day.turns), f"{day.tokens:,}", str(day.starts), bar)
    console.print(table)
