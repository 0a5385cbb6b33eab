"""Days and times as the offline concierge says them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from bot.answers.offline.words import Words
from memory.zones import zone_of


@lru_cache(maxsize=64)
def local(at_ms: int, zone: str) -> datetime:
    """Return the point in time where the user is; the epoch when it lies outside the calendar."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, zone_of(zone))
    except (OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(0, UTC)


def day_of(at_ms: int, now_ms: int, zone: str, words: Words) -> str:
    """Return "today at 14:05", "yesterday", "on 21 Nov", and with the year when it is another."""
    at, now = local(at_ms, zone), local(now_ms, zone)
    days = (now.date() - at.date()).days
    if days == 0:
        return words.say("today", time=f"{at:%H:%M}")
    if days == 1:
        return words.say("yesterday")
    return words.say("on_day", day=words.calendar.date(at, now))


def since_of(at_ms: int, now_ms: int, zone: str, words: Words) -> str:
    """Return "today at 14:05", "yesterday", "21 Nov", as it stands behind "since"."""
    at, now = local(at_ms, zone), local(now_ms, zone)
    days = (now.date() - at.date()).days
    if days == 0:
        return words.say("since_today", time=f"{at:%H:%M}")
    return words.say("yesterday") if days == 1 else words.say("since_day", day=words.calendar.date(at, now))


def is_today(at_ms: int, now_ms: int, zone: str) -> bool:
    """Return whether the point in time lies on the present day of the user."""
    return local(at_ms, zone).date() == local(now_ms, zone).date()


def is_near(at_ms: int, now_ms: int, zone: str) -> bool:
    """Return whether the point in time lies on the present day of the user or on the next one."""
    return (local(at_ms, zone).date() - local(now_ms, zone).date()).days in {0, 1}


def due_of(at_ms: int, now_ms: int, zone: str, words: Words, *, exact: bool = True) -> str:
    """Return "tomorrow 09:00", "Sat 12 Dec"; the time only when one was said."""
    at, now = local(at_ms, zone), local(now_ms, zone)
    time = f"{at:%H:%M}" if exact else ""
    days = (at.date() - now.date()).days
    if days in {0, 1}:
        return words.say("due_today" if days == 0 else "due_tomorrow", time=time).strip()
    day = f"{words.calendar.days.weekdays[at.weekday()]} {words.calendar.date(at, now)}"
    return words.say("due_day", day=day, time=time).strip()
