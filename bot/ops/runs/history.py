"""`starts` and `history`: the finds of each start, and turns, seconds, tokens, money and starts by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

from bot.ops.runs.status import Boot, read_boot, report_in_words
from bot.ops.workspace import Workspace, running
from memory.ports import Row

DAY_MS = 86_400_000
TAKEN_UP = ("updates_recovered", "turns_resumed", "replies_to_send", "replies_to_probe", "sessions_rebuilt")
"""Fields of a start's report that count as recovered."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start; `ended` is 'in order', 'killed' or 'running'."""

    boot: Boot
    ended: str

    @property
    def found(self) -> tuple[str, ...]:
        """Its finds in words; () when there was nothing to recover."""
        return report_in_words(self.boot.report)


@dataclass(frozen=True, slots=True)
class Day:
    """Events of one day, in UTC."""

    day: str
    turns: int
    half_ms: int
    """Time of the middle answer, from arrival to the whole answer."""
    most_ms: int
    """Least time of the slowest twentieth of answers."""
    tokens: int
    """In and out, of answers and of readings behind them."""
    cost_nanodollars: int
    """Cost of both, without models whose price isn't known."""
    recovered: int
    """Updates, turns, parts and sessions that starts took up."""
    starts: int


async def list_starts(workspace: Workspace, limit: int) -> list[Start]:
    """Return the last starts, the latest first. Raises `StorageError`."""
    boots = [read_boot(row) for row in await workspace.memory.db.read("boots_latest", limit=limit)]
    runs = running(workspace.settings) is not None
    return [Start(boot, _ended(boot, runs=runs and number == 0)) for number, boot in enumerate(boots)]


def _ended(boot: Boot, *, runs: bool) -> str:
    if boot.stopped_at_ms is not None:
        return "in order"
    return "running" if runs else "killed"


def start_as_json(start: Start) -> dict[str, Any]:
    """Return a start as JSON values."""
    return asdict(start.boot) | {"ended": start.ended, "found": start.found}


async def list_days(workspace: Workspace, days: int) -> list[Day]:
    """Return the last days, today the last one; a day without anything is there with zeros. Raises `StorageError`."""
    now_ms = workspace.memory.clock.now_ms()
    today = now_ms // DAY_MS
    since_ms = (today - days + 1) * DAY_MS

    async def by_day(query: str) -> dict[int, Row]:
        return {row["day"]: row for row in await workspace.memory.db.read(query, since_ms=since_ms)}

    turns, waits = await by_day("console_days"), await by_day("console_waits")
    spending, uses = await by_day("console_spending"), await by_day("console_uses")
    starts = await by_day("console_boot_days")
    boots = [read_boot(row) for row in await workspace.memory.db.read("console_boots", since_ms=since_ms)]
    recovered = recovered_by_day(boots)
    return [
        Day(
            day=iso_day(each),
            turns=_of(turns, each, "turns"),
            half_ms=_of(waits, each, "half_ms"),
            most_ms=_of(waits, each, "most_ms"),
            tokens=_of(spending, each, "input_tokens", "output_tokens") + _of(uses, each, "tokens"),
            cost_nanodollars=_of(spending, each, "cost_nanodollars") + _of(uses, each, "cost_nanodollars"),
            recovered=recovered[each],
            starts=_of(starts, each, "starts"),
        )
        for each in range(today - days + 1, today + 1)
    ]


def recovered_by_day(boots: Sequence[Boot]) -> Counter[int]:
    """Return by day since the epoch the pieces of work that starts took up from the process before."""
    found: Counter[int] = Counter()
    for boot in boots:
        found[boot.started_at_ms // DAY_MS] += sum(int(boot.report.get(name, 0)) for name in TAKEN_UP)
    return found


def iso_day(number: int) -> str:
    """Return the day with this number since the epoch.

    >>> iso_day(20_783)
    '2026-11-26'
    """
    return (date(1970, 1, 1) + timedelta(days=int(number))).isoformat()


def _of(rows: Mapping[int, Row], day: int, *names: str) -> int:
    return sum(int(rows[day][name] or 0) for name in names) if day in rows else 0
