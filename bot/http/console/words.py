"""The program's own words in an operator's: states, kinds, tiers, hands. Pure."""

from __future__ import annotations

from typing import Final

from bot.dates import every_text, local
from memory.ledger.types import UNTIL_TOLD_MS, NoteChange

TIERS: Final = {
    "history": "messages as they were",
    "summary": "summary of older messages",
    "retrieved": "found in the past",
    "today": "earlier the same day",
    "threads": "open when it began",
    "memories": "notes",
    "last_conversation": "earlier days",
    "instructions": "instructions",
    "tools": "descriptions of tools",
    "bootstrap": "how to use notes",
    "message": "the message itself",
    "frame": "times and headings",
}
ACTIONS: Final = {
    "small_talk": "small talk, by rules",
    "beyond": "said what it can't do without a model",
    "kept": "kept it in the talk alone, by rules",
    "asked": "looked it up, by rules",
    "asked_back": "asked back, by rules",
    "noted": "noted it, by rules",
    "done": "ended it, by rules",
    "care": "fixed words of care",
    "private": "private: nothing of it is noted",
}
CALL_STATES: Final = {
    "asked": "waits for the person's yes",
    "planned": "about to begin",
    "running": "under way",
    "done": "done",
    "failed": "failed",
    "unknown": "nobody knows whether it happened",
    "declined": "the person said no",
    "expired": "the question ran out",
    "left": "let go",
}
FILE_STATES: Final = {
    "wanted": "not fetched yet",
    "fetched": "here, not read yet",
    "read": "read",
    "failed": "couldn't be read",
    "expired": "gone from Telegram",
}
HANDS: Final = {
    "person": "the person",
    "model": "the assistant",
    "keeper": "the keeper of notes",
    "offline": "rules, without a model",
    "operator": "an operator",
}
OWNERS: Final = {"user": "the person", "assistant": "the assistant"}
MODES: Final = {
    "ask": "ask what to carry forward",
    "use": "carry it forward",
    "off": "start fresh",
}
VERDICTS: Final = {"ok": "in order", "behind": "in order, behind", "missing": "rebuilt when needed", "wrong": "wrong"}
ENDINGS: Final = {"done": "done", "dropped": "dropped", "replaced": "merged into another"}
_VERBS: Final = {
    "add": "Noted",
    "change": "Changed",
    "end": "Ended",
    "merge": "Merged",
    "reopen": "Reopened",
    "ring": "Rang",
    "undo": "Taken back",
}
_FIELDS: Final = {
    "kind": "kind",
    "text": "text",
    "subject": "a value of",
    "owner": "up to",
    "due_at_ms": "due",
    "ends_at_ms": "ends",
    "time_zone": "clock",
    "rings_from": "rings from",
    "rings_at_ms": "rings next",
    "repeats": "repeats",
    "rings_again_min": "rings again, minutes later",
    "status": "state",
    "about": "belongs to",
    "weight": "weight",
    "confidence": "certainty",
    "snoozed_until_ms": "snoozed until",
    "replaced_by": "replaced by",
    "offered": "asked how it went",
    "doubtful": "in doubt",
}


def day(at_ms: int, time_zone: str) -> str:
    """The day of a note that has no hour, by the note's own clock.

    >>> day(1_803_895_200_000, "UTC")
    '2027-03-01'
    """
    return f"{local(at_ms, time_zone):%Y-%m-%d}"


def session_state(status: str, *, current: bool) -> str:
    """The state of a session in a word: open, asked back or over.

    >>> session_state("resuming", current=True)
    'open'
    """
    if not current:
        return "over"
    return "asked back" if status == "awaiting_clarification" else "open"


def verb(change: NoteChange) -> str:
    """The verb of a change, and its hand: `Noted by the keeper of notes`."""
    return f"{_VERBS[change.verb]} by {HANDS[change.hand]}"


def fields(change: NoteChange) -> list[tuple[str, object, object]]:
    """Name, value before (None for none) and value now of each changed field with a place in a note's history."""
    return [
        (_FIELDS[name], _read(name, change.before.get(name)), _read(name, value))
        for name, value in change.after.items()
        if name in _FIELDS
    ]


def _read(name: str, value: object) -> object:
    """A field's value for a reader: a rhythm, an owner and a pause in words, everything else unchanged."""
    if name == "snoozed_until_ms" and value == UNTIL_TOLD_MS:
        return "they say so"
    if name == "rings_again_min" and isinstance(value, list):
        return ", ".join(map(str, value))
    if name == "owner" and isinstance(value, str):
        return OWNERS.get(value, value)
    return every(value) if name == "repeats" and isinstance(value, str) and value else value


def every(rule: str) -> str:
    """The rhythm of a series.

    >>> every("FREQ=WEEKLY;BYDAY=TU")
    'every Tuesday'
    """
    return every_text(rule, "en")


def in_words(name: str, table: dict[str, str]) -> str:
    """The words for a name; the name itself, without its underscores, where there are none."""
    return table.get(name, name.replace("_", " "))
