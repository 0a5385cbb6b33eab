"""Days, minutes and rules as a model writes them: ISO by the person's clock, and RRULE. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from memory.ledger import series
from memory.ledger.rules import DAY_CHARS, LOCAL, is_end, parts_of, read_local
from memory.ledger.types import Occurrence
from memory.zones import zone_of

MAX_AHEAD_DAYS: Final = 3_660
"""Ten years: a later date is a slip of the model's."""
MORNING: Final = "09:00"
"""The hour of a reminder of which only the day was said; the tool's answer tells it."""
NONE: Final = frozenset({"none", "null", "never", "once"})
"""Words that take a time or a rule away."""
OFTEN_ENOUGH: Final = frozenset({"HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"})

_FREQ: Final = {
    **dict.fromkeys(("daily", "day"), "DAILY"),
    **dict.fromkeys(("weekly", "week"), "WEEKLY"),
    **dict.fromkeys(("monthly", "month"), "MONTHLY"),
    **dict.fromkeys(("yearly", "year"), "YEARLY"),
}
_PLAIN: Final = re.compile(r"(daily|weekly|monthly|yearly)|every (?:(\d{1,2}) )?(day|week|month|year)s?")
"""A rhythm as a model may write it in place of a rule."""


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A day, or a minute of it, by somebody's clock."""

    day: str
    """`2026-11-27`."""
    hour: str = ""
    """`14:30`; "" when none was given."""

    def local(self, hour: str = "00:00") -> str:
        """The minute as `2026-11-27T14:30`, with this hour where none was given."""
        return f"{self.day}T{self.hour or hour}"

    def at_ms(self, zone: str) -> int:
        """The moment, of a day its beginning."""
        return series.at_ms_of(self.local(), zone)

    def is_over(self, now_ms: int, zone: str) -> bool:
        """Whether the minute is over, or the whole day."""
        now = series.local_of(now_ms, zone)
        return self.local() <= now if self.hour else self.day < now[:10]


@dataclass(frozen=True, slots=True)
class RingTime:
    """The time of a ring."""

    local: str
    rule: str
    remark: str = field(default="", compare=False)
    """Sentences about it for the person."""
    also: tuple[str, ...] = ()
    """Later times of one that has no rule."""
    over: str = ""
    """The date of the rule from which it was to begin, where that is over."""
    again: tuple[int, ...] | None = ()
    """Minutes behind it at which each date rings once more; None for those that it has."""

    def fields(self, zone: str, due: dict[str, Any], now_ms: int) -> dict[str, Any]:
        """The fields of the note, with its own date. One whose ring alone is over is still to come.

        Without that date today's birthday would stay the next for ever.
        """
        if not self.rule:
            return series.ringing_at([self.local, *self.also], zone) | due
        rings = {"rings_from": self.local, "repeats": self.rule, **due}
        rings |= {} if self.again is None else {"rings_again_min": self.again}
        if not self.over or due.get("due_at_ms") is None:
            return rings
        own = read_local(series.local_of(due["due_at_ms"], zone))
        first, second = read_local(self.over), read_local(self.local)
        if own >= second:  # one matter, and its rings until then
            return rings
        ends = own + (timedelta(milliseconds=due["lasts_ms"]) if due["due_exact"] else timedelta(days=1))
        if series.at_ms_of(f"{ends:{LOCAL}}", zone) > now_ms:
            over = {"moved_to_ms": series.at_ms_of(self.over, zone), "due_at_ms": due["due_at_ms"], "state": "rang"}
            waits = Occurrence.model_validate(over | {"original_local": self.over})
            return rings | {"rings_from": self.over, "occurrences": (waits,)}
        following = own + timedelta((second.date() - first.date()).days)
        return rings | {"due_at_ms": series.at_ms_of(f"{following:{LOCAL}}", zone)}


def read_time(text: str, zone: str, day: str = "") -> LocalTime | None:
    """The time in `2026-11-27`, `2026-11-27T14:30`, the same with an offset, or with a `day` in `14:30`; else None."""
    text = text.strip()
    if "W" in text.upper():  # a week, which is no day
        return None
    try:
        if day and len(text) <= len("14:30:00"):
            return LocalTime(day, f"{time.fromisoformat(text):%H:%M}")
        if len(text) == DAY_CHARS:
            return LocalTime(date.fromisoformat(text).isoformat())
        at = datetime.fromisoformat(text)
        at = at.astimezone(zone_of(zone)) if at.tzinfo else at
    except (ValueError, OverflowError):
        return None
    return LocalTime(f"{at:%Y-%m-%d}", f"{at:%H:%M}")


def is_hour(text: str) -> bool:
    """Whether a time is an hour alone, `T14:30` or `14:30`."""
    return ":" in text[: len("T14:3")]


def on_day(at: str, day: str, until: str = "") -> str:
    """Times, by commas, with a day for hours alone; a later hour than `until` is of the day before."""

    def with_day(text: str) -> str:
        hour = text.removeprefix("T")
        is_before = bool(until) and hour > until
        return f"{date.fromisoformat(day) - timedelta(is_before)}T{hour}" if is_hour(text) else text

    return ",".join(with_day(each.strip()) for each in at.split(","))


def without_midnight(text: str) -> str:
    """A day in place of its last minute: `2026-11-27T23:59` is by that day, not at an hour."""
    return text[:DAY_CHARS] if text[DAY_CHARS:] in {"T23:59", "T23:59:00", "T23:59:59"} else text


def is_too_far(at: LocalTime, now_ms: int, zone: str) -> bool:
    """Whether a time is more than ten years ahead."""
    last = datetime.fromtimestamp(now_ms / 1000, zone_of(zone)) + timedelta(days=MAX_AHEAD_DAYS)
    return at.day > f"{last:%Y-%m-%d}"


def read_rule(text: str) -> str | None:
    """An RRULE without its name, `until` as the standard writes it, also of `weekly` and `every 2 weeks`.

    "" for an empty text, None for no rule.
    """
    if text.strip().lower() in {"", *NONE}:
        return ""
    if plain := _PLAIN.fullmatch(text.strip().lower()):
        step = f";INTERVAL={plain[2]}" if plain[2] else ""
        return f"FREQ={_FREQ[plain[1] or plain[3]]}{step}"
    parts = [part.strip() for part in text.strip().upper().removeprefix("RRULE:").split(";") if part.strip()]
    named = dict(part.partition("=")[::2] for part in parts)
    if named.get("FREQ") not in OFTEN_ENOUGH:
        return None
    if "UNTIL" in named:
        named["UNTIL"] = named["UNTIL"].replace("-", "").replace(":", "")
    return ";".join(f"{name}={value}" for name, value in named.items())


def is_same_rhythm(rule: str, other: str) -> bool:
    """Whether two rules differ in nothing but their end."""
    parts, others = ({*filter(lambda part: not is_end(part), parts_of(each.upper()))} for each in (rule, other))
    return bool(rule) and parts == others
