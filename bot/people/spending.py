"""The model's tokens of each person and day, and whether a day's budget is used up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from memory.ports import Clock, Database, Statement


def day_of(now_ms: int, zone: str) -> str:
    """Return the person's calendar day, e.g. `2026-05-03`."""
    return f"{datetime.fromtimestamp(now_ms / 1000, ZoneInfo(zone)):%Y-%m-%d}"


def spent(user_id: int | None, day: str, tokens: int) -> list[Statement]:
    """Return what a turn's transaction writes down; nothing for a turn that cost nothing or is nobody's."""
    if user_id is None or not tokens:
        return []
    return [Statement("usage_add", {"user_id": user_id, "day": day, "tokens": tokens})]


class ReadingPurse:
    """Books what reading behind the replies costs to the person who spoke (`memory.notes.readings.Purse`)."""

    def __init__(self, spending: Spending, clock: Clock, zone_of: Callable[[int | None], Awaitable[str]]) -> None:
        self._spending = spending
        self._clock = clock
        self._zone_of = zone_of

    async def may_spend(self, user_id: int | None) -> bool:
        """Return whether something of the person's budget for today is left. Raises `StorageUnavailable`."""
        return not await self._spending.used_up(user_id, await self._today(user_id))

    async def booked(self, user_id: int | None, tokens: int) -> list[Statement]:
        """Return what writes the tokens down for today."""
        return spent(user_id, await self._today(user_id), tokens)

    async def _today(self, user_id: int | None) -> str:
        return day_of(self._clock.now_ms(), await self._zone_of(user_id))


class Spending:
    """Reads the sums. They hold no text and outlive forgetting: a budget is not renewed by it."""

    def __init__(self, db: Database, limit_tokens: int | None) -> None:
        self._db = db
        self._limit_tokens = limit_tokens

    async def used_up(self, user_id: int | None, day: str) -> bool:
        """Return whether the person's budget for the day is used up; False without a budget. `StorageUnavailable`."""
        if self._limit_tokens is None or user_id is None:
            return False
        row = await self._db.read_one("usage_of_day", user_id=user_id, day=day)
        return row is not None and row["tokens"] >= self._limit_tokens
