"""The rings of a note: dates of an RRULE by its own clock, those moved or left out, and those that rang. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from itertools import islice
from typing import Any, Final

from dateutil.rrule import rrule

from memory.ledger.rules import (
    LOCAL,
    MOST_STEPS,
    WAITS_DAYS,
    ending_by_day,
    endless,
    is_rare,
    is_several_a_day,
    last_date,
    read_local,
    rule_of,
)
from memory.ledger.types import TO_DO, Note, Occurrence, OccurrenceState
from memory.zones import zone_of

OVER: Final = frozenset({"rang", "snoozed", "done", "passed", "skipped"})
"""States of a date whose time has come: the rule goes on behind it."""
TO_COME: Final = frozenset({"moved", "snoozed"})
"""States of a date that rings at `moved_to_ms`; once it has, that tells when it rang."""
ENDED: Final = frozenset({"done", "left_out", "skipped"})
"""States of a date that somebody called done or left out: it can be taken back."""
EXCEPTIONS: Final = frozenset({"moved", "left_out"})
"""States of a date to come that the rule has otherwise."""
EVENING_FROM: Final = 12
"""From this hour on a ring of the day before is for the next day."""
GOES_ON: Final = timedelta(hours=1)
"""What has an hour, and whose end nobody said, is on for so long; with two, a lesson that was over stood to come."""
LATE_MS: Final = 5 * 60_000
"""A date that rings so much behind its time is known by when it did."""
Date = tuple[str, int]  # as the rule has it, and the moment at which it comes


def local_of(at_ms: int, zone: str) -> str:
    """The minute by this clock, as `2026-11-29T19:00`."""
    return f"{datetime.fromtimestamp(at_ms / 1000, zone_of(zone)):{LOCAL}}"


def at_ms_of(local: str, zone: str) -> int:
    """The moment of a local minute.

    One that does not exist when summer time begins is an hour later on that day; of one that exists twice the first is
    meant. Raises ValueError for a text that is no minute.
    """
    return int(read_local(local).replace(tzinfo=zone_of(zone)).timestamp() * 1000)


def dates_by_rule(note: Note) -> rrule | None:
    """The series of a note that rings; None for none, and for a rule that is none or has no date."""
    return _rule_from(note, note.rings_from)


def rule_by_first(note: Note) -> rrule | None:
    """The series of a note, whether it rings or not, by its first date; None as above."""
    return _rule_from(note, begins(note))


def _rule_from(note: Note, first: str) -> rrule | None:
    try:
        return rule_of(note.repeats, first) if note.repeats else None
    except ValueError:
        return None


def first_local(repeats: str, wanted_local: str, now_ms: int, zone: str) -> str | None:
    """The first date of a series from the wanted one on that is still to come; "today" counts when its hour is ahead.

    None when there is none. Raises ValueError for a text that is no RRULE, or has no date at all.
    """
    rule = rule_of(repeats, wanted_local)
    for n, at in enumerate(rule):
        local = f"{at:{LOCAL}}"
        if at_ms_of(local, zone) > now_ms:
            return local
        if n > MOST_STEPS:
            break
    return None


def hangs_on_its_day(note: Note) -> bool:
    """Whether a note rings for the day that it is due: on that day, or on the evening before."""
    ring = read_local((singles(note) or [note.rings_from])[-1])
    days = (local_due(note).date() - ring.date()).days
    return days == 0 or (days == 1 and ring.hour >= EVENING_FROM)


def begins(note: Note) -> str:
    """The first date of a note: when it rings, of a series that doesn't when it is due; "" for none."""
    if note.rings_from or not note.repeats or note.due_at_ms is None:
        return note.rings_from
    return local_of(note.due_at_ms, note.time_zone)


def singles(note: Note) -> list[str]:
    """When a note without a rule is still to ring, by its own clock, the next first."""
    regular = _next_regular(note)
    moved = (each.moved_to_ms for each in note.occurrences if each.state in TO_COME and each.moved_to_ms is not None)
    return sorted([*([regular] if regular else []), *(local_of(at_ms, note.time_zone) for at_ms in moved)])


def ringing_at(locals_: Sequence[str], zone: str) -> dict[str, Any]:
    """The fields of a note that rings once at each of these, the later ones as dates of their own; "" for none."""
    first, *later = sorted(set(locals_)) or [""]
    also = (Occurrence(original_local=each, moved_to_ms=at_ms_of(each, zone), state="moved") for each in later)
    return {"rings_from": first, "repeats": "", "occurrences": tuple(also)}


def rings_again(note: Note, local: str) -> bool:
    """Whether a note without a rule, one time of which rang, has others to come."""
    dates = {each.original_local: each.state for each in note.occurrences}
    others = (state in TO_COME for each, state in dates.items() if each != local)
    return not note.repeats and dates.get(local) in OVER and any(others)


def local_due(note: Note) -> datetime:
    """The minute at which a note is due, by its clock."""
    return read_local(local_of(note.due_at_ms or 0, note.time_zone))


def at_its_date(note: Note, now_ms: int) -> Note:
    """The note with the next date of a series that doesn't ring, its last once it is over: hurling on Tuesdays.

    A date with an hour is its next until it has been going on for a while; one without, and of something to do, until
    the day is over; once a month, for a week behind it. One that is put off comes then.
    """
    found, _ = _its_date(note, now_ms)
    if found is None:
        return note
    hour, own = (local_of(at_ms or 0, note.time_zone)[10:] for at_ms in (note.due_at_ms, found[1]))
    return note.model_copy(update={"due_at_ms": found[1], "due_exact": note.due_exact or hour != own})


def _its_date(note: Note, now_ms: int) -> tuple[Date | None, bool]:
    """The next date of a series that doesn't ring and True, else its last and False."""
    if not note.repeats or note.rings_from or note.due_at_ms is None:
        return None, False
    until_ms = 0 if note.is_paused else note.snoozed_until_ms or 0
    now = read_local(local_of(max(now_ms, until_ms), note.time_zone))
    lasts = timedelta(milliseconds=note.lasts_ms) or GOES_ON
    is_by_hour = note.due_exact and note.kind not in TO_DO
    edge = now - lasts if is_by_hour else datetime.combine(now - timedelta(milliseconds=note.lasts_ms), time(0))
    edge -= timedelta(days=WAITS_DAYS) if note.kind in TO_DO and is_rare(note.repeats) else timedelta(0)
    if (rule := rule_by_first(note)) is None:
        return None, False
    gone, edge_ms = {each.original_local for each in note.occurrences}, at_ms_of(f"{edge:{LOCAL}}", note.time_zone)
    moved = [(each.original_local, moment_of(note, each)) for each in note.occurrences if each.state == "moved"]
    regular = islice((local for at in rule.xafter(edge, inc=True) if (local := f"{at:{LOCAL}}") not in gone), 1)
    dates = [*moved, *((local, at_ms_of(local, note.time_zone)) for local in regular)]
    if ahead := [date for date in dates if date[1] + note.lasts_at(date[1]) - note.lasts_ms >= edge_ms]:
        return min(ahead, key=lambda date: date[1]), True
    last = rule.before(edge)
    return ((local := f"{last:{LOCAL}}"), at_ms_of(local, note.time_zone)) if last else None, False


def next_date(note: Note, now_ms: int) -> Date | None:
    """The date that comes next: when it rings, else when it is due; the last once that is over."""
    return next_ring(note) or _its_date(note, now_ms)[0]


def goes_on(note: Note, now_ms: int) -> bool:
    """Whether a series has another date to come, or is due later."""
    date, is_ahead = _its_date(note, now_ms)
    return is_ahead if date else bool(next_ring(note)) or (note.due_at_ms or 0) > now_ms


def until_its_last(note: Note) -> str:
    """The rule of a series with its last day in place of the number of dates; "" when one is left that is kept.

    That is the last that was not left out, or one that was moved behind it.
    """
    rule, following = rule_by_first(note), next_ring(note)
    if rule is None or (note.rings_from and following is None):
        return note.repeats
    coming = following[0] if following else local_of(note.due_at_ms or 0, note.time_zone)
    rule_now = ending_by_day(note.repeats, note.rings_from) if note.rings_from else note.repeats
    if (last := last_kept(note)) is None:
        return rule_now
    moved = [local_of(moment_of(note, each), note.time_zone) for each in note.occurrences if each.state == "moved"]
    shown = max([f"{last:{LOCAL}}", *moved])
    is_same = read_local(shown) == last_date(note.repeats, begins(note)) or is_several_a_day(note.repeats)
    rule_now = rule_now if is_same else f"{endless(rule_now)};UNTIL={shown[:10].replace('-', '')}"
    return "" if f"{last:{LOCAL}}" <= coming else rule_now


def last_kept(note: Note) -> datetime | None:
    """The last date of a series with an end that was not left out."""
    rule = rule_by_first(note)
    last = last_date(note.repeats, begins(note)) if rule else None
    gone = {each.original_local for each in note.occurrences if each.state == "left_out"}
    while rule is not None and last is not None and f"{last:{LOCAL}}" in gone:
        last = rule.before(last)
    return last


def next_ring(note: Note) -> tuple[str, int] | None:
    """The date that rings next, as its `original_local` and the moment; None when nothing rings any more."""
    if not note.rings_from or not note.is_open:
        return None
    moved = [
        (each.moved_to_ms, each.original_local)
        for each in note.occurrences
        if each.moved_to_ms is not None and each.state in TO_COME and not (note.is_paused and each.state == "moved")
    ]
    regular = _next_regular(note)
    found = [*moved, (at_ms_of(regular, note.time_zone), regular)] if regular else moved
    if not found:
        return None
    at_ms, local = min(found)
    return local, at_ms


def _next_regular(note: Note) -> str | None:
    """The next date that the rule itself has: behind the last that rang, none that was moved or left out.

    A series that was put off has none before the day until which it was; one that is paused has none.
    """
    gone = {each.original_local for each in note.occurrences}
    last = max((each.original_local for each in note.occurrences if each.state in OVER), default="")
    if not note.repeats:
        is_first = all(each.state == "moved" and each.original_local > note.rings_from for each in note.occurrences)
        return note.rings_from if is_first else None
    rule = dates_by_rule(note)
    if rule is None or note.is_paused:
        return None
    back = local_of(note.snoozed_until_ms or 0, note.time_zone)[:10] + "T00:00"
    start = read_local(max(last or note.rings_from, back))
    dates = (f"{at:{LOCAL}}" for at in islice(rule.xafter(start, inc=back > last), MOST_STEPS))
    return next((local for local in dates if local not in gone), None)


def has_date(note: Note, local: str) -> bool:
    """Whether this is a date of the note, by its rule."""
    if not note.repeats:
        return local == note.rings_from
    try:
        at = read_local(local)
        return bool(rule_of(note.repeats, begins(note)).between(at, at, inc=True))
    except ValueError:
        return False


def date_on(note: Note, day: str) -> str | None:
    """The date of a note that falls on this day (`2026-11-29`), as the rule has it."""
    known = next((each.original_local for each in note.occurrences if each.original_local.startswith(day)), None)
    if known or not begins(note):
        return known
    if not note.repeats:
        return begins(note) if begins(note).startswith(day) else None
    return next(iter(dates_on(note, day)), None)


def dates_on(note: Note, day: str) -> list[str]:
    """The dates of a series that fall on this day by its rule, those that are over, too."""
    start, rule = read_local(f"{day}T00:00"), rule_by_first(note)
    dates = rule.between(start, start + timedelta(days=1), inc=True) if rule else []
    return [f"{at:{LOCAL}}" for at in dates if at.date() == start.date()]


def put(occurrences: Sequence[Occurrence], new: Occurrence) -> tuple[Occurrence, ...]:
    """The occurrences with this one; of those that are over only the latest is kept, since the next follows from it."""
    others = [each for each in occurrences if each.original_local != new.original_local]
    whole = sorted([*others, new], key=lambda each: each.original_local)
    over = [each for each in whole if each.state in OVER]
    edge = over[-1].original_local if over else ""
    return tuple(each for each in whole if each.state in TO_COME or each.original_local >= edge)


def rang(note: Note, local: str, now_ms: int) -> Occurrence:
    """The date as one that rings now; behind its time (after a night without power) with the moment that it is."""
    date = in_state(note, local, "rang")
    is_late = now_ms - moment_of(note, date) >= LATE_MS
    return date.model_copy(update={"moved_to_ms": now_ms}) if is_late else date


def date_to_end(note: Note, now_ms: int) -> str:
    """The date of a series that can be called done: the last that rang, else one of today or before; "" for none."""
    rang = [each.original_local for each in note.occurrences if each.state in {"rang", "snoozed"}]
    if rang:
        return rang[-1]
    coming, today = next_date(note, now_ms), local_of(now_ms, note.time_zone)[:10]
    return coming[0] if coming and local_of(coming[1], note.time_zone)[: len(today)] <= today else ""


def moment_of(note: Note, date: Occurrence) -> int:
    """When a date rings or rang: where it was moved to, else as the rule has it."""
    return at_ms_of(date.original_local, note.time_zone) if date.moved_to_ms is None else date.moved_to_ms


def exceptions(note: Note, now_ms: int) -> list[tuple[int, Occurrence]]:
    """The dates to come that the rule has otherwise, with when they ring or would have rung, the next first.

    One that is left out stays one until its day is over: "is there rehearsal tonight?" None before the end of a pause.
    """
    if not note.repeats:
        return []
    from_ms = max(now_ms, note.snoozed_until_ms or 0)
    today = local_of(from_ms, note.time_zone)[: None if is_several_a_day(note.repeats) else 10]
    dates = [(moment_of(note, each), each) for each in note.occurrences if each.state in EXCEPTIONS]
    out = {at_ms for at_ms, each in dates if each.state == "left_out"}
    on = {at_ms for at_ms in out if local_of(at_ms, note.time_zone).startswith(today)}
    return sorted((date for date in dates if date[0] > from_ms or date[0] in on), key=lambda date: date[0])


def last(note: Note, state: OccurrenceState) -> Occurrence | None:
    """The latest date of a note in this state; None for none."""
    return next((each for each in reversed(note.occurrences) if each.state == state), None)


def record_of(note: Note, local: str) -> Occurrence | None:
    """The date that the rule has at this local time, where it differs from the rule or has rung."""
    return next((each for each in note.occurrences if each.original_local == local), None)


def in_state(note: Note, local: str, state: OccurrenceState) -> Occurrence:
    """The date in this state, on the day that it was moved to, where it was."""
    known = record_of(note, local)
    return known.model_copy(update={"state": state}) if known else Occurrence(original_local=local, state=state)


def left_out(note: Note, local: str, over: OccurrenceState) -> Occurrence:
    """The date as one that is left out: before it rang it is not to come, behind that it is `over` in this state."""
    known = record_of(note, local)
    return Occurrence(original_local=local, state=over if known and known.state in OVER else "left_out")


def skip_missed(note: Note, rang_local: str, now_ms: int) -> str:
    """The date that came last by now, at least the one that rang: rings missed meanwhile come once.

    None that was left out, nor one that was moved to a time still to come.
    """
    dates, rule = {each.original_local: moment_of(note, each) for each in note.occurrences}, dates_by_rule(note)
    over = [(dates.get(rang_local) or at_ms_of(rang_local, note.time_zone), rang_local)]
    moved = (each.original_local for each in note.occurrences if each.state == "moved")
    over += [(dates[local], local) for local in moved if dates[local] <= now_ms]
    for at in islice(rule.xafter(read_local(rang_local)), MOST_STEPS) if rule else ():
        if (at_ms := at_ms_of(local := f"{at:{LOCAL}}", note.time_zone)) > now_ms:
            break
        over += [] if local in dates else [(at_ms, local)]
    return max(over)[1]
