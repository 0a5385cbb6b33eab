"""RRULEs as the dates that they make, in local time without a zone; those that make none are refused. Pure."""

from __future__ import annotations

from calendar import day_abbr, isleap, weekday
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Final

from dateutil.rrule import rrule, rrulestr

DAY_CHARS: Final = len("2026-11-27")
WAITS_DAYS: Final = 7
"""So long a date of something to do once a month waits to be called done."""
LOCAL: Final = "%Y-%m-%dT%H:%M"
LOOKED_AHEAD: Final = timedelta(days=1_500)
"""So far ahead the first date of a series is looked for: more than the years to a 29 February."""
UNITS: Final = {"HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
WEEK: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
MOST_STEPS: Final = 1_000
"""Dates of a series that are looked through for the next one, or the last: every hour for six weeks."""
_MOST_DAYS: Final = 5
"""A week's rule of so many days comes nearly every day."""
HOURS: Final = frozenset({"BYHOUR", "BYMINUTE", "BYSECOND"})
"""Parts of a rule that tell an hour, which its first date tells, too."""
COMPARED: Final = 60
"""So many dates of two rules are compared: of one that comes yearly a person's life."""
_WEEKS: Final = {
    **{",".join(map(str, range(7 * n - 6, 7 * n + 1))): str(n) for n in range(1, 5)},
    ",".join(map(str, range(-7, 0))): "-1",
}
"""The days of a month on which its first, second … and last of a weekday may be, with the number in a rule."""
NUMBERED: Final = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}
RUN: Final = 3
"""So many days in a row are said as `Mon to Fri`."""
LAST_YEARS: Final = (9994, 9593, -1)
"""Years that are followed by five more, the last first; calendars come again after 400 years, mostly after 28."""


def read_local(local: str) -> datetime:
    """A date of a series, reckoned in local time without a zone. Raises ValueError."""
    return datetime.strptime(local, LOCAL)  # noqa: DTZ007 - whoever needs an instant gives it the note's zone


def rule_of(repeats: str, rings_from: str) -> rrule:
    """The series as dateutil knows it, in local time without a zone.

    Raises ValueError, with the reason in plain words, for a text that is no RRULE, and for a rule without any date.
    """
    found = _found(repeats, rings_from)
    if isinstance(found, str):
        raise ValueError(found)  # noqa: TRY004 - what was given has the right type
    return found


def what_is_wrong(repeats: str, rings_from: str) -> str:
    """Why a rule is none, or has no date; "" for one that has."""
    found = _found(repeats, rings_from)
    return found if isinstance(found, str) else ""


def first_from(repeats: str, local: str) -> str | None:
    """The first date of a series from this one on; None for none, and for what is no RRULE."""
    try:
        return f"{next(iter(rule_of(repeats, local))):{LOCAL}}"
    except ValueError:
        return None


@lru_cache(maxsize=512)
def last_date(repeats: str, first: str) -> datetime | None:
    """The last date of a series; None for one without an end, or with too many dates. Raises ValueError as `rule_of`.

    >>> last_date("FREQ=WEEKLY;COUNT=6", "2026-12-03T16:30")
    datetime.datetime(2027, 1, 7, 16, 30)
    """
    if not has_end(repeats):
        return None
    dates = list(islice(rule_of(repeats, first), MOST_STEPS))
    return dates[-1] if len(dates) < MOST_STEPS else None


def ending_by_day(repeats: str, first: str) -> str:
    """The rule with the day of its last date in place of their number, of several a day with its hour.

    >>> ending_by_day("FREQ=WEEKLY;COUNT=6", "2026-12-03T16:30")
    'FREQ=WEEKLY;UNTIL=20270107'
    """
    last = last_date(repeats, first)
    kept = [part for part in parts_of(repeats) if not is_end(part)]
    form = "%Y%m%dT%H%M%S" if is_several_a_day(repeats) else "%Y%m%d"
    return repeats if last is None else ";".join([*kept, f"UNTIL={last:{form}}"])


def has_end(repeats: str) -> bool:
    """Whether a rule names its last day, or the number of its dates."""
    return any(map(is_end, parts_of(repeats)))


def endless(repeats: str) -> str:
    """The rule without its end."""
    return ";".join(part for part in parts_of(repeats) if not is_end(part))


@lru_cache(maxsize=512)
def rule_moved(repeats: str, first: str, days: int) -> str | None:
    """The rule whose dates are those of a series from its first on, so many days later, with the last day for an end.

    None where no rule says that, as for several dates a day.

    >>> rule_moved("FREQ=WEEKLY;BYDAY=MO;COUNT=2", "2026-11-30T20:00", 1)
    'FREQ=WEEKLY;BYDAY=TU;UNTIL=20261208'
    """
    if is_several_a_day(repeats):
        return None
    parts = {name: value for name, value in named_parts(repeats).items() if name not in {"COUNT", "UNTIL", *HOURS}}
    try:
        dates = [at.date() + timedelta(days) for at in islice(rule_of(repeats, first), MOST_STEPS)]
        rule = ";".join(f"{name}={value}" for name, value in (_moved(parts, days) if days else parts).items())
        moved = rule_of(rule, f"{dates[0]}T00:00")
    except (ValueError, OverflowError):
        return None
    compared = dates[:COMPARED]
    if [at.date() for at in islice(moved, len(compared))] != compared:
        return None
    has_end = any(map(is_end, parts_of(repeats))) and len(dates) < MOST_STEPS
    return rule + (f";UNTIL={dates[-1]:%Y%m%d}" if has_end else "")


def _moved(parts: dict[str, str], days: int) -> dict[str, str]:
    """The parts of a rule with other days; a day of the year is told by the first date."""
    if parts["FREQ"] == "YEARLY":
        return {name: value for name, value in parts.items() if name not in {"BYMONTH", "BYMONTHDAY"}}
    parts = _by_month_days(parts)
    if "BYDAY" in parts:
        parts["BYDAY"] = ",".join(WEEK[(WEEK.index(day) + days) % len(WEEK)] for day in parts["BYDAY"].split(","))
    if "BYMONTHDAY" in parts:
        parts["BYMONTHDAY"] = ",".join(_day_moved(int(day), days) for day in parts["BYMONTHDAY"].split(","))
    if (numbered := _WEEKS.get(parts.get("BYMONTHDAY", ""))) and parts.get("BYDAY") in WEEK:
        return {name: value for name, value in parts.items() if name != "BYMONTHDAY"} | {
            "BYDAY": f"{numbered}{parts['BYDAY']}"
        }
    return parts


def _by_month_days(parts: Mapping[str, str]) -> dict[str, str]:
    """The parts with the seven days of the month on one of which its second Tuesday, or last Friday, falls."""
    number, day = parts.get("BYDAY", "")[:-2], parts.get("BYDAY", "")[-2:]
    days = next((days for days, numbered in _WEEKS.items() if numbered == number), "")
    is_one = parts["FREQ"] == "MONTHLY" and bool(days) and "BYMONTHDAY" not in parts
    return dict(parts) | ({"BYDAY": day, "BYMONTHDAY": days} if is_one else {})


def _day_moved(day: int, days: int) -> str:
    """A day of the month; that before the first is the last, and the last is counted as -1."""
    moved = day + days
    return str(moved if moved * day > 0 else moved - 1 if day > 0 else moved + 1)


def is_by_days(repeats: str) -> bool:
    """Whether a rule is fit for a note that doesn't ring: it goes by days, and ends on one where it ends."""
    parts = named_parts(repeats)
    return parts.get("FREQ") in {"DAILY", "WEEKLY", "MONTHLY", "YEARLY"} and not {"COUNT", "BYHOUR"} & set(parts)


def comes_often(repeats: str) -> bool:
    """Whether a rule comes every few days: a birthday and the rent do not."""
    return bool(repeats) and not {"FREQ=YEARLY", "FREQ=MONTHLY"}.intersection(parts_of(repeats))


def goes_on_often(repeats: str) -> bool:
    """Whether a rule comes every few days without an end: the stall of two Saturdays is no lesson of each week."""
    return comes_often(repeats) and not has_end(repeats)


def comes_daily(repeats: str) -> bool:
    """Whether a rule comes on most days: a pill, a call on working days."""
    parts = named_parts(repeats)
    days = parts.get("BYDAY", "").split(",")
    often = parts.get("FREQ") in {"DAILY", "HOURLY"} and parts.get("INTERVAL", "1") == "1"
    return often or (parts.get("FREQ") == "WEEKLY" and len(days) >= _MOST_DAYS)


def goes_on_daily(repeats: str) -> bool:
    """Whether a rule comes on most days and has no end: a pill for good, not one of ten days."""
    return comes_daily(repeats) and not has_end(repeats)


def with_minute(repeats: str, first: str) -> str:
    """The rule with the minute of its hours, which is that of its first date where none is named."""
    named = "BYHOUR" in repeats and "BYMINUTE" not in repeats
    return f"{repeats};BYMINUTE={(first or '00')[-2:]}" if named else repeats


def is_rare(repeats: str) -> bool:
    """Whether the dates of a rule are a month or more apart."""
    return not {"FREQ=MONTHLY", "FREQ=YEARLY"}.isdisjoint(parts_of(repeats))


def is_several_a_day(repeats: str) -> bool:
    """Whether a rule has several dates on one day, as two doses: a day alone names none of them."""
    parts = parts_of(repeats)
    is_by_the_hour = not {"FREQ=HOURLY", "FREQ=MINUTELY"}.isdisjoint(parts)
    return is_by_the_hour or any("," in part for part in parts if part.startswith(("BYHOUR=", "BYMINUTE=")))


@lru_cache(maxsize=512)
def in_words(repeats: str) -> str:
    """A rule in the words of a list; of one that is no plain rhythm its parts, with the last day in words.

    >>> in_words("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;UNTIL=20261209T080000")
    'every 2 weeks on Mon, Fri until 9 Dec 2026'
    """
    parts = named_parts(repeats)
    hours = hours_of(parts)
    told = {"UNTIL", "COUNT", "WKST", *({"BYHOUR", "BYMINUTE"} if hours else ())}
    rhythm = _rhythm({name: value for name, value in parts.items() if name not in told})
    rhythm = f"{rhythm} at {', '.join(hours)}" if rhythm and hours else rhythm
    try:
        until = _until(repeats)
    except ValueError:
        return repeats
    rest = endless(repeats)
    times = f", {parts['COUNT']} times in all" if "COUNT" in parts else ""
    last = last_hour(parts)
    return (rhythm or rest) + times + (f" until {until.day} {until:%b %Y}{f' {last}' * bool(last)}" if until else "")


def hours_of(parts: Mapping[str, str]) -> list[str]:
    """The hours that a rule's parts name, as `08:00`, in their order; [] where they name none, or each hour is one."""
    hours, minute = parts.get("BYHOUR", "").split(","), parts.get("BYMINUTE", "0")
    is_plain = all(map(str.isdigit, hours)) and minute.isdigit() and parts.get("FREQ") != "HOURLY"
    return [f"{hour:02}:{int(minute):02}" for hour in sorted(map(int, hours))] if is_plain else []


def last_hour(parts: Mapping[str, str]) -> str:
    """The hour of the last date of a series with several a day, where that is not the last of its day; else ""."""
    until, hours = parts.get("UNTIL", ""), hours_of(parts)
    end = f"{until[9:11]}:{until[11:13]}" if "T" in until else ""
    kept = [hour for hour in hours if hour <= end]
    return kept[-1] if end and kept and kept != hours else ""


def _rhythm(parts: dict[str, str]) -> str:
    """The words of a plain rhythm; "" for another. The next date, which is told with it, has the day of a year."""
    unit, every = UNITS.get(parts.get("FREQ", "")), parts.get("INTERVAL", "1")
    if unit is None:
        return ""
    often = unit if every == "1" else f"{every} {unit}s"
    names, days, day = parts.keys() - {"FREQ", "INTERVAL"}, parts.get("BYDAY", ""), parts.get("BYMONTHDAY", "")
    if unit == "week" and names == {"BYDAY"} and set(days.split(",")) <= set(WEEK):
        often = f"{often} on {_days(days)}" if every != "1" else _days(days)
    elif unit == "month" and names == {"BYMONTHDAY"} and (day.isdecimal() or day == "-1"):
        often += " on the last day" if day == "-1" else f" on day {day}"
    elif unit == "month" and names == {"BYDAY"} and days[-2:] in WEEK and days[:-2] in NUMBERED:
        often += f" on the {NUMBERED[days[:-2]]} {_days(days[-2:])}"
    elif names and not (unit == "year" and _is_one_day(names, parts.get("BYMONTH", ""), day)):
        return ""
    return f"every {often}"


def _is_one_day(names: set[str], month: str, day: str) -> bool:
    """Whether these parts of a yearly rule name one day; a month alone leaves the day to the first date."""
    return month.isdecimal() and (names == {"BYMONTH"} or (names == {"BYMONTH", "BYMONTHDAY"} and day.isdecimal()))


def _days(days: str) -> str:
    at = sorted({WEEK.index(each) for each in days.split(",")})
    names = [day_abbr[n] for n in at]
    is_run = len(at) >= RUN and at[-1] - at[0] == len(at) - 1
    return f"{names[0]} to {names[-1]}" if is_run else ", ".join(names)


@lru_cache(maxsize=512)
def _found(repeats: str, rings_from: str) -> rrule | str:
    """The series, or why it is none: looking for the first date takes time, and a page asks more than once."""
    try:
        rule, first = _parsed(repeats, rings_from), read_local(rings_from)
    except ValueError as exc:
        return str(exc)
    try:
        comes = _comes(rule, first)
    except (ValueError, TypeError):  # an hour 24, a minute 60: dateutil finds out as it goes
        return f"{repeats!r} is no RRULE"
    return rule if comes else f"{repeats!r} has no date in the four years from {first:%Y-%m-%d} on"


def _comes(rule: rrule, first: datetime) -> bool:
    """Whether a rule has a date soon. One without any is looked through until the year 9999, in spite of its end.

    So it is looked through in the last years before that, among those with the same calendar.
    """
    alike = next(year for year in range(*LAST_YEARS) if all(_alike(first.year + n, year + n) for n in range(6)))
    start = first.replace(year=alike)
    at = next(iter(rule.replace(dtstart=start, until=None)), None)
    until = rule._until  # noqa: SLF001 - told nowhere else
    return at is not None and at - start <= min(LOOKED_AHEAD, until - first if until else LOOKED_AHEAD)


def _alike(one: int, other: int) -> bool:
    """Whether two years have the same calendar."""
    return (isleap(one), weekday(one, 1, 1)) == (isleap(other), weekday(other, 1, 1))


def _parsed(repeats: str, rings_from: str) -> rrule:
    first = read_local(rings_from)
    try:
        until = _until(repeats)
        found = rrulestr(";".join(part for part in parts_of(repeats) if not _is_until(part)), dtstart=first)
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise ValueError(f"{repeats!r} is no RRULE") from exc
    if not isinstance(found, rrule):
        raise ValueError(f"{repeats!r} is more than one RRULE")  # noqa: TRY004 - what was given is no single rule
    if found._interval < 1:  # noqa: SLF001 - dateutil goes round at one date for ever, and tells it nowhere else
        raise ValueError(f"{repeats!r} never goes on")
    return found.replace(until=until) if until else found


def _until(repeats: str) -> datetime | None:
    """The last day of a rule; its zone is always the note's (a `Z` in the rule would make dateutil refuse it)."""
    value = next((part.partition("=")[2] for part in parts_of(repeats) if _is_until(part)), "")
    if not value:
        return None
    text = value.removesuffix("Z")
    if "T" in text:
        return datetime.strptime(text, "%Y%m%dT%H%M%S")  # noqa: DTZ007 - local, as the series
    return datetime.strptime(text, "%Y%m%d") + timedelta(days=1, seconds=-1)  # noqa: DTZ007 - a day by nobody's clock


def parts_of(repeats: str) -> list[str]:
    """The parts of a rule: `FREQ=WEEKLY`, `BYDAY=SU`."""
    return repeats.removeprefix("RRULE:").split(";")


def named_parts(repeats: str) -> dict[str, str]:
    """The parts of a rule by their names: `{"FREQ": "WEEKLY", "BYDAY": "SU"}`; {} for a text that is none."""
    return dict(part.upper().split("=", 1) for part in parts_of(repeats) if "=" in part)


def is_end(part: str) -> bool:
    """Whether a part says when a series ends."""
    return _is_until(part) or part.upper().startswith("COUNT=")


def _is_until(part: str) -> bool:
    return part.upper().startswith("UNTIL=")
