"""Reminders that come again: which rule a sentence states, and when the next one is due by the person's clock. Pure.

A rule is kept with its row as text: `week@09:00`, `2week@18:30`, `month@09:00/31` (the day that is meant when a month
has it), `weekday@07:45`, `week135@07:00` (Monday, Wednesday and Friday), `hour@00:15`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.reminders.words import ReminderWords, local
from memory.language.sentences import lowered

_RULE: Final = re.compile(
    r"(?P<kind>(?P<count>\d*)(?P<unit>hour|day|weekday|week|month|year)(?P<days>[1-7]*))@(?P<h>\d\d):(?P<m>\d\d)(?:/(?P<d>\d+))?"
)
_WORKING_DAYS: Final = "12345"
_ROUTINE_DAYS: Final = 3
"""So many days of the week in a row are a routine also without "every"."""
_YEAR_MONTHS: Final = 12


@dataclass(frozen=True, slots=True)
class Repeating:
    """What a sentence says about coming again, and the sentence without it."""

    kind: str
    plain: str


def read_repeat(text: str, words: ReminderWords, *, ordered: bool = False) -> Repeating | None:
    """Return how often something shall come ("every Monday" → week) and the rest; None when it comes once.

    Two days in a row are a series where a reminder is `ordered` for them.
    """
    lower = lowered(text)
    if len(lower) != len(text):
        return None
    for pattern, kind in words.repeats:
        found = pattern.search(lower)
        if found:
            rest = " ".join(_singular(text[: found.start()] + text[found.end() :], words).split())
            return (_on_days(rest, words) if kind == "week" else None) or Repeating(kind, rest)
    listed = _on_days(text, words)
    return listed if listed and (ordered or len(listed.kind) >= len("week") + _ROUTINE_DAYS) else None


def _on_days(text: str, words: ReminderWords) -> Repeating | None:
    """Return that something comes on each of the days that are listed ("mon, wed and fri"), and the rest."""
    found = words.several.search(lowered(text))
    if found is None:
        return None
    days = "".join(str(number) for number, day in enumerate(words.weekdays, 1) if day.search(found.group()))
    return Repeating(f"week{days}", " ".join((text[: found.start()] + text[found.end() :]).split()))


def _singular(text: str, words: ReminderWords) -> str:
    for plural, single in words.plural.items():
        text = re.sub(rf"(?<!\w){plural}(?!\w)", single, text, count=1, flags=re.IGNORECASE)
    return text


def first_at(kind: str, now_ms: int, zone: str, hour: int) -> int:
    """Return when something comes first for which no time was said: in an hour, else at the usual hour."""
    if kind == "hour":
        return now_ms + 3_600_000
    now = local(now_ms, zone)
    at = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    while at <= now or _rests(kind, at):
        at += timedelta(days=1)
    return _ms(at)


def rule_of(kind: str, due_at_ms: int, zone: str) -> str:
    """Return the rule that comes again at the time of day, and of the month, at which it is due."""
    at = local(due_at_ms, zone)
    day = f"/{at.day}" if kind in {"month", "year"} else ""
    return f"{kind}@{at:%H:%M}{day}"


def coming(kind: str, due_at_ms: int, now_ms: int, zone: str) -> int:
    """Return the first time from now on at which it comes, given one time at which it would."""
    if due_at_ms > now_ms and not _rests(kind, local(due_at_ms, zone)):
        return due_at_ms
    return next_at(rule_of(kind, due_at_ms, zone), due_at_ms, now_ms, zone) or due_at_ms


def _days_of(kind: str) -> str:
    """Return the numbers of the days on which alone it comes, "" for what comes on any."""
    days = kind.removeprefix("week")
    return _WORKING_DAYS if kind == "weekday" else days if days.isdigit() else ""


def comes_on_days(kind: str) -> bool:
    """Return whether it comes on days that do not depend on when it begins: every day, or on some of the week."""
    return kind == "day" or bool(_days_of(kind))


def _rests(kind: str, at: datetime) -> bool:
    days = _days_of(kind)
    return bool(days) and str(at.isoweekday()) not in days


def kind_of(rule: str) -> str:
    """Return the kind in a rule, "" for what is none."""
    found = _RULE.fullmatch(rule)
    return found["kind"] if found else ""


def next_at(rule: str, due_at_ms: int, now_ms: int, zone: str) -> int | None:
    """Return when it comes again after now, None for what is no rule. What was missed meanwhile is not made up for.

    A time of day that does not exist when summer time begins comes an hour later on that day, one that exists twice
    when it ends comes the first time alone.
    """
    found = _RULE.fullmatch(rule)
    if not found:
        return None
    unit, step = found["unit"], int(found["count"] or 1)
    if unit == "hour":
        hours = max(1, -(-(now_ms + 1 - due_at_ms) // 3_600_000))
        return due_at_ms + hours * 3_600_000
    at = local(due_at_ms, zone).replace(hour=int(found["h"]), minute=int(found["m"]), second=0, microsecond=0)
    after = local(max(now_ms, due_at_ms), zone)
    if unit in {"month", "year"}:
        return _ms(_by_months(at, after, step * (_YEAR_MONTHS if unit == "year" else 1), int(found["d"] or at.day)))
    days = step * (7 if unit == "week" and not found["days"] else 1)
    at += timedelta(days=max(0, (after.date() - at.date()).days // days) * days)
    while _ms(at) <= _ms(after) or _rests(found["kind"], at):
        at += timedelta(days=days)
    return _ms(at)


def _by_months(at: datetime, after: datetime, step: int, day: int) -> datetime:
    while _ms(at) <= _ms(after):
        months = at.year * _YEAR_MONTHS + at.month - 1 + step
        year, month = divmod(months, _YEAR_MONTHS)
        at = at.replace(year=year, month=month + 1, day=min(day, monthrange(year, month + 1)[1]))
    return at


def _ms(at: datetime) -> int:
    return int(at.astimezone(UTC).timestamp() * 1000)
