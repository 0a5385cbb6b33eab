"""The dates of a series by its own time, beside its ring; what was agreed about each outlives that ring. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from memory.ledger import series
from memory.ledger.rules import (
    LOCAL,
    ending_by_day,
    endless,
    first_from,
    is_several_a_day,
    named_parts,
    read_local,
    rule_moved,
    rule_of,
)
from memory.ledger.types import Note, Occurrence
from memory.zones import later, ring_along

DAY: Final = timedelta(days=1)
BEFORE_MS: Final = 2 * 86_400_000
"""A ring so long before what rang when it was due is no reminder of it: its day is another one."""
_WAITS_MS: Final = 43_200_000
"""So long the last date of a daily course waits to be called done."""
_MOST_DAYS: Final = {"YEARLY": 31, "MONTHLY": 7}
"""The days by which a series of this rhythm may ring before its dates; of another one."""
RUNG: Final = frozenset({"rang", "snoozed"})
"""States of a date that rang and waits for a word."""
KEPT: Final = frozenset({"done", "skipped"})
"""States of a date that is over which a series without a ring has, too: nothing waits there for a word."""


def has_own_dates(note: Note) -> bool:
    """Whether each date of a series that rings has a time of its own: a due day behind the second is the end of all."""
    rule = series.dates_by_rule(note)
    if rule is None or note.due_at_ms is None:
        return False
    second = rule.after(read_local(note.rings_from))
    return second is None or series.local_due(note) < second


def most_ahead(note: Note) -> int:
    """The days by which a series may ring before its dates."""
    return _MOST_DAYS.get(named_parts(note.repeats).get("FREQ", ""), 1)


def own_date(note: Note, ring: datetime) -> datetime:
    """When a date of a series is due that rings then; the day where no hour was said."""
    first, due = read_local(note.rings_from), series.local_due(note)
    if note.due_exact:
        return ring + (due - first)
    return datetime.combine(ring.date() + (due.date() - first.date()), due.time())


def own_ms(note: Note, ring_ms: int) -> int:
    """The moment of `own_date` for a ring at this moment."""
    own = own_date(note, read_local(series.local_of(ring_ms, note.time_zone)))
    return series.at_ms_of(f"{own:{LOCAL}}", note.time_zone)


def at_next_date(note: Note, now_ms: int | None = None) -> Note:
    """The note with the hour of its next date: a walk on Thursdays at 19:00, rung at 18:00, next Thursday 19:00.

    At a moment that is the date which rang and was not called done, as long as it is not over, or nothing comes behind
    it; one whose ring sleeps is due when it was. Its further rings are those behind its next.
    """
    if not has_own_dates(note):
        return note
    behind = {"rings_again_min": _rings_behind(note)} if note.rings_again_min else {}
    if (date := rung(note)) is not None:
        then = note.model_copy(update=_from_date(note, date.original_local, due_at(note, date)) | behind)
        if sleeps(note) or (now_ms is not None and (note.rings_at_ms is None or not _is_over(then, now_ms))):
            return then
    if (following := series.next_ring(note)) is None:
        return note
    return note.model_copy(update=_from_date(note, following[0], due_of(note, following[1])) | behind)


def _from_date(note: Note, local: str, due_ms: int) -> dict[str, Any]:
    """The fields of a series that begins with one of its dates; of one that was moved when it is due alone."""
    begins = {"rings_from": local, "repeats": ending_by_day(note.repeats, note.rings_from)}
    is_usual = own_ms(note, series.at_ms_of(local, note.time_zone)) == due_ms
    return {"due_at_ms": due_ms} | (begins if is_usual else {})


def further_rings(note: Note, local: str) -> list[int]:
    """When a date of a series rings once more, behind its first ring; [] where it doesn't.

    Of one that was moved they come as long before it as before the others (`ring_along`); where its ring alone was
    moved they stay.
    """
    usual, date = read_local(local), series.record_of(note, local)
    rings = [usual + timedelta(minutes=each) for each in note.rings_again_min]
    if rings and date is not None and has_own_dates(note):
        old, new = own_date(note, usual), read_local(series.local_of(due_at(note, date), note.time_zone))
        rings = [ring_along(ring, old, new) if note.due_exact else ring + (new.date() - old.date()) for ring in rings]
    return [series.at_ms_of(f"{ring:{LOCAL}}", note.time_zone) for ring in rings]


def was_rung(note: Note, date: Occurrence) -> bool:
    """Whether a date that waits for a word rang: not where the time of its ring was over when it was set."""
    return date.moved_to_ms != series.at_ms_of(date.original_local, note.time_zone)


def is_between_rings(note: Note, local: str) -> bool:
    """Whether a date of a series rang and rings once more by itself: nobody put it off."""
    date = series.record_of(note, local)
    return date is not None and date.state == "snoozed" and date.moved_to_ms in further_rings(note, local)


def _rings_behind(note: Note) -> tuple[int, ...]:
    """Minutes by its clock behind its next ring, first or further, at which a series rings for that date once more."""
    local, at_ms = series.next_ring(note) or ("", 0)
    first = read_local(series.local_of(at_ms, note.time_zone))
    later = (each for each in further_rings(note, local) if each > at_ms) if local else ()
    behind = (read_local(series.local_of(each, note.time_zone)) - first for each in later)
    return tuple(each // timedelta(minutes=1) for each in behind)


def rung(note: Note) -> Occurrence | None:
    """The date that rang last, and may sleep."""
    return next((each for each in reversed(note.occurrences) if each.state in RUNG), None)


def due_at(note: Note, date: Occurrence) -> int:
    """When a date of a series that rings is due: as somebody said, else as long behind its ring as the others.

    One that rang late is due as ever: by the rule, or by the earlier moment that its ring was moved to.
    """
    if date.due_at_ms is not None:
        return date.due_at_ms
    ring_ms = series.moment_of(note, date)
    usual_ms = series.at_ms_of(date.original_local, note.time_zone)
    return own_ms(note, min(ring_ms, usual_ms) if date.state in series.OVER else ring_ms)


def due_of(note: Note, ring_ms: int) -> int:
    """When the date of a series is due that rings at this moment."""
    date = next((each for each in note.occurrences if each.moved_to_ms == ring_ms), None)
    return due_at(note, date) if date else own_ms(note, ring_ms)


def ahead_ms(note: Note) -> int:
    """By how much a series rings before each of its dates is due; 0 for one without dates of its own."""
    if not has_own_dates(note):
        return 0
    return (note.due_at_ms or 0) - series.at_ms_of(note.rings_from, note.time_zone)


def sleeps(note: Note) -> bool:
    """Whether the next ring of a series is one that was put off."""
    return any((each.state, each.moved_to_ms) == ("snoozed", note.rings_at_ms) for each in note.occurrences)


def has_run_out(note: Note, now_ms: int) -> bool:
    """Whether a series ended so long ago that another date would have come: the last pill of a course is not overdue.

    Of one that came each day half a day behind it: in the morning nobody rings about last evening's. As before each of
    its dates, nobody is asked then about the one before.
    """
    rang = series.last(note, "rang")
    if (note.rings_from and rang is None) or series.rule_by_first(note) is None or series.goes_on(note, now_ms):
        return False
    date = series.next_date(note, now_ms)
    at = read_local(rang.original_local if rang else date[0] if date else series.begins(note))
    following = rule_of(endless(note.repeats), series.begins(note)).after(at)
    due_ms, next_ms = (series.at_ms_of(f"{each:{LOCAL}}", note.time_zone) for each in (at, following or at))
    late_ms = series.moment_of(note, rang) - due_ms if rang else 0
    next_ms = min(next_ms, due_ms + _WAITS_MS) if next_ms - due_ms <= 2 * _WAITS_MS else next_ms
    return following is not None and next_ms + max(0, late_ms) <= now_ms


def _is_over(note: Note, now_ms: int) -> bool:
    """Whether the hour of a date is over, with what it lasts, or its whole day."""
    due_ms = note.due_at_ms or 0
    if note.due_exact:
        return later(due_ms, note.lasts_at(due_ms), note.time_zone) <= now_ms
    return series.local_of(due_ms, note.time_zone)[:10] < series.local_of(now_ms, note.time_zone)[:10]


def otherwise(note: Note) -> set[tuple[str, int | None, int | None, int | None]]:
    """The dates that come otherwise than by the rule: to when they were moved, and how long they last."""
    return {
        (each.original_local, each.moved_to_ms, each.due_at_ms, each.lasts_ms)
        for each in note.occurrences
        if each.state in series.EXCEPTIONS
    }


def is_taken_back(then: Note, now: Note) -> bool:
    """Whether a date that came otherwise comes by the rule again: one behind all that are over."""
    edge = max((each.original_local for each in now.occurrences if each.state in series.OVER), default="")
    return any(local > edge for local, *_ in otherwise(then) - otherwise(now))


def set_again(note: Note, new: Note, now_ms: int) -> dict[str, Any]:
    """The fields that follow for a series which becomes `new`: its dates and, where it gets or loses a ring, its days.

    A ring that is added, or comes at another hour, comes as long before a moved date as before the others; one that is
    taken away leaves the series by its own time. Nothing is carried to or from a note without a rule.
    """
    if not (note.repeats and new.repeats):
        return {"occurrences": ()}
    if not new.rings:
        return without_ring(note, now_ms) if note.rings else {"occurrences": _by_day(note, new, now_ms)}
    if not note.rings:
        return with_ring(note, new, now_ms)
    if (note.rings_from, note.repeats) == (new.rings_from, new.repeats) or not has_own_dates(note):
        return {"occurrences": _by_day(note, new, now_ms)}
    return _rung_otherwise(note, new, now_ms)


def without_ring(note: Note, now_ms: int) -> dict[str, Any]:
    """The fields of a series that rings no more: it goes on by its own time, and without one it has no rhythm left."""
    if not has_own_dates(note):
        return {"rings_from": "", "repeats": "", "occurrences": ()}
    days = (series.local_due(note).date() - read_local(note.rings_from).date()).days
    rule = rule_moved(note.repeats, note.rings_from, days)
    if rule is None:
        due_at_ms = at_next_date(note).due_at_ms
        return {"rings_from": "", "repeats": "", "due_at_ms": due_at_ms, "occurrences": ()}
    dates = (_by_its_own(note, each, now_ms) for each in note.occurrences)
    return {"rings_from": "", "repeats": rule, "occurrences": _one_each(date for date in dates if date)}


def _by_its_own(note: Note, date: Occurrence, now_ms: int) -> Occurrence | None:
    """A date of a series that rings as one by its own time; None where nothing of it is to come."""
    usual_ms, at_ms = series.at_ms_of(date.original_local, note.time_zone), series.moment_of(note, date)
    was_moved = date.state == "moved" or (date.state in series.OVER - KEPT and at_ms < usual_ms)
    local = f"{own_date(note, read_local(date.original_local)):{LOCAL}}"
    if was_moved:
        moved_ms = own_ms(note, at_ms) if date.due_at_ms is None else date.due_at_ms
        is_over = max(moved_ms, series.at_ms_of(local, note.time_zone)) <= now_ms
        moved = {"moved_to_ms": moved_ms, "lasts_ms": date.lasts_ms, "state": "moved"}
        return None if is_over else Occurrence.model_validate(moved | {"original_local": local})
    return Occurrence(original_local=local, state=date.state) if date.state in {*KEPT, "left_out"} else None


def with_ring(note: Note, new: Note, now_ms: int) -> dict[str, Any]:
    """The fields of a series that rings from now on: its first day is that of the first ring."""
    due_at_ms = new.due_at_ms if new.due_at_ms != note.due_at_ms else _due_at_first(note, new)
    rings = new.model_copy(update={"due_at_ms": due_at_ms, "occurrences": ()})
    dates = (_by_ring(note, rings, each, now_ms) for each in note.occurrences)
    return {"due_at_ms": due_at_ms, "occurrences": _one_each(date for date in dates if date)}


def _due_at_first(note: Note, new: Note) -> int | None:
    """When the date is due that the first ring is for: within a day, else that day, else the next; the last of all."""
    rule = rule_of(note.repeats, series.begins(note))
    ring = read_local(series.local_of(series.at_ms_of(new.rings_from, new.time_zone), note.time_zone))
    day = datetime.combine(ring.date(), datetime.min.time())
    coming, that_day = rule.after(ring if note.due_exact else day, inc=True), rule.after(day, inc=True)
    is_that_day = that_day is not None and that_day.date() == ring.date()
    is_far = coming is None or coming - ring > DAY
    found = that_day if is_far and is_that_day else coming or rule.before(ring)
    zone = note.time_zone if note.due_exact else new.time_zone  # a day is a day everywhere
    return series.at_ms_of(f"{found:{LOCAL}}", zone) if found else note.due_at_ms


def _by_ring(note: Note, rings: Note, date: Occurrence, now_ms: int) -> Occurrence | None:
    """A date of a series that didn't ring as one of the same that does; None where nothing of it is to come."""
    local = _ring_for(note, rings, series.at_ms_of(date.original_local, note.time_zone))
    if local >= rings.rings_from and not series.has_date(rings, local):
        local = series.date_on(rings, local[:10]) or (local if date.state == "moved" else "")
    is_ahead = local >= rings.rings_from
    if local and date.state in KEPT:
        return Occurrence(original_local=local, state="left_out" if local > rings.rings_from else date.state)
    if date.state == "moved":
        due_ms = series.moment_of(note, date)
        to_ms = series.at_ms_of(_ring_for(note, rings, due_ms), rings.time_zone)
        if to_ms > now_ms:
            moved = {"moved_to_ms": to_ms, "due_at_ms": due_ms, "lasts_ms": date.lasts_ms, "state": "moved"}
            return Occurrence.model_validate(moved | {"original_local": local})
    return Occurrence(original_local=local, state="left_out") if is_ahead else None


def _ring_for(note: Note, rings: Note, own_ms: int) -> str:
    """When a series `rings` for a date of its own, as it was before."""
    first, due = read_local(rings.rings_from), series.local_due(rings)
    if rings.due_exact:
        return f"{ring_along(first, due, read_local(series.local_of(own_ms, rings.time_zone))):{LOCAL}}"
    own = read_local(series.local_of(own_ms, note.time_zone))
    return f"{datetime.combine(own.date() - (due.date() - first.date()), first.time()):{LOCAL}}"


def _rung_otherwise(note: Note, new: Note, now_ms: int) -> dict[str, Any]:
    """The fields of a series with own dates that rings at another time: what rang waits for a word as before."""
    silent = note.model_copy(update=without_ring(note, now_ms))
    by_day = _by_day(note, new, now_ms)
    if not silent.repeats:
        return {"occurrences": by_day}
    fields = with_ring(silent, new, now_ms)
    ring_ms = series.at_ms_of(new.rings_from, new.time_zone)
    was_one = note.due_exact and series.local_due(note) == read_local(note.rings_from)
    if was_one and new.due_at_ms == note.due_at_ms and (fields["due_at_ms"] or 0) - ring_ms >= BEFORE_MS:
        return {"due_at_ms": ring_ms, "occurrences": by_day}  # Mondays instead of Sundays, not six days before
    if not note.due_exact:  # what was moved has the hour of its ring alone
        return fields | {"occurrences": by_day}
    named = new.rings_from[:10]  # this day is meant now, whatever was said of it
    out = (each for each in fields["occurrences"] if each.state == "moved" or each.original_local[:10] > named)
    rang = (each for each in by_day if each.state in series.OVER)
    return fields | {"occurrences": _one_each((*out, *rang))}


def _by_day(note: Note, new: Note, now_ms: int) -> tuple[Occurrence, ...]:
    """The dates of a series at another hour: those over before, later days left out, and those moved, at their time.

    Of several a day a dose that is no more loses what was said of it.
    """
    first, bare = series.begins(new), new.model_copy(update={"occurrences": ()})
    kept = [each for each in note.occurrences if each.state in series.OVER and each.original_local < first]
    for date in (each for each in note.occurrences if each.state in series.EXCEPTIONS):
        day, dates = date.original_local[:10], _dates_at(note, bare, date.original_local)
        if date.state == "left_out" and (day > first[:10] or first == series.begins(note)):  # no other was named
            kept += (Occurrence(original_local=local, state="left_out") for local in dates)
        if date.state == "moved" and series.moment_of(note, date) > now_ms:
            usual = f"{day}{first[10:]}"
            before = day < first[:10] and first_from(new.repeats, usual) == usual
            if local := usual if before else next(iter(dates), ""):
                kept.append(date.model_copy(update={"original_local": local}))
    return _one_each(kept)


def _dates_at(note: Note, new: Note, local: str) -> list[str]:
    """The dates in place of one that a series had at this minute: that, else its day's where the day has no other."""
    if series.has_date(new, local):
        return [local]
    out = {each.original_local for each in note.occurrences if each.state == "left_out"}
    is_whole = not (is_several_a_day(note.repeats) or is_several_a_day(new.repeats))
    is_whole = is_whole or out.issuperset(series.dates_on(note, local[:10]))
    return series.dates_on(new, local[:10]) if is_whole else []


def _one_each(dates: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """The dates in their order, of two for one the later."""
    return tuple(date for _, date in sorted({date.original_local: date for date in dates}.items()))


def not_left_out(note: Note, rule: str, first: str) -> str:
    """The first date of another rhythm that is on none of the days that were left out: none of them was named."""
    out = {each.original_local[:10] for each in note.occurrences if each.state == "left_out"}
    dates = (f"{at:{LOCAL}}" for at in islice(rule_of(rule, first), len(out) + 1))
    return next((each for each in dates if each[:10] not in out), first)
