"""What a model may write beside the words that were said, and what it may not: a vocabulary per language."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from memory.language.language import cue_pattern

_DATA: Final = Path(__file__).parent / "language_data" / "drafted"
_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Drafted:
    """The vocabulary of one language; a language without a file has none, and is kept to the words that were said."""

    neutral: frozenset[str] = frozenset()
    """Words that add nothing to what was said."""
    people: frozenset[str] = frozenset()
    """Words that stand for a person, as a name does."""
    orders: re.Pattern[str] = _NEVER
    """How somebody speaks who tells the assistant what to do."""


@lru_cache(maxsize=64)
def drafted(code: str) -> Drafted:
    """Return the vocabulary of the language; read once per process."""
    file = _DATA / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return Drafted()
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Drafted(frozenset(data["neutral"].split()), frozenset(data["people"].split()), cue_pattern(data["orders"]))
