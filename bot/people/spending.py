"""What each person may take of the model: turns a minute, tokens and money a day."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import datetime

import structlog

from bot.settings import Settings
from bot.spent import NANODOLLARS, Spend, Spent
from memory.errors import StorageError
from memory.ports import Clock, Database, Ids, Statement
from memory.zones import zone_of

MINUTE_MS = 60_000

log = structlog.get_logger(__name__)


def day_of(now_ms: int, zone: str) -> str:
    """Return the person's calendar day, e.g. `2026-05-03`."""
    return f"{datetime.fromtimestamp(now_ms / 1000, zone_of(zone)):%Y-%m-%d}"


def spent(user_id: int | None, day: str, tokens: int, cost_nanodollars: int | None = None) -> list[Statement]:
    """Return what a turn's transaction writes down; nothing for a turn that cost nothing or is nobody's.

    What has no known price counts as tokens only.
    """
    if user_id is None or not tokens:
        return []
    params = {"user_id": user_id, "day": day, "tokens": tokens, "cost_nanodollars": cost_nanodollars or 0}
    return [Statement("usage_add", params)]


@dataclass(frozen=True, slots=True)
class DayBudget:
    """What one person may use up in a day; None = no limit."""

    tokens: int | None = None
    nanodollars: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Say whether nothing has to be looked up."""
        return self.tokens is None and self.nanodollars is None

    def is_used_up(self, tokens: int, nanodollars: int) -> bool:
        """Return whether this much is all that there is, or more."""
        return (self.tokens is not None and tokens >= self.tokens) or (
            self.nanodollars is not None and nanodollars >= self.nanodollars
        )


def day_budget(settings: Settings) -> DayBudget:
    """Return what the settings allow each person."""
    dollars = settings.continuity_daily_cost_per_user
    nanodollars = None if dollars is None else max(1, round(dollars * NANODOLLARS))
    return DayBudget(settings.continuity_daily_tokens_per_user, nanodollars)


class TurnRate:
    """Turns of each person in the last minute; kept in memory, since a start takes longer than a burst."""

    def __init__(self, per_minute: int | None) -> None:
        self._per_minute = per_minute
        self._began: dict[int, deque[int]] = {}

    def admits(self, user_id: int | None, now_ms: int) -> bool:
        """Return whether this person may have another turn now, and count it if so."""
        if self._per_minute is None or user_id is None:
            return True
        began = self._began.setdefault(user_id, deque())
        while began and began[0] <= now_ms - MINUTE_MS:
            began.popleft()
        if len(began) >= self._per_minute:
            return False
        began.append(now_ms)
        return True


class ReadingPurse:
    """Books what reading behind the replies costs to the person who spoke (`memory.keeper.surroundings.Purse`)."""

    def __init__(self, spending: Spending, clock: Clock, zone_of: Callable[[int | None], Awaitable[str]]) -> None:
        self._spending = spending
        self._clock = clock
        self._zone_of = zone_of

    async def may_spend(self, user_id: int | None) -> bool:
        """Return whether something of the person's budget for today is left. Raises `StorageUnavailable`."""
        return not await self._spending.used_up(user_id, await self._today(user_id))

    async def booked(self, user_id: int | None, tokens: int, cost_nanodollars: int | None) -> list[Statement]:
        """Return what writes tokens and cost down for today."""
        return spent(user_id, await self._today(user_id), tokens, cost_nanodollars)

    async def _today(self, user_id: int | None) -> str:
        return day_of(self._clock.now_ms(), await self._zone_of(user_id))


class Spending:
    """Reads the sums. They hold no text and outlive forgetting: a budget is not renewed by it."""

    def __init__(self, db: Database, budget: DayBudget) -> None:
        self._db = db
        self._budget = budget

    async def used_up(self, user_id: int | None, day: str) -> bool:
        """Return whether the person's budget for the day is used up; False without a budget. `StorageUnavailable`."""
        if self._budget.is_unlimited or user_id is None:
            return False
        row = await self._db.read_one("usage_of_day", user_id=user_id, day=day)
        return row is not None and self._budget.is_used_up(row["tokens"], row["cost_nanodollars"])


class UseLog:
    """Writes down what models take behind the replies, for charts and `status`; no words and nobody's name."""

    def __init__(self, spend: Spend, clock: Clock, ids: Ids) -> None:
        self._spend = spend
        self._clock = clock
        self._ids = ids
        self._db: Database | None = None
        self._writing: set[asyncio.Task[None]] = set()

    def begin(self, db: Database) -> None:
        """Write what comes from now on; before it was only counted."""
        self._db = db

    def __call__(self, spent: Spent) -> None:
        """Count a use and write it down behind whoever used it; a disk that refuses costs the figure alone."""
        self._spend(spent)
        if self._db is not None:
            task = asyncio.create_task(self._write(self._db, spent), name="model use")
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def settle(self) -> None:
        """Wait until everything is written."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _write(self, db: Database, spent: Spent) -> None:
        values = asdict(spent) | {"use_id": self._ids.new("u"), "at_ms": self._clock.now_ms()}
        try:
            await db.write(Statement("model_use_keep", values))
        except StorageError as exc:
            log.warning("a use of a model is not in the charts", purpose=spent.purpose, error=str(exc))
