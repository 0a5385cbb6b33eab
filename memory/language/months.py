"""The days that are told by their month: "3 May", "the last Friday of May", "mid-May", "the 31st". Pure."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from re import Match

from memory.language.time_rules import TimeRules, first, first_of, groups_of, place_in

_MONTHS = 12
_WEEK = 7
_NEXT_MONTH = 12
"""Behind the twelve months of a language stand its words for the next month and for this one."""

Named = tuple[datetime, tuple[int, int]]
"""A day, and where it was named."""


def named_date(lower: str, now: datetime, rules: TimeRules) -> Named | None:
    """Return a day and its month ("3 May", "the 21st of next month"), of several the first ("19-21 June").

    Raises `ValueError` for a day that there is not.
    """
    match = first_of(rules.dates, lower)
    if match is None:
        return None
    last = _day_of_month(match.group("day"), rules)
    day = min(last, int(match.group("from") or last))
    return _coming_in(now, match, rules, lambda at: at.replace(day=day))


def nth_weekday(lower: str, now: datetime, rules: TimeRules) -> Named | None:
    """Return a weekday counted within its month ("the first Sunday in October")."""
    match = first_of(rules.nth_weekdays, lower)
    if match is None:
        return None
    nth, weekday = place_in(rules.nth, match.group("nth")), place_in(rules.weekday_words, match.group("weekday"))
    last = nth == len(rules.nth) - 1

    def counted(at: datetime) -> datetime:
        first_such = (weekday - at.weekday()) % _WEEK + 1
        days = range(first_such, monthrange(at.year, at.month)[1] + 1, _WEEK)
        return at.replace(day=days[-1 if last else nth])

    return _coming_in(now, match, rules, counted)


def part_of_month(lower: str, now: datetime, rules: TimeRules) -> Named | None:
    """Return the day meant by a part of a month: its last ("the end of May"), its 15th ("mid-May"), its first."""
    found = first(rules.month_parts, lower)
    if not found:
        return None
    match, day = found
    return _coming_in(now, match, rules, lambda at: at.replace(day=int(day) or monthrange(at.year, at.month)[1]))


def _coming_in(now: datetime, match: Match[str], rules: TimeRules, day_in: Callable[[datetime], datetime]) -> Named:
    """Return the day in the month named there, given by its first: the next such, or the one of the year that is said.

    "The month" is this one, or the next when its day has passed.
    """
    said, number = match.group("year"), place_in(rules.months, match.group("month"))
    start = now.replace(day=1)
    after = (start + timedelta(days=31)).replace(day=1)
    if number < _MONTHS:
        years = (int(said),) if said else (now.year, now.year + 1)
        months = [start.replace(year=year, month=number + 1) for year in years]
    else:
        months = [after] if number == _NEXT_MONTH else [start, after]
    days = [day_in(each) for each in months]
    return next((day for day in days if day.date() >= now.date()), days[-1]), match.span()


def numbered_day(lower: str, now: datetime, rules: TimeRules) -> Named | None:
    """Return the next such day when only its number was said ("the 31st")."""
    match = rules.month_days.search(lower)
    if not match:
        return None
    date = next(days_of_month(int(groups_of(match)["day"]), now), None)
    return (date, match.span()) if date else None


def days_of_month(day: int, now: datetime) -> Iterator[datetime]:
    """Yield the days with that number in this month and the next two, from today on."""
    for ahead in range(3):
        month = (now.month - 1 + ahead) % _MONTHS + 1
        year = now.year + (now.month - 1 + ahead) // _MONTHS
        if day in range(1, monthrange(year, month)[1] + 1) and (year, month, day) >= (now.year, now.month, now.day):
            yield now.replace(year=year, month=month, day=day)


def coming(now: datetime, year: int | None, month: int, day: int) -> datetime:
    """Return the date, in this year or, when it has passed and no year was said, in the next."""
    date = now.replace(year=year or now.year, month=month, day=day)
    return date.replace(year=now.year + 1) if year is None and date.date() < now.date() else date


def _day_of_month(said: str, rules: TimeRules) -> int:
    """Return the day that was said as a number or as a word ("the thirtieth of June")."""
    if said.isdigit():
        return int(said)
    return next(number for number, word in enumerate(rules.day_words, 1) if word.fullmatch(said))
