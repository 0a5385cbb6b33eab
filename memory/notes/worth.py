"""How likely somebody who comes back would miss a note, and how likely somebody has to act in it. Pure.

Both are log-odds: sums of what speaks for and against it. The weights were fitted by logistic regression to labelled
people who come back, see `docs/explanation/continuity.md`; they know nothing of any language. Only what a quote cannot
show was set by hand: "said", whether a model or a hand that worded it called it something to do, and "lasts".
"""

from __future__ import annotations

from memory.notes.types import DAY_MS, LastingNote, Matter

_DAYS_MAX, _ELSEWHERE_MAX, _AGAIN_MAX, _WORDS_MAX, _AKIN_MAX = 30, 3, 3, 40, 5.0
_MISSED = {
    "any": -2.25, "weight": 3.8, "days": -0.025, "elsewhere": 0.15, "again": 0.25, "ahead": 0.7, "words": 0.05,
    "event": 0.5, "taken_up": 0.7, "told": -0.4, "owed": 0.2, "akin": 0.65, "newest": 0.3,
}  # fmt: skip
_WAITED_FOR = {
    "any": -2.75, "weight": 2.1, "days": -0.04, "elsewhere": 0.2, "again": 0.25, "ahead": 0.25, "words": 0.02,
    "event": -0.4, "taken_up": 0.9, "pending": 0.15, "told": -0.4, "ours": 0.6, "story": 0.5, "owed": 0.8,
    "theme": -0.6, "akin": 0.65, "newest": 0.5, "said": 3.0, "lasts": -2.0,
}  # fmt: skip
_WAITING_KINDS = frozenset({"task", "promise", "question", "story"})
"""A story waits for what the person does next."""


def signs_of_worth(
    note: Matter | LastingNote, now_ms: int, *, elsewhere: int, again: int, akin: float, newest: bool
) -> dict[str, float]:
    """Return what a note's worth depends on, by name.

    `elsewhere` counts the other sessions that have a word of it, `again` the notes of later that share two words;
    `akin` is how much the other notes speak of it (1.0: like most), `newest` whether it is of the newest session.
    """
    matter = note if isinstance(note, Matter) else None
    signs = matter.signs if matter else ()
    return {
        "any": 1.0,
        "weight": note.weight,
        "days": min((now_ms - note.said_at_ms) / DAY_MS, _DAYS_MAX),
        "elsewhere": min(elsewhere, _ELSEWHERE_MAX),
        "again": min(again, _AGAIN_MAX),
        "ahead": matter is not None and matter.due_at_ms is not None and matter.due_at_ms > now_ms,
        "words": min(len(note.text.split()), _WORDS_MAX),
        "event": note.kind == "event",
        "taken_up": "taken_up" in signs,
        "pending": "pending" in signs,
        "told": "told" in signs,
        "ours": matter is not None and matter.owner == "assistant",
        "story": note.kind == "story",
        "owed": note.kind in {"task", "promise"},
        "theme": note.kind == "theme",
        "akin": min(akin, _AKIN_MAX),
        "newest": newest,
        "said": 0 if note.quoted else 1 if is_waiting(note) else -1,
        "lasts": matter is None,
    }


def is_waiting(note: Matter | LastingNote) -> bool:
    """Return whether the note is of a kind in which somebody has to do or answer something."""
    return note.kind in _WAITING_KINDS


def missed(signs: dict[str, float]) -> float:
    """Return the log-odds that the person would miss the note when they come back."""
    return round(sum(weight * signs[name] for name, weight in _MISSED.items()), 3)


def waited_for(signs: dict[str, float]) -> float:
    """Return the log-odds that somebody has to do or answer something in it."""
    return round(sum(weight * signs[name] for name, weight in _WAITED_FOR.items()), 3)
