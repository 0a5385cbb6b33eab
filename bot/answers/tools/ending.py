"""The tool `end`: notes that are done or dropped, or that stand again; of a series one date."""

from __future__ import annotations

from typing import Any, Final, Literal

from bot.answers.tools.desk import Desk, Refused, Wish
from bot.answers.tools.one_date import one_date
from memory.ledger import series
from memory.ledger.own_dates import has_own_dates, own_date
from memory.ledger.rules import DAY_CHARS, LOCAL, goes_on_daily, is_several_a_day, read_local
from memory.ledger.spans import date_of, ended_date, is_one_matter
from memory.ledger.types import End, Note, Reopen

HOWS: Final = ("done", "dropped", "reopen")
AHEAD_SHARE: Final = 3
"""A date is ahead when it is to come in more than a third of the time since the one before rang."""
ALL: Final = "all"
NAGS: Final = f"Was it to ring only until that was done? Then call again with date {ALL}."
AHEAD: Final = (
    f"With date that one is done, with date {ALL} the whole series; dropped ends it, with dates it leaves those out."
)


async def end(desk: Desk, numbers: Any, how: str, date: str = "") -> str:
    """End notes, or let them stand again; of a series the date of this day, done or left out. Raises `Refused`."""
    if how not in HOWS:
        raise Refused(f"Not done: how is one of {', '.join(HOWS)}.")
    notes, problems = desk.picked(numbers, ended=how == "reopen")
    if how == "reopen":
        said = [_reopened(desk, note, date.strip()) for note in notes]
    else:
        said = [_ended(desk, note, "dropped" if how == "dropped" else "done", date.strip()) for note in notes]
    return "\n".join([*said, *problems])


def _reopened(desk: Desk, note: Note, day: str) -> str:
    """Let one note stand again; of several dates one, the latest that was called done where none is named."""
    occurrence = ended_date(note, day, desk.zone) if day else ""
    if occurrence is None and note.is_open:
        return f"Not done: it has no date {day} that was done or left out: {desk.line(note)}"
    return desk.done("Stands again", Reopen(number=note.number, occurrence=occurrence or ""))


def _ended(desk: Desk, note: Note, how: Literal["done", "dropped"], day: str) -> str:
    """End one note; of a series one date where it is done, or where one is named, else all of it."""
    turn_ids = (desk.ask.turn_id,)
    if how == "dropped" and day not in {"", ALL} and note.repeats:
        return one_date(desk, note, Wish(date=day, skip=True))
    if how == "dropped" or not note.repeats or day == ALL or (is_one_matter(note) and not day):
        return desk.done("Ended", End(number=note.number, how=how, turn_ids=turn_ids))
    date = date_of(note, day, desk.zone) if day else series.date_to_end(note, desk.ask.now_ms)
    if date is None:
        return f"Not done: it has no date on {day}: {desk.line(note)}"
    done = series.last(note, "done")
    if done is not None and date in {"", done.original_local}:
        return f"The date {done.original_local} is done already, the series goes on: {desk.line(note)}"
    if early := _too_early(desk, note, date, is_named=bool(day)):
        return early
    named = date
    if date and has_own_dates(note):
        named = f"{own_date(note, read_local(date)):{LOCAL}}"[: None if note.due_exact else DAY_CHARS]
    said = desk.done(f"The date {named} is done", End(number=note.number, occurrence=date, turn_ids=turn_ids))
    return said + _behind(desk.notes.find(note.number))


def _behind(left: Note | None) -> str:
    """What a model is told behind a date that is done: that it was the last, or how all of it ends."""
    if left is None or not left.is_open:
        return ". That was its last date"
    may_nag = left.rings and goes_on_daily(left.repeats) and not is_several_a_day(left.repeats)
    return f". {NAGS}" if may_nag else ""


def _too_early(desk: Desk, note: Note, local: str, *, is_named: bool) -> str:
    """Why a date of a series is not called done yet; "" where it may be.

    “Took it” is said in the morning of last night's date: one that rang and waits goes before one that was named and is
    ahead for over a quarter of the time between them. Without tonight's ring nobody would think of tonight's.
    """
    now_ms = desk.ask.now_ms
    coming, rang = series.next_date(note, now_ms), series.last(note, "rang") if is_named else None
    if rang and AHEAD_SHARE * (series.at_ms_of(local, note.time_zone) - now_ms) > now_ms - series.moment_of(note, rang):
        waits = f"{rang.original_local} rang and was not called done"
        return f"Not done: {local} is ahead, and {waits}. Without date that one is."
    if not local or (coming and local > coming[0]):
        return f"Not done, its next date is still ahead: {desk.line(note)}. {AHEAD}"
    return ""
