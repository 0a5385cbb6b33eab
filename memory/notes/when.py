"""Which day a sentence speaks of: one that is coming, or one that is over ("the dentist was on Monday"). Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from memory.language.due_dates import Due, find_due, says_day
from memory.language.language import Language
from memory.language.time_rules import blank, rules_of
from memory.notes.reports import asks, has_any, sentence_at, tells_the_past
from memory.notes.types import DAY_MS

_JUST_BEEN_MS = 330 * DAY_MS
"""A date that is further ahead was less than five weeks ago."""
_YEARS_TOLD_OF = 15
"""A number of four digits that is further back is an amount ("the deposit of 1950 euros tomorrow")."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_BACK_DAYS = (7, 14, 31, 62, 366)
"""From so many days before it was said the last such day is looked for: a weekday, a day of a month, a date."""
_DAYS_MAX = 3
_NOT_OVER = ("hypothetical", "request", "negates")
"""With one of these a sentence with "was" tells of no day: "I wish it was on Friday"."""


def coming_day(lower: str, at_ms: int, zone: str, language: Language) -> Due | None:
    """Return the first day in the mended text that is not over, None when it names none."""
    for _ in range(_DAYS_MAX):
        due = find_due(lower, at_ms, zone, language)
        if due is None or not is_over(due, lower, at_ms, language):
            return due
        lower = blank(lower, due.spans)
    return None


def past_day(lower: str, at_ms: int, zone: str, language: Language) -> Due | None:
    """Return the day that the mended text tells of as over, at the last such day before it was said; else None."""
    due = find_due(lower, at_ms, zone, language) if says_day(lower, at_ms, zone, language) else None
    if due is None or not is_over(due, lower, at_ms, language):
        return None
    days = (find_due(lower, at_ms - back * DAY_MS, zone, language) for back in _BACK_DAYS)
    return next((day for day in days if day and day.due_at_ms <= at_ms), None)


def is_over(due: Due, lower: str, at_ms: int, language: Language) -> bool:
    """Return whether the text says that the day is over: "last Tuesday", "they came on Tuesday", "it was on the 3rd".

    A date without a year that has just been is that one, not the one of a year later. "Last Friday" within "the last
    Friday of May" is none.
    """
    years = [int(year) for year in _YEAR.findall(lower)]
    just_been = due.due_at_ms - at_ms > _JUST_BEEN_MS and not years
    this_year = datetime.fromtimestamp(at_ms / 1000, UTC).year
    if just_been or (years and max(years) in range(this_year - _YEARS_TOLD_OF, this_year)):
        return True
    if _is_aimed_at(due, lower, language):
        return False
    if _took_place(due, lower, language) or _is_told_of(due, lower, language):
        return True
    ago = [found.span() for found in language.cues["ago"].finditer(lower)] if "ago" in language.cues else []
    return any(
        start < end_day and start_day < end and not start_day <= start < end < end_day
        for start, end in ago
        for start_day, end_day in due.spans
    )


def _is_aimed_at(due: Due, lower: str, language: Language) -> bool:
    """Return whether a word that aims at a day stands before it, or belongs to it: "I booked it for Tuesday"."""
    start = due.spans[0][0]
    aims = language.cues["aimed_at"].finditer(lower) if "aimed_at" in language.cues else ()
    return any(start in {found.start(), found.end() + 1} for found in aims)


def _took_place(due: Due, lower: str, language: Language) -> bool:
    """Return whether a "was" or "had" tells of the day, and nothing there says that it may not have been.

    An "is" between them does: "the room was taken, so now it's on Friday".
    """
    told, before = sentence_at(lower, due.spans[0][0])
    was = language.cues["took_place"].search(told) if "took_place" in language.cues else None
    if due.is_hour_alone or was is None or language.has("is_now", before[was.end() :]):
        return False
    return not asks(told, language) and not has_any(_NOT_OVER, told, language)


def _is_told_of(due: Due, lower: str, language: Language) -> bool:
    """Return whether the day is a mere weekday in a sentence that tells the past: it is the last such day."""
    start, end = due.spans[0]
    said = lower[start:end]
    if due.is_hour_alone or not any(pattern.fullmatch(said) for pattern, _ in rules_of(language).weekdays):
        return False
    told, _ = sentence_at(lower, start)
    return tells_the_past(told, language)
