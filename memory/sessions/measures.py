"""The clock, ids, languages and token counter of one memory: the same four for each of its parts."""

from __future__ import annotations

from dataclasses import dataclass

from memory.ports import Clock, Ids, TokenCounter
from memory.search.languages import Languages


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The clock, the maker of ids, the languages that are read, and the counter of tokens."""

    clock: Clock
    ids: Ids
    languages: Languages
    counter: TokenCounter
