"""Notes that a model means: by their numbers, by exactly their words, else those that come near. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.ledger import views
from memory.ledger.types import Note
from memory.search.terms import little_words

CANDIDATES: Final = 8
_NUMBERS: Final = re.compile(r"[\s\[\]#,;\d]+")
_WORD: Final = re.compile(r"\w+")
SHORT: Final = 3
"""Letters of a word that have to be the same at least; of a longer one all but its last three, where endings are."""


@dataclass(frozen=True, slots=True)
class NamedNotes:
    """The notes that a call names: numbers, and words where a number was asked."""

    numbers: tuple[int, ...]
    words: tuple[str, ...] = ()


def wanted(given: Any) -> NamedNotes:
    """Numbers as a model gave them: 12, "12", "#12", [12, 13], "[12, 13]", or the words of a note."""
    numbers: dict[int, None] = {}
    words: list[str] = []
    for each in given if isinstance(given, (list, tuple)) else [given]:
        text = str(each).strip()
        if text and _NUMBERS.fullmatch(text):
            numbers.update(dict.fromkeys(int(found[:9]) for found in re.findall(r"\d+", text)))
        elif text:
            words.append(text)
    return NamedNotes(tuple(numbers), tuple(words))


def near(notes: Iterable[Note], words: str) -> list[Note]:
    """The notes that have some of these words, those with most of them first; little words count where all are."""
    asked = [word for word in _WORD.findall(words.casefold()) if len(word) >= SHORT or not word.isascii()]
    asked = [word for word in asked if word not in little_words()] or asked
    if not asked:
        return []
    shares = [(sum(_is_in(word, note.text.casefold()) for word in asked), note) for note in notes]
    return [note for share, note in sorted(shares, key=lambda each: (-each[0], -each[1].number)) if share]


def _is_in(word: str, text: str) -> bool:
    """Whether a word is in the text, with any ending."""
    stem = word[: max(SHORT, len(word) - SHORT)]
    return any(each.startswith(stem) for each in _WORD.findall(text)) or (not word.isascii() and word in text)


def candidates(notes: Sequence[Note], words: str, now_ms: int) -> list[Note]:
    """Notes that these words may mean: those that come near, else the open ones."""
    found = near(notes, words) if words else []
    return (found or views.to_do(notes, now_ms) or views.best_first(notes, now_ms))[:CANDIDATES]
