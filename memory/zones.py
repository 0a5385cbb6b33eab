"""A time zone by its name, UTC in place of an unknown one; months, days and moved times by its clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

CLOSE: Final = timedelta(hours=3)
"""A ring so close before its date keeps its distance when that moves: an hour before, not at nine in the morning."""


def known_zone(name: str) -> tzinfo | None:
    """Return the zone, None when there is none of this name. Never raises, for any text."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def zone_of(name: str) -> tzinfo:
    """Return the zone; UTC when there is none of this name."""
    return known_zone(name) or UTC


def later(at_ms: int, by_ms: int, zone: str) -> int:
    """The moment so much later by this clock: two days after a Friday at 17:00 it is 17:00 on Sunday."""
    return round(
        (datetime.fromtimestamp(at_ms / 1000, zone_of(zone)) + timedelta(milliseconds=by_ms)).timestamp() * 1000
    )


def whole_month(first_ms: int, last_ms: int, zone: str) -> date | None:
    """The first day of the month that these days are from its beginning to its end; None for other days."""
    first, last = (datetime.fromtimestamp(each / 1000, zone_of(zone)).date() for each in (first_ms, last_ms))
    is_one = (
        first.day == 1 and (last + timedelta(days=1)).day == 1 and (first.year, first.month) == (last.year, last.month)
    )
    return first if is_one else None


@cache
def zone_names() -> frozenset[str]:
    """Return the names of all zones; the first call looks through the disk for some 50 ms."""
    return frozenset(available_timezones())


def midnight_of(now_ms: int, time_zone: str) -> int:
    """When the day began where the person is."""
    now = datetime.fromtimestamp(now_ms / 1000, zone_of(time_zone))
    return int(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


def ring_along(ring: datetime, old: datetime, new: datetime) -> datetime:
    """A ring that moves with its date: close before it it keeps its distance, else its hour.

    One of that morning whose hour the date now has, or is behind, comes an hour before it.
    """
    if ring.date() == old.date() and old - ring <= CLOSE:
        return ring + (new - old)
    same_hour = ring + timedelta((new.date() - old.date()).days)
    return new - timedelta(hours=1) if ring < old and same_hour >= new else same_hour
