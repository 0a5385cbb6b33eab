"""Lists in one sentence: "send the cards, order the rings and find a band". Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from memory.language.language import Language
from memory.language.sentences import lowered, stems_of, words_of

_SENTENCES = re.compile(r"(?<=[.!?\u2026])\s+")
_ITEMS_LEAST = 3
_ASIDE = re.compile(r" \([^()]*\)")
_ITEM_WORDS, _FIRST_WORDS = 9, 14
"""An item has a few words; before the first stands what is to be done with all ("I still have to")."""
_LED_WORDS, _THING_WORDS = 3, 2
"""Two are a list where something is to be done with both: "need to buy milk and bread"."""


@lru_cache(maxsize=1024)
def items_of(text: str, language: Language) -> tuple[frozenset[str], ...]:
    """Return the stems of each item of the first list in the text, "A, B and C" or "buy A and B"; empty without one."""
    if not language.conjunctions:
        return ()
    joined = "|".join(map(re.escape, language.conjunctions))
    for sentence in _SENTENCES.split(_ASIDE.sub("", lowered(text))):
        parts = re.split(rf",? (?:{joined}) |, ", sentence)
        last = re.search(rf" (?:{joined}) [^,]*$", sentence)
        words = [words_of(part) for part in parts]
        pair = len(parts) < _ITEMS_LEAST and len(words[0]) >= _LED_WORDS and len(words[-1]) <= _THING_WORDS
        if last is None or len(words[0]) > _FIRST_WORDS or not (pair or len(parts) >= _ITEMS_LEAST):
            continue
        stems = tuple(stems_of(tuple(each), language) for each in words)
        if all(stems) and all(len(each) <= _ITEM_WORDS for each in words[1:]):
            return stems
    return ()


def covers_list(said: frozenset[str], text: str, language: Language) -> bool:
    """Return whether what was said speaks of each item of a list in the text; True where the text is no list."""
    return all(said & item for item in items_of(text, language))


def is_in_part(said: frozenset[str], items: tuple[frozenset[str], ...]) -> bool:
    """Return whether what was said speaks of some of the items and not of all."""
    spoken = [bool(said & item) for item in items]
    return any(spoken) and not all(spoken)


def speaks_of_some(said: str, text: str, language: Language) -> bool:
    """Return whether what was said speaks of an item of a list in the text, and not of each."""
    return is_in_part(stems_of(tuple(words_of(lowered(said))), language), items_of(text, language))
