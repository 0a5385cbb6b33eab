"""What is only so this minute ("brb, someone at the door") or said about the talk itself; data per language."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final

from memory.language.language import NEVER, Language, cue_pattern
from memory.language.sentences import content_words, lowered, words_of
from memory.language.time_rules import blank

_DATA: Final = Path(__file__).parent / "language_data" / "momentary"


def without_momentary(lower: str, language: Language) -> str:
    """Return the lower-cased text with blanks for what is only so this minute; its length stays."""
    return blank(lower, [found.span() for found in _phrases(language.code).finditer(lower)])


def is_only_momentary(text: str, language: Language) -> bool:
    """Return whether a text tells nothing but what is only so this minute; beside that it may name somebody."""
    lower = language.mended(lowered(text))
    left = without_momentary(lower, language)
    names = () if language.nouns_are_large else (word for word in text.split() if word[0].isupper())
    known = {word for name in names for word in words_of(lowered(name))}
    return left != lower and not set(content_words(words_of(left), language)) - known


@lru_cache(maxsize=16)
def _phrases(code: str) -> re.Pattern[str]:
    """Return what finds such phrases; for a language without a file one that finds nothing."""
    file = _DATA / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return NEVER
    return cue_pattern(tomllib.loads(file.read_text(encoding="utf-8"))["phrases"])
