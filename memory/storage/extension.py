"""What a program brings along that keeps tables of its own in the memory's database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory.ports import Database, Statement
from memory.storage.sqlite.digests import MEMORY_DIGESTS, Digests


@dataclass(frozen=True, slots=True)
class Erasure:
    """What of a conversation is about to go (P13), told before anything has gone."""

    conversation_id: str
    everything: bool
    turn_ids: frozenset[str]
    session_ids: frozenset[str]
    words: tuple[str, ...]
    """Pieces of the texts that go, by which copies of them are known."""
    at_ms: int


Erase = Callable[[Database, Erasure], Awaitable[Sequence[Statement]]]
"""Return what lets go of the copies in one's own tables; it is committed with the rest. Reads only."""

Count = Callable[[Database, Erasure], Awaitable[Mapping[str, int]]]
"""Return how much of what people themselves brought goes with it, by what it is called. Reads only."""

TurnsOfNotes = Callable[[Database, Collection[str]], Awaitable[Sequence[str]]]
"""Return the turns that came of these notes by themselves, and go with them. Reads only."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Tables and queries beside the memory's own, so that one transaction can hold a turn and what belongs to it."""

    queries: tuple[Path, ...] = ()
    """Files of named queries; no name may be one of the memory's."""
    migrations: Path | None = None
    """A folder of `NNNN_name.sql`, numbered in a thousand of its own: 1001 …"""
    erase: Erase | None = None
    """Asked whenever something is forgotten."""
    count: Count | None = None
    """Asked with it: what people are told of."""
    turns_of_notes: TurnsOfNotes | None = None
    """Asked before it, about the notes that go."""
    digests: Digests = field(default_factory=dict)
    """Tables of it with a column `row_digest`, and which of their columns count in which rows."""


def digests_with(extensions: Sequence[Extension]) -> Digests:
    """Return what the memory's tables and those of its extensions tell of their digests."""
    every = (MEMORY_DIGESTS, *(each.digests for each in extensions))
    return {name: digested for digests in every for name, digested in digests.items()}
