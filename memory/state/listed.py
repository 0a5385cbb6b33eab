"""The list shown last, so that `/forget 2` has a meaning. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.text import shorten
from memory.types import ListedItem, SessionState, ShownList

MAX_ITEMS: Final = 60
MAX_TEXT_CHARS: Final = 120
LISTED_TURNS: Final = 6
"""A number means a line of the list for this many turns; later it means nothing any more."""
_PLACES: Final = re.compile(r"\s*#?(\d{1,3})(?:[\s,;&+]+#?(\d{1,3}))*\s*\Z")


def show(state: SessionState, items: Sequence[ListedItem], at_ms: int) -> SessionState:
    """The state with this as the list shown last; without items there is none."""
    kept = tuple(item.model_copy(update={"text": shorten(item.text, MAX_TEXT_CHARS)}) for item in items[:MAX_ITEMS])
    listed = ShownList(items=kept, seq=state.last_seq, at_ms=at_ms) if kept else None
    return state.model_copy(update={"listed": listed})


def shown_last(state: SessionState) -> tuple[ListedItem, ...]:
    """The items of the list shown last, in order; () when that is too long ago."""
    listed = state.listed
    return listed.items if listed and state.last_seq - listed.seq < LISTED_TURNS else ()


def places_in(words: str) -> tuple[int, ...]:
    """The places in `2` or `2, 3`; () for any other text.

    >>> places_in("2, 3")
    (2, 3)
    """
    if not _PLACES.match(words):
        return ()
    return tuple(dict.fromkeys(int(number) for number in re.findall(r"\d+", words)))


def picked(items: Sequence[ListedItem], numbers: Sequence[int]) -> tuple[ListedItem, ...]:
    """The items at these places; () when one of the places is not on the list."""
    places = [number - 1 for number in numbers]
    return tuple(items[place] for place in places) if all(0 <= place < len(items) for place in places) else ()
