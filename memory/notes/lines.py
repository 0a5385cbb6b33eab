"""Notes as lines that a person reads: quotes of theirs with the day they are about. Pure."""

from __future__ import annotations

from datetime import datetime

from memory.language.sentences import shorten
from memory.language.zones import zone_of
from memory.notes.types import LastingNote, Matter
from memory.types import OpenLoop

LINE_MAX_CHARS = 220
_SAID_BY_US = "I said: "
_WAS = "was "


def line_of(note: Matter | LastingNote, now_ms: int, zone: str) -> str:
    """Return one line: the day ahead if there is one, the words, and when they were said."""
    text = shorten(note.text, LINE_MAX_CHARS)
    words = f"“{text}”" if note.quoted else text
    due_at_ms = note.due_at_ms if isinstance(note, Matter) else None
    ours = _SAID_BY_US if note.quoted == "assistant" else ""
    if due_at_ms is not None:
        when = f"{_WAS if due_at_ms < now_ms else ''}{day_text(due_at_ms, zone, weekday=True)}"
        return f"{when}: {ours}{words}"
    return f"{ours}{words} ({day_text(note.said_at_ms, zone)})"


def day_text(at_ms: int, zone: str, *, weekday: bool = False) -> str:
    """Return a day as people write it, `20 Mar` or `Fri 20 Mar`; a time outside the calendar as `?`."""
    try:
        at = datetime.fromtimestamp(at_ms / 1000, zone_of(zone))
    except (OverflowError, OSError, ValueError):
        return "?"
    return f"{at:%a} {at.day} {at:%b}" if weekday else f"{at.day} {at:%b}"


def loop_of(matter: Matter) -> OpenLoop:
    """Return the matter as an open loop, for everything that lists, closes or counts loops; the id is the same."""
    return OpenLoop(
        loop_id=matter.matter_id,
        kind="question" if matter.kind == "question" else "commitment" if matter.kind == "promise" else "task",
        owner="assistant" if matter.owner == "assistant" else "user",
        text=matter.text,
        turn_id=matter.turn_ids[0],
        opened_seq=0,
        opened_at_ms=matter.said_at_ms,
        touched_at_ms=matter.said_at_ms,
        due_at_ms=matter.due_at_ms,
        snoozed_until_ms=matter.snoozed_until_ms,
        status="open" if matter.snoozed_until_ms is None else "snoozed",
    )
