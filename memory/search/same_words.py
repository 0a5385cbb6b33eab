"""Comparison of words in any form and language, by their stems in all languages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from memory.search.languages import Languages
from memory.search.terms import little_words, split_words, stem
from memory.text import folded

Forms = frozenset[tuple[str, str]]
"""A word's stem in each language, with the language's code; two words are the same when they share one."""
JOINED_CHARS = 5
"""A word of this length is also found as a part of a longer one: `Schlüssel` in `Hausschlüssel`, no `pin` in `ping`."""


@lru_cache(maxsize=20_000)
def forms(word: str) -> Forms:
    """The stems of a lower-cased word, without accents."""
    plain = folded(word)
    return frozenset({("", plain), *((code, stem(code, plain)) for code in Languages.load().codes)})


def telling_forms(text: str) -> dict[str, Forms]:
    """The words of a text that tell something, small and without accents, each with its forms.

    >>> sorted(telling_forms("Where are Alfie's shoes?"))
    ['alfie', 'shoes']
    """
    words = (word for word in split_words(text) if word not in little_words())
    return {folded(word): forms(word) for word in words if len(word) > 1 or word.isdigit() or not word.isascii()}


def forms_of(text: str) -> Forms:
    """The forms of all telling words of a text."""
    return frozenset().union(*telling_forms(text).values())


def asked_words(words: str) -> dict[str, Forms]:
    """The words that a search goes by: those that tell, or all when none does."""
    return telling_forms(words) or {folded(word): forms(word) for word in split_words(words)}


def held(asked: Mapping[str, Forms], text: str) -> list[str]:
    """Those of the asked words that a text holds, in any form.

    >>> held(asked_words("Alfie's shoe size"), "Alfie takes size 11 shoes")
    ['alfie', 'shoe', 'size']
    """
    words = split_words(text)
    there = frozenset().union(*map(forms, words))
    plain = [folded(word) for word in words]
    return [word for word, own in asked.items() if own & there or _is_joined(word, plain)]


def _is_joined(word: str, others: Iterable[str]) -> bool:
    return len(word) >= JOINED_CHARS and any(word in other for other in others)
