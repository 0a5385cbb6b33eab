"""Days, hours and how often something comes, as people write them in seven languages. Pure; nothing is read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from bot.sentences import DEFAULT, LANGUAGES, sentences
from memory.zones import zone_of

MORNING_HOUR: Final = 9
"""When a day begins for what was put off until it."""
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WORKING: Final = frozenset(_DAYS[:5])
_WEEKEND: Final = frozenset(_DAYS[5:])
_TWO: Final = 2
_SUFFIX: Final = {1: "st", 2: "nd", 3: "rd"}
_MONTH_CHARS: Final = 3
_TEENS: Final = range(11, 14)


def local(at_ms: int, zone: str) -> datetime:
    """The moment by the clock of a zone; by UTC's for an unknown one."""
    return datetime.fromtimestamp(at_ms / 1000, zone_of(zone))


def tomorrow_ms(now_ms: int, zone: str) -> int:
    """Tomorrow morning where the person is, at the hour that exists on that day."""
    now = local(now_ms, zone)
    day = datetime.fromordinal(now.toordinal() + 1).replace(hour=MORNING_HOUR, tzinfo=now.tzinfo)
    return int(day.timestamp() * 1000)


def days_from(at_ms: int, now_ms: int, zone: str) -> int:
    """How many local days a moment lies ahead: 0 today, -1 yesterday."""
    return (local(at_ms, zone).date() - local(now_ms, zone).date()).days


def when_text(at_ms: int, now_ms: int, zone: str, language: str, *, exact: bool = True) -> str:
    """`today at 14:05`, `on Sat 12 Dec at 09:00`, with the year when another; without `exact` the day alone."""
    at = local(at_ms, zone)
    key = {0: "today", 1: "tomorrow", -1: "yesterday"}.get(days_from(at_ms, now_ms, zone), "on")
    values = {"weekday": _weekday(at, language), "day": _date(at, local(now_ms, zone), language), "time": f"{at:%H:%M}"}
    return _say(language, f"dates.{key}_at" if exact else f"dates.{key}", **values)


def hour_text(at_ms: int, zone: str, language: str) -> str:
    """`at 14:05`, for a line that stands under its day."""
    return _say(language, "dates.at", time=f"{local(at_ms, zone):%H:%M}")


def day_text(at_ms: int, now_ms: int, zone: str, language: str) -> str:
    """`Sat 12 Dec`, with the year when it is another."""
    at = local(at_ms, zone)
    day = _date(at, local(now_ms, zone), language)
    return _say(language, "dates.weekday_day", weekday=_weekday(at, language), day=day)


def tells_day(text: str, at_ms: int, zone: str, language: str) -> bool:
    """Whether a text names the day itself: `12 Dec`, `12. Dezember`, `December 12`, `12.12.`."""
    at = local(at_ms, zone)
    month = _say(language, "dates.months").split()[at.month - 1].rstrip(".").casefold()[:_MONTH_CHARS]
    in_words = rf"(?<!\d){at.day}(?:\.|st|nd|rd|th|º|er)?\s+(?:\w{{1,3}}\s+)?{month}|{month}\w*\.?\s+{at.day}(?!\d)"
    in_digits = rf"(?<![\d.,:])0?{at.day}[./]\s?0?{at.month}(?![\d,:])"
    return re.search(f"{in_words}|{in_digits}", text.casefold()) is not None


def heading(at_ms: int | None, now_ms: int, zone: str, language: str) -> str:
    """The heading over the lines of one day: `Overdue`, `Today`, `Tomorrow`, `Fri 27 Nov`, `Some day` for none."""
    if at_ms is None:
        return _say(language, "dates.head_none")
    days = days_from(at_ms, now_ms, zone)
    named = {0: "dates.head_today", 1: "dates.head_tomorrow"}
    if days < 0:
        return _say(language, "dates.head_overdue")
    if days in named:
        return _say(language, named[days])
    text = day_text(at_ms, now_ms, zone, language)
    return text[0].upper() + text[1:]


def every_text(rrule: str, language: str, now_ms: int | None = None) -> str:
    """How often a series comes: `every Sunday`, `every day until 5 Dec`; `regularly` for odd rules.

    The year of its end is named where it is not the one of `now_ms`.
    """
    parts = dict(part.split("=", 1) for part in rrule.removeprefix("RRULE:").split(";") if "=" in part)
    now = None if now_ms is None else local(now_ms, "UTC")
    return " ".join([_frequency(parts, language), *_limits(parts, now, language)])


def rhythm_in(text: str, rrule: str) -> str:
    """The words of a text that say how often a series comes, as a list would say it in any language; "" for none."""
    parts = dict(part.split("=", 1) for part in rrule.removeprefix("RRULE:").split(";") if "=" in part)
    return _first_in(text, (_frequency(parts, code) for code in LANGUAGES)) if parts else ""


def tomorrow_in(text: str) -> str:
    """The word of a text for the day after it is read, in any language; "" for none."""
    return _first_in(text, (_say(code, "dates.tomorrow") for code in LANGUAGES))


def _first_in(text: str, words: Iterable[str]) -> str:
    """The first of these that stand in a text as words of their own."""
    plain = text.casefold()
    return next((each for each in words if re.search(rf"(?<!\w){re.escape(each.casefold())}(?!\w)", plain)), "")


# --- the parts of a rule --------------------------------------------------------------------------------------------


def _frequency(parts: dict[str, str], language: str) -> str:
    unit = {"HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}.get(
        parts.get("FREQ", "")
    )
    step = parts.get("INTERVAL", "1")
    days = [day for day in parts.get("BYDAY", "").split(",") if day]
    odd = {"BYSETPOS", "BYWEEKNO", "BYYEARDAY", "BYHOUR", "BYMINUTE"} & set(parts)
    if unit is None or odd or not step.isdigit() or (unit in {"hour", "year"} and days):
        return _say(language, "every.at_times")
    if unit in {"day", "week"} and days:
        return _on_days(days, int(step) if unit == "week" else 1, language)
    if unit == "month" and (days or "BYMONTHDAY" in parts):
        return _in_month(days, parts.get("BYMONTHDAY", ""), int(step), language)
    return _each(unit, int(step), language)


def _each(unit: str, step: int, language: str) -> str:
    """`every week`, `every two weeks`, `every 3 weeks`."""
    if step == 1:
        return _say(language, f"every.{unit}")
    two = {"day": "other_day", "week": "two_weeks", "month": "two_months"}.get(unit)
    if step == _TWO and two:
        return _say(language, f"every.{two}")
    return _say(language, f"every.{unit}s", n=step)


def _on_days(days: Sequence[str], step: int, language: str) -> str:
    if any(day not in _DAYS for day in days):
        return _say(language, "every.at_times")
    order = sorted(days, key=_DAYS.index)
    if step > 1:
        return ", ".join([_each("week", step, language), *(_short(day, language) for day in order)])
    if set(days) in (_WORKING, _WEEKEND):
        return _say(language, "every.weekdays" if set(days) == _WORKING else "every.weekend")
    names = _say(language, "dates.each_weekday").split()
    return _say(language, "every.on_days", days=_listed([names[_DAYS.index(day)] for day in order], language))


def _in_month(days: Sequence[str], month_days: str, step: int, language: str) -> str:
    each = _each("month", step, language)
    if days:
        named = [_nth_weekday(day, language) for day in days]
        return ", ".join([each, *named]) if all(named) else _say(language, "every.at_times")
    if month_days == "-1":
        return _say(language, "every.month_last") if step == 1 else each
    if not all(day.isdigit() for day in month_days.split(",")):
        return _say(language, "every.at_times")
    said = _listed([_nth(int(day), language) for day in month_days.split(",")], language)
    return _say(language, "every.month_on", day=said) if step == 1 else f"{each}, {said}"


def _nth_weekday(day: str, language: str) -> str:
    """`1st Mon`, `last Fri`; "" for what is no such day."""
    number, name = day[:-2], day[-2:]
    if name not in _DAYS or not (number == "-1" or number.isdigit()):
        return ""
    which = _say(language, "every.last") if number == "-1" else _nth(int(number), language)
    return f"{which} {_short(name, language)}"


def _limits(parts: dict[str, str], now: datetime | None, language: str) -> list[str]:
    """Until when a series comes, where it ends."""
    until = parts.get("UNTIL", "")[:8]
    if not until.isdigit():
        return []
    at = datetime.strptime(until, "%Y%m%d")  # noqa: DTZ007 - a day of the person's calendar
    return [_say(language, "every.until", day=_date(at, now, language))]


# --- words ----------------------------------------------------------------------------------------------------------


def _nth(number: int, language: str) -> str:
    if language == "en" or language not in LANGUAGES:
        return f"{number}{'th' if number % 100 in _TEENS else _SUFFIX.get(number % 10, 'th')}"
    if language == "fr" and number == 1:
        return "1er"
    return f"{number}." if language == "de" else str(number)


def _listed(names: Sequence[str], language: str) -> str:
    *first, last = names
    return f"{', '.join(first)} {_say(language, 'every.and')} {last}" if first else last


def _short(day: str, language: str) -> str:
    return _say(language, "dates.weekdays").split()[_DAYS.index(day)]


def _weekday(at: datetime, language: str) -> str:
    return _say(language, "dates.weekdays").split()[at.weekday()]


def _date(at: datetime, now: datetime | None, language: str) -> str:
    month = _say(language, "dates.months").split()[at.month - 1]
    key = "dates.day" if now is not None and at.year == now.year else "dates.day_year"
    return _say(language, key, day=at.day, month=month, year=at.year)


def _say(language: str, key: str, **values: object) -> str:
    return sentences(language if language in LANGUAGES else DEFAULT)[key].format(**values)
