"""The tool `end`: notes that are done or dropped, or that stand again; of a series one date."""

from __future__ import annotations

from typing import Any, Final

from bot.answers.tools.desk import Desk, Refused
from bot.answers.tools.ringing import date_of
from memory.ledger import series
from memory.ledger.types import End, Note, Reopen

HOWS: Final = ("done", "dropped", "reopen")
AHEAD: Final = "dropped ends the whole series; remind with numbers, date and skip leaves one date out."


async def end(desk: Desk, numbers: Any, how: str, date: str = "") -> str:
    """End notes, or let them stand again; of a series that is done the date of this day. Raises `Refused`."""
    if how not in HOWS:
        raise Refused(f"Not done: how is one of {', '.join(HOWS)}.")
    notes, problems = desk.picked(numbers, ended=how == "reopen")
    if how == "reopen":
        said = [_reopened(desk, note, date.strip()) for note in notes]
    else:
        said = [_ended(desk, note, how, date.strip()) for note in notes]
    return "\n".join([*said, *problems])


def _reopened(desk: Desk, note: Note, day: str) -> str:
    """Let one note stand again; of a series one date, the latest that was called done where none is named."""
    occurrence = (date_of(note, day, desk.zone) or day) if day and note.repeats else ""
    return desk.done("Stands again", Reopen(number=note.number, occurrence=occurrence))


def _ended(desk: Desk, note: Note, how: str, day: str) -> str:
    """End one note; of a series that is done one date."""
    turn_ids = (desk.ask.turn_id,)
    if how == "dropped":
        return desk.done("Ended", End(number=note.number, how="dropped", turn_ids=turn_ids))
    if not note.repeats:
        return desk.done("Ended", End(number=note.number, turn_ids=turn_ids))
    date = date_of(note, day, desk.zone) if day else series.date_to_end(note, desk.ask.now_ms)
    if date is None:
        return f"Not done: it has no date on {day}: {desk.line(note)}"
    done, coming = series.last(note, "done"), series.next_date(note, desk.ask.now_ms)
    if done is not None and date in {"", done.original_local}:
        return f"The date {done.original_local} is done already, the series goes on: {desk.line(note)}"
    if not date or (coming and date > coming[0]):
        return f"Not done, its next date is still ahead: {desk.line(note)}. {AHEAD}"
    said = desk.done(f"The date {date} is done", End(number=note.number, occurrence=date, turn_ids=turn_ids))
    left = desk.notes.find(note.number)
    return said if left is not None and left.is_open else f"{said}. That was its last date"
