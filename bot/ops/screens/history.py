"""Output of `starts` and `history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from rich.console import Console

from bot.meters.spent import NANODOLLARS
from bot.ops.format import moment
from bot.ops.runs.history import Day, Start
from bot.ops.screens.lines import columns, said

BAR_CHARS = 12


def show_starts(console: Console, starts: Sequence[Start], zone: tzinfo) -> None:
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
    table = columns("day!", "turns#", "middle#", "slow#", "tokens#", "US$#", "taken up#", "starts#", "")
    for day in busy:
        bar = "█" * round(day.turns / most * BAR_CHARS)
        waits = (f"{ms / 1000:,.1f} s" if ms else "-" for ms in (day.half_ms, day.most_ms))
        money = f"{day.cost_nanodollars / NANODOLLARS:,.4f}"
        counted = (f"{day.tokens:,}", money, str(day.recovered), str(day.starts))
        table.add_row(day.day, str(day.turns), *waits, *counted, bar)
    console.print(table)
    console.print(
        "middle, slow = how long the middle and the slowest twentieth of answers took; taken up = after a crash.",
        style="dim",
        highlight=False,
    )
