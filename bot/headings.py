"""The notes under the headings of /memory: who the person is, then people, limits, decisions, what goes on. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Final, Literal

from memory.ledger.own_dates import at_next_date
from memory.ledger.types import ANYBODYS, Kind, Note, is_anothers
from memory.ledger.views import (
    DAY_MS,
    WEIGHS,
    best_first,
    ends_at,
    has_faded,
    is_on_agenda,
    is_over,
    is_routine,
    is_story,
    standing,
)

Heading = Literal["you", "people", "preferences", "decisions", "going_on", "stories", "over", "faded"]
HEADINGS: Final[tuple[tuple[Heading, frozenset[Kind]], ...]] = (
    ("you", frozenset({"fact"})),
    ("people", frozenset({"person"})),  # and what somebody else likes or cannot have
    ("preferences", frozenset({"preference", "constraint"})),
    ("decisions", frozenset({"decision"})),
    ("going_on", frozenset({"project", "event"})),
)
"""The headings of /memory, in their order, for real notes; fiction comes behind them, what is over last."""
LISTED_MS = 3 * DAY_MS
"""What is over is listed for so long: on Wednesday people called a lunch on Sunday stale."""
_MATTERS = 0.4
"""From this weight on a note is an ordinary one."""
_WORD = re.compile(r"[^\W_]+")


def by_heading(notes: Iterable[Note], now_ms: int) -> list[tuple[Heading, list[Note]]]:
    """All events and stories, and what /loops gives no number, by heading: the weightiest first, people together.

    An event stays here when it gets a reminder. Matters that go on come by their days, then those without. A story
    stands whole, with its scene. `faded` is what was over days ago.
    """
    kept = [
        note
        for note in standing(notes, now_ms)
        if is_story(note) or not is_on_agenda(note, now_ms) or (note.kind == "event" and not is_over(note, now_ms))
    ]
    real = [note for note in kept if not is_story(note)]
    over = sorted((note for note in real if is_over(note, now_ms)), key=lambda note: -(note.due_at_ms or 0))
    current = [note for note in real if not is_over(note, now_ms)]
    small = {word for note in kept for word in _WORD.findall(note.text) if word.islower()}
    orders: dict[Heading, Callable[[list[Note]], list[Note]]] = {
        "you": _who_first,
        "people": partial(_person_by_person, small=small),
        "going_on": partial(_by_day, now_ms=now_ms),
    }
    parts: list[tuple[Heading, list[Note]]] = [
        (name, orders.get(name, by_weight)([note for note in current if _kind_shown(note) in kinds]))
        for name, kinds in HEADINGS
    ]
    parts.append(("stories", best_first(filter(is_story, kept), now_ms)))
    faded = [note for note in over if _is_left_out(note, now_ms)]
    parts.append(("over", [note for note in over if note not in faded]))
    parts.append(("faded", faded))
    return [(name, found) for name, found in parts if found]


def _is_left_out(note: Note, now_ms: int) -> bool:
    """Whether what is over is not listed any more: a shift or a lesson at once, another event after a while."""
    return is_routine(note) or has_faded(note, now_ms) or now_ms - (ends_at(note) or 0) >= LISTED_MS


def _kind_shown(note: Note) -> Kind:
    """The kind by which a note stands under its heading: somebody else's preference or constraint is about a person."""
    return "person" if note.kind in ANYBODYS and is_anothers(note) else note.kind


def by_weight(notes: Iterable[Note]) -> list[Note]:
    """Notes that weigh, ordinary ones, light ones; of each what was told first."""
    return sorted(notes, key=lambda note: ((note.weight < WEIGHS) + (note.weight < _MATTERS), note.number))


def _who_first(notes: Sequence[Note]) -> list[Note]:
    """What the person told of themselves first, which is mostly who they are; the rest by weight."""
    first = min((note for note in notes if note.weight >= _MATTERS), key=lambda note: note.number, default=None)
    return sorted(by_weight(notes), key=lambda note: note is not first)


def _person_by_person(notes: Sequence[Note], small: Collection[str]) -> list[Note]:
    """Notes by weight, those about one person together: what was told of them first, which is mostly who they are.

    A name stands in several of them, begins one or owns it, and is no word that is written `small` elsewhere (`your`).
    """
    words = [_words(note) for note in notes]
    shared = Counter(word for each in words for word in set(each))
    names = {first for first, *_ in words if first.casefold() not in small and shared[first] > 1}
    groups: dict[str, list[Note]] = {}
    for note in by_weight(notes):
        groups.setdefault(next((word for word in _words(note) if word in names), note.note_id), []).append(note)
    return [note for group in groups.values() for note in sorted(group, key=lambda note: note.number)]


def _words(note: Note) -> list[str]:
    """The owner of a note, where that is somebody else, and its words."""
    return [*([note.owner] if is_anothers(note) else []), *(_WORD.findall(note.text) or [note.text])]


def _by_day(notes: Sequence[Note], now_ms: int) -> list[Note]:
    """What goes on without a day, then day by day, a series by its next, then the rest."""

    def place(note: Note) -> tuple[bool, bool, int]:
        at_ms = at_next_date(note, now_ms).due_at_ms
        return not (at_ms is None and note.kind == "project"), at_ms is None, at_ms or 0

    return sorted(by_weight(notes), key=place)
