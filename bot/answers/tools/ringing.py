"""The tool `remind`: a note that rings is set, moved, silenced."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from bot.answers.tools.desk import HOW, Desk, Refused, Wish, kind_of
from bot.answers.tools.one_date import one_date
from bot.answers.tools.times import MORNING, NONE, LocalTime, RingTime, is_hour, is_same_rhythm, on_day, read_rule
from memory.ledger import own_dates, series, views
from memory.ledger.apply import folded
from memory.ledger.lines import reworded
from memory.ledger.rules import (
    DAY_CHARS,
    LOCAL,
    ending_by_day,
    first_from,
    has_end,
    is_end,
    named_parts,
    read_local,
    rule_moved,
    rule_of,
)
from memory.ledger.spans import first_and_last, is_another_series, ring_of_each
from memory.ledger.types import ASSISTANT, TO_DO, USER, Add, Change, End, Kind, Note

YEARLY = "FREQ=YEARLY"
NO_EVE = "no rule rings on the day before such weekdays: ring on its day, or for one date alone (text and at)"
AS_EVENT = " That is when it takes place; kind task if it is to be done by then."
ANOTHER_TIME = "To change it call with numbers; to ring twice give both, at: 2026-11-26T13:00, 2026-11-27T07:00."
ANOTHER_SERIES = (
    "To change it call with numbers (all hours of a day in at: T08:00,T20:00); a series of other days or hours "
    "beside it needs another text: “…, weekends”."
)


async def remind(desk: Desk, wish: Wish) -> str:
    """Carry out the wish, and return the line of each note. Raises `Refused`."""
    wish = _by_the_ring(desk, _on_its_day(desk, wish))
    if not wish.numbers:
        return await _set_new(desk, wish)
    notes, problems = desk.picked(wish.numbers)
    if wish.text and len(notes) > 1:
        raise Refused("Nothing was changed: a text is for one note. Call once for each.")
    said = [await _set_again(desk, note, wish) for note in notes]
    return "\n".join([*said, *problems])


def _by_the_ring(desk: Desk, wish: Wish) -> Wish:
    """The wish with the rule of its rings, where it has that of what they are for: Thursday's bins.

    A bare month means the day of the month on which it is due. Raises `Refused`.
    """
    rule, due = read_rule(wish.repeats), first_and_last(wish.due)[0]
    if not (rule and due and wish.at.strip()) or due.lower() in NONE:
        return wish
    at, day = desk.times(wish.at)[0], desk.time(due, past=True).day
    days = (date.fromisoformat(at.day) - date.fromisoformat(day)).days
    own = f"{rule};BYMONTHDAY={int(day[8:])}" if rule == "FREQ=MONTHLY" else rule
    is_of_rings = own == rule and (first_from(rule, at.local(MORNING)) or at.day)[:10] == at.day
    if not days or is_of_rings or (first_from(own, f"{day}T00:00") or "")[:10] != day:
        return wish
    if (moved := rule_moved(own, f"{day}T00:00", days)) is None:
        raise Refused(
            f"Not set: no rule rings {-days} days before each date of {rule}. note it with due and repeats, then "
            "remind for its next date alone (text and at), or ring on its day."
        )
    return replace(wish, repeats=moved)


def _on_its_day(desk: Desk, wish: Wish, note: Note | None = None) -> Wish:
    """The wish with a day for hours alone, of a series with days: that of its next ring, else of what it is for.

    A later hour than that itself has is of the day before.
    """
    rule, due = read_rule(wish.repeats or (note.repeats if note else "")) or "", first_and_last(wish.due)[0]
    if named_parts(rule).get("FREQ") not in {"WEEKLY", "MONTHLY", "YEARLY"}:
        return wish
    if due and due.lower() not in NONE:
        at = desk.time(due, past=True)
        return replace(wish, at=on_day(wish.at, at.day, at.hour))
    date = series.next_date(note, desk.ask.now_ms) if note and not due else None
    if not (note and date):
        return wish
    local, is_own = date[0], not note.rings
    if note.rings and "," in wish.at and own_dates.has_own_dates(note):
        local, is_own = f"{own_dates.own_date(note, read_local(local)):{LOCAL}}", True
    hour = local[DAY_CHARS + 1 :] if is_own and note.due_exact else ""
    return replace(wish, at=on_day(wish.at, local[:DAY_CHARS], hour))


def _by_its_ring(desk: Desk, note: Note, wish: Wish) -> Wish:
    """The same for a note that has its day or its ring already."""
    if note.due_at_ms is None or not wish.repeats.strip():
        return wish
    at, due = wish.at.strip() or note.rings_from, wish.due.strip() or series.local_of(note.due_at_ms, desk.zone)
    return replace(wish, repeats=_by_the_ring(desk, replace(wish, at=at, due=due)).repeats)


def _until_its_end(note: Note, wish: Wish) -> Wish:
    """The wish with the end that a series has, where it gives another rhythm or hour and no end."""
    rule, old = read_rule(wish.repeats), ending_by_day(note.repeats, note.rings_from) if note.rings else ""
    last = next((part for part in old.split(";") if is_end(part)), "")
    if not (rule and last) or has_end(rule):
        return wish
    return replace(wish, repeats=f"{rule};{last}")


async def _set_new(desk: Desk, wish: Wish) -> str:
    if wish.date or wish.skip or not wish.text.strip():
        what = desk.which(wish.text)
        raise Refused(f"Not done: say by numbers which reminder is meant, or give text and at for a new one. {what}")
    known, note_id = views.find(desk.notes.open(), wish.text), _id_of(desk, wish)
    if known and (_is_another_series(desk, known, wish) or _is_another_day(desk, known, wish)):
        known = None
    if known is not None and known.rings and not known.doubtful:
        own = known.note_id == note_id
        again = ANOTHER_SERIES if known.repeats or wish.repeats else ANOTHER_TIME
        return f"It is set already: {desk.line(known)}" + ("" if own else f" {again}")
    ring = await ring_time(desk, wish)
    rings = ring.fields(desk.zone, desk.due(wish.due, desk.zone), desk.ask.now_ms)
    if known is not None:
        return desk.done_and_read("Set", Change(number=known.number, fields=_by_clock(desk, rings)), ring.remark)
    return _add(desk, wish, rings) + ring.remark + desk.reads(desk.notes.ledger.by_id(note_id))


def _is_another_series(desk: Desk, known: Note, wish: Wish) -> bool:
    first = desk.times(wish.at)[0].local() if wish.at.strip() else ""
    return is_another_series(known, read_rule(wish.repeats) or "", first)


def _is_another_day(desk: Desk, known: Note, wish: Wish) -> bool:
    """Whether the wish is about another day than a note of the same words: the stall of both Saturdays."""
    due = first_and_last(wish.due)[0]
    if known.due_at_ms is None or known.repeats or wish.repeats.strip() or not due or due.lower() in NONE:
        return False
    return desk.time(due, past=True).day != series.local_of(known.due_at_ms, known.time_zone)[:10]


def _id_of(desk: Desk, wish: Wish) -> str:
    return desk.note_id("remind", wish.text, wish.at, wish.repeats)


def _add(desk: Desk, wish: Wish, rings: dict[str, Any]) -> str:
    """Add a note that rings, of the kind that was said: else an appointment by its own hour, or something to do."""
    note_id = _id_of(desk, wish)
    owner = wish.owner.strip() or (USER if desk.ask.private else desk.ask.user_name)
    fields = desk.origin() | rings | {"owner": owner}
    kind: Kind = "promise" if owner == ASSISTANT else "task"
    is_apart = rings.get("due_at_ms") != series.at_ms_of(rings["rings_from"], desk.zone)
    is_guessed = bool(rings.get("due_exact")) and is_apart and not wish.kind.strip()
    if is_guessed or (rings.get("due_at_ms") and YEARLY in rings["repeats"]):
        kind = "event"
    if wish.kind.strip():
        kind = kind_of(wish.kind)
    said = desk.done("Set", Add(kind=kind, text=wish.text, note_id=note_id, fields=fields), text=False)
    return said + AS_EVENT * is_guessed


async def _set_again(desk: Desk, note: Note, wish: Wish) -> str:
    """Change when a note rings, all of it or one date."""
    try:
        if wish.date and note.repeats:
            return one_date(desk, note, wish)
        return _silenced(desk, note) if wish.skip else await _rung_anew(desk, note, wish)
    except Refused as exc:
        return f"#{note.number}: {exc}"


def _silenced(desk: Desk, note: Note) -> str:
    if not note.rings:
        return f"It does not ring: {desk.line(note)}"
    if views.is_work(note):
        raise Refused(
            f"Not done, that is your own work by the clock: {desk.line(note)}. change with not_before lets it "
            "rest until a day, or told, until they say; end with dropped ends it."
        )
    if note.repeats and note.kind in TO_DO and note.due_at_ms is None:
        return desk.done(
            "It rings no more and is over (how=reopen brings it back)", End(number=note.number, how="dropped")
        )
    silent = {"rings_from": "", "turn_ids": (desk.ask.turn_id,)}
    was = f" (it rang at {note.rings_from[11:]}, {note.repeats})" if note.repeats else ""
    return desk.done(f"It rings no more{was}, the note stays", Change(number=note.number, fields=silent))


async def _rung_anew(desk: Desk, note: Note, wish: Wish) -> str:
    """Another time for all of it. Raises `Refused`, also for a series of which one date may be meant."""
    wish = _on_its_day(desk, wish, note)
    has_own_words = bool(wish.text.strip()) and not note.rings and folded(wish.text) != folded(note.text)
    word = "Set"
    if (
        not (note.rings or has_own_words)
        and note.repeats
        and is_same_rhythm(read_rule(wish.repeats) or "", note.repeats)
    ):
        wish = replace(wish, repeats="")  # its end stays
    if note.repeats and not has_own_words and not (wish.repeats if note.rings else read_rule(wish.repeats) != ""):
        wish, word = _of_each(desk, note, wish), "Set before each of its dates"
    wish = _until_its_end(note, _by_its_ring(desk, note, wish))
    ring = await ring_time(desk, wish, note)
    own_date = _own_date(note, wish, ring) or desk.due(wish.due, desk.zone)
    if ring.rule and not (own_date or note.rings or note.occurrences):
        ring, own_date = _with_open_date(note, ring, desk.ask.now_ms)
    rings = ring.fields(desk.zone, own_date, desk.ask.now_ms)
    if has_own_words:
        own = desk.reads(desk.notes.ledger.by_id(_id_of(desk, wish)))
        return f"{_add(desk, wish, rings)}, with words of its own; {desk.line(note)} stays.{ring.remark}{own}"
    fields = rings | ({"text": reworded(note, wish.text)} if wish.text.strip() else {})
    fields |= {"owner": wish.owner.strip()} if wish.owner.strip() else {}
    fields |= {} if wish.at.strip() else {"snoozed_until_ms": note.snoozed_until_ms}  # another rhythm rests on
    fields |= {"kind": kind_of(wish.kind)} if wish.kind.strip() else {}
    return desk.done_and_read(word, Change(number=note.number, fields=_by_clock(desk, fields)), ring.remark)


def _own_date(note: Note, wish: Wish, ring: RingTime) -> dict[str, Any]:
    """The due time of a series that gets other days alone: as long behind its ring as before."""
    if not (ring.rule and note.rings and own_dates.has_own_dates(note)) or wish.at.strip() or wish.due.strip():
        return {}
    due_ms = own_dates.own_ms(note, series.at_ms_of(ring.local, note.time_zone))
    return {"due_at_ms": due_ms, "due_exact": note.due_exact, "lasts_ms": note.lasts_ms}


def _with_open_date(note: Note, ring: RingTime, now_ms: int) -> tuple[RingTime, dict[str, Any]]:
    """The ring with today's date of a series that gets one for the later ones, and that date: it is still open."""
    if not note.repeats or note.due_at_ms is None:
        return ring, {}
    rings = note.model_copy(update={"rings_from": ring.local, "repeats": ring.rule})
    open_ms = series.at_its_date(note, now_ms).due_at_ms or 0
    first_ms = int(own_dates.with_ring(note, rings, now_ms)["due_at_ms"] or 0)
    now, own, first = (read_local(series.local_of(at_ms, note.time_zone)) for at_ms in (now_ms, open_ms, first_ms))
    before = f"{read_local(ring.local) - timedelta((first.date() - own.date()).days):{LOCAL}}"
    is_open = now.date() <= own.date() < first.date() and read_local(before) <= now
    if not is_open or first_from(ring.rule, before) != before:
        return ring, {}
    return replace(ring, over=before), {"due_at_ms": open_ms, "due_exact": note.due_exact, "lasts_ms": note.lasts_ms}


def _of_each(desk: Desk, note: Note, wish: Wish) -> Wish:
    """The wish for a ring before each date of a series that has none, as `at` is before one. Raises `Refused`."""
    if note.rings:
        raise Refused(
            f"Not moved, it is a series: {desk.line(note)}. For one date give date, the day it would ring, and at; "
            f"for all of them at and repeats too ({note.repeats}, or once)."
        )
    times = desk.times(wish.at) if wish.at.strip() and not wish.repeats.strip() else []
    is_each = bool(times) and all(at.hour for at in times)
    is_each = is_each and (len(times) == 1 or times[0].day < times[-1].day or note.due_exact)
    found = ring_of_each(note, times[0].local(), desk.ask.now_ms) if is_each else None
    if found is None or note.time_zone != desk.zone:
        if times and named_parts(note.repeats).get("FREQ") == "MONTHLY" and "BYDAY" in note.repeats:
            raise Refused(f"Not set, {NO_EVE}: {desk.line(note)}")
        raise Refused(
            f"Not set, it is a series: {desk.line(note)}. To ring for each of its dates give at, before its next date, "
            f"and repeats, by the days of the ring ({note.repeats}); to move one date, date and at; to ring for one "
            "date alone text and at, without numbers."
        )
    first, rule = found
    later = read_local(first) - read_local(times[0].local())
    rings = (f"{read_local(each.local()) + later:{LOCAL}}" for each in times)
    return replace(wish, at=",".join(rings), repeats=rule)


def _by_clock(desk: Desk, fields: dict[str, Any]) -> dict[str, Any]:
    return fields | {"time_zone": desk.zone, "turn_ids": (desk.ask.turn_id,)}


async def ring_time(desk: Desk, wish: Wish, note: Note | None = None) -> RingTime:
    """The first ring of a wish, and its repeats. Raises `Refused`."""
    rule = read_rule(wish.repeats)
    if rule is None:
        raise Refused(f"Not set: {wish.repeats!r} is no RRULE. {HOW}")
    at = wish.at.strip() or (note.rings_from if note is not None and rule else "")
    if not at:
        raise Refused(f"Not set: say when it rings: at, as 2026-11-27T14:30. {desk.now}")
    if not rule:
        times = [desk.time(each) for each in at.split(",")]
        first, *also = sorted(each.local(MORNING) for each in times)
        if series.at_ms_of(first, desk.zone) <= desk.ask.now_ms:
            raise Refused(f"Not set: no hour was given, and {first} is over. {desk.now}")
        remark = desk.remark(wish.text, has_hour=all(each.hour for each in times))
        return RingTime(first, "", remark, tuple(also))
    at, rule, again = _several(desk, wish, note, at, rule)
    begins = desk.time(at, past=True)  # the first date may be over: the series begins with the next
    has_hour, wanted = bool(begins.hour) or "BYHOUR" in rule, begins.local(MORNING)
    try:
        found = await asyncio.to_thread(series.first_local, rule, wanted, desk.ask.now_ms, desk.zone)
    except ValueError as exc:
        raise Refused(f"Not set: {exc}. {HOW}") from None
    if found is None:
        raise Refused(f"Not set: the series {rule} from {wanted} has no date to come. {desk.now}")
    if note is not None and not wish.at.strip():
        found = own_dates.not_left_out(note, rule, found)
    is_over = series.at_ms_of(wanted, desk.zone) <= desk.ask.now_ms
    is_other, is_date = not (is_over or is_hour(at)) and found[:10] != wanted[:10], first_from(rule, wanted) == wanted
    remark = f" {wanted[:10]} is no date of that rule: it rings first on {found[:10]}." * is_other
    over = wanted if is_over and is_date else ""
    remark += _in_place(note, found) if note is not None and wish.at.strip() and not (again or wish.due.strip()) else ""
    remark += desk.remark(wish.text, rule, has_hour=has_hour)
    return RingTime(found, rule, remark, over=over, again=again if wish.at.strip() else None)


def _several(desk: Desk, wish: Wish, note: Note | None, at: str, rule: str) -> tuple[str, str, tuple[int, ...]]:
    """The first of several times, the rule with all the hours of a day, or the minutes until the later rings of a date.

    Raises `Refused`.
    """
    if "," not in at:
        return at, rule, ()
    times = desk.times(at)
    hours, first, *later = [each.hour for each in times], *(read_local(each.local(MORNING)) for each in times)
    if _is_of_one_date(desk, wish, note, times) and "FREQ=DAILY" not in rule:
        second = None
        with suppress(ValueError):  # no rule, as is said of it later
            second = rule_of(rule, f"{first:{LOCAL}}").after(first)
        if second is None or later[-1] < second:
            return f"{first:{LOCAL}}", rule, tuple((each - first) // timedelta(minutes=1) for each in later)
    days = {each.day for each in times if "FREQ=DAILY" not in rule}  # “20:00, and 07:00 tomorrow” are of each day
    if "BYHOUR" in rule or "" in hours or len(days) > 1 or len({each.hour[3:] for each in times}) > 1:
        raise Refused(
            "Not set: to ring several times for each date say due, too: when the first itself is, behind its rings. "
            "At several hours: at the first, FREQ=DAILY;BYHOUR=8,20."
        )
    return times[0].local(), f"{rule};BYHOUR={','.join(map(str, sorted(int(hour[:2]) for hour in hours)))}", ()


def _is_of_one_date(desk: Desk, wish: Wish, note: Note | None, times: Sequence[LocalTime]) -> bool:
    """Whether several rings are for one date, which is on the day of the last or behind it: not doses of a day."""
    due = first_and_last(wish.due)[0]
    if due and due.lower() not in NONE:
        date = desk.time(due, past=True)
        return times[-1].day <= date.day and (times[0].day < date.day or times[-1].hour <= date.hour)
    if note is None or note.due_at_ms is None:
        return False
    return times[0].day < times[-1].day or (note.due_exact and times[-1].hour <= f"{series.local_due(note):%H:%M}")


def _in_place(note: Note, first: str) -> str:
    """The remark that a ring of another hour, or day before each date, took the place of the one before."""
    was, ring = (read_local(each) for each in (note.rings_from or first, first))
    if not own_dates.has_own_dates(note) or (was.time() == ring.time() and not note.rings_again_min):
        return ""
    return " That is its only ring now: to ring twice for each date give both times, with repeats."
