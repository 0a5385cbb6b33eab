"""Times in words: "tomorrow at 9", "every second Monday", "in 20 minutes". Pure; clock and zone are handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, Literal

from dateutil.relativedelta import relativedelta

from bot.matching import MAX_CHARS, Match, Pattern, every, find, whole
from bot.offline.words import ClockWords, Unit, words_of
from memory.ledger import rules, series
from memory.zones import zone_of

USUAL_HOUR: Final = 9  # when something rings for which only a day was said
NOON: Final = 12
SMALL_HOURS: Final = 6
"""Up to this hour "at 3" is in the afternoon."""
LATEST: Final = 22
"""Up to this hour "at 9" is still meant for tonight when nine in the morning is over."""
_WEEK: Final = 7
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FREQ: Final[dict[Unit, str]] = {
    "minute": "MINUTELY", "hour": "HOURLY", "day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY",
}  # fmt: skip
_EDGES: Final = " ,;:-\u2013\u2014"
DayBy = Literal["", "month", "number", "name", "distance"]


@dataclass(frozen=True, slots=True)
class SaidTime:
    """A time that was said: `2026-11-29T19:00`, or the day alone, `2026-11-29`."""

    local: str
    repeats: str = ""
    """An RRULE when it comes again; `local` is its first date then."""
    spans: tuple[tuple[int, int], ...] = ()
    """The stretches of the text that said it, in their order."""
    day_by: DayBy = ""
    """The way its day was said: with its month, by its number, name or distance; "" for no day."""
    names_hour: bool = False
    """Whether an hour was said, and not a part of the day alone."""

    @property
    def exact(self) -> bool:
        """Whether an hour was said, or follows from the words."""
        return "T" in self.local

    @property
    def start(self) -> int:
        """Begin of the words of the time."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """End of the words of the time."""
        return self.spans[-1][1]

    def minute(self, hour: int = USUAL_HOUR) -> str:
        """The local minute from which a note rings, at this hour when only a day was said."""
        return self.local if self.exact else f"{self.local}T{hour:02}:00"

    def at_ms(self, zone: str) -> int:
        """The moment, or the beginning of the day, as a note is due."""
        return series.at_ms_of(self.minute(0), zone)

    def rest_of(self, text: str) -> str:
        """The text without the words that said it."""
        for start, end in reversed(self.spans):
            text = f"{text[:start].rstrip(_EDGES)} {text[end:].lstrip(_EDGES)}"
        return " ".join(text.split()).strip(_EDGES)


@lru_cache(maxsize=256)
def moment_in(text: str, now_ms: int, zone: str, language: str = "en") -> SaidTime | None:
    """The time that a text names; None when it names none, or one that is over.

    "today" counts when its hour is still to come; a bare hour means the next such hour by daytime (3 → 15:00).
    """
    now = datetime.fromtimestamp(now_ms / 1000, zone_of(zone)).replace(tzinfo=None, microsecond=0)
    try:
        return _Reading(text[:MAX_CHARS], now, words_of(language).clock).moment(now_ms, zone)
    except (ValueError, OverflowError, StopIteration):
        return None  # the 31st of February, the year 20000, a word that no table has


class _Reading:
    """One text being read: words understood are blanked, so that nothing counts twice."""

    def __init__(self, text: str, now: datetime, clock: ClockWords) -> None:
        self.text, self.now, self.clock = text, now.replace(second=0), clock
        self.second = timedelta(seconds=now.second)
        self.spans: list[tuple[int, int]] = []
        self.series = False
        self.day_by: DayBy = ""
        self.names_hour = False

    def moment(self, now_ms: int, zone: str) -> SaidTime | None:
        """The time that the text names."""
        later = self._span()
        if isinstance(later, datetime):
            return self._made(f"{later:{rules.LOCAL}}")
        rule, hour = self._rule()
        self.series = bool(rule)
        day, day_hour = (later, None) if later else self._day()
        time = self._time(day)
        time = next((each for each in (time, day_hour, hour) if each is not None), None)
        if rule:
            return self._repeating(_completed(rule, day), day, time, now_ms, zone)
        if day is None and time is None:
            return None
        if time is None:
            return self._made(f"{day}") if day and day >= self.now.date() else None
        local = datetime.combine(day or self.now.date(), datetime.min.time()) + timedelta(minutes=time)
        if local <= self.now:
            if day is not None:
                return None
            local += timedelta(days=1)
        return self._made(f"{local:{rules.LOCAL}}")

    def _made(self, local: str, repeats: str = "") -> SaidTime:
        return SaidTime(local, repeats, tuple(sorted(self.spans)), self.day_by, self.names_hour)

    def _first(self, patterns: Iterable[Pattern]) -> Match | None:
        """The first pattern's place, longest where two begin alike; blanked for those that look next."""
        best: Match | None = None
        for pattern in patterns:
            found = find(pattern, self.text)
            if found and (best is None or len(found.group()) > len(best.group())):
                best = found
        if best is not None:
            self.spans.append(best.span())
            self.text = f"{self.text[: best.start()]}{' ' * len(best.group())}{self.text[best.end() :]}"
        return best

    def _span(self) -> datetime | date | None:
        """The moment "in 20 minutes", the day "in 3 weeks"."""
        found = self._first(self.clock.spans)
        if found is None:
            return None
        said = found.groupdict()
        if said.get("half_hour"):
            return self._nearest(timedelta(minutes=30))
        if said.get("hour_half"):
            return self._nearest(timedelta(minutes=90))
        number, unit = self._number(said.get("n")), self._unit(said["unit"])
        later: datetime = self.now + relativedelta(**{f"{unit}s": number})
        if unit in {"second", "minute", "hour"}:
            return self._nearest(later - self.now)
        self.day_by = "distance"
        return later.date()

    def _nearest(self, ahead: timedelta) -> datetime:
        """The minute that is nearest to so long from now."""
        return (self.now + self.second + ahead + timedelta(seconds=30)).replace(second=0)

    def _number(self, said: str | None) -> int:
        return 1 if not said else int(said) if said.isdigit() else _in_table(self.clock.numbers, said)

    def _unit(self, said: str) -> Unit:
        return next(unit for unit, pattern in self.clock.units.items() if whole(pattern, said))

    # --- the day ----------------------------------------------------------------------------------------------------

    def _day(self) -> tuple[date | None, int | None]:
        """The day, and the minute that its word names beside it ("tonight")."""
        found = self._first(self.clock.dates)
        if found is None:
            return None, None
        said = {name: value for name, value in found.groupdict().items() if value}
        self.day_by = _day_by(said)
        part = next((hour for pattern, hour in self.clock.parts if whole(pattern, said.get("dayword", ""))), None)
        return self._day_of(said, self.now.date()), None if part is None else part * 60

    def _day_of(self, said: dict[str, str], today: date) -> date:
        if "d" in said:
            return self._numbered(said, today)
        if "month_end" in said:
            month = _index(self.clock.months, said["month"]) if "month" in said else today.month
            year = today.year + (month < today.month)
            return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        if "dayword" in said:
            return today + timedelta(days=_in_table(self.clock.days, said["dayword"]))
        if "day_next" in said:
            return self._next_unit(self._unit(said["unit"]), today)
        if "weekend" in said:
            return today + timedelta(days=(5 - today.weekday()) % _WEEK if today.weekday() != 6 else 0)  # noqa: PLR2004 - days of the week, hours of the evening
        return self._weekday(said, today)

    def _numbered(self, said: dict[str, str], today: date) -> date:
        """The day of a number: of the month that was said, else of the next month that has it still to come."""
        number = self._number_of_day(said["d"])
        if "month" not in said and "mm" not in said:
            return _month_later(today, number)
        month = int(said["mm"]) if "mm" in said else _index(self.clock.months, said["month"])
        return _date(number, month, int(said["y"]) if "y" in said else None, today)

    def _weekday(self, said: dict[str, str], today: date) -> date:
        ahead = (_weekday_in(self.clock, said["weekday"]) - today.weekday()) % _WEEK
        if "nextweek" in said:
            return today + timedelta(days=ahead if ahead + today.weekday() >= _WEEK else ahead + _WEEK)
        if ahead == 0 and not self._still_today():
            ahead = _WEEK
        return today + timedelta(days=ahead)

    def _still_today(self) -> bool:
        """Whether the text names an hour that is still to come: "on Monday at 5" said on a Monday at noon."""
        rest = _Reading(self.text, self.now, self.clock)
        time = rest._time(self.now.date())
        return time is not None and time > self.now.hour * 60 + self.now.minute

    def _next_unit(self, unit: Unit, today: date) -> date:
        if unit == "week":
            return today + timedelta(days=_WEEK - today.weekday())
        if unit in {"month", "year"}:
            first = today.replace(day=1) if unit == "month" else today.replace(day=1, month=1)
            later: date = first + (relativedelta(months=1) if unit == "month" else relativedelta(years=1))
            return later
        return today + timedelta(days=1)

    def _number_of_day(self, said: str) -> int:
        return int(said) if said.isdigit() else _index(self.clock.ordinals, said)

    # --- the hour ---------------------------------------------------------------------------------------------------

    def _time(self, day: date | None) -> int | None:
        """The minute of the day; 1440 is its midnight."""
        found = self._first(self.clock.clocks)
        part = self._first(self.clock.parts_in)
        part_hour = _in_table(self.clock.parts, part["part"]) if part else None
        if found is None:
            return None if part_hour is None else part_hour * 60
        self.names_hour = True
        said = {name: value for name, value in found.groupdict().items() if value}
        if "part" in said:
            part_hour = _in_table(self.clock.parts, said["part"])
        hour = int(said["h"]) if said["h"].isdigit() else _in_table(self.clock.hours, said["h"])
        shift = 30 * ("plus30" in said) - 30 * ("less30" in said) + 15 * ("plus15" in said) - 15 * ("less15" in said)
        minute = int(said.get("m", 0)) + shift
        if hour == 24 and minute > 0:  # noqa: PLR2004 - 24:30 is no time
            raise ValueError(found.group())
        return self._hour(hour, said, part_hour, day, minute=minute) * 60 + minute

    def _hour(self, hour: int, said: dict[str, str], part_hour: int | None, day: date | None, *, minute: int) -> int:
        """The hour by the half of the day that was said, else by daytime and the hours still to come."""
        if "half" in said:
            return hour % NOON + NOON * (said["half"].lower() == "p")
        if hour > NOON or hour == 0 or said["h"].startswith("0"):
            return hour
        if part_hour is not None:
            at_night = part_hour >= 20 and (hour <= SMALL_HOURS - 1 or hour == NOON)  # noqa: PLR2004 - days of the week, hours of the evening
            return hour % NOON if at_night else hour + NOON * (part_hour >= NOON and hour < NOON)
        if hour <= SMALL_HOURS:
            return hour + NOON
        over = (
            not self.series
            and day in {None, self.now.date()}
            and hour * 60 + minute <= self.now.hour * 60 + self.now.minute
        )
        return hour + NOON if over and hour + NOON <= LATEST and self._evening_ahead(hour, minute) else hour

    def _evening_ahead(self, hour: int, minute: int) -> bool:
        return (hour + NOON) * 60 + minute > self.now.hour * 60 + self.now.minute

    # --- what comes again -------------------------------------------------------------------------------------------

    def _rule(self) -> tuple[str, int | None]:
        """The RRULE that the text names, and the minute of the day that its words name ("every morning")."""
        found = self._first(self.clock.repeats)
        if found is None:
            return "", None
        said = {name: value for name, value in found.groupdict().items() if value}
        every_other = ";INTERVAL=2" if "other" in said else ""
        if "list" in said:
            return f"FREQ=WEEKLY{every_other};BYDAY={','.join(_DAYS[n] for n in self._weekdays(said['list']))}", None
        if "workdays" in said:
            return "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", None
        if "part" in said:
            return "FREQ=DAILY", _in_table(self.clock.parts, said["part"]) * 60
        if "unit" in said:
            number = self._number(said.get("n"))
            if self._unit(said["unit"]) not in _FREQ:
                raise ValueError(found.group())
            interval = every_other or (f";INTERVAL={number}" if number > 1 else "")
            return f"FREQ={_FREQ[self._unit(said['unit'])]}{interval}", None
        word = next(name for name in ("daily", "weekly", "biweekly", "monthly", "yearly", "hourly") if name in said)
        return "FREQ=WEEKLY;INTERVAL=2" if word == "biweekly" else f"FREQ={word.upper()}", None

    def _weekdays(self, said: str) -> Sequence[int]:
        return [n for n, pattern in enumerate(self.clock.weekdays) if next(every(pattern, said), None)]

    def _repeating(self, rule: str, day: date | None, time: int | None, now_ms: int, zone: str) -> SaidTime | None:
        if "HOURLY" in rule or "MINUTELY" in rule:
            first = self.now if time is None else self.now.replace(hour=time // 60 % 24, minute=time % 60)
        else:
            minute = time if time is not None else USUAL_HOUR * 60
            first = datetime.combine(day or self.now.date(), datetime.min.time()) + timedelta(minutes=minute)
            soon = ";".join(part for part in rule.split(";") if not part.startswith("INTERVAL"))
            begins = soon if "BY" in soon else "FREQ=DAILY"
            begin = series.first_local(begins, f"{first:{rules.LOCAL}}", now_ms, zone)
            first = datetime.strptime(begin, rules.LOCAL) if begin else first  # noqa: DTZ007 - local, as the series
        local = series.first_local(rule, f"{first:{rules.LOCAL}}", now_ms, zone)
        return self._made(local, rule) if local else None


def _day_by(said: Mapping[str, str]) -> DayBy:
    if said.keys() & {"month", "mm", "month_end"}:
        return "month"
    return "number" if "d" in said else "name" if "weekday" in said else "distance"


def _completed(rule: str, day: date | None) -> str:
    """The rule with the day that was said beside it: "every month on the 1st", "every year on 3 May"."""
    if day and rule.startswith("FREQ=MONTHLY"):
        return f"{rule};BYMONTHDAY={day.day}"
    if day and rule.startswith("FREQ=YEARLY"):
        return f"{rule};BYMONTH={day.month};BYMONTHDAY={day.day}"
    if day and rule == "FREQ=WEEKLY":
        return f"{rule};BYDAY={_DAYS[day.weekday()]}"
    return rule


def _in_table(table: Iterable[tuple[Pattern, int]], said: str) -> int:
    return next(number for pattern, number in table if whole(pattern, said))


def _index(patterns: Iterable[Pattern], said: str) -> int:
    return next(number for number, pattern in enumerate(patterns, 1) if whole(pattern, said))


def _weekday_in(clock: ClockWords, said: str) -> int:
    return next(number for number, pattern in enumerate(clock.weekdays) if find(pattern, said))


def _date(day: int, month: int, year: int | None, today: date) -> date:
    if year is not None:
        return date(year, month, day)
    found = date(today.year, month, day)
    return found if found >= today else date(today.year + 1, month, day)


def _month_later(today: date, day: int) -> date:
    """The next day of this number: in this month, or the first after it that has one."""
    month = today.replace(day=1) if day >= today.day else today.replace(day=1) + relativedelta(months=1)
    while (month + relativedelta(day=31)).day < day:
        month += relativedelta(months=1)
    return month.replace(day=day)
