"""Days, hours and how often something comes, as people write them in seven languages. Pure; nothing is read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Final

from bot.sentences import DEFAULT, LANGUAGES, SPEAKABLE, sentences
from memory.ledger.rules import UNITS, WEEK, hours_of, last_hour, named_parts
from memory.zones import whole_month, zone_of

TO: Final = "\u2013"
"""Between the first and the last of several days."""
MORNING_HOUR: Final = 9
"""Hour at which a day begins for a note put off until it."""
_WORKING: Final = frozenset(WEEK[:5])
_WEEKEND: Final = frozenset(WEEK[5:])
_SETS: Final = {1: {_WORKING: "weekdays", _WEEKEND: "weekend"}, 2: {_WEEKEND: "other_weekend"}}
"""Weekdays that have a name together, by the weeks from one to the next."""
_ODD: Final = frozenset({"BYSETPOS", "BYWEEKNO", "BYYEARDAY"})
"""Parts of a rule for which there are no words."""
_HOURS: Final = frozenset({"BYHOUR", "BYMINUTE"})
_LONGEST_NIGHT_MS: Final = 15 * 3_600_000
"""What is longer and over on another day is told with that day: from six in the evening till eleven is no shift."""
_TWO: Final = 2
_NAMED: Final = 3
"""So many weekdays of a rhythm are named in full."""
_SUFFIX: Final = {1: "st", 2: "nd", 3: "rd"}
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
    """Local days until a moment: 0 today, -1 yesterday."""
    return (local(at_ms, zone).date() - local(now_ms, zone).date()).days


def when_text(
    at_ms: int, now_ms: int, zone: str, language: str, *, exact: bool = True, until_ms: int | None = None
) -> str:
    """`today at 14:05`, `on Sat 12 Dec at 09:00`, with the year when another; without `exact` the day alone.

    Where it lasts `until_ms`: `tomorrow from 12:00 to 16:00`, `Fri 4 Dec 17:00 - Sun 6 Dec 18:00`, `Fri 4 Dec - …`.
    """
    if until_ms is not None and not exact and days_from(until_ms, at_ms, zone) != 0:
        return days_text(at_ms, until_ms, now_ms, zone, language)
    if until_ms is not None and exact:
        day = when_text(at_ms, now_ms, zone, language, exact=False)
        if until_ms - at_ms >= _LONGEST_NIGHT_MS and abs(days_from(at_ms, now_ms, zone)) > 1:
            day = day_text(at_ms, now_ms, zone, language)
        return f"{day} {hour_text(at_ms, zone, language, until_ms)}"
    key = {0: "today", 1: "tomorrow", -1: "yesterday"}.get(days_from(at_ms, now_ms, zone), "on")
    return _say_when(f"dates.{key}", at_ms, now_ms, zone, language, exact=exact)


def soon_text(at_ms: int, now_ms: int, zone: str, language: str, *, exact: bool = True) -> str:
    """A moment ahead as people speak of it: `today at 14:05`, `this Sunday at 14:05`, else as `when_text` has it.

    On a Friday `this Thursday` might be yesterday's: a day of next week is told by its date.
    """
    at, today = local(at_ms, zone), local(now_ms, zone)
    is_this_week = at.isocalendar()[:2] == today.isocalendar()[:2]
    if not is_this_week or days_from(at_ms, now_ms, zone) <= 1:
        return when_text(at_ms, now_ms, zone, language, exact=exact)
    day = _this_weekday(at.weekday(), language)
    return f"{day} {hour_text(at_ms, zone, language)}" if exact else day


def for_text(at_ms: int, now_ms: int, zone: str, language: str, *, exact: bool = True, key: str = "for") -> str:
    """`for tomorrow at 14:05`, `for Sat 12 Dec at 09:00`; with the key `until` the end of what is under way."""
    if abs(days_from(at_ms, now_ms, zone)) <= 1:
        return say(language, f"dates.{key}", when=when_text(at_ms, now_ms, zone, language, exact=exact))
    return _say_when(f"dates.{key}_on", at_ms, now_ms, zone, language, exact=exact)


def to_do_text(at_ms: int, now_ms: int, zone: str, language: str, *, hour_alone: bool = False, by: bool = False) -> str:
    """The hour of something to do, one to begin at or to be done by: `12:00` alone, `tomorrow, 12:00`; `by 12:00`."""
    if by and not hour_alone:
        return for_text(at_ms, now_ms, zone, language, key="by")
    clock = clock_text(local(at_ms, zone), language)
    far = "" if abs(days_from(at_ms, now_ms, zone)) <= 1 else day_text(at_ms, now_ms, zone, language)
    day = far or when_text(at_ms, now_ms, zone, language, exact=False)
    alone = say(language, "dates.by", when=clock) if by else clock
    return alone if hour_alone else f"{day}, {clock}"


def _say_when(key: str, at_ms: int, now_ms: int, zone: str, language: str, *, exact: bool) -> str:
    """A sentence of weekday, day and, of one that is `exact`, time."""
    at = local(at_ms, zone)
    day, time = date_text(at, local(now_ms, zone), language), clock_text(at, language)
    return say(language, f"{key}_at" if exact else key, weekday=_weekday(at, language), day=day, time=time)


def hour_text(at_ms: int, zone: str, language: str, until_ms: int | None = None) -> str:
    """`at 14:05`, `from 12:00 to 16:00`, or `17:00 - Sun 6 Dec 18:00`, for a line that stands under its day."""
    first = clock_text(local(at_ms, zone), language)
    if until_ms is None:
        return say(language, "dates.at", time=first)
    last = clock_text(local(until_ms, zone), language)
    if until_ms - at_ms >= _LONGEST_NIGHT_MS:
        return f"{first} {TO} {day_text(until_ms, at_ms, zone, language)} {last}"
    return say(language, "dates.from_to", first=first, last=last)


def clock_text(at: datetime | time, language: str) -> str:
    """`05:30`; as French and Portuguese write it `5h30`, and `20h`; `5:30am` and `8pm` by a twelve-hour clock."""
    clock, minute = _words(language)["dates.clock"], f"{at:%M}" if at.minute else ""
    if ":" in clock:
        return clock.format(hour=f"{at:%H}", minute=f"{at:%M}")
    half, hour = divmod(at.hour, 12)
    if "{half}" in clock:
        return clock.format(hour=hour or 12, minute=minute and f":{minute}", half=("am", "pm")[half])
    return clock.format(hour=at.hour, minute=minute)


def day_text(at_ms: int, now_ms: int, zone: str, language: str) -> str:
    """`Sat 12 Dec`, with the year when it is another."""
    return _day(local(at_ms, zone), local(now_ms, zone), language)


def _day(day: date, today: date, language: str) -> str:
    return say(language, "dates.weekday_day", weekday=_weekday(day, language), day=date_text(day, today, language))


def days_text(first_ms: int, last_ms: int, now_ms: int, zone: str, language: str) -> str:
    """Several days: `Mon 1 Mar - Wed 3 Mar`, a whole month `in March`; the year once, when it is another."""
    first, last, today = (local(each, zone).date() for each in (first_ms, last_ms, now_ms))
    month = whole_month(first_ms, last_ms, zone)
    if month is None:
        return f"{_day(first, last, language)} {TO} {_day(last, today, language)}"
    return month_text(month, today, language)


def month_text(month: date, today: date, language: str) -> str:
    """`in January`, with the year when it is another."""
    said = say(language, "dates.in_months").split("|")[month.month - 1]
    return said if month.year == today.year else say(language, "dates.in_month_year", month=said, year=month.year)


def heading(day: date | None, today: date, language: str) -> str:
    """The heading over the lines of one day: `Overdue`, `Today`, `Tomorrow`, `Fri 27 Nov`, `Some day` for none."""
    if day is None:
        return say(language, "dates.head_none")
    days = (day - today).days
    if days <= 1:
        named = {0: "dates.head_today", 1: "dates.head_tomorrow"}
        return say(language, named.get(days, "dates.head_overdue"))
    return as_heading(_day(day, today, language))


def as_heading(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[0].upper() + text[1:]


def every_text(rrule: str, language: str, now_ms: int | None = None, hour: str = "") -> str:
    """The rhythm of a series: `every Sunday`, `every day at 08:00 until 5 Dec`; `regularly` for odd rules.

    Hours of its own stand in place of `hour`: `every day at 08:00 and 20:00`. The year of its end is named where it is
    not the one of `now_ms`.
    """
    parts, hour = named_parts(rrule), hours_text(rrule, language) or hour
    now = None if now_ms is None else local(now_ms, "UTC")
    return " ".join(filter(None, [frequency(parts, language), hour, end_text(parts, now, language)]))


def hours_text(rrule: str, language: str) -> str:
    """The hours that a rule names, `at 08:00 and 20:00`; "" for none."""
    hours = [clock_text(time.fromisoformat(hour), language) for hour in hours_of(named_parts(rrule))]
    return say(language, "dates.at", time=listed(hours, language)) if hours else ""


def _is_odd(parts: Mapping[str, str]) -> bool:
    is_odd = not _ODD.isdisjoint(parts) or "," in parts.get("BYMONTH", "")
    return is_odd or (not _HOURS.isdisjoint(parts) and not hours_of(parts))


def names_days(rrule: str) -> bool:
    """Whether the words for a rhythm tell its days: `every Tuesday`, `every day`; `every two weeks` doesn't."""
    parts = named_parts(rrule)
    if parts.get("INTERVAL", "1") != "1" or _is_odd(parts):
        return False
    return parts.get("FREQ") == "DAILY" or bool({"BYDAY", "BYMONTHDAY"} & set(parts))


def each_named(days: Sequence[str], language: str) -> list[str]:
    """The names of weekdays as `every` has them."""
    return [say(language, "dates.each_weekday").split()[WEEK.index(day)] for day in days]


# --- the parts of a rule --------------------------------------------------------------------------------------------


def frequency(parts: Mapping[str, str], language: str) -> str:
    """The rhythm of a rule's parts: `every Sunday`, `every two weeks`; `regularly` for odd ones."""
    unit, step = UNITS.get(parts.get("FREQ", "")), parts.get("INTERVAL", "1")
    days = [day for day in parts.get("BYDAY", "").split(",") if day]
    if unit is None or _is_odd(parts) or not step.isdigit() or (unit in {"hour", "year"} and days):
        return say(language, "every.at_times")
    if unit in {"day", "week"} and days:
        return _on_days(days, int(step) if unit == "week" else 1, language)
    if unit == "month" and (days or "BYMONTHDAY" in parts):
        return _in_month(days, parts.get("BYMONTHDAY", ""), int(step), language)
    return _each(unit, int(step), language)


def _each(unit: str, step: int, language: str) -> str:
    """`every week`, `every two weeks`, `every 3 weeks`."""
    if step == 1:
        return say(language, f"every.{unit}")
    if step == _TWO and (two := {"day": "other_day", "week": "two_weeks", "month": "two_months"}.get(unit)):
        return say(language, f"every.{two}")
    return say(language, f"every.{unit}s", n=step)


def _on_days(days: Sequence[str], step: int, language: str) -> str:
    if any(day not in WEEK for day in days):
        return say(language, "every.at_times")
    if known := _SETS.get(step, {}).get(frozenset(days)):
        return say(language, f"every.{known}")
    order = sorted(days, key=WEEK.index)
    if step > 1:
        return _on_days_of_weeks(order, step, language)
    others = each_named([day for day in WEEK if day not in days], language)
    if len(others) <= 1:
        return say(language, "every.but_day", day=others[0]) if others else say(language, "every.day")
    named = each_named(order, language) if len(order) <= _NAMED else [_short(day, language) for day in order]
    return _run(order, language) or say(language, "every.on_days", days=listed(named, language))


def _on_days_of_weeks(order: Sequence[str], step: int, language: str) -> str:
    """`every other Monday`, `every two weeks, Mon and Tue`; of one day the next date may tell it."""
    if step == _TWO and len(order) == 1:
        return say(language, "every.other_weekday", day=each_named(order, language)[0])
    also = _run(order, language) or listed([_short(day, language) for day in order], language)
    return ", ".join([_each("week", step, language), *([also] if len(order) > 1 else [])])


def _run(order: Sequence[str], language: str) -> str:
    """`Mon to Fri` of days in a row; "" for others."""
    begins, ends = ([day for day in order if WEEK[(WEEK.index(day) + beside) % 7] not in order] for beside in (-1, 1))
    if len(order) <= _TWO or len(begins) != 1:
        return ""
    return say(language, "every.run", first=_short(begins[0], language), last=_short(ends[0], language))


def _in_month(days: Sequence[str], month_days: str, step: int, language: str) -> str:
    each = _each("month", step, language)
    if len({day[-2:] for day in days}) == 1 and all(numbers := [_number(day[:-2], language) for day in days]):
        name = _this_weekday(WEEK.index(days[0][-2:]), language).rsplit(" ", 1)[-1]
        said = listed([f"{one[:-1]}a" if one[-1] + name[-1] == "oa" else one for one in numbers], language)
        key = "every.month_weekday" if step == 1 else "every.months_weekday"
        return say(language, key, each=each, number=said, day=name)  # prima domenica
    if days:
        named = [_nth_weekday(day, language) for day in days]
        return ", ".join([each, *named]) if all(named) else say(language, "every.at_times")
    if month_days == "-1":
        return say(language, "every.month_last") if step == 1 else each
    if not all(day.isdigit() for day in month_days.split(",")):
        return say(language, "every.at_times")
    said = listed([_nth(int(day), language) for day in month_days.split(",")], language)
    return say(language, "every.month_on" if step == 1 else "every.months_on", each=each, day=said)


def _number(text: str, language: str) -> str:
    """`first` to `fourth`, and `last` for -1; "" for another."""
    *numbers, last = say(language, "every.numbers").split("|")
    return {"-1": last, **{str(n): said for n, said in enumerate(numbers, 1)}}.get(text, "")


def _nth_weekday(day: str, language: str) -> str:
    """`1st Mon`, `last Fri`; "" for a part that names no such day."""
    number, name = day[:-2], day[-2:]
    if name not in WEEK or not (number == "-1" or number.isdigit()):
        return ""
    which = say(language, "every.last") if number == "-1" else _nth(int(number), language)
    return f"{which} {_short(name, language)}"


def end_text(parts: Mapping[str, str], now: datetime | None, language: str) -> str:
    """The words for the end of a series, with which `every_text` ends: `until 5 Dec`; "" where it has none."""
    until = parts.get("UNTIL", "")[:8]
    if not until.isdigit():
        return ""
    at = datetime.strptime(until, "%Y%m%d")  # noqa: DTZ007 - a day of the person's calendar
    said, hour = say(language, "every.until", day=date_text(at, now, language)), last_hour(parts)
    return f"{said} {say(language, 'dates.at', time=clock_text(time.fromisoformat(hour), language))}" if hour else said


# --- words ----------------------------------------------------------------------------------------------------------


def _nth(number: int, language: str) -> str:
    if language == "en" or language not in LANGUAGES:
        return f"{number}{'th' if number % 100 in _TEENS else _SUFFIX.get(number % 10, 'th')}"
    if language == "fr" and number == 1:
        return "1er"
    return f"{number}." if language == "de" else str(number)


def listed(names: Sequence[str], language: str) -> str:
    """The names in a row: `Tue, Thu and Sat`."""
    *first, last = names
    return f"{', '.join(first)} {say(language, 'every.and')} {last}" if first else last


def _this_weekday(weekday: int, language: str) -> str:
    return say(language, "dates.this_weekday").split(", ")[weekday]


def weekday_name(at: datetime, language: str) -> str:
    """The weekday as a sentence says it: `Sunday`; Russian in the case in which it stands behind "on"."""
    return _this_weekday(at.weekday(), language).rsplit(" ", 1)[-1]


def _short(day: str, language: str) -> str:
    return say(language, "dates.weekdays").split()[WEEK.index(day)]


def _weekday(at: date, language: str) -> str:
    return say(language, "dates.weekdays").split()[at.weekday()]


def date_text(at: date, now: date | None, language: str) -> str:
    """`14 Feb`, with the year where that is another."""
    month = say(language, "dates.months").split()[at.month - 1]
    key = "dates.day" if now is not None and at.year == now.year else "dates.day_year"
    day = _nth(at.day, language) if at.day == 1 and language == "fr" else at.day
    return say(language, key, day=day, month=month, year=at.year)


def say(language: str, key: str, **values: object) -> str:
    """A sentence of a language; of English for one that we don't speak."""
    return _words(language)[key].format(**values)


def _words(language: str) -> Mapping[str, str]:
    return sentences(language if language in SPEAKABLE else DEFAULT)
