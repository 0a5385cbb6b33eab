"""The day that a text names: a date, a weekday, "next week Thursday", "the weekend of the 16th". Pure."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memory.language.months import coming, days_of_month, named_date, nth_weekday, numbered_day, part_of_month
from memory.language.time_rules import TimeRules, blank, first, groups_of, number_of

_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.:/])(\d{1,2})[./](\d{1,2})(?:[./](\d{4}))?\.?(?![\d:])")
_BESIDE = re.compile(r"[\s,]*(?:\w{1,3}\s+){0,2}")
"""What may stand between a weekday and its week."""
_NUMBER_BEHIND = re.compile(
    r",? (?:\w{1,3} )?(?P<day>\d{1,2})(?:-[^\W\d_]{1,3}|[^\W\d_]{2,3}|\.)?(?![\w:/%]|[.,]\d| ?[\u20ac$\u00a3%])"
)
"""The day of the month behind a weekday: "Thursday the 19th", "jueves 19"; no amount and no price."""
_WEEK = 7
_PAUSE = re.compile(r"[^\w\s]")
_WEEKEND = frozenset({4, 5, 6})
_BESIDE_CHARS = 6
"""So near behind a weekend stands its day: "the weekend of the 16th"."""
_WEEK_S = 604_800


def day_of(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the day that the lower-cased text names and where; None when it names none. Raises `ValueError`."""
    readers = (
        named_date, nth_weekday, part_of_month, _numeric, day_of_a_week, _numbered_weekday, _word_day, _feast,
        numbered_day, _weekday,
    )  # fmt: skip
    return next((found for find in readers if (found := find(lower, now, rules))), None)


def _numbered_weekday(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the day when a weekday and its number were said ("jueves 19"); None where the two do not fall together."""
    found = first(rules.weekdays, lower)
    behind = _NUMBER_BEHIND.match(lower, found[0].end()) if found else None
    if found is None or behind is None:
        return None
    place = behind.start("day")
    if any(clock.start() <= place < clock.end() for clock in rules.clock.finditer(lower)):
        return None  # an hour
    for date in days_of_month(int(behind["day"]), now):
        if date.weekday() == int(found[1]):
            return date, (found[0].start(), behind.end())
    return None


def _numeric(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    iso = _ISO.search(lower)
    if iso:
        return coming(now, int(iso[1]), int(iso[2]), int(iso[3])), iso.span()
    for match in _NUMERIC.finditer(lower):
        if "." in match[0].rstrip(".") and not match[3] and _is_clock(match, lower, rules):
            continue
        if rules.twelve_hour and not match[3] and "/" not in match[0] and not match[0].endswith("."):
            continue  # where "2.5" is a number, a date is written with a slash or a year
        if rules.not_a_date.match(lower, match.end() + 1):
            continue
        if int(match[2]) in range(1, 13) and int(match[1]) in range(1, 32):
            return coming(now, int(match[3]) if match[3] else None, int(match[2]), int(match[1])), match.span()
    return None


def _is_clock(match: re.Match[str], lower: str, rules: TimeRules) -> bool:
    """Return whether "14.30" is a time of day: it is led as one ("um 10.12."), or nothing beside it tells the hour."""
    if not rules.clock.match(lower, match.start()):
        return False
    beside = blank(lower, [match.span()])
    led = any(found.start() < match.start() < found.end() for found in rules.clock.finditer(lower))
    return led or not (match[0].endswith(".") or rules.clock.search(beside))


def _word_day(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the day of "tomorrow", or of a weekend; of "the weekend of the 16th" the next 16th that is in one."""
    found = first(rules.days, lower)
    if found:
        return now + timedelta(days=found[1]), found[0].span()
    weekend = rules.weekend.search(lower)
    if weekend:
        behind = rules.month_days.search(lower, weekend.end())
        between = lower[weekend.end() : behind.start()] if behind else ","
        if behind and len(between) <= _BESIDE_CHARS and not _PAUSE.search(between):
            dates = days_of_month(int(groups_of(behind)["day"]), now)
            date = next((date for date in dates if date.weekday() in _WEEKEND), None)
            return (date, (weekend.start(), behind.end())) if date else None
        return _or_later(now + timedelta(days=(5 - now.weekday()) % _WEEK), weekend.span(), lower, rules)
    return None


def _feast(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    """Return a day that has a name of its own ("New Year's Eve")."""
    found = first(rules.feasts, lower)
    return (coming(now, None, *divmod(int(found[1]), 100)), found[0].span()) if found else None


def day_of_a_week(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the day when a weekday and its week were said: "next week Thursday", "on Friday in two weeks"."""
    week = _week_ahead(lower, rules)
    weekday = first(rules.weekdays, blank(lower, [week[1]])) if week else None
    if week is None or weekday is None:
        return None
    (ahead, span), (match, number) = week, weekday
    left, right = sorted((span, match.span()))
    if not _BESIDE.fullmatch(lower[left[1] : right[0]]):
        return None
    days = ahead * _WEEK + int(number) - now.weekday()
    return now + timedelta(days=days), (left[0], right[1])


def _week_ahead(lower: str, rules: TimeRules) -> tuple[int, tuple[int, int]] | None:
    """Return how many weeks ahead a week was named, and where."""
    if named := first(rules.weeks, lower):
        return int(named[1]), named[0].span()
    counted = first([(pattern, seconds) for pattern, seconds in rules.spans if seconds == _WEEK_S], lower)
    if counted is None:
        return None
    amount = number_of(counted[0].groupdict().get("n") or "1", rules.numbers)
    return (int(amount), counted[0].span()) if amount.is_integer() else None


def _weekday(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    found = first(rules.weekdays, lower)
    if not found:
        return None
    match, weekday = found
    ahead = (int(weekday) - now.weekday()) % _WEEK or _WEEK
    return _or_later(now + timedelta(days=ahead), match.span(), lower, rules)


def _or_later(day: datetime, span: tuple[int, int], lower: str, rules: TimeRules) -> tuple[datetime, tuple[int, int]]:
    """Return the day named there, or the one a week later where that is said behind or before it."""
    start, end = span
    behind = rules.week_later.match(lower, end + 1)
    before = next((found for found in rules.week_before.finditer(lower, 0, start) if found.end() == start - 1), None)
    said = behind or before
    if said is None:
        return day, span
    return day + timedelta(days=_WEEK), (min(start, said.start()), max(end, said.end()))
