"""`starts` and `history`: what each start found, and turns, tokens and starts by day."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.ops.status import Boot, read_boot, report_in_words
from bot.ops.workspace import Workspace, running

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Start:
    """One start; `ended` is 'in order', 'killed' or 'running'."""

    boot: Boot
    ended: str

    @property
    def found(self) -> tuple[str, ...]:
        """What it found, in words; () when there was nothing to recover."""
        return report_in_words(self.boot.report)


@dataclass(frozen=True, slots=True)
class Day:
    """What happened on one day, in UTC."""

    day: str
    turns: int
    tokens: int
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
    turns = {row["day"]: row for row in await workspace.memory.db.read("console_days", since_ms=since_ms)}
    boots = {row["day"]: row for row in await workspace.memory.db.read("console_boot_days", since_ms=since_ms)}
    return [
        Day(
            day=f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=each):%Y-%m-%d}",
            turns=turns[each]["turns"] if each in turns else 0,
            tokens=(turns[each]["tokens"] or 0) if each in turns else 0,
            starts=boots[each]["starts"] if each in boots else 0,
        )
        for each in range(today - days + 1, today + 1)
    ]
