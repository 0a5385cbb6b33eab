"""Times in people's words: "remind me tomorrow at 9 to call Ana" → when it is due and what it is about.

What the language files describe is read by rules of our own, deterministic and in microseconds; only a reminder that
they do not understand is given to `dateparser`. Time zone and present time are handed in.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from memory.language.languages import Language, cue_pattern
from memory.language.sentences import clean, lowered
from memory.language.zones import zone_of

DEFAULT_HOUR = 9
"""When only a day is said."""
MAX_CHARS = 400
MAX_WHAT_CHARS = 200
LIBRARY_CHARS = 60
"""So much of a text the library sees: it tries every stretch of it, in time that grows with the square."""
LIBRARY_NUMBERS = 6
"""A text with more numbers than a date and a time have is not given to it at all."""
_EDGE = " ,.;:!?-\u2013\u2014\"'()"
_NEVER = re.compile(r"(?!)")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.:/])(\d{1,2})[./](\d{1,2})(?:[./](\d{4}))?\.?(?![\d:])")
_BESIDE = re.compile(r"[\s,]*(?:\w{1,3}\s+){0,2}")
"""What may stand between a weekday and its week."""
_YEAR = r"(?:,? (?:de |del |do |of )?(?P<year>(?:19|20)\d\d))?"
_NUMBER = re.compile(r"\d{1,4}")
_NOON = 12
_WEEK = 7
_WEEK_S = 604_800


@dataclass(frozen=True, slots=True)
class Due:
    """A point in time found in a text, and the stretches of the text that said it."""

    due_at_ms: int
    spans: tuple[tuple[int, int], ...]
    exact: bool
    """False when only a day was said and the hour is a default."""


@dataclass(frozen=True, slots=True)
class ReminderRequest:
    """What somebody wants to be reminded of; `due_at_ms` is None when no time was said or understood."""

    due_at_ms: int | None
    what: str


@dataclass(frozen=True, slots=True)
class _Rules:
    """The time words of a language, compiled."""

    numbers: Mapping[str, float]
    days: Sequence[tuple[re.Pattern[str], float]]
    weekdays: Sequence[tuple[re.Pattern[str], float]]
    weeks: Sequence[tuple[re.Pattern[str], float]]
    weekend: re.Pattern[str]
    dates: Sequence[tuple[re.Pattern[str], float]]
    day_words: Sequence[re.Pattern[str]]
    """The days of a month as people say them, the first at place 0."""
    month_ends: Sequence[tuple[re.Pattern[str], float]]
    month_days: re.Pattern[str]
    parts: Sequence[tuple[re.Pattern[str], float]]
    afternoon: re.Pattern[str]
    spans: Sequence[tuple[re.Pattern[str], float]]
    half_hour: re.Pattern[str]
    clock: re.Pattern[str]
    half_past: re.Pattern[str]
    half_before: re.Pattern[str]
    remind: re.Pattern[str]
    joints: re.Pattern[str]
    twelve_hour: bool


def _alternatives(words: Sequence[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


def _table(rows: Mapping[str, float]) -> list[tuple[re.Pattern[str], float]]:
    longest_first = sorted(rows.items(), key=lambda row: len(row[0]), reverse=True)
    return [(cue_pattern([phrase]), value) for phrase, value in longest_first]


def _framed(
    frames: Sequence[str], groups: Sequence[Sequence[str]], slot: str, day_words: Sequence[str] = ()
) -> list[tuple[re.Pattern[str], float]]:
    """Return one pattern per group of words, each numbered by its place; a year may stand behind a month."""
    day = rf"(?P<day>\d{{1,2}}{''.join(f'|{word}' for word in day_words)})"
    year = _YEAR if slot == "{month}" else ""
    return [
        (cue_pattern([frame.replace(slot, _alternatives(words)).replace("{day}", day) + year]), number)
        for number, words in enumerate(groups)
        for frame in frames
    ]


def _clock_pattern(frames: Sequence[str], numbers: Mapping[str, float]) -> re.Pattern[str]:
    hour = r"(?P<h>\d{1,2}|" + "|".join(w for w, n in numbers.items() if n in range(1, 13) and len(w) > 2) + ")"  # noqa: PLR2004 - "a", "an" are no hours
    parts = [frame.replace("{h}", hour).replace("{m}", r"(?P<m>\d{2})") for frame in frames]
    return _joined(parts)


def _joined(parts: Sequence[str]) -> re.Pattern[str]:
    """Join patterns that use the same group names by numbering the names."""
    numbered = [re.sub(r"\(\?P<(\w+)>", rf"(?P<\g<1>{i}>", part) for i, part in enumerate(parts)]
    return re.compile(r"(?<![\w.:/])(?:" + "|".join(numbered) + r")(?![\w:/])") if numbered else _NEVER


@lru_cache(maxsize=16)
def _rules(language: Language) -> _Rules:
    time: Mapping[str, Any] = language.time
    numbers = {str(word): float(n) for word, n in time.get("numbers", {}).items()}
    amount = r"(?P<n>\d{1,3}(?:[.,]\d)?|" + "|".join(sorted(numbers, key=len, reverse=True)) + ")"
    spans = [
        (re.compile(rf"(?<!\w){frame.replace('{n}', amount).replace('{unit}', f'(?:{unit})')}(?!\w)"), float(seconds))
        for unit, seconds in time.get("units", {}).items()
        for frame in time.get("in_frames", ())
    ]
    return _Rules(
        numbers=numbers,
        days=_table(time.get("days", {})),
        weekdays=_framed(time.get("weekday_frames", ()), time.get("weekdays", ()), "{weekday}"),
        weeks=_table(time.get("weeks", {})),
        weekend=cue_pattern(time.get("weekend", ())),
        dates=_framed(time.get("date_frames", ()), time.get("months", ()), "{month}", time.get("day_words", ())),
        day_words=[re.compile(word) for word in time.get("day_words", ())],
        month_ends=_framed(time.get("month_end_frames", ()), time.get("months", ()), "{month}"),
        month_days=_joined([frame.replace("{day}", r"(?P<day>\d{1,2})") for frame in time.get("month_day_frames", ())]),
        parts=_table(time.get("parts", {})),
        afternoon=cue_pattern(time.get("afternoon", ())),
        spans=spans,
        half_hour=cue_pattern(time.get("half_hour", ())),
        clock=_clock_pattern(time.get("clock_frames", ()), numbers),
        half_past=_clock_pattern(time.get("half_past", ()), numbers),
        half_before=_clock_pattern(time.get("half_before", ()), numbers),
        remind=cue_pattern(time.get("remind", ())),
        joints=cue_pattern(time.get("joints", ())),
        twelve_hour=bool(time.get("twelve_hour", False)),
    )


def _local(now_ms: int, zone: str) -> datetime:
    return datetime.fromtimestamp(now_ms / 1000, tz=zone_of(zone))


def _first(table: Sequence[tuple[re.Pattern[str], float]], text: str) -> tuple[re.Match[str], float] | None:
    return next(((found, value) for pattern, value in table if (found := pattern.search(text))), None)


def find_due(text: str, now_ms: int, zone: str, language: Language, default_hour: int = DEFAULT_HOUR) -> Due | None:
    """Return the point in time that the text speaks of, after `now_ms`, in the time zone; None when it names none.

    An unknown zone counts as UTC. Deterministic; never raises.
    """
    if not language.time:
        return None
    lower = language.accented(lowered(clean(text[:MAX_CHARS])))
    rules = _rules(language)
    now = _local(now_ms, zone)
    try:
        in_week = _day_of_a_week(lower, now, rules)
        return (None if in_week else _relative(lower, now, rules)) or _calendar(lower, now, rules, default_hour)
    except (ValueError, OverflowError):
        return None


def says_day(text: str, now_ms: int, zone: str, language: Language) -> bool:
    """Return whether the text names a day ("tomorrow", "on Friday", "in two hours") and not only a time of day."""
    if not language.time:
        return False
    lower = language.accented(lowered(clean(text[:MAX_CHARS])))
    rules, now = _rules(language), _local(now_ms, zone)
    try:
        return bool(_relative(lower, now, rules) or _day(lower, now, rules))
    except (ValueError, OverflowError):
        return False


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _relative(lower: str, now: datetime, rules: _Rules) -> Due | None:
    half = rules.half_hour.search(lower)
    if half:
        return Due(_ms(now.astimezone(UTC) + timedelta(minutes=30)), (half.span(),), exact=True)
    found = _first(rules.spans, lower)
    if not found:
        return None
    match, seconds = found
    said = match.groupdict()
    amount = _number(said.get("n") or "1", rules.numbers) + (0.5 if said.get("plus") else 0)
    ahead = now.astimezone(UTC) + timedelta(seconds=amount * seconds)
    return Due(_ms(ahead), (match.span(),), exact=True)


def _number(word: str, numbers: Mapping[str, float]) -> float:
    return numbers[word] if word in numbers else float(word.replace(",", "."))


def _calendar(lower: str, now: datetime, rules: _Rules, default_hour: int) -> Due | None:
    day = _day(lower, now, rules)
    rest = _blank(lower, [day[1]] if day else [])
    clock = _clock(rest, rules)
    part = _first(rules.parts, lower)
    if not day and not clock and not part:
        return None
    base = day[0] if day else now
    spans = [
        span
        for span in (day[1] if day else None, clock[2] if clock else None, part[0].span() if part else None)
        if span
    ]
    hour, minute = (clock[0], clock[1]) if clock else (int(part[1]) if part else default_hour, 0)
    start = base.replace(hour=0, minute=0, second=0, microsecond=0)
    late = bool(clock and rules.afternoon.search(lower) and hour < _NOON)
    moment = _coming_round(_at(start, hour + _NOON * late, minute), now)
    if _ms(moment) <= _ms(now):
        moment = _later(
            start, hour, minute, now, day_said=bool(day and base.date() != now.date()), clock=bool(clock), rules=rules
        )
    return Due(_ms(moment), tuple(spans), exact=bool(clock or part)) if _ms(moment) > _ms(now) else None


def _coming_round(moment: datetime, now: datetime) -> datetime:
    """Return a time that has passed as it comes a second time, in the hour that is repeated when summer time ends."""
    again = moment.replace(fold=1)
    return again if _ms(moment) <= _ms(now) < _ms(again) else moment


def _at(start: datetime, hour: int, minute: int) -> datetime:
    day = start + timedelta(days=hour // 24)
    return day.replace(hour=hour % 24, minute=minute)


def _later(
    start: datetime, hour: int, minute: int, now: datetime, *, day_said: bool, clock: bool, rules: _Rules
) -> datetime:
    """Return the next reading of a time that has passed already: this evening, else tomorrow."""
    if clock and rules.twelve_hour and hour < _NOON and (evening := _at(start, hour + _NOON, minute)) > now:
        return evening
    if day_said:
        return _at(start, hour, minute)
    return _at(start + timedelta(days=1), hour, minute)


def _blank(lower: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        lower = lower[:start] + " " * (end - start) + lower[end:]
    return lower


def _day(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    readers = (_date, _month_end, _numeric, _day_of_a_week, _word_day, _month_day, _weekday)
    return next((found for find in readers if (found := find(lower, now, rules))), None)


def _date(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    found = _first(rules.dates, lower)
    if not found:
        return None
    match, month = found
    return _coming(now, _year(match), int(month) + 1, _day_of_month(match.group("day"), rules)), match.span()


def _day_of_month(said: str, rules: _Rules) -> int:
    """Return the day that was said as a number or as a word ("the thirtieth of June")."""
    if said.isdigit():
        return int(said)
    return next(number for number, word in enumerate(rules.day_words, 1) if word.fullmatch(said))


def _year(match: re.Match[str]) -> int | None:
    """Return the year that was said with a month, if any was."""
    said = match.group("year")
    return int(said) if said else None


def _month_end(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the last day of a month that was named ("by the end of April")."""
    found = _first(rules.month_ends, lower)
    if not found:
        return None
    match, month = found
    year = _year(match)
    last = monthrange(year or now.year, int(month) + 1)[1]
    return _coming(now, year, int(month) + 1, last), match.span()


def _month_day(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the next such day when only its number was said ("the 31st")."""
    match = rules.month_days.search(lower)
    if not match:
        return None
    day = int(_groups(match)["day"])
    for ahead in range(3):
        month = (now.month - 1 + ahead) % 12 + 1
        year = now.year + (now.month - 1 + ahead) // 12
        if day in range(1, monthrange(year, month)[1] + 1) and (year, month, day) >= (now.year, now.month, now.day):
            return now.replace(year=year, month=month, day=day), match.span()
    return None


def _numeric(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    iso = _ISO.search(lower)
    if iso:
        return _coming(now, int(iso[1]), int(iso[2]), int(iso[3])), iso.span()
    for match in _NUMERIC.finditer(lower):
        if rules.clock.match(lower, match.start()) and not match[3] and "." in match[0].rstrip("."):
            continue
        if rules.twelve_hour and not match[3] and "/" not in match[0] and not match[0].endswith("."):
            continue  # where "2.5" is a number, a date is written with a slash or a year
        if int(match[2]) in range(1, 13) and int(match[1]) in range(1, 32):
            return _coming(now, int(match[3]) if match[3] else None, int(match[2]), int(match[1])), match.span()
    return None


def _coming(now: datetime, year: int | None, month: int, day: int) -> datetime:
    """Return the date, in this year or, when it has passed and no year was said, in the next."""
    date = now.replace(year=year or now.year, month=month, day=day)
    return date.replace(year=now.year + 1) if year is None and date.date() < now.date() else date


def _word_day(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    found = _first(rules.days, lower)
    if found:
        return now + timedelta(days=found[1]), found[0].span()
    weekend = rules.weekend.search(lower)
    if weekend:
        return now + timedelta(days=(5 - now.weekday()) % _WEEK), weekend.span()
    return None


def _day_of_a_week(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the day when a weekday and its week were said: "next week Thursday", "on Friday in two weeks"."""
    week = _week_ahead(lower, rules)
    weekday = _first(rules.weekdays, _blank(lower, [week[1]])) if week else None
    if week is None or weekday is None:
        return None
    (ahead, span), (match, number) = week, weekday
    first, second = sorted((span, match.span()))
    if not _BESIDE.fullmatch(lower[first[1] : second[0]]):
        return None
    days = ahead * _WEEK + int(number) - now.weekday()
    return now + timedelta(days=days), (first[0], second[1])


def _week_ahead(lower: str, rules: _Rules) -> tuple[int, tuple[int, int]] | None:
    """Return how many weeks ahead a week was named, and where."""
    if named := _first(rules.weeks, lower):
        return int(named[1]), named[0].span()
    counted = _first([(pattern, seconds) for pattern, seconds in rules.spans if seconds == _WEEK_S], lower)
    if counted is None:
        return None
    amount = _number(counted[0].groupdict().get("n") or "1", rules.numbers)
    return (int(amount), counted[0].span()) if amount.is_integer() else None


def _weekday(lower: str, now: datetime, rules: _Rules) -> tuple[datetime, tuple[int, int]] | None:
    found = _first(rules.weekdays, lower)
    if not found:
        return None
    match, weekday = found
    ahead = (int(weekday) - now.weekday()) % _WEEK or _WEEK
    return now + timedelta(days=ahead), match.span()


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name.rstrip("0123456789"): value for name, value in match.groupdict().items() if value is not None}


def _clock(text: str, rules: _Rules) -> tuple[int, int, tuple[int, int]] | None:
    for pattern, minutes in ((rules.half_past, 30), (rules.half_before, -30), (rules.clock, 0)):
        for match in pattern.finditer(text):
            said = _groups(match)
            hour = int(_number(said["h"], rules.numbers))
            minute = int(said.get("m", 0))
            half = said.get("half", "")
            if half and hour <= _NOON:
                hour = hour % _NOON + (_NOON if half == "p" else 0)
            if hour > 24 or minute > 59:  # noqa: PLR2004 - hours of a day, minutes of an hour
                continue
            total = hour * 60 + minute + minutes
            return total // 60, total % 60, match.span()
    return None


def reminder_request(text: str, now_ms: int, zone: str, language: Language) -> ReminderRequest | None:
    """Return what the text wants to be reminded of and when; None when it does not ask for a reminder at all."""
    plain = clean(text[:MAX_CHARS])
    found = _rules(language).remind.search(lowered(plain)) if language.time else None
    if not found or len(lowered(plain)) != len(plain):
        return None
    rest = plain[: found.start()] + " " * (found.end() - found.start()) + plain[found.end() :]
    timed = parse_when(rest, now_ms, zone, language)
    return ReminderRequest(*timed) if timed else ReminderRequest(None, _what(rest, (), language))


def parse_when(text: str, now_ms: int, zone: str, language: Language) -> tuple[int, str] | None:
    """Return when the text is due and what is left of it without the time; None when no time is understood.

    For a command's argument, e.g. `tomorrow at 9 call Ana`.
    """
    plain = clean(text[:MAX_CHARS])
    due = find_due(plain, now_ms, zone, language)
    if due:
        return due.due_at_ms, _what(plain, due.spans, language)
    return _ask_library(plain, now_ms, zone, language)


def _what(text: str, spans: Sequence[tuple[int, int]], language: Language) -> str:
    """Return the text without the stretches that said the time, and without the words that joined them."""
    joints = _rules(language).joints if language.time else _NEVER
    left = " ".join(_blank(text, spans).split()).strip(_EDGE)
    while (found := joints.match(lowered(left))) and found.end() < len(left):
        left = left[found.end() :].strip(_EDGE)
    for tail in list(_tails(joints, left)):
        left = left[:tail].strip(_EDGE)
    head, mark, rest = left.partition("'")
    if mark and head.lower() in language.elisions:
        left = rest
    return left[:MAX_WHAT_CHARS]


def _tails(joints: re.Pattern[str], left: str) -> Iterator[int]:
    found = [match.span() for match in joints.finditer(lowered(left))]
    if found and found[-1][1] == len(left) and found[-1][0] > 0:
        yield found[-1][0]


def _search_dates(text: str, code: str, settings: Any) -> list[tuple[str, datetime]]:
    from dateparser.search import search_dates  # noqa: PLC0415 - loads slowly, and few texts get here

    return search_dates(text, languages=[code], settings=settings) or []


def _ask_library(text: str, now_ms: int, zone: str, language: Language) -> tuple[int, str] | None:
    head = text[:LIBRARY_CHARS]
    if not 0 < len(_NUMBER.findall(head)) <= LIBRARY_NUMBERS:
        return None
    now = _local(now_ms, zone)
    settings: Any = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "PREFER_DATES_FROM": "future",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    try:
        hits = _search_dates(head, language.code, settings)
    except Exception:  # noqa: BLE001 - the library raises many kinds on odd texts; then no time was understood
        return None
    for said, moment in hits:
        due_at_ms = _ms(moment.replace(tzinfo=now.tzinfo))
        start = text.find(said)
        if due_at_ms > now_ms and start >= 0:
            return due_at_ms, _what(text, ((start, start + len(said)),), language)
    return None
