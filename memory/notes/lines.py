"""Notes as lines that a person reads: quotes of theirs with the day they are about. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memory.language.calendar import calendar_of
from memory.language.sentences import shorten
from memory.notes.types import LastingNote, Matter
from memory.types import LoopOwner, OpenLoop
from memory.zones import zone_of

LINE_MAX_CHARS = 220
_OWNERS: dict[str, LoopOwner] = {"user": "user", "assistant": "assistant"}


def line_of(note: Matter | LastingNote, now_ms: int, zone: str, language: str = "en") -> str:
    """Return one line: the day ahead if there is one, the words, and when they were said; days in the language."""
    calendar = calendar_of(language)
    text = shorten(note.text, LINE_MAX_CHARS)
    words = calendar.quoted.format(words=text) if note.quoted else text
    due_at_ms = note.due_at_ms if isinstance(note, Matter) else None
    if note.quoted == "assistant":
        words = calendar.own.format(words=words)
    if due_at_ms is not None:
        day = _written(due_at_ms, zone, calendar.day_of_week)
        return f"{calendar.past.format(day=day) if due_at_ms < now_ms else day}: {words}"
    return f"{words} ({_written(note.said_at_ms, zone, calendar.day)})"


def day_of_year(at_ms: int, zone: str, language: str) -> str:
    """Return a day with its year, `20 Mar 2026`; a time outside the calendar as `?`."""
    return _written(at_ms, zone, calendar_of(language).day_of_year)


def _written(at_ms: int, zone: str, write: Callable[[datetime], str]) -> str:
    try:
        return write(datetime.fromtimestamp(at_ms / 1000, zone_of(zone)))
    except (OverflowError, OSError, ValueError):
        return "?"


def loop_of(matter: Matter) -> OpenLoop:
    """Return the matter as an open loop, for everything that lists, closes or counts loops; the id is the same."""
    return OpenLoop(
        loop_id=matter.matter_id,
        kind="question" if matter.kind == "question" else "commitment" if matter.kind == "promise" else "task",
        owner=_OWNERS.get("" if matter.kind == "event" else matter.owner, "other"),
        text=matter.text,
        turn_id=matter.turn_ids[0],
        opened_seq=0,
        opened_at_ms=matter.said_at_ms,
        touched_at_ms=matter.said_at_ms,
        due_at_ms=matter.due_at_ms,
        due_exact=matter.due_exact,
        snoozed_until_ms=matter.snoozed_until_ms,
        status="open" if matter.snoozed_until_ms is None else "snoozed",
    )
