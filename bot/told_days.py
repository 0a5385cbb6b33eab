"""Days, hours and people that a text names itself, so that no line says them twice, in seven languages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from typing import Final

from bot.dates import day_text, days_from, each_named, frequency, local, month_text, say, weekday_name, when_text
from bot.sentences import LANGUAGES
from memory.ledger.rules import WEEK, named_parts
from memory.ledger.types import ASSISTANT, EVERYONE, USER, Note
from memory.search.terms import little_words
from memory.zones import whole_month

_DAYS_OF_A_WEEK: Final = 7
_NOON: Final = 12
_SOME: Final = 2
_MONTH_CHARS: Final = 3


def tells_days(text: str, first_ms: int, last_ms: int, now_ms: int, zone: str) -> bool:
    """Whether a text names the last of these days itself, or the month that they are, as `in May`."""
    if tells_day(text, last_ms, now_ms, zone):
        return True
    month = whole_month(first_ms, last_ms, zone)
    if month is None:
        return False
    return first_in(text, (say(code, "dates.in_months").split("|")[month.month - 1] for code in LANGUAGES)) != ""


def tells_day(text: str, at_ms: int, now_ms: int, zone: str) -> bool:
    """Whether a text names the day itself, in any language: `12 Dec`, `12.12.`, of the week ahead its weekday alone."""
    at = local(at_ms, zone)
    is_near = 1 < days_from(at_ms, now_ms, zone) < _DAYS_OF_A_WEEK
    if is_near and first_in(text, (weekday_name(at, code) for code in LANGUAGES)):
        return True
    names = {say(code, "dates.months").split()[at.month - 1].rstrip(".").casefold() for code in LANGUAGES}
    month = _pattern({name[:_MONTH_CHARS] for name in names})
    in_words = (
        rf"(?<!\d){at.day}(?:\.|st|nd|rd|th|º|er)?\s+(?:\w{{1,3}}\s+)?(?:{month})|(?:{month})\w*\.?\s+{at.day}(?!\d)"
    )
    in_digits = rf"(?<![\d.,:])0?{at.day}[./]\s?0?{at.month}(?![\d,:])"
    return re.search(f"{in_words}|{in_digits}", text.casefold()) is not None


def tells_hour(text: str, at_ms: int, zone: str) -> bool:
    """Whether a text names the hour itself, in any language: `09:00`, `9am`, `9 Uhr`, `19h30`, `at 9`."""
    at = local(at_ms, zone)
    before, behind = _hour_words()
    full = "" if at.minute else "?"
    minutes, of_twelve = rf"(?:\s?[:.h]\s?{at:%M}){full}", at.hour % _NOON or _NOON
    half = "p" if at.hour >= _NOON else "a"
    found = [
        rf"(?<![\d.,:])0?{at.hour}\s?[:h]\s?{at:%M}(?!\d)",
        rf"(?<![\d.,:])0?{of_twelve}{minutes}\s?{half}\.?m\b",
        rf"(?<![\d.,:])0?{at.hour}{minutes}\s?(?:{behind})(?!\w)",
        rf"(?<!\w)(?:{before}) 0?{at.hour}{minutes}(?![\d:%]|[.,h]\d|\s?[ap]\.?m\b)",
    ]
    return re.search("|".join(found), text.casefold()) is not None


@cache
def _hour_words() -> tuple[str, str]:
    """Patterns of the words before and behind an hour in any language: `at`, `um`; `o'clock`, `Uhr`."""
    before = {say(code, "dates.at", time="").strip().casefold() for code in LANGUAGES}
    behind = {word for code in LANGUAGES for word in say(code, "dates.o_clock").casefold().split()}
    return _pattern(before), _pattern(behind)


def _pattern(words: Iterable[str]) -> str:
    """A pattern of any of these words."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def rhythm_in(text: str, rrule: str) -> str:
    """The words of a text that say how often a series comes, in any language; "" for none.

    As a list would say it (`every Tuesday and Saturday`), or by all its weekdays in the plural (`Tuesdays, Saturdays`).
    """
    parts = named_parts(rrule)
    if not parts:
        return ""
    days = [day for day in parts.get("BYDAY", "").split(",") if day in WEEK]
    of_weeks = parts.get("FREQ") == "WEEKLY" and parts.get("INTERVAL", "1") == "1"
    plurals = (_all_in(text, [_plural(WEEK.index(day), code) for day in days]) for code in LANGUAGES if of_weeks)
    by_name = (_all_in(text, each_named(days, code)) for code in LANGUAGES if of_weeks and len(days) > _SOME)
    said = first_in(text, (frequency(parts, code) for code in LANGUAGES))
    return said or next(filter(None, (*plurals, *by_name)), "")


def _all_in(text: str, words: Sequence[str]) -> str:
    """These words, where a text has each of them; "" for none."""
    return ", ".join(words) if words and all(first_in(text, [word]) for word in words) else ""


def _plural(weekday: int, language: str) -> str:
    """The weekday as a rhythm: `Sundays`, `sonntags`, `lunes`, `воскресеньям`."""
    name = say(language, "dates.each_weekday").split()[weekday]
    this = say(language, "dates.this_weekday").split(", ")[weekday]
    return f"{name}s" if this.endswith(name) and not name.endswith(("s", "ì")) else name


def tomorrow_in(text: str) -> str:
    """The word of a text for the day after it is read, in any language; "" for none."""
    return first_in(text, (say(code, "dates.tomorrow") for code in LANGUAGES))


def first_in(text: str, words: Iterable[str]) -> str:
    """The first of these that stands in a text as a word of its own; "" for none."""
    plain = text.casefold()
    return next((each for each in words if re.search(rf"(?<!\w){re.escape(each.casefold())}(?!\w)", plain)), "")


def day_names(at_ms: int, now_ms: int, zone: str) -> str:
    """The names of a day in all languages: `Saturday tomorrow Sat 28 Nov November, Samstag morgen Sa. 28. Nov. …`.

    None has a preposition: the French `le` is the stem of a name, Lee.
    """
    at, is_near = local(at_ms, zone), abs(days_from(at_ms, now_ms, zone)) <= 1
    named = (
        (
            weekday_name(at, code),
            when_text(at_ms, now_ms, zone, code, exact=False) if is_near else "",
            day_text(at_ms, now_ms, zone, code),
            _month_name(at.date(), code),
        )
        for code in LANGUAGES
    )
    return ", ".join(" ".join(filter(None, names)) for names in named)


def month_names(month: date) -> str:
    """The names of a month in all languages: `January 2027, Januar 2027 …`."""
    return ", ".join(f"{_month_name(month, code)} {month.year}" for code in LANGUAGES)


def _month_name(month: date, code: str) -> str:
    """The name of a month without its preposition: `January`."""
    return month_text(month, month, code).split()[-1]


def acts_unnamed(note: Note) -> bool:
    """Whether somebody else has to act, or is limited, whom the text doesn't name."""
    words = [word for word in note.owner.casefold().split() if word not in little_words()] or [note.owner.casefold()]
    is_named = all(word.removesuffix("s") in note.text.casefold() for word in words)  # the Folans in “Folan”
    return note.owner not in {"", ASSISTANT, EVERYONE, USER} and not is_named
