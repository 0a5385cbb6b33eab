"""The tool `end`: notes that are done or dropped, or that stand again; of a series one date."""

from __future__ import annotations

from typing import Any, Final

from bot.answers.tools.desk import Desk, Refused
from memory.ledger import series
from memory.ledger.types import End, Note, Reopen

HOWS: Final = ("done", "dropped", "reopen")


async def end(desk: Desk, numbers: Any, how: str) -> str:
    """End notes, or let them stand again. Raises `Refused`."""
    if how not in HOWS:
        raise Refused(f"Not done: how is one of {', '.join(HOWS)}.")
    notes, problems = desk.picked(numbers, ended=how == "reopen")
    if how == "reopen":
        said = [desk.done("Stands again", Reopen(number=note.number)) for note in notes]
    else:
        said = [_ended(desk, note, how) for note in notes]
    return "\n".join([*said, *problems])


def _ended(desk: Desk, note: Note, how: str) -> str:
    """End one note; of a series that is done one date."""
    turn_ids = (desk.ask.turn_id,)
    if how == "dropped":
        return desk.done("Ended", End(number=note.number, how="dropped", turn_ids=turn_ids))
    if not note.repeats:
        return desk.done("Ended", End(number=note.number, turn_ids=turn_ids))
    date = _date_that_is_done(note, desk.ask.now_ms)
    if not date:
        return (
            f"Not done, its next date is still ahead: {desk.line(note)}. dropped ends the whole series; remind "
            "with numbers, date and skip leaves one date out."
        )
    said = desk.done(f"The date {date} is done", End(number=note.number, occurrence=date, turn_ids=turn_ids))
    left = desk.notes.find(note.number)
    if left is not None and left.is_open and series.next_ring(left) is None:
        return desk.done("Ended, that was its last date", End(number=note.number))
    return said


def _date_that_is_done(note: Note, now_ms: int) -> str:
    """The date of a series that somebody can call done now: the one that rang, else today's; "" for none."""
    rang = [each.original_local for each in note.occurrences if each.state in {"rang", "snoozed"}]
    coming = series.next_ring(note)
    today = series.local_of(now_ms, note.time_zone)[:10]
    if not rang and coming and series.local_of(coming[1], note.time_zone).startswith(today):
        return coming[0]
    return rang[-1] if rang else ""
