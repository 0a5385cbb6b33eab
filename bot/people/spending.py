"""Limits of each person: turns a minute, tokens and money a day."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import structlog

from bot import replies
from bot.meters.spent import NANODOLLARS, Spend, Spent
from bot.settings import Settings
from memory.errors import StorageError
from memory.ports import Clock, Database, Ids, Row, Statement
from memory.zones import zone_of

MINUTE_MS = 60_000
NEAR = 0.8
"""The share of a day's limit at which the person is told."""
USED_UP = "the person's budget for today is used up"
"""The reason of a message without an answer, as logs and records have it; so is the next."""
TOO_FAST = "the person has had all turns of this minute"
NOTICE = "notice"
"""The purpose of the row which says that they were told."""

log = structlog.get_logger(__name__)


def day_of(now_ms: int, zone: str) -> str:
    """Return the person's calendar day, e.g. `2026-05-03`."""
    return f"{datetime.fromtimestamp(now_ms / 1000, zone_of(zone)):%Y-%m-%d}"


def booked(user_id: int | None, day: str, uses: Sequence[Spent]) -> list[Statement]:
    """Return the statements of a transaction, by purpose; none for uses that cost nothing or are nobody's.

    A use without a known price counts as tokens only.
    """
    purposes = dict.fromkeys(use.purpose for use in uses if use.tokens) if user_id is not None else {}
    return [_added(user_id, day, purpose, [use for use in uses if use.purpose == purpose]) for purpose in purposes]


def _added(user_id: int | None, day: str, purpose: str, uses: Sequence[Spent] = ()) -> Statement:
    unpriced = sum(use.tokens for use in uses if use.cost_nanodollars is None)
    cost = sum(use.cost_nanodollars or 0 for use in uses)
    values = {"tokens": sum(use.tokens for use in uses), "unpriced_tokens": unpriced, "cost_nanodollars": cost}
    return Statement("usage_add", {"user_id": user_id, "day": day, "purpose": purpose, **values})


@dataclass(frozen=True, slots=True)
class DayBudget:
    """The limits of one person for a day; None = no limit."""

    tokens: int | None = None
    nanodollars: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing has to be looked up."""
        return self.tokens is None and self.nanodollars is None

    def less(self, tokens: int, nanodollars: int) -> DayBudget:
        """Return the rest of the budget, at least one of each: a person with nothing left isn't asked about."""
        return DayBudget(
            None if self.tokens is None else max(1, self.tokens - tokens),
            None if self.nanodollars is None else max(1, self.nanodollars - nanodollars),
        )

    def share(self, tokens: int, nanodollars: int) -> float:
        """Return the used part of the budget, 1 for all; of tokens and money the one nearer to its end."""
        of_tokens = tokens / self.tokens if self.tokens else 0.0
        return max(of_tokens, nanodollars / self.nanodollars if self.nanodollars else 0.0)


@dataclass(frozen=True, slots=True)
class UsedThatDay:
    """Tokens of a person on a day for one purpose."""

    day: str
    purpose: str
    tokens: int
    unpriced_tokens: int
    """The tokens among them whose price nobody knows."""
    cost_nanodollars: int


def day_budget(settings: Settings) -> DayBudget:
    """Return each person's limits by the settings."""
    dollars = settings.continuity_daily_cost_per_user
    nanodollars = None if dollars is None else max(1, round(dollars * NANODOLLARS))
    return DayBudget(settings.continuity_daily_tokens_per_user, nanodollars)


def money(nanodollars: int) -> str:
    """Return US dollars as people write them, a part of a cent with four digits."""
    dollars = nanodollars / NANODOLLARS
    written = f"{dollars:,.2f}" if dollars >= 1 / 100 or not nanodollars else f"{dollars:.4f}"
    thousands = replies.say("thousands")
    if thousands != ",":
        written = written.replace(",", " ").replace(".", ",").replace(" ", thousands)
    return replies.say("usage_money", amount=written)


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
    """Books the cost of reading behind the replies to the person who spoke (`memory.keeper.surroundings.Purse`)."""

    def __init__(self, spending: Spending, clock: Clock, zone_of: Callable[[int | None], Awaitable[str]]) -> None:
        self._spending = spending
        self._clock = clock
        self._zone_of = zone_of

    async def may_spend(self, user_id: int | None) -> bool:
        """Return whether something of the person's budget for today is left. Raises `StorageUnavailable`."""
        return not await self._spending.used_up(user_id, await self._today(user_id))

    async def booked(self, user_id: int | None, tokens: int, cost_nanodollars: int | None) -> list[Statement]:
        """Return the statements that write tokens and cost down for today."""
        return await self.bill(user_id, Spent("", "reading", tokens, 0, cost_nanodollars=cost_nanodollars))

    async def bill(self, user_id: int | None, use: Spent) -> list[Statement]:
        """Return the statements that write a use down for today."""
        return booked(user_id, await self._today(user_id), [use])

    async def _today(self, user_id: int | None) -> str:
        return day_of(self._clock.now_ms(), await self._zone_of(user_id))


class Spending:
    """Reads the sums. They hold no text and outlive forgetting: a budget is not renewed by it."""

    def __init__(self, db: Database, budget: DayBudget) -> None:
        self._db = db
        self.budget = budget

    async def used_up(self, user_id: int | None, day: str) -> bool:
        """Return whether the person's budget for the day is used up; False without a budget. `StorageUnavailable`."""
        return await self._share(user_id, day) >= 1

    async def left(self, user_id: int | None, day: str) -> DayBudget | None:
        """Return the rest of the person's budget for the day, None when there is none. `StorageUnavailable`."""
        if self.budget.is_unlimited or user_id is None:
            return DayBudget()
        rows = await self._on(user_id, day)
        tokens, nanodollars = sum(row["tokens"] for row in rows), sum(row["cost_nanodollars"] for row in rows)
        used_up = self.budget.share(tokens, nanodollars) >= 1
        return None if used_up else self.budget.less(tokens, nanodollars)

    async def since(self, user_id: int, day: str) -> list[UsedThatDay]:
        """Return a person's tokens from that day on, by day and purpose. Raises `StorageUnavailable`."""
        rows = await self._db.read("usage_since", user_id=user_id, day=day)
        return [UsedThatDay(**dict(row)) for row in rows if row["purpose"] != NOTICE]

    async def near(self, user_id: int | None, day: str, uses: Sequence[Spent]) -> list[Statement]:
        """Return the statement which stores that the person is told of a near limit; none when it is far, or they were.

        `uses` are booked together with it. Raises `StorageUnavailable`.
        """
        share = await self._share(user_id, day, uses)
        return [_added(user_id, day, NOTICE)] if NEAR <= share < 1 else []

    async def _share(self, user_id: int | None, day: str, uses: Sequence[Spent] = ()) -> float:
        """Return the used part of a day's budget; 0 for who has none, and with uses for who was told already."""
        if self.budget.is_unlimited or user_id is None:
            return 0.0
        rows = await self._on(user_id, day)
        if uses and any(row["purpose"] == NOTICE for row in rows):
            return 0.0
        tokens = sum(row["tokens"] for row in rows) + sum(use.tokens for use in uses)
        return self.budget.share(
            tokens, sum(row["cost_nanodollars"] for row in rows) + sum(use.cost_nanodollars or 0 for use in uses)
        )

    async def _on(self, user_id: int, day: str) -> list[Row]:
        return [row for row in await self._db.read("usage_since", user_id=user_id, day=day) if row["day"] == day]


class UseLog:
    """Stores uses of models behind the replies, for charts and `status`; no words and nobody's name."""

    def __init__(self, db: Database, spend: Spend, clock: Clock, ids: Ids) -> None:
        self._db = db
        self._spend = spend
        self._clock = clock
        self._ids = ids
        self._writing: set[asyncio.Task[None]] = set()

    def __call__(self, spent: Spent) -> None:
        """Count a use and store it in a task of its own; a disk that refuses costs the figure alone."""
        self._spend(spent)
        task = asyncio.create_task(self._write(spent), name="model use")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def settle(self) -> None:
        """Wait until everything is written."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _write(self, spent: Spent) -> None:
        values = asdict(spent) | {"use_id": self._ids.new("u"), "at_ms": self._clock.now_ms()}
        try:
            await self._db.write(Statement("model_use_keep", values))
        except StorageError as exc:
            log.warning("a use of a model is not in the charts", purpose=spent.purpose, error=str(exc))
