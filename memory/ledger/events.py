"""Events of notes for a prompt: what rang, and what the person did by a button, a line for each note. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from memory.ledger import series
from memory.ledger.lines import brief_moment, model_line, moment
from memory.ledger.types import UNTIL_TOLD_MS, Ledger, Note, NoteChange, Occurrence
from memory.ledger.views import Scope, belongs, is_work
from memory.text import shorten

EVENT_DEEDS: Final = 2
KNOWN_CHARS: Final = 60
"""Characters of a note's text in the line of an event, or where a prompt tells it: its number tells the rest."""
RANG_CHARS: Final = 160
"""The same of what rang: the next message may answer it, and where it rang stands in no message."""
MOST_EVENTS: Final = 8
"""So many of the latest are told after a long silence; how every note stands the block tells."""


def by_note(changes: Iterable[NoteChange]) -> dict[int, list[NoteChange]]:
    """Changes by the number of their note, each note's in their order."""
    of_note: dict[int, list[NoteChange]] = {}
    for change in sorted(changes, key=lambda each: each.version):
        of_note.setdefault(change.number, []).append(change)
    return of_note


def events(
    ledger: Ledger,
    changes: Iterable[NoteChange],
    scope: Scope,
    *,
    answered_ms: int,
    now_ms: int,
    zone: str,
    beside: Collection[int] = (),
) -> dict[int, str]:
    """The notes that rang, or that the person tapped, after a moment: a line each by its number, the latest last.

    `#12 Call Ana: rang at 17:00, ticked off at 17:05`. At most the latest of them, each with its last two deeds. Lines
    that stand `beside` tell how those notes are now, and until when they were put off.
    """
    found: dict[int, str] = {}
    for number, done in by_note(change for change in changes if change.at_ms > answered_ms).items():
        note = ledger.find(number)
        if note is None or not belongs(note, scope) or ran_alone(note, done):
            continue
        if number in beside and all(map(_put_off_until, filter(is_event, done))):
            continue
        now = "" if number in beside else _now(note, done, now_ms, zone)
        if line := _event(note, done, now_ms, zone, is_named=not now):
            found[number] = line + now
    return dict(list(found.items())[-MOST_EVENTS:])


def ran_alone(note: Note, done: Iterable[NoteChange]) -> bool:
    """Whether a note is work that did nothing but come by the clock and go on: its answer stands in the messages."""
    return is_work(note) and note.rings_at_ms is not None and all(map(is_by_clock, done))


def is_by_clock(change: NoteChange) -> bool:
    """Whether the clock made a change: an operator's own has no cause."""
    return change.hand == "operator" and bool(change.cause)


def is_by_hand(change: NoteChange) -> bool:
    """Whether the clock, a button or a command made a change: it stands in no message."""
    return change.verb == "ring" or change.hand == "person"


def is_rung_alone(done: Iterable[NoteChange]) -> bool:
    """Whether these changes are rings and nothing else."""
    return {each.verb for each in done} == {"ring"}


def is_event(change: NoteChange) -> bool:
    """Whether a change was made by the clock or by a tap, and an event tells it."""
    return bool(_deed(change, change.at_ms, "UTC"))


def line_tells(note: Note, done: Iterable[NoteChange]) -> bool:
    """Whether a note's line tells all events among these changes of it: that it rang in time, or was put off."""
    came = list(filter(is_event, done))
    is_told = note.is_open and not is_work(note) and (series.last(note, "rang") or series.last(note, "snoozed"))
    return bool(is_told) and all(
        _put_off_until(each) or (each.verb == "ring" and not _is_late(each, _date_of(each))) for each in came
    )


def untold_events(
    came: Mapping[int, str], lines: Collection[int], of_note: Mapping[int, Sequence[NoteChange]], ledger: Ledger
) -> dict[int, str]:
    """The events but those that the line of their note, which stands beside them, tells by itself."""
    return {
        number: event
        for number, event in came.items()
        if number not in lines or not line_tells(ledger.notes[number], of_note[number])
    }


def moved_ring(note: Note, done: Sequence[NoteChange], now_ms: int, zone: str) -> str:
    """A remark where a keeper, who talks to nobody, was the last to move when a note rings; "" otherwise."""
    last = next((each for each in reversed(done) if "rings_from" in each.before), None)
    before = last.before["rings_from"] if last is not None and last.hand == "keeper" else ""
    if not before or before == note.rings_from or not note.is_open:
        return ""
    was = brief_moment(now_ms, series.at_ms_of(before, note.time_zone), zone)
    return f" [its ring was {was}; the person was not told]"


def rung_by(notes: Iterable[Note], now_ms: int) -> list[int]:
    """The numbers of work that was to ring next before a moment."""
    return [note.number for note in notes if is_work(note) and note.rings_at_ms and note.rings_at_ms < now_ms]


def _event(note: Note, done: Sequence[NoteChange], now_ms: int, zone: str, *, is_named: bool) -> str:
    """The line of a note's deeds, which names of each date of several its own day and hour once; "" for none.

    Not `is_named` is a note whose text stands behind it.
    """
    deeds, named = list[str](), set[int]()
    for change in list(filter(is_event, done))[-EVENT_DEEDS:]:
        own_ms = _own_ms(note, change)
        is_told = own_ms in named or (change.verb == "ring" and abs(change.at_ms - (own_ms or 0)) < series.LATE_MS)
        named |= {own_ms} if own_ms is not None else set()
        own = "" if own_ms is None or is_told else _brief(own_ms, change.at_ms, now_ms, zone)
        deeds.append(_deed(change, now_ms, zone, own))
    rang = any(change.verb == "ring" for change in done)
    most = RANG_CHARS if rang and not is_work(note) else KNOWN_CHARS
    name = f" {shorten(note.text, most)}" if is_named else ""
    return f"#{note.number}{name}: {', '.join(deeds)}" if deeds else ""


def _own_ms(note: Note, change: NoteChange) -> int | None:
    """When the date of several that a change is about was to ring, or the only one, that rang late; None for none."""
    date = _date_of(change)
    if date is None or not (note.repeats or (change.verb == "ring" and _is_late(change, date))):
        return None
    before = map(Occurrence.model_validate, change.before.get("occurrences", ()))
    was = next(
        (each for each in before if each.original_local == date.original_local and each.state in series.TO_COME), None
    )
    return series.at_ms_of(date.original_local, note.time_zone) if was is None else was.moved_to_ms


def _date_of(change: NoteChange) -> Occurrence | None:
    """The date that a change is about, in its new state; None where it changes another field alone."""
    before = change.before.get("occurrences", ())
    new = [each for each in change.after.get("occurrences", ()) if each not in before]
    return Occurrence.model_validate(new[-1]) if new else None


def _put_off_until(change: NoteChange) -> int | None:
    """Until when the person put a note off with this change, or one date of it; None where they did not."""
    date = _date_of(change) if change.verb == "change" else None
    moved_ms = date.moved_to_ms if date and date.state in series.TO_COME else None
    until_ms: int | None = change.after.get("snoozed_until_ms") or moved_ms
    return until_ms if change.hand == "person" else None


def _is_late(change: NoteChange, date: Occurrence | None) -> bool:
    """Whether a ring came behind its time: nobody was there to ring it."""
    return date is not None and date.moved_to_ms == change.at_ms


def _brief(at_ms: int, beside_ms: int, now_ms: int, zone: str) -> str:
    """A moment for a line that names another: on its day the hour alone."""
    days = {moment(each, zone, exact=False) for each in (at_ms, beside_ms)}
    return moment(at_ms, zone)[-5:] if len(days) == 1 else brief_moment(now_ms, at_ms, zone)


def _now(note: Note, done: Iterable[NoteChange], now_ms: int, zone: str) -> str:
    """How a note stands where a change was taken back: the messages tell that change."""
    is_undone = any(change.verb == "undo" and change.hand == "person" for change in done)
    return f"; now {model_line(note, now_ms, zone, brief=True)}" if is_undone else ""


def _deed(change: NoteChange, now_ms: int, zone: str, own: str = "") -> str:
    """The deed of the clock or of the person's tap, its time and its `own` date; "" where the note's line has the news.

    `rang late at 08:10 for Sun 22 Nov 20:00`, `put off at 08:15, from Sun 22 Nov 20:00 until Mon 23 Nov 09:15`.
    """
    day, now = (moment(each, zone, exact=False) for each in (change.at_ms, now_ms))
    when = f"at {moment(change.at_ms, zone)[-5:]}" if day == now else f"on {brief_moment(now_ms, change.at_ms, zone)}"
    date, of = _date_of(change), f" for {own}" if own else ""
    if change.verb == "ring":
        return f"rang {'late ' if _is_late(change, date) else ''}{when}{of}"
    after = change.after
    if change.hand != "person" or change.cause.startswith("edit:") or after.get("status") == "replaced":
        return ""
    until_ms = _put_off_until(change)
    if until_ms == UNTIL_TOLD_MS:
        return f"paused {when}"
    if until_ms:
        return f"put off {when}{own and f', from {own}'} until {brief_moment(now_ms, until_ms, zone)}"
    if change.verb == "change":
        is_left_out = date is not None and date.state in series.ENDED
        return f"left out {when}{of}" if is_left_out else f"silenced {when}" if after.get("rings_from") == "" else ""
    ends = "dropped" if after.get("status") == "dropped" else "ticked off"
    done = {"end": ends, "undo": "taken back", "reopen": "brought back"}.get(change.verb)
    return f"{done} {when}{of if change.verb == 'end' else ''}" if done else ""
