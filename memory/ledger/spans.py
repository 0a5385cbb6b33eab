"""Spans of days and hours as models write them, dates and further rings of a series, and notes in a span. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any, Final

from memory.ledger.own_dates import DAY, due_at, due_of, further_rings, has_own_dates, most_ahead, own_date, rung
from memory.ledger.rules import (
    DAY_CHARS,
    LOCAL,
    first_from,
    is_several_a_day,
    last_date,
    named_parts,
    read_local,
    rule_moved,
    rule_of,
)
from memory.ledger.series import (
    ENDED,
    OVER,
    TO_COME,
    at_ms_of,
    begins,
    date_on,
    dates_by_rule,
    first_local,
    has_date,
    local_due,
    local_of,
    moment_of,
    put,
    record_of,
    rule_by_first,
    singles,
    until_its_last,
)
from memory.ledger.types import TO_DO, Change, Move, Note, Occurrence
from memory.ledger.views import DAY_MS, ends_at, is_snoozed
from memory.zones import later, ring_along

_HOUR_CHARS: Final = len("16:00:00")
_MORE_THAN_A_MONTH: Final = 31


def first_and_last(text: str) -> tuple[str, str]:
    """Both ends of a span, what the last leaves out taken from the first; "" for no last.

    An hour before the first one is of the next day: `2026-11-27T21:00/07:00`. A month, `2026-12`, and a week,
    `2026-W49`, go from their first day to their last, also where they are one end: `2027-06/2027-08`.
    """
    first, _, last = (part.strip() for part in text.partition("/"))
    from_, until = _month_or_week(first.upper()), _month_or_week(last.upper())
    if from_ and not last:
        return from_
    first, last = from_[0] if from_ else first, until[1] if until else last
    day = first[:DAY_CHARS]
    if ":" not in last or len(last) > _HOUR_CHARS:
        return first, day[: max(0, DAY_CHARS - len(last))] + last if last else ""
    if last <= first[DAY_CHARS + 1 :]:
        with suppress(ValueError, OverflowError):  # its reader says that this is no day
            day = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    return first, f"{day}T{last}"


def _month_or_week(text: str) -> tuple[str, str] | None:
    """The first and the last day of `2026-12` or `2026-W49`; None for another text."""
    with suppress(ValueError, OverflowError):
        if len(text) == len("2026-12"):
            first = date.fromisoformat(f"{text}-01")
            after = (first + timedelta(days=_MORE_THAN_A_MONTH)).replace(day=1)
            return first.isoformat(), (after - timedelta(days=1)).isoformat()
        if len(text) == len("2026-W49"):
            first = date.fromisoformat(f"{text}-1")
            return first.isoformat(), (first + timedelta(days=6)).isoformat()
    return None


def end_fields(first: str, last: str, zone: str, *, by_hours: bool) -> dict[str, Any]:
    """The fields of a note for the end of a span of local minutes, `by_hours` where both ends have one."""
    lasts = read_local(last or first) - read_local(first)
    if by_hours and lasts:
        return {"ends_at_ms": None, "lasts_ms": lasts // timedelta(milliseconds=1)}
    lasts_days = last[:DAY_CHARS] > first[:DAY_CHARS]
    return {"ends_at_ms": at_ms_of(f"{last[:DAY_CHARS]}T00:00", zone) if lasts_days else None, "lasts_ms": 0}


def fitted(fields: Mapping[str, Any], note: Note | None = None) -> dict[str, Any]:
    """The fields of a note; of a series of several days each how long a date lasts, not when the first is over."""
    names = ("repeats", "due_at_ms", "ends_at_ms", "time_zone")
    repeats, first_ms, last_ms, zone = (fields.get(name, getattr(note, name, None)) for name in names)
    rings_from = fields.get("rings_from", note.rings_from if note else "")
    if not repeats or first_ms is None or last_ms is None or _rings_within(repeats, rings_from, last_ms, zone or ""):
        return dict(fields)
    first, last = (local_of(at_ms, zone or "")[:DAY_CHARS] for at_ms in (first_ms, last_ms))
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days
    begins = {"due_at_ms": at_ms_of(f"{first}T00:00", zone or ""), "due_exact": False}
    return {**fields, **begins, "ends_at_ms": None, "lasts_ms": days * DAY_MS}


def _rings_within(repeats: str, rings_from: str, last_ms: int, zone: str) -> bool:
    """Whether a series rings again before the last day of a note: that is the end of one matter, not each date's."""
    second = first_from(repeats, f"{read_local(rings_from) + timedelta(minutes=1):{LOCAL}}") if rings_from else None
    return second is not None and at_ms_of(second, zone) < last_ms


def is_one_matter(note: Note) -> bool:
    """Whether a series only rings for something to be done once, by its due: a present, each day until it is bought.

    One that ends on that day is a course of pills, as are several a day.
    """
    rule = dates_by_rule(note)
    if rule is None or note.kind not in TO_DO or note.due_at_ms is None or is_several_a_day(note.repeats):
        return False
    due, last = local_of(note.due_at_ms, note.time_zone)[:DAY_CHARS], last_date(note.repeats, note.rings_from)
    is_course = last is not None and f"{last:%Y-%m-%d}" == due
    return not (is_course or has_own_dates(note) or note.rings_from[:DAY_CHARS] > due)


def as_meant(notes: Iterable[Note], guessed: str, zone: str) -> list[Change]:
    """The changes by which open notes with a day or hour, said by a guessed clock, mean the same by another."""
    said = (note for note in notes if note.due_at_ms is not None and note.time_zone == guessed != zone)
    return [Change(number=note.number, fields=_read_by(note, zone)) for note in said]


def _read_by(note: Note, zone: str) -> dict[str, Any]:
    """The fields of a note by another clock: the same days and hours there."""

    def there(at_ms: int | None) -> int | None:
        return None if at_ms is None else at_ms_of(local_of(at_ms, note.time_zone), zone)

    moments = {name: there(getattr(note, name)) for name in ("due_at_ms", "ends_at_ms", "snoozed_until_ms")}
    dates = tuple(each.model_copy(update={"moved_to_ms": there(each.moved_to_ms)}) for each in note.occurrences)
    return {"time_zone": zone, **moments, "occurrences": dates}


def over_at(note: Note, at_ms: int) -> int | None:
    """The minute at which what begins then is over, or its last day; None where no end was said."""
    lasts_ms = note.lasts_at(at_ms) if at_ms == note.due_at_ms else 0
    return later(at_ms, lasts_ms, note.time_zone) if lasts_ms else None


def last_day(note: Note) -> int | None:
    """The last day of a note that lasts for several; else None."""
    return ends_at(note) if note.ends_at_ms is not None or note.lasts_ms >= DAY_MS else None


def last_of(note: Note) -> int | None:
    """The last day or minute of a note that has another than its first; else None."""
    last_ms = ends_at(note)
    return None if last_ms == note.due_at_ms else last_ms


def falls_within(note: Note, from_ms: int, to_ms: int | None, now_ms: int) -> bool:
    """Whether a note rings, is due or goes on in a stretch of time (UTC ms, before its end; None for no end).

    A series does on each of its dates, moved ones where they were moved to, none that was left out.
    """
    stretches = _of_series(note, from_ms, to_ms, now_ms) if note.repeats else _of_one(note)
    return any((to_ms is None or first_ms < to_ms) and last_ms >= from_ms for first_ms, last_ms in stretches)


def _of_one(note: Note) -> Iterator[tuple[int, int]]:
    for ring in singles(note):
        yield (ring_ms := at_ms_of(ring, note.time_zone)), ring_ms
    if note.due_at_ms is not None:
        yield note.due_at_ms, ends_at(note) or note.due_at_ms


def _of_series(note: Note, from_ms: int, to_ms: int | None, now_ms: int) -> Iterator[tuple[int, int]]:
    """Each date that comes in this time: its ring, and the time of its own until it is over."""
    own = has_own_dates(note)
    if note.rings_from and note.due_at_ms is not None and not own:
        yield note.due_at_ms, ends_at(note) or note.due_at_ms
    for date_ms in _dates(note, from_ms, to_ms, now_ms):
        due_ms = due_of(note, date_ms) if own else date_ms
        yield date_ms, date_ms
        yield due_ms, later(due_ms, note.lasts_at(due_ms), note.time_zone)


def _dates(note: Note, from_ms: int, to_ms: int | None, now_ms: int) -> Iterator[int]:
    """The dates of a series that may reach into this time, by its ring where it has one."""
    kept = (each for each in note.occurrences if each.state not in {"left_out", "skipped"})
    yield from (moment_of(note, each) for each in kept)
    rule, zone = rule_by_first(note), note.time_zone
    if rule is None or note.is_paused:
        return
    ahead_ms = max(0, (note.due_at_ms or 0) - at_ms_of(begins(note), zone)) if has_own_dates(note) else 0
    start = read_local(local_of(from_ms - ahead_ms - note.lasts_ms - DAY_MS, zone))
    known = {each.original_local for each in note.occurrences}
    rests_ms = note.snoozed_until_ms if is_snoozed(note, now_ms) else None
    for local in (f"{at:{LOCAL}}" for at in rule.xafter(start, inc=True)):
        at_ms = at_ms_of(local, zone)
        if to_ms is not None and at_ms >= to_ms:
            return
        if local not in known and at_ms >= (rests_ms or 0):
            yield at_ms


def date_of(note: Note, day: str, zone: str) -> str | None:
    """The date of a series on a day, or at its minute (`2026-11-27T21:00`), by its rule or where it was moved to.

    None when there is none.
    """
    try:
        at = datetime.fromisoformat(day)
    except ValueError:
        return None
    minute = f"{at:{LOCAL}}"
    if "T" in day and (record_of(note, minute) or has_date(note, minute)):  # one that rang may be before its rule
        return minute
    if has_own_dates(note) and "T" not in day and not date_on(note, f"{at:%Y-%m-%d}"):
        ahead = local_due(note).date() - read_local(note.rings_from).date()
        own = date_on(note, f"{at - ahead:%Y-%m-%d}")
        if ahead and own:  # the day of the thing itself
            return own
    there = {
        each.state in TO_COME: each.original_local
        for each in note.occurrences
        if each.moved_to_ms is not None and local_of(each.moved_to_ms, zone).startswith(day)
    }
    by_rule = None if "T" in day and "BYHOUR" in note.repeats else date_on(note, f"{at:%Y-%m-%d}")
    return there.get(True) or by_rule or there.get(False)


def ended_date(note: Note, day: str, zone: str) -> str | None:
    """The date on a day, or at its minute, that was called done or left out: by its rule, else by when it rang."""
    try:
        at = datetime.fromisoformat(day)
    except ValueError:
        return None
    named = f"{at:{LOCAL}}" if "T" in day else f"{at:%Y-%m-%d}"
    ended = [each for each in reversed(note.occurrences) if each.state in ENDED]
    by_rule = (each for each in ended if each.original_local.startswith(named))
    rung = (each for each in ended if local_of(moment_of(note, each), zone).startswith(named))
    own = (each for each in ended if _own_day(note, each.original_local) == day)
    return next((each.original_local for each in (*by_rule, *rung, *own)), None)


def _own_day(note: Note, occurrence: str) -> str:
    """The day of the thing itself at a date of a series that rings before it; "" for another."""
    own = own_date(note, read_local(occurrence)) if has_own_dates(note) else None
    return f"{own:%Y-%m-%d}" if own else ""


def ring_of_each(note: Note, local: str, now_ms: int) -> tuple[str, str] | None:
    """The first ring and the rule for a ring before each date of a silent series, as `local` is before one of them.

    None for a minute that is before none of its dates: within a day, or on the day of one without an hour.
    """
    ring, found = read_local(local), _date_behind(note, read_local(local))
    if note.rings or found is None:
        return None
    usual, own = found
    ahead = own - ring if note.due_exact else own.date() - ring.date()
    first = usual - ahead if note.due_exact else datetime.combine(usual.date() - ahead, ring.time())
    rule = rule_moved(note.repeats, begins(note), (first.date() - usual.date()).days)
    coming = first_local(rule, f"{first:{LOCAL}}", now_ms, note.time_zone) if rule else None
    return (coming, rule) if rule and coming else None


def _date_behind(note: Note, ring: datetime) -> tuple[datetime, datetime] | None:
    """The date that is as close behind a ring as its reminder is, as the rule has it and as it is; None for none."""
    from_ = ring if note.due_exact else datetime.combine(ring.date(), datetime.min.time())
    rule = rule_of(note.repeats, begins(note))
    last = datetime.combine(ring.date(), datetime.min.time()) + DAY * (1 + most_ahead(note))
    gone = {each.original_local for each in note.occurrences}
    moved = (each for each in note.occurrences if each.state == "moved")
    dates = [(read_local(m.original_local), read_local(local_of(moment_of(note, m), note.time_zone))) for m in moved]
    dates += [(at, at) for at in rule.between(from_, last, inc=True) if f"{at:{LOCAL}}" not in gone]
    return min((date for date in dates if from_ <= date[1] < last), key=lambda date: date[1], default=None)


def rule_behind(note: Note) -> str:
    """The rule of a series' own dates where it rings on days before each: the 1st for the last of a month.

    Of a year up to a month before, of a month a week; of a week the day before.
    """
    freq = named_parts(note.repeats).get("FREQ")
    if not has_own_dates(note) or freq == "DAILY":
        return ""
    days = (local_due(note).date() - read_local(note.rings_from).date()).days
    is_ahead = 0 < days <= most_ahead(note)
    return (rule_moved(until_its_last(note) or note.repeats, note.rings_from, days) or "") if is_ahead else ""


def sleeping(note: Note, now_ms: int) -> tuple[Occurrence, ...]:
    """The dates of a series, with the last that rang asleep until it rings once more."""
    rang = rung(note)
    if rang is None or not note.rings_again_min or (rang.state == "snoozed" and (rang.moved_to_ms or 0) > now_ms):
        return note.occurrences
    following = next((each for each in further_rings(note, rang.original_local) if each > now_ms), None)
    if following is None:
        return note.occurrences
    return put(note.occurrences, rang.model_copy(update={"state": "snoozed", "moved_to_ms": following}))


def with_further_rings(note: Note, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without the further rings of a series that comes once from now on, or rings at another hour."""
    ring, rule = (fields.get(name, getattr(note, name)) for name in ("rings_from", "repeats"))
    is_same = bool(ring and rule) and ring[DAY_CHARS:] == note.rings_from[DAY_CHARS:]
    return {**({} if is_same or not note.rings_again_min else {"rings_again_min": ()}), **fields}


def rings_moved_along(note: Note, moved: Note) -> list[str]:
    """When a note rings once its day is another one, over or not: all its rings, also those that rang for the old day.

    One of an earlier day keeps its hour and its days ahead (`the evening before at 20:00`), one of the same day its
    distance (`an hour before`). Raises ValueError for a time that is none.
    """
    old, new = (local_due(each) for each in (note, moved))
    days, is_exact = timedelta(days=(new.date() - old.date()).days), note.due_exact and moved.due_exact
    moved_away = {each.original_local for each in note.occurrences if each.state in TO_COME}
    rang = {note.rings_from, *(each.original_local for each in note.occurrences)} - moved_away
    rings = map(read_local, sorted({*rang, *singles(note)}))
    return [f"{ring_along(ring, old, new) if is_exact else ring + days:{LOCAL}}" for ring in rings]


def as_moved(note: Note, move: Move) -> dict[str, Any]:
    """The fields of a date that is moved: its own time where one was said, else that of its ring alone moves.

    A ring that is put behind what it is for takes that along, unless the date rang already.
    """
    date = record_of(note, move.occurrence) or Occurrence(original_local=move.occurrence, state="moved")
    lasts_ms = date.lasts_ms if move.lasts_ms is None else move.lasts_ms
    own = {"lasts_ms": None if lasts_ms == note.lasts_ms else lasts_ms}
    if not has_own_dates(note) or move.to_ms is None:
        return own
    due_ms = due_at(note, date) if move.due_at_ms is None else move.due_at_ms
    day_ms = due_ms if note.due_exact else later(due_ms, DAY // timedelta(milliseconds=1), note.time_zone) - 1
    is_behind = move.due_at_ms is None and move.to_ms > day_ms and date.state not in OVER
    return own | {"due_at_ms": None if is_behind else due_ms}


def is_another_series(note: Note, rule: str, first: str) -> bool:
    """Whether a series is not that of a note with the same words: on none of its weekdays, or behind its last date.

    Every Sunday, and Monday to Saturday; the pills of January, and those of this week.
    """
    days, others = ({*filter(None, named_parts(each).get("BYDAY", "").split(","))} for each in (note.repeats, rule))
    last = last_date(note.repeats, begins(note)) if note.repeats else None
    return (bool(days and others) and days.isdisjoint(others)) or (last is not None and f"{last:{LOCAL}}" < first)
