"""Times in people's words: "remind me tomorrow at 9 to call Ana" → when it is due and what it is about.

What the language files describe is read by rules of our own, deterministic and in microseconds; only a reminder that
they do not understand is given to `dateparser`. Time zone and present time are handed in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.language.corrected import as_meant
from memory.language.days import day_of, day_of_a_week
from memory.language.language import Language
from memory.language.sentences import clean, lowered, words_of
from memory.language.time_rules import NEVER, TimeRules, blank, first, groups_of, number_of, rules_of
from memory.zones import zone_of

DAY_MS = 86_400_000
DEFAULT_HOUR = 9
"""When only a day is said."""
MAX_CHARS = 400
MAX_WHAT_CHARS = 200
LIBRARY_CHARS = 60
"""So much of a text the library sees: it tries every stretch of it, in time that grows with the square."""
LIBRARY_NUMBERS = 6
"""A text with more numbers than a date and a time have is not given to it at all."""
_EDGE = " ,.;:!?-\u2013\u2014\"'()"
_LONE_MARKS = re.compile(r" (?:[,;:] )*([,;]|(?<=[,;:] ):)(?= )")
"""Commas and colons that stood around what was taken out; the last one is kept."""
_NUMBER = re.compile(r"\d{1,4}")
_NOON = 12
_SMALL_HOURS = 5
"""Up to this hour "at 3" is in the afternoon, unless a part of the day or a zero before it says otherwise."""
_TAKEN_ON = ("obligation", "commitment", "intention", "hypothetical")
"""With one of these a sentence says what somebody else, or the person, does: no order to remind."""
_ZERO = re.compile(r"(?<!\d)0\d")


@dataclass(frozen=True, slots=True)
class Due:
    """A point in time found in a text, and the stretches of the text that said it."""

    due_at_ms: int
    spans: tuple[tuple[int, int], ...]
    exact: bool
    """False when only a day was said and the hour is a default."""

    @property
    def is_hour_alone(self) -> bool:
        """True when an hour was said but no day: "at 8"."""
        return self.exact and len(self.spans) == 1


@dataclass(frozen=True, slots=True)
class ReminderRequest:
    """What somebody wants to be reminded of; `due_at_ms` is None when no time was said or understood."""

    due_at_ms: int | None
    what: str
    ahead_ms: int = 0
    """How long before what it is about, where the hour of that is still to be found."""
    day_ms: int | None = None
    """The day of that, where it was said without its hour."""


def _local(now_ms: int, zone: str) -> datetime:
    return datetime.fromtimestamp(now_ms / 1000, tz=zone_of(zone))


def find_due(text: str, now_ms: int, zone: str, language: Language, default_hour: int = DEFAULT_HOUR) -> Due | None:
    """Return the point in time that the text speaks of, after `now_ms`, in the time zone; None when it names none.

    An unknown zone counts as UTC. Deterministic; never raises.
    """
    if not language.time:
        return None
    lower = language.accented(lowered(clean(text[:MAX_CHARS])))
    rules = rules_of(language)
    now = _local(now_ms, zone)
    try:
        if day_of_a_week(lower, now, rules):
            return _calendar(lower, now, rules, default_hour)
        ahead = _days_ahead(lower, now, rules)
        if ahead:
            return _calendar(lower, now, rules, None, ahead)
        return _relative(lower, now, rules) or _calendar(lower, now, rules, default_hour)
    except (ValueError, OverflowError):
        return None


def says_day(text: str, now_ms: int, zone: str, language: Language) -> bool:
    """Return whether the text names a day ("tomorrow", "on Friday", "in two hours") and not only a time of day."""
    if not language.time:
        return False
    lower = language.accented(lowered(clean(text[:MAX_CHARS])))
    rules, now = rules_of(language), _local(now_ms, zone)
    try:
        return bool(_relative(lower, now, rules) or day_of(lower, now, rules))
    except (ValueError, OverflowError):
        return False


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _relative(lower: str, now: datetime, rules: TimeRules) -> Due | None:
    half = rules.half_hour.search(lower)
    if half:
        return Due(_ms(now.astimezone(UTC) + timedelta(minutes=30)), (half.span(),), exact=True)
    found = first(rules.spans, lower)
    if not found:
        return None
    match, seconds = found
    said = match.groupdict()
    amount = number_of(said.get("n") or "1", rules.numbers) + (0.5 if said.get("plus") else 0)
    ahead = now.astimezone(UTC) + timedelta(seconds=amount * seconds)
    return Due(_ms(ahead), (match.span(),), exact=True)


def _days_ahead(lower: str, now: datetime, rules: TimeRules) -> tuple[datetime, tuple[int, int]] | None:
    """Return the day that is so many whole days or weeks ahead: "in 3 days" names a day, and no hour."""
    found = first(rules.spans, lower)
    if not found or rules.half_hour.search(lower):
        return None
    said = found[0].groupdict()
    days = number_of(said.get("n") or "1", rules.numbers) * found[1] * 1000 / DAY_MS
    if found[1] * 1000 < DAY_MS or said.get("plus") or not days or not days.is_integer():
        return None
    return now + timedelta(days=days), found[0].span()


def _calendar(
    lower: str,
    now: datetime,
    rules: TimeRules,
    default_hour: int | None,
    day: tuple[datetime, tuple[int, int]] | None = None,
) -> Due | None:
    """Return the day and the hour that a text names; without a default hour it is the present one of another day."""
    day = day or day_of(lower, now, rules)
    rest = blank(lower, [day[1]] if day else [])
    clock = _clock(rest, rules)
    part = first(rules.parts, lower)
    if not day and not clock and not part:
        return None
    base = day[0] if day else now
    spans = [
        span
        for span in (day[1] if day else None, clock[2] if clock else None, part[0].span() if part else None)
        if span
    ]
    at_once = (base.hour, base.minute) if default_hour is None else (default_hour, 0)
    hour, minute = (clock[0], clock[1]) if clock else (int(part[1]), 0) if part else at_once
    bare = bool(clock and rules.twelve_hour and not (clock[3] or part or _ZERO.search(rest[slice(*clock[2])])))
    if bare and 0 < hour <= _SMALL_HOURS:
        hour += _NOON
    start = base.replace(hour=0, minute=0, second=0, microsecond=0)
    if clock and hour < _NOON and rules.afternoon.search(lower):
        hour += _NOON
    moment = _coming_round(_at(start, hour, minute), now)
    if _ms(moment) <= _ms(now):
        moment = _later(start, hour, minute, now, day_said=bool(day and base.date() != now.date()), bare=bare)
    return Due(_ms(moment), tuple(spans), exact=bool(clock or part)) if _ms(moment) > _ms(now) else None


def _coming_round(moment: datetime, now: datetime) -> datetime:
    """Return a time that has passed as it comes a second time, in the hour that is repeated when summer time ends."""
    again = moment.replace(fold=1)
    return again if _ms(moment) <= _ms(now) < _ms(again) else moment


def _at(start: datetime, hour: int, minute: int) -> datetime:
    day = start + timedelta(days=hour // 24)
    return day.replace(hour=hour % 24, minute=minute)


def _later(start: datetime, hour: int, minute: int, now: datetime, *, day_said: bool, bare: bool) -> datetime:
    """Return the next reading of a time that has passed already: this evening, else tomorrow."""
    if bare and hour < _NOON and (evening := _at(start, hour + _NOON, minute)) > now:
        return evening
    if day_said:
        return _at(start, hour, minute)
    return _at(start + timedelta(days=1), hour, minute)


def _clock(text: str, rules: TimeRules) -> tuple[int, int, tuple[int, int], bool] | None:
    """Return hour, minute, where they stand, and whether "am" or "pm" was said; None without a clock time."""
    for pattern, minutes in ((rules.half_past, 30), (rules.half_before, -30), (rules.clock, 0)):
        for match in pattern.finditer(text):
            said = groups_of(match)
            hour = int(number_of(said["h"], rules.numbers))
            minute = int(said.get("m", 0))
            half = said.get("half", "")
            if half and hour <= _NOON:
                hour = hour % _NOON + (_NOON if half == "p" else 0)
            if hour > 24 or minute > 59 or _tells_how_long(text, match, rules):  # noqa: PLR2004 - of a day, of an hour
                continue
            total = hour * 60 + minute + minutes
            return total // 60, total % 60, match.span(), bool(half)
    return None


def speaks_of_reminding(text: str, language: Language) -> bool:
    """Return whether the text has words with which one asks for a reminder; `reminder_request` needs them."""
    lower = lowered(clean(text[:MAX_CHARS]))
    return bool(language.time and (_asked_to_remind(lower, language) or _asked_in_short(lower, language)))


def _tells_how_long(text: str, clock: re.Match[str], rules: TimeRules) -> bool:
    """Return whether what reads as a time of day is so long before something: "deux heures avant"."""
    ahead = (found for pattern, _ in rules.before if (found := pattern.search(text, clock.start())))
    return any(found.start() < clock.end() <= found.end() for found in ahead)


def asks_to_remind(text: str, language: Language) -> bool:
    """Return whether the text asks to be reminded in so many words, whatever else it says."""
    return bool(language.time and _asked_to_remind(lowered(clean(text[:MAX_CHARS])), language))


def _asked_to_remind(lower: str, language: Language) -> re.Match[str] | None:
    """Return where a lower-cased text asks for a reminder; "did you remind me?" asks for none."""
    rules, said = rules_of(language), language.accented(lower)
    found = rules.remind.search(said)
    return None if found and rules.not_remind.search(said[: found.start()].rstrip()) else found


def _asked_in_short(lower: str, language: Language) -> tuple[int, int] | None:
    """Return where a text begins or ends with a bare "remind" ("call Ana at 10, remind"); None where others do it."""
    rules, said = rules_of(language), language.accented(lower)
    start, end = len(said) - len(said.lstrip(_EDGE)), len(said.rstrip(_EDGE))
    asked = rules.remind_first.match(said, start) or next(
        (found for found in rules.remind_last.finditer(said) if found.end() == end), None
    )
    if asked is None or len(said) != len(lower):
        return None
    rest = blank(said, [asked.span()])
    taken_on = any(language.has(cue, rest) for cue in _TAKEN_ON)
    others = asked.start() > start and language.has("attends", rest[: asked.start()])
    return None if taken_on or others else asked.span()


def reminder_request(text: str, now_ms: int, zone: str, language: Language) -> ReminderRequest | None:
    """Return what the text wants to be reminded of and when; None when it does not ask for a reminder at all."""
    plain = as_meant(clean(text[:MAX_CHARS]), language)
    if not language.time or len(lowered(plain)) != len(plain):
        return None
    found = _asked_to_remind(lowered(plain), language)
    if found is None:
        return _short_request(plain, now_ms, zone, language)
    head = plain[: found.start()]
    before = rules_of(language).remind_lead.sub(" ", language.mended(lowered(head)))
    rest = (head if words_of(before) else "") + " " * (found.end() - found.start()) + plain[found.end() :]
    rest, ahead_ms = _ahead(rest, language)
    timed = parse_when(rest, now_ms + ahead_ms, zone, language)
    if timed is None:
        return ReminderRequest(None, _what(rest, (), language), ahead_ms)
    if 0 < ahead_ms < DAY_MS and (due := find_due(rest, now_ms + ahead_ms, zone, language)) and not due.exact:
        return ReminderRequest(None, timed[1], ahead_ms, timed[0])
    return ReminderRequest(timed[0] - ahead_ms, timed[1])


def _short_request(plain: str, now_ms: int, zone: str, language: Language) -> ReminderRequest | None:
    """Return the reminder that a bare "remind" asks for; only together with a time and a matter it is one."""
    asked = _asked_in_short(lowered(plain), language)
    if asked is None:
        return None
    rest = plain[: asked[0]].rstrip(_EDGE) + " " + plain[asked[1] :]
    due = find_due(rest, now_ms, zone, language)
    what = _what(rest, due.spans, language) if due else ""
    return ReminderRequest(due.due_at_ms, what) if due and what else None


def says_before(text: str, language: Language) -> bool:
    """Return whether the text speaks of so long before something ("an hour before")."""
    return bool(language.time and first(rules_of(language).before, language.accented(lowered(clean(text[:MAX_CHARS])))))


def _ahead(text: str, language: Language) -> tuple[str, int]:
    """Return the text without "an hour before", and how many milliseconds before its time that is."""
    rules, lower = rules_of(language), language.accented(lowered(text))
    found = first(rules.before, lower)
    if found is None or len(lower) != len(text):
        return text, 0
    amount = number_of(found[0].groupdict().get("n") or "1", rules.numbers)
    return blank(text, [found[0].span()]), int(amount * found[1] * 1000)


def parse_when(text: str, now_ms: int, zone: str, language: Language) -> tuple[int, str] | None:
    """Return when the text is due and what is left of it without the time; None when no time is understood.

    For a command's argument, e.g. `tomorrow at 9 call Ana`.
    """
    plain = as_meant(clean(text[:MAX_CHARS]), language)
    due = find_due(plain, now_ms, zone, language)
    if due:
        return due.due_at_ms, _what(plain, due.spans, language)
    return _ask_library(plain, now_ms, zone, language)


def leads_matter(before: str, language: Language) -> bool:
    """Return whether a text ends with a word that joins a time to what is to be done then: "at 9 to", "um 9 an"."""
    return any(found.end() == len(before.rstrip()) for found in rules_of(language).joints.finditer(lowered(before)))


def _what(text: str, spans: Sequence[tuple[int, int]], language: Language) -> str:
    """Return the text without the stretches that said the time, and without the words that joined them."""
    joints = rules_of(language).joints if language.time else NEVER
    blanked = blank(text, spans)
    behind = text[len(blanked.rstrip(_EDGE)) :].strip(_EDGE)
    left = _LONE_MARKS.sub(r"\1", " ".join(blanked.split())).strip(_EDGE)
    while (found := joints.match(lowered(left))) and found.end() < len(left):
        left = left[found.end() :].strip(_EDGE)
    joins_nothing = language.time and (not behind or joints.match(lowered(behind)))
    while tail := _tail(rules_of(language).joints_behind if joins_nothing else joints, left):
        left = left[:tail].strip(_EDGE)
    if language.time and rules_of(language).joints_behind.fullmatch(lowered(left)):
        return ""
    head, mark, rest = left.partition("'")
    if mark and joints.fullmatch(f"{head.lower()}'"):
        left = rest
    return left[:MAX_WHAT_CHARS]


def _tail(joints: re.Pattern[str], left: str) -> int:
    """Return where a joint that ends the text begins, behind what it is joined to; 0 without one."""
    return next((found.start() for found in joints.finditer(lowered(left)) if found.end() == len(left)), 0)


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
