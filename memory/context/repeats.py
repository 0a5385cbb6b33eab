"""Lines of a summary that notes tell already: each fact stands in a prompt once. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.search.terms import little_words, split_words
from memory.text import folded

TOLD_SHARE: Final = 0.6
"""Of a line's words, the little ones aside, so many stand in the notes that tell the same."""
LEAST_WORDS: Final = 3
_DIGITS = re.compile(r"\d+")
_DATED = re.compile(r"\(\d{4}-\d\d-\d\d\)\s*$")


def untold(lines: Sequence[str], notes: Iterable[str]) -> list[str]:
    """The lines that the notes do not tell: told is one whose numbers all stand in them, and most of its words.

    Words are compared by their beginning, so that their ending and accents do not matter.
    """
    text = "\n".join(notes)
    words, numbers = word_keys(text), set(_DIGITS.findall(text))
    return [line for line in lines if not _is_told(_DATED.sub("", line), words, numbers)]


def tells(note: str, message: str) -> bool:
    """Whether a note holds half of a message's words or more, the little ones aside."""
    words = word_keys(message)
    return bool(words) and 2 * len(words & word_keys(note)) >= len(words)


def _is_told(line: str, told: frozenset[str], numbers: set[str]) -> bool:
    words = word_keys(line.split(":", 1)[-1])
    is_long = len(words) >= LEAST_WORDS
    return is_long and len(words & told) >= TOLD_SHARE * len(words) and numbers.issuperset(_DIGITS.findall(line))


def word_keys(text: str) -> frozenset[str]:
    """How the words of a text begin, the little ones and numbers aside: two texts are compared by them."""
    words = (folded(word).replace("œ", "oe") for word in split_words(text) if word not in little_words())
    return frozenset(word[: max(4, len(word) - 2)] for word in words if not _DIGITS.search(word))
