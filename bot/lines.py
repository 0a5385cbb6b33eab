"""A note as a person reads it: the sentence that a friend would have written down, and in brackets what helps. Pure."""

from __future__ import annotations

from datetime import time

from bot import replies
from bot.dates import day_text, days_from, every_text, hour_text, local, tells_day, when_text
from memory.ledger import series
from memory.ledger.types import ASSISTANT, TO_DO, USER, Note
from memory.ledger.views import is_past, is_snoozed

MIDNIGHT = time(0)
_TOGETHER_MS = 60_000
"""What is due and what rings within a minute is one time."""


def note_line(note: Note, now_ms: int, zone: str, *, under_day: bool = False) -> str:
    """One line: `Call Ana (tomorrow at 14:30)`, `Call mum (⏰ every Sunday, next on Sun 29 Nov at 19:00)`.

    Times are by the person's clock, `zone`. With `under_day` the line stands under its day, which it doesn't repeat.
    """
    remarks = "; ".join(_remarks(note, now_ms, zone, under_day=under_day))
    return f"{bare(note.text)} ({remarks})" if remarks else note.text


def bare(text: str) -> str:
    """The text without the stop at its end, for a line that goes on."""
    return text.rstrip().removesuffix(".") if not text.rstrip().endswith("..") else text.rstrip()


def ring_text(note: Note, now_ms: int, zone: str, *, day_told: bool = False) -> str:
    """When it rings: `⏰ tomorrow at 09:00`, `⏰ every Sunday, next …`; "" when it doesn't any more.

    The hour alone where the line or what stands over it tells the day.
    """
    if note.rings_at_ms is None:
        return ""
    language = replies.spoken()
    if day_told and not note.repeats:
        return replies.say("lines.rings", when=hour_text(note.rings_at_ms, zone, language))
    when = when_text(note.rings_at_ms, now_ms, zone, language)
    if not note.repeats:
        return replies.say("lines.rings", when=when)
    every = ", ".join([every_text(note.repeats, language), *_left_out(note, now_ms, zone)])
    moved = next((each for each in note.occurrences if each.moved_to_ms == note.rings_at_ms), None)
    if moved is None or moved.state != "moved":
        return replies.say("lines.next", every=every, when=when)
    hour = hour_text(series.at_ms_of(moved.original_local, note.time_zone), zone, language)
    return replies.say("lines.this_time", every=every, hour=hour, when=when)


def _left_out(note: Note, now_ms: int, zone: str) -> list[str]:
    """Which dates to come of a series are left out."""
    gone = (each.original_local for each in note.occurrences if each.state == "left_out")
    days = (at_ms for local in gone if (at_ms := series.at_ms_of(local, note.time_zone)) > now_ms)
    return [replies.say("lines.not_on", day=day_text(at_ms, now_ms, zone, replies.spoken())) for at_ms in days]


def _remarks(note: Note, now_ms: int, zone: str, *, under_day: bool) -> list[str]:
    found = [note.owner] if note.owner not in {"", USER, ASSISTANT} and note.owner not in note.text else []
    rings_at_ms, language = note.rings_at_ms or 0, replies.spoken()
    is_day = note.due_at_ms is not None and days_from(note.due_at_ms, rings_at_ms, note.time_zone) == 0
    day_told = (under_day and (is_day or note.due_at_ms is None)) or tells_day(note.text, rings_at_ms, zone, language)
    due, rings = _due(note, now_ms, zone, under_day=under_day), ring_text(note, now_ms, zone, day_told=day_told)
    is_one = note.due_at_ms is not None and abs(note.due_at_ms - rings_at_ms) < _TOGETHER_MS
    if due and not (rings and (is_one if note.due_exact else is_day)):
        found.append(due)
    rang = series.last(note, "rang")
    if not rings and rang and not (due and is_past(note, now_ms)):
        at_ms = series.moment_of(note, rang)
        found.append(replies.say("lines.rang", when=when_text(at_ms, now_ms, zone, replies.spoken())))
    if rings:
        found.append(rings)
    if is_snoozed(note, now_ms) and note.snoozed_until_ms is not None:
        has_hour = local(note.snoozed_until_ms, zone).time() != MIDNIGHT
        when = when_text(note.snoozed_until_ms, now_ms, zone, replies.spoken(), exact=has_hour)
        found.append(replies.say("lines.back", when=when))
    if note.about and note.about not in note.text:
        found.append(note.about)
    return [*found, replies.say("lines.edited")] if note.doubtful else found


def _due(note: Note, now_ms: int, zone: str, *, under_day: bool) -> str:
    """When it is due: the hour alone under its day; said to be over when it is."""
    if note.due_at_ms is None:
        return ""
    language, clock = replies.spoken(), zone if note.due_exact else note.time_zone
    when = when_text(note.due_at_ms, now_ms, clock, language, exact=note.due_exact)
    told = tells_day(note.text, note.due_at_ms, clock, language)
    if is_past(note, now_ms) and not (told and note.kind not in TO_DO):
        return replies.say("lines.late" if note.kind in TO_DO else "lines.was", when=when)
    if told and not note.due_exact:
        return ""
    if under_day:
        return hour_text(note.due_at_ms, clock, language) if note.due_exact else ""
    return when
