"""A time zone by its name, and UTC in place of an unknown one."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones


def known_zone(name: str) -> tzinfo | None:
    """Return the zone, None when there is none of this name. Never raises, for any text."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def zone_of(name: str) -> tzinfo:
    """Return the zone; UTC when there is none of this name."""
    return known_zone(name) or UTC


@cache
def zone_names() -> frozenset[str]:
    """Return the names of all zones; the first call looks through the disk for some 50 ms."""
    return frozenset(available_timezones())
