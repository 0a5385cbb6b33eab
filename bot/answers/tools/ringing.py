"""The tool `remind`: a note that rings is set, moved, silenced; one date of a series is moved or left out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from bot.answers.tools.desk import HOW, Desk, Refused, kind_of
from bot.answers.tools.times import MORNING, NONE, LocalTime, read_rule
from bot.titles import reworded
from bot.told_days import rhythm_in, tomorrow_in
from memory.ledger import lines, own_dates, series, views
from memory.ledger.apply import folded
from memory.ledger.rules import LOCAL, first_from, is_same_rhythm, on_other_weekdays, read_local, rule_moved
from memory.ledger.spans import date_of, first_and_last
from memory.ledger.types import ASSISTANT, TO_DO, USER, Add, Change, End, Kind, Move, Note

YEARLY = "FREQ=YEARLY"
ANOTHER_TIME = "To change it call with numbers; to ring twice give both, at: 2026-11-26T13:00, 2026-11-27T07:00."
ANOTHER_SERIES = (
    "To change it call with numbers; a series of other days or hours beside it needs another text: “…, weekends”."
)


@dataclass(frozen=True, slots=True)
class Wish:
    """The wish of the model."""

    text: str = ""
    at: str = ""
    repeats: str = ""
    numbers: Any = ()
    date: str = ""
    skip: bool = False
    owner: str = ""
    due: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class RingTime:
    """The time of a ring."""

    local: str
    rule: str
    remark: str = field(default="", compare=False)
    """Sentences about it for the person."""
    also: tuple[str, ...] = ()
    """Later times of one that has no rule."""

    def fields(self, zone: str) -> dict[str, Any]:
        """The fields of the note."""
        once = {"rings_from": self.local, "repeats": self.rule}
        return once if self.rule else series.ringing_at([self.local, *self.also], zone)


async def remind(desk: Desk, wish: Wish) -> str:
    """Carry out the wish, and return the line of each note. Raises `Refused`."""
    wish = _by_the_ring(desk, wish)
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
    if not (rule and due and wish.at.strip()) or "," in wish.at or due.lower() in NONE:
        return wish
    at, day = desk.time(wish.at, past=True), desk.time(due, past=True).day
    days = (date.fromisoformat(at.day) - date.fromisoformat(day)).days
    own = f"{rule};BYMONTHDAY={int(day[8:])}" if rule == "FREQ=MONTHLY" else rule
    is_of_rings = own == rule and (first_from(rule, at.local(MORNING)) or at.day)[:10] == at.day
    if not days or is_of_rings or (first_from(own, f"{day}T00:00") or "")[:10] != day:
        return wish
    return replace(wish, repeats=rule_moved(own, f"{day}T00:00", days) or wish.repeats)


def _by_its_ring(desk: Desk, note: Note, wish: Wish) -> Wish:
    """The same for a note that has its day or its ring already."""
    if note.due_at_ms is None or not wish.repeats.strip():
        return wish
    at, due = wish.at.strip() or note.rings_from, wish.due.strip() or series.local_of(note.due_at_ms, desk.zone)
    return replace(wish, repeats=_by_the_ring(desk, replace(wish, at=at, due=due)).repeats)


async def _set_new(desk: Desk, wish: Wish) -> str:
    if wish.date or wish.skip or not wish.text.strip():
        what = desk.which(wish.text)
        raise Refused(f"Not done: say by numbers which reminder is meant, or give text and at for a new one. {what}")
    known, note_id = views.find(desk.notes.open(), wish.text), _id_of(desk, wish)
    if known and on_other_weekdays(known.repeats, read_rule(wish.repeats) or ""):
        known = None
    if known and _is_another_day(desk, known, wish):
        known = None
    if known is not None and known.rings and not known.doubtful:
        own = known.note_id == note_id
        again = ANOTHER_SERIES if known.repeats or wish.repeats else ANOTHER_TIME
        return f"It is set already: {desk.line(known)}" + ("" if own else f" {again}")
    ring = await ring_time(desk, wish)
    rings = ring.fields(desk.zone) | desk.due(wish.due, desk.zone)
    if known is not None:
        return _done(desk, "Set", Change(number=known.number, fields=_by_clock(desk, rings)), ring.remark)
    return _add(desk, wish, rings) + ring.remark + desk.reads(desk.notes.ledger.by_id(note_id))


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
    if rings.get("due_exact") and (is_apart or not rings["repeats"]):
        kind = "event"
    if rings.get("due_at_ms") and YEARLY in rings["repeats"]:
        kind = "event"
    if wish.kind.strip():
        kind = kind_of(wish.kind)
    return desk.done("Set", Add(kind=kind, text=wish.text, note_id=note_id, fields=fields), text=False)


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
    has_own_words = bool(wish.text.strip()) and not note.rings and folded(wish.text) != folded(note.text)
    word = "Set"
    if not note.rings and note.repeats and is_same_rhythm(read_rule(wish.repeats) or "", note.repeats):
        wish = replace(wish, repeats="")  # its end stays
    if note.repeats and not has_own_words and not (wish.repeats if note.rings else read_rule(wish.repeats) != ""):
        wish, word = _of_each(desk, note, wish), "Set before each of its dates"
    wish = _by_its_ring(desk, note, wish)
    ring = await ring_time(desk, wish, note)
    rings = ring.fields(desk.zone) | desk.due(wish.due, desk.zone)
    if has_own_words:
        own = desk.reads(desk.notes.ledger.by_id(_id_of(desk, wish)))
        return f"{_add(desk, wish, rings)}, with words of its own; {desk.line(note)} stays.{ring.remark}{own}"
    fields = rings | ({"text": reworded(note, wish.text)} if wish.text.strip() else {})
    fields |= {"owner": wish.owner.strip()} if wish.owner.strip() else {}
    fields |= {"kind": kind_of(wish.kind)} if wish.kind.strip() else {}
    return _done(desk, word, Change(number=note.number, fields=_by_clock(desk, fields)), ring.remark)


def _done(desk: Desk, word: str, operation: Change | Move, remark: str = "") -> str:
    """Do it, and return the note's line, a remark about its time, and the line that the person reads."""
    return desk.done(word, operation) + remark + desk.reads(desk.notes.find(operation.number))


def _of_each(desk: Desk, note: Note, wish: Wish) -> Wish:
    """The wish for a ring before each date of a series that has none, as `at` is before one. Raises `Refused`."""
    if note.rings:
        raise Refused(
            f"Not moved, it is a series: {desk.line(note)}. For one date give date, the day it would ring, and at; "
            f"for all of them at and repeats too ({note.repeats}, or once)."
        )
    at = desk.time(wish.at) if wish.at.strip() and "," not in wish.at and not wish.repeats.strip() else None
    found = own_dates.ring_of_each(note, at.local(), desk.ask.now_ms) if at and at.hour else None
    if found is None or note.time_zone != desk.zone:
        raise Refused(
            f"Not set, it is a series: {desk.line(note)}. To ring for each of its dates give at, before its next date, "
            f"and repeats, by the days of the ring ({note.repeats}); to move one date, date and at; to ring for one "
            "date alone text and at, without numbers."
        )
    first, rule = found
    return replace(wish, at=first, repeats=rule)


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
        remark = _remark(desk, wish.text, has_hour=all(each.hour for each in times))
        return RingTime(first, "", remark, tuple(also))
    begins = desk.time(at, past=True)  # the first date may be over: the series begins with the next
    has_hour, wanted = bool(begins.hour) or "BYHOUR" in rule, begins.local(MORNING)
    try:
        found = await asyncio.to_thread(series.first_local, rule, wanted, desk.ask.now_ms, desk.zone)
    except ValueError as exc:
        raise Refused(f"Not set: {exc}. {HOW}") from None
    if found is None:
        raise Refused(f"Not set: the series {rule} from {wanted} has no date to come. {desk.now}")
    is_other = series.at_ms_of(wanted, desk.zone) > desk.ask.now_ms and found[:10] != wanted[:10]
    remark = f" {wanted[:10]} is no date of that rule: it rings first on {found[:10]}." * is_other
    return RingTime(found, rule, remark + _remark(desk, wish.text, rule, has_hour=has_hour))


def _remark(desk: Desk, text: str, rule: str = "", *, has_hour: bool) -> str:
    rhythm, day = rhythm_in(text, rule), tomorrow_in(text)
    said = f" Its time is told beside “{rhythm}”: change the text to what it is about." if rhythm else ""
    said += f" “{day}” stands on their lists on every day: change the text to what it is about." if day else ""
    hour = "" if has_hour else f" No hour was given, so it rings at {MORNING}: tell the person."
    clock = "" if desk.ask.private else f" By the group's clock, {desk.zone}."
    return f"{hour}{clock}{said}{desk.unsure}"


def one_date(desk: Desk, note: Note, wish: Wish) -> str:
    """Move one date of a series, or leave out one or several. Raises `Refused`."""
    if wish.skip and "," in wish.date:
        return "\n".join(_left_out(desk, note, replace(wish, date=each.strip())) for each in wish.date.split(","))
    occurrence = _known_date(desk, note, wish.date.strip())
    if wish.skip:
        return desk.done(
            f"Left out on {wish.date}, the series goes on", Move(number=note.number, occurrence=occurrence)
        )
    wanted = wish.at.strip() or ("" if note.rings else wish.due.strip())
    if not wanted:
        raise Refused("Not done: say when that date is instead (at), or skip it.")
    at, lasts_ms = _span(desk, wanted, occurrence[:10])
    _check_rings(desk, note, wish, at, occurrence)
    if not at.hour:
        at = replace(at, hour=occurrence[11:])
    to_ms = at.at_ms(desk.zone)
    moved = Move(number=note.number, occurrence=occurrence, to_ms=to_ms, lasts_ms=None if note.rings else lasts_ms)
    there = lines.moment(to_ms, desk.zone, exact=note.rings or note.due_exact)
    what = "ring for" if note.rings and own_dates.as_moved(note, moved).get("due_at_ms") else "date"
    word = f"Only the {what} {wish.date} is moved to {there}, the series goes on"
    return _done(desk, word, moved) + desk.unsure


def _left_out(desk: Desk, note: Note, wish: Wish) -> str:
    """Leave out one of several dates, or say why not: the others go on."""
    try:
        return one_date(desk, note, wish)
    except Refused as exc:
        return str(exc)


def _span(desk: Desk, text: str, day: str) -> tuple[LocalTime, int | None]:
    """When a date of a series begins, and how long it lasts; None where no end was said. Raises `Refused`."""
    if ":" in text[: len("T19:0")]:
        text = f"{day}T{text.removeprefix('T')}"
    first, last = first_and_last(text)
    if not last:
        return desk.time(first, day=day), None
    end, begins = desk.due(text, desk.zone), desk.time(first, past=True)
    days = date.fromisoformat(last[:10]) - date.fromisoformat(begins.day)
    return begins, end["lasts_ms"] or days // timedelta(milliseconds=1)


def _known_date(desk: Desk, note: Note, day: str) -> str:
    """The date of a series that is meant. Raises `Refused` where it has none then."""
    occurrence = date_of(note, day, desk.zone)
    if occurrence is None:
        raise Refused(f"Not done: it has no date on {day}: {desk.line(note)}")
    return occurrence


def _check_rings(desk: Desk, note: Note, wish: Wish, at: LocalTime, occurrence: str) -> None:
    """Let nobody move a silent date to the hour at which they want to be told of it. Raises `Refused`."""
    is_hour = bool(wish.at.strip() and at.hour) and note.due_exact and occurrence[:10] == at.day
    if is_hour and not note.rings:
        raise Refused(
            f"Not done: it does not ring, and {at.hour} would be its hour. To move it: change with date and due; to "
            f"ring for that date alone, remind with text and at, without numbers. {desk.line(note)}"
        )


def own_date_moved(desk: Desk, note: Note, date: str, due: str) -> str:
    """Move one date of a series by its own time, with its ring as long before as ever. Raises `Refused`."""
    occurrence = _known_date(desk, note, date)
    ring = read_local(occurrence)
    own, (at, lasts_ms) = own_dates.own_date(note, ring), _span(desk, due, date[:10])
    new = at.local(f"{own:%H:%M}")
    to_ms, due_ms = (series.at_ms_of(each, desk.zone) for each in (f"{ring + (read_local(new) - own):{LOCAL}}", new))
    known = series.in_state(note, occurrence, "rang")
    if to_ms <= desk.ask.now_ms < due_ms + note.lasts_at(due_ms):  # it rang for it already
        to_ms = series.moment_of(note, known)
    there = lines.moment(due_ms, desk.zone, exact=note.due_exact)
    word = f"Only the date {date} is moved to {there}, with its ring, the series goes on"
    moved = Move(number=note.number, occurrence=occurrence, to_ms=to_ms, due_at_ms=due_ms, lasts_ms=lasts_ms)
    return _done(desk, word, moved)
