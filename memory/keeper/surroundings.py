"""The world around a conversation for its keeper: zone, notes in scope, speakers, pictures, and the purse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.ledger.views import Scope
from memory.ports import Statement
from memory.types import SessionState

ZoneOf = Callable[[str, int | None], Awaitable[str]]
"""Returns the IANA time zone by which times are read and told, for a conversation and a speaker."""
ScopeOf = Callable[[SessionState | None, int | None], Awaitable[Scope]]
"""Returns the scope of notes that a keeper may see in a session, and the assistant's persona there."""
NamesOf = Callable[[str, Collection[int]], Awaitable[Mapping[int, str]]]
"""Returns the names of speakers in a group, for a conversation and user ids; empty where two talk."""
SeenIn = Callable[[str, Collection[str]], Awaitable[Mapping[str, str]]]
"""Returns a program's descriptions of the pictures that came with turns; only turns with some."""

CharacterOf = Callable[[int | None], Awaitable[str]]
"""Returns a person's own words for whom the assistant plays to them; "" for none."""
Plays = Callable[[], Collection[str]]
"""Returns the names of the personas that play a role: stories are theirs."""


class Purse(Protocol):
    """The budget that pays for reading by a model."""

    async def may_spend(self, user_id: int | None) -> bool:
        """Return whether this person's budget for the day has something left."""
        ...

    async def booked(self, user_id: int | None, tokens: int, cost_nanodollars: int | None) -> Sequence[Statement]:
        """Return the statements that write tokens and cost (None = not known) down, to be committed with the notes."""
        ...


async def utc(_: str, __: int | None) -> str:
    """Return UTC for everybody."""
    return "UTC"


async def scope_of_state(state: SessionState | None, _: int | None) -> Scope:
    """Return the scope of a session: one that was started fresh sees its own notes alone."""
    return Scope(session_id=state.session_id if state and state.isolated else None)


async def nobody(_: str, __: Collection[int]) -> Mapping[int, str]:
    """Return no names: two talk."""
    return {}


def no_roles() -> Collection[str]:
    """Return no persona: nobody plays."""
    return ()


async def nobody_played(_: int | None) -> str:
    """Return no words: the assistant is itself."""
    return ""


async def no_pictures(_: str, __: Collection[str]) -> Mapping[str, str]:
    """Return nothing that was seen."""
    return {}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The world around a conversation for its keeper."""

    zone_of: ZoneOf = utc
    scope_of: ScopeOf = scope_of_state
    names_of: NamesOf = nobody
    seen_in: SeenIn = no_pictures
    plays: Plays = no_roles
    character_of: CharacterOf = nobody_played
