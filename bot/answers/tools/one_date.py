"""One date of a series: moved, left out, with an end or a ring of its own, for the tools that name it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from bot.answers.tools.desk import Desk, Refused, Wish
from bot.answers.tools.times import LocalTime, read_time
from memory.ledger import lines, own_dates, series
from memory.ledger.apply import folded
from memory.ledger.rules import DAY_CHARS, LOCAL, is_several_a_day, read_local
from memory.ledger.spans import as_moved, date_of, first_and_last
from memory.ledger.types import Move, Note
from memory.zones import ring_along

SAME_WORDS = " Its text stays: one date has no words of its own. For other words skip that date and remind anew."


def one_date(desk: Desk, note: Note, wish: Wish) -> str:
    """Move one date of a series, or leave out one or several. Raises `Refused`."""
    if wish.skip and is_several_a_day(note.repeats) and len(wish.date.strip()) == DAY_CHARS:
        wish = replace(wish, date=",".join(_to_come(desk, note, wish.date.strip())))
    if wish.skip and "," in wish.date:
        return "\n".join(_left_out(desk, note, replace(wish, date=each.strip())) for each in wish.date.split(","))
    occurrence = _known_date(desk, note, wish.date.strip(), wish.at.strip())
    if wish.skip:
        left_out = Move(number=note.number, occurrence=occurrence)
        return desk.done_and_read(f"Left out on {wish.date}, the series goes on", left_out)
    wanted = wish.at.strip() or ("" if note.rings else wish.due.strip())
    if not wanted:
        raise Refused("Not done: say when that date is instead (at), or skip it.")
    if "," in wanted:
        raise Refused("Not done: one date is moved by one time, its first ring; later ones stay as long behind it.")
    at, lasts_ms = _span(desk, wanted, occurrence[:10])
    _check_rings(desk, note, wish, at, occurrence)
    exact = note.rings or note.due_exact or bool(at.hour)
    if not at.hour:
        at = replace(at, hour=occurrence[11:])
    to_ms = at.at_ms(desk.zone)
    moved = Move(number=note.number, occurrence=occurrence, to_ms=to_ms, lasts_ms=None if note.rings else lasts_ms)
    there = lines.moment(to_ms, desk.zone, exact=exact)
    what = "ring for" if note.rings and as_moved(note, moved).get("due_at_ms") else "date"
    named = occurrence if is_several_a_day(note.repeats) else wish.date
    word = f"Only the {what} {named} is moved to {there}, the series goes on"
    is_reworded = wish.text.strip() and folded(wish.text) != folded(note.text)
    return desk.done_and_read(word, moved) + (SAME_WORDS if is_reworded else "") + desk.unsure


def _to_come(desk: Desk, note: Note, day: str) -> list[str]:
    """The dates of a series on a day that are not over; the day itself for none."""
    now = series.local_of(desk.ask.now_ms, note.time_zone)
    gone = {each.original_local for each in note.occurrences if each.state != "moved"}
    there = series.dates_on(note, day) if date_of(note, day, desk.zone) else []
    return [each for each in there if each > now and each not in gone] or [day]


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


def _known_date(desk: Desk, note: Note, day: str, at: str = "") -> str:
    """The date of a series that is meant; of several on that day the nearest to `at`. Raises `Refused` for none."""
    occurrence = date_of(note, day, desk.zone)
    if occurrence is None:
        raise Refused(f"Not done: it has no date on {day}: {desk.line(note)}")
    wanted = read_time(at, desk.zone, day)
    if "T" in day or not (wanted and wanted.hour and is_several_a_day(note.repeats)):
        return occurrence
    near = read_local(wanted.local())
    return min(series.dates_on(note, day), key=lambda each: abs(read_local(each) - near), default=occurrence)


def _check_rings(desk: Desk, note: Note, wish: Wish, at: LocalTime, occurrence: str) -> None:
    """Let nobody move a silent date to the hour at which they want to be told of it. Raises `Refused`."""
    is_hour = bool(wish.at.strip() and at.hour) and note.due_exact and occurrence[:10] == at.day
    is_before = bool(wish.at.strip()) and at.day < occurrence[:10]
    if (is_hour or is_before) and not note.rings:
        raise Refused(
            f"Not done: it does not ring, and {at.hour or at.day} would be its own time. To move it: change with date "
            f"and due; to ring before each date: numbers, at and repeats; for that date alone: text and at, without "
            f"numbers. {desk.line(note)}"
        )


def own_date_moved(desk: Desk, note: Note, date: str, due: str) -> str:
    """Move one date of a series by its own time, with its ring as long before as ever. Raises `Refused`.

    One without an hour moves by days; the hour that is said all the same is that of a ring on its day.
    """
    occurrence = _known_date(desk, note, date, due)
    ring = read_local(occurrence)
    own, (at, lasts_ms) = own_dates.own_date(note, ring), _span(desk, due, date[:10])
    new = at.local(f"{own:%H:%M}") if note.due_exact else f"{at.day}T00:00"
    rings = ring_along(ring, own, read_local(new))
    if at.hour and not note.due_exact and ring.date() == own.date():
        rings = read_local(at.local())
    to_ms, due_ms = (series.at_ms_of(each, desk.zone) for each in (f"{rings:{LOCAL}}", new))
    known = series.in_state(note, occurrence, "rang")
    there = (known.model_copy(update={"due_at_ms": due_ms}),)
    later = own_dates.further_rings(note.model_copy(update={"occurrences": there}), occurrence)
    if to_ms <= desk.ask.now_ms < due_ms + note.lasts_at(due_ms):  # it rang for it already
        to_ms = next((each for each in later if each > desk.ask.now_ms), series.moment_of(note, known))
    day = lines.moment(due_ms, desk.zone, exact=note.due_exact)
    word = f"Only the date {date} is moved to {day}, with its ring, the series goes on"
    moved = Move(number=note.number, occurrence=occurrence, to_ms=to_ms, due_at_ms=due_ms, lasts_ms=lasts_ms)
    return desk.done_and_read(word, moved)
