"""Tables of a program of its own in the memory's database, with all that belongs to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory.ports import Database, Statement
from memory.storage.sqlite.digests import MEMORY_DIGESTS, Digests


@dataclass(frozen=True, slots=True)
class Erasure:
    """The part of a conversation that is about to go (P13), told before anything has gone."""

    conversation_id: str
    everything: bool
    turn_ids: frozenset[str]
    session_ids: frozenset[str]
    words: tuple[str, ...]
    """Pieces of the texts that go, by which copies of them are known."""
    at_ms: int


Erase = Callable[[Database, Erasure], Awaitable[Sequence[Statement]]]
"""Return the statements that let go of the copies in one's own tables; committed with the rest. Reads only."""

Count = Callable[[Database, Erasure], Awaitable[Mapping[str, int]]]
"""Return the number of things people brought that go with it, by name. Reads only."""

TurnsOfNotes = Callable[[Database, Collection[str]], Awaitable[Sequence[str]]]
"""Return the turns that came of these notes by themselves, and go with them. Reads only."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Tables and queries beside the memory's own, so that one transaction can hold a turn and the rows about it."""

    queries: tuple[Path, ...] = ()
    """Files of named queries; no name may be one of the memory's."""
    migrations: Path | None = None
    """A folder of `NNNN_name.sql`, numbered in a thousand of its own: 1001 …"""
    erase: Erase | None = None
    """Asked whenever something is forgotten."""
    count: Count | None = None
    """Asked at the same time, for the counts that people are told."""
    turns_of_notes: TurnsOfNotes | None = None
    """Asked before that, about the notes that go."""
    digests: Digests = field(default_factory=dict)
    """Its tables with a column `row_digest`, and which of their columns count in which rows."""


def digests_with(extensions: Sequence[Extension]) -> Digests:
    """Return the digests of the memory's tables and of those of its extensions."""
    every = (MEMORY_DIGESTS, *(each.digests for each in extensions))
    return {name: digested for digests in every for name, digested in digests.items()}
