"""Lines of a summary that notes tell already: each fact stands in a prompt once. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.keeper.wording import numbers
from memory.search.terms import little_words, split_words
from memory.text import folded

TOLD_SHARE: Final = 0.6
"""The share of a line's words, without the little ones, in notes that tell the same."""
LEAST_WORDS: Final = 3
SHARED: Final = 0.4
"""The share of the shorter text's words in another that speaks of the same."""
SHARED_LEAST: Final = 2
_DIGITS = re.compile(r"\d+")
_DATED = re.compile(r"\(\d{4}-\d\d-\d\d\)\s*$")


@dataclass(frozen=True, slots=True)
class NoteWords:
    """The words of a prompt's notes, by how they begin, and their numbers."""

    keys: frozenset[str]
    numbers: frozenset[float]
    """By their values: 1850 is 1.850 and 1,850."""

    @classmethod
    def of(cls, notes: Iterable[str]) -> NoteWords:
        """Read the lines of notes, once for all that is compared with them."""
        text = "\n".join(notes)
        return cls(word_keys(text), _values(text))

    def untold(self, lines: Sequence[str]) -> list[str]:
        """The lines that the notes do not tell: told is one whose numbers all stand in them, and most of its words.

        Words are compared by their beginning, so that their ending and accents do not matter.
        """
        return [line for line in lines if not self.tell(_DATED.sub("", line))]

    def tell(self, line: str) -> bool:
        """Whether the notes tell a line, given without the day on which it was said."""
        keys = word_keys(line.split(":", 1)[-1])
        most = len(keys) >= LEAST_WORDS and len(keys & self.keys) >= TOLD_SHARE * len(keys)
        return most and self.numbers >= _values(line)


def _values(text: str) -> frozenset[float]:
    return frozenset(value for _, value in numbers(text))


def speak_of(notes: Iterable[str], message: str) -> bool:
    """Whether one of these notes holds half of a message's words or more, the little ones aside."""
    keys = word_keys(message)
    return bool(keys) and any(2 * len(keys & word_keys(note)) >= len(keys) for note in notes)


def speaks_of(text: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts, by the keys of their words, speak of the same."""
    least = min(len(text), len(other))
    return least > 0 and len(text & other) >= max(min(SHARED_LEAST, least), SHARED * least)


def word_keys(text: str) -> frozenset[str]:
    """How the words of a text begin, the little ones and numbers aside: two texts are compared by them."""
    words = (folded(word).replace("œ", "oe") for word in split_words(text) if word not in little_words())
    return frozenset(word[: max(4, len(word) - 2)] for word in words if not _DIGITS.search(word))
