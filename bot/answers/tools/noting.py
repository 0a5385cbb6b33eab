"""The tools `note` and `change`: what should last is noted, and a note gets another text, day, kind, owner or rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from bot.answers.tools.desk import Desk, Refused, Wish, kind_of
from bot.answers.tools.one_date import one_date, own_date_moved
from bot.answers.tools.ringing import remind
from bot.answers.tools.times import NONE
from bot.people.choices import plain_name
from bot.tasks.task import goes_on
from memory.ledger import series
from memory.ledger.lines import reworded
from memory.ledger.own_dates import ahead_ms, at_next_date, has_own_dates, own_date
from memory.ledger.rules import DAY_CHARS, LOCAL, read_local, rule_moved
from memory.ledger.types import NAMELESS, UNTIL_TOLD_MS, USER, Add, Change, Kind, Note
from memory.ledger.views import is_work
from memory.zones import ring_along

UNTIL_TOLD: Final = "told"
"""In place of a time: a series rests until the person says that it goes on."""
NO_RHYTHM: Final = frozenset({"fact", "preference", "constraint"})
IN_WORDS: Final = "Say it in its text (“on weekdays, after ten”), without due."
NO_RING: Final = "It does not ring."
ALL_MOVE: Final = " All its dates moved, with their rings; to move one: its date, and due."


async def note(desk: Desk, text: str, kind: str, given: Mapping[str, str]) -> str:
    """Note something new. Raises `Refused`."""
    known = kind_of(kind)
    due, owner, about, repeats = (given.get(name, "") for name in ("due", "owner", "about", "repeats"))
    if known == "promise" and not owner.strip():
        raise Refused("Not done: say whose promise it is: owner user, assistant, or a name.")
    if known in NO_RHYTHM and repeats.strip() and "YEARLY" not in repeats.upper():
        raise Refused(f"Not done: a {known} has no rhythm. {IN_WORDS}")
    if known == "constraint" and _is_each_night(due):
        raise Refused(f"Not done: those hours would hold once. {IN_WORDS} For one night give its day, too.")
    about = about.strip() or (desk.ask.scope.persona or NAMELESS if known == "story" else "")
    fields = desk.origin(about) | {"owner": owner.strip() or _owner(desk, known)}
    fields |= desk.due(due, desk.zone) | desk.rhythm(repeats, due)
    note_id = desk.note_id("note", text, kind, due, owner, about, repeats)
    own = desk.notes.ledger.by_id(note_id)
    if own is not None:
        return f"Noted: {desk.line(own)}"
    said = desk.done("Noted", Add(kind=known, text=text, note_id=note_id, fields=fields), text=False)
    new = desk.notes.ledger.by_id(note_id) if due else None
    if new is None:
        return said
    return f"{said}. {NO_RING}{desk.reads(new)}{desk.counts_years(text, new.repeats)}{desk.unsure}"


def _is_each_night(due: str) -> bool:
    """Whether a limit is given from hour to hour without a day, `T22:00/06:00`."""
    return due.strip().startswith("T") and "/" in due


def _owner(desk: Desk, kind: Kind) -> str:
    """The owner of a note when nobody was named; in a group the one who speaks."""
    ask = desk.ask
    speaker = USER if ask.private else plain_name(ask.user_name)
    return speaker if kind == "task" else ""


async def change(desk: Desk, numbers: Any, given: Mapping[str, str]) -> str:
    """Give notes other fields. Raises `Refused`."""
    notes, problems = desk.picked(numbers)
    given = {name: value for name, value in given.items() if value.strip()}
    if not given:
        raise Refused("Nothing was changed: give text, due, repeats, kind, owner or not_before.")
    if "text" in given and len(notes) > 1:
        raise Refused("Nothing was changed: a text is for one note. Call once for each.")
    return "\n".join([*[await _changed(desk, note, given) for note in notes], *problems])


async def _changed(desk: Desk, note: Note, given: Mapping[str, str]) -> str:
    """Change one note, or one date of a series; its line tells its ring now, a sentence that it rings no more."""
    if "date" in given:
        return _date_changed(desk, note, given)
    given, moves = _with_its_ring(desk, note, given)
    if note.rings and given.get("repeats", "none").lower() not in NONE and set(given) <= {"repeats", "text", "due"}:
        text, due, at = given.get("text", ""), given.get("due", ""), moves or _as_long_before(desk, note, given)
        wish = Wish(numbers=[note.number], repeats=given["repeats"], text=text, due=due, at=at)
        return await remind(desk, wish) + (ALL_MOVE if moves else "")
    said = desk.done("Now", Change(number=note.number, fields=_fields(desk, note, given)))
    now = desk.notes.find(note.number)
    silent = f". {NO_RING}" if note.rings and now is not None and not now.rings else ""
    return f"{said}{silent}{desk.reads(now) if {'text', 'due', 'repeats'} & set(given) else ''}"


def _with_its_ring(desk: Desk, note: Note, given: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """The same with the rhythm that a series has on another day, and its ring for that; "" where no day moves.

    A new due alone moves all of it: each date keeps its ring, as long before it.
    """
    if not (has_own_dates(note) and "due" in given and set(given) <= {"due", "text"}):
        return given, ""
    then = at_next_date(note, desk.ask.now_ms)
    text = _of_its_day(then, given["due"].strip())
    due, zone = desk.due(text, note.time_zone), note.time_zone
    if due["due_at_ms"] in {None, then.due_at_ms} or (due["due_exact"] and not note.due_exact):
        return given, ""
    new, old = (read_local(series.local_of(at_ms, zone)) for at_ms in (due["due_at_ms"], then.due_at_ms or 0))
    first = read_local(note.rings_from)
    ahead = series.local_due(note).date() - first.date()
    if ring := next(iter(series.dates_on(note, f"{new.date() - ahead}")), ""):  # a day of it: its hour alone is another
        old = own_date(note, read_local(ring))
    own, days = own_date(note, first), timedelta((new.date() - old.date()).days)
    at = _rings_text(note, lambda ring: ring_along(ring, own, own + (new - old)) if due["due_exact"] else ring + days)
    rule = rule_moved(note.repeats, note.rings_from, (date.fromisoformat(at[:DAY_CHARS]) - first.date()).days)
    return ({**given, "due": text, "repeats": rule}, at) if rule else (given, "")


def _as_long_before(desk: Desk, note: Note, given: Mapping[str, str]) -> str:
    """When a series rings first that gets another due time with its rhythm: as long before it; "" where that stays."""
    due = desk.due(_of_its_day(note, given.get("due", "").strip()), note.time_zone)
    if not (ahead_ms(note) and due.get("due_exact") and note.due_exact):
        return ""
    first, new = read_local(note.rings_from), read_local(series.local_of(due["due_at_ms"], note.time_zone))
    return _rings_text(note, lambda ring: ring_along(ring, own_date(note, first), new))


def _rings_text(note: Note, moved: Callable[[datetime], datetime]) -> str:
    """All the rings of a series for its first date, moved, as `remind` takes them."""
    first = read_local(note.rings_from)
    rings = (first + timedelta(minutes=each) for each in (0, *note.rings_again_min))
    return ",".join(f"{moved(ring):{LOCAL}}" for ring in rings)


def _date_changed(desk: Desk, note: Note, given: Mapping[str, str]) -> str:
    """Move one date of a series, or leave it out with "none"; or why not. Without an end it lasts as long as before."""
    if set(given) != {"date", "due"} or not note.repeats:
        return f"Nothing was changed: date is for one date of a series, with its new due alone: {desk.line(note)}"
    date, due = given["date"].strip(), given["due"].strip()
    is_out = due.lower() in NONE
    try:
        if note.rings and has_own_dates(note) and not is_out:
            return own_date_moved(desk, note, date, due)
        when = {} if is_out else {"at" if note.rings else "due": due}
        return one_date(desk, note, Wish(date=date, skip=is_out, **when))
    except Refused as exc:
        return f"#{note.number}: {exc}"


def _fields(desk: Desk, note: Note, given: Mapping[str, str]) -> dict[str, Any]:
    """The fields that a change gives to a note. Raises `Refused`."""
    fields: dict[str, Any] = {"turn_ids": (desk.ask.turn_id,)}
    zone = note.time_zone if note.rings else desk.zone
    if due := desk.due(_of_its_day(note, given.get("due", "").strip()), zone):
        fields |= due | ({} if note.rings else {"time_zone": zone})
    if "repeats" in given:
        fields |= _rhythm(desk, note, given["repeats"], given.get("due", ""))
    if "kind" in given:
        fields["kind"] = kind_of(given["kind"])
    if "owner" in given:
        fields["owner"] = "" if given["owner"].lower() in NONE else given["owner"]
    if "not_before" in given:
        fields["snoozed_until_ms"] = _rests_until(desk, note, given["not_before"].strip())
    return fields | ({"text": reworded(note, given["text"])} if "text" in given else {})


def _of_its_day(note: Note, due: str) -> str:
    """An hour alone on the day of the note, `T14:30`; an end alone, `/2027-01-09`, behind its beginning."""
    if note.due_at_ms is None or not due.startswith(("T", "/")):
        return due
    local = series.local_of(note.due_at_ms, note.time_zone)
    day = local[:DAY_CHARS]
    return f"{day}{due}" if due.startswith("T") else f"{local if note.due_exact and ':' in due else day}{due}"


def _rhythm(desk: Desk, note: Note, repeats: str, due: str) -> dict[str, Any]:
    """The fields by which a note that doesn't ring comes again and again, or once. Raises `Refused`."""
    if note.rings:
        raise Refused(f"Not done: it rings, so remind gives it its rhythm, with at and repeats: {desk.line(note)}")
    if repeats.lower() in NONE:
        return {"repeats": ""}
    if not due and note.due_at_ms is not None:
        local = series.local_of(note.due_at_ms, note.time_zone)
        due = local if note.due_exact else local[:DAY_CHARS]
    return {**desk.rhythm(repeats, due), "time_zone": desk.zone}


def _rests_until(desk: Desk, note: Note, given: str) -> int | None:
    """The time until which a note is put off. Raises `Refused`."""
    if given.lower() in NONE:
        desk.goes_on += (goes_on(note.note_id),) if is_work(note) else ()
        return None
    if given.lower() != UNTIL_TOLD:
        until_ms = desk.time(given).at_ms(desk.zone)
        if note.kind == "event" and not note.repeats and until_ms > (note.due_at_ms or until_ms):
            raise Refused(f"Not done, its day is before that; due moves an event: {desk.line(note)}")
        return until_ms
    if not note.repeats:
        raise Refused(f"Not done: without a day only a series can rest. Give a day: {desk.line(note)}")
    return UNTIL_TOLD_MS
