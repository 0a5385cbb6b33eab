"""The list that was shown last, so that `/forget 2` has a meaning. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.text import shorten
from memory.types import ListedItem, SessionState, ShownList

MAX_ITEMS: Final = 60
MAX_TEXT_CHARS: Final = 120
LISTED_TURNS: Final = 6
"""A list is spoken of for this many turns; later a number means nothing any more."""
_PLACES: Final = re.compile(r"\s*#?(\d{1,3})(?:[\s,;&+]+#?(\d{1,3}))*\s*\Z")


def show(state: SessionState, items: Sequence[ListedItem], at_ms: int) -> SessionState:
    """The state in which this is the list that was shown last; without items none was."""
    kept = tuple(item.model_copy(update={"text": shorten(item.text, MAX_TEXT_CHARS)}) for item in items[:MAX_ITEMS])
    listed = ShownList(items=kept, seq=state.last_seq, at_ms=at_ms) if kept else None
    return state.model_copy(update={"listed": listed})


def shown_last(state: SessionState) -> tuple[ListedItem, ...]:
    """The items of the list that was shown last, in order; nothing when that is too long ago."""
    listed = state.listed
    return listed.items if listed and state.last_seq - listed.seq < LISTED_TURNS else ()


def places_in(words: str) -> tuple[int, ...]:
    """The places that `2` or `2, 3` points at; nothing for anything else."""
    if not _PLACES.match(words):
        return ()
    return tuple(dict.fromkeys(int(number) for number in re.findall(r"\d+", words)))


def picked(items: Sequence[ListedItem], numbers: Sequence[int]) -> tuple[ListedItem, ...]:
    """The items at these places; nothing when one of the places is not on the list."""
    places = [number - 1 for number in numbers]
    return tuple(items[place] for place in places) if all(0 <= place < len(items) for place in places) else ()
