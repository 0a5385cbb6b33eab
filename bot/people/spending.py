"""The model's tokens of each person and day, and whether a day's budget is used up."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from memory.ports import Database, Statement


def day_of(now_ms: int, zone: str) -> str:
    """Return the person's calendar day, e.g. `2026-05-03`."""
    return f"{datetime.fromtimestamp(now_ms / 1000, ZoneInfo(zone)):%Y-%m-%d}"


def spent(user_id: int | None, day: str, tokens: int) -> list[Statement]:
    """Return what a turn's transaction writes down; nothing for a turn that cost nothing or is nobody's."""
    if user_id is None or not tokens:
        return []
    return [Statement("usage_add", {"user_id": user_id, "day": day, "tokens": tokens})]


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
