"""The occasion of a turn: its author, place and clock, and the tokens taken of the prompt already."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.context.transcript import NOBODY
from memory.ledger.types import NoteChange
from memory.ledger.views import EVERYTHING, Scope
from memory.packets import RetrievedItem
from memory.types import BY_CLOCK, ConversationTurn, SessionState

log = logging.getLogger(__name__)

Names = Callable[[Collection[int]], Awaitable[Mapping[int, str]]]
"""User id → name, of those that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The writer of a message, and the past that may be told for it."""

    person: str = ""
    """The author's name."""
    names: Names | None = None
    """Returns the names of the others in a group; None where one person writes."""
    time_zone: str | None = None
    """By whose clock "by Friday" is read and every time is told; None = the session's."""
    zone_known: bool = True
    """False when nobody said where the person is: the prompt says so instead of claiming a time."""
    times: bool = True
    """False for messages as they were said, without the times that stand before them otherwise."""
    scope: Scope = EVERYTHING
    """Which notes reach the prompt; with a `session_id` nothing of other sessions does."""
    plays: Collection[str] = ()
    """The personas that play a role: what they say is fiction."""
    said_at_ms: int | None = None
    """When the message was sent; None = now."""
    third_party: bool = False
    """True for text that was forwarded or quoted: nothing is noted from it."""
    searches: bool = True
    """False for words that nobody chose, as a button's: nothing in the past bears on them."""
    rung: int = 0
    """The number of the note whose ring is this message itself: that is no news; 0 for a person's message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """Text in the prompt beside the packet, which takes of its cap."""

    tokens: int = 0
    """Instructions and descriptions of tools together."""
    tools_tokens: int = 0
    """The tokens among these of the descriptions of tools."""
    further_tokens: int = 0
    """Descriptions of further tools, which take nothing of the cap."""
    bootstrap: str = ""
    """Words of ours behind the instructions, whole: a cut would take their guardrails (001)."""
    files: str = ""
    """Passages of files that bear on the message, bounded by the caller; they stand in a fence of their own."""
    files_title: str = ""
    """The heading above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A turn as its caller knows it before it begins."""

    turn_id: str | None = None
    """The turn's id, if it was chosen already."""
    state: SessionState | None = None
    """The answer of `session`, if it was asked just now."""
    is_new: bool = False
    """True when the message is known to be unanswered: its `dedupe_key` need not be looked up."""
    models: bool = True
    """False when no model is to be waited for: a summary that is due now is written by code."""


PLAIN = Occasion()
NOTHING_RESERVED = Reserved()
UNPREPARED = Prepared()


class Need(NamedTuple):
    """What a packet is for: a message in its session, and how far into the past it may look."""

    state: SessionState
    words: str
    """What the past is searched for; "" when nobody chose the words."""
    scope: Scope
    zone: str
    now_ms: int
    rung: int
    """The number of the note whose ring is the message itself."""
    plays: Collection[str]
    """The personas that play a role."""

    @property
    def is_scene(self) -> bool:
        """Whether the persona that answers plays a role."""
        return self.scope.persona in self.plays


def need_of(state: SessionState, message: str, occasion: Occasion, now_ms: int) -> Need:
    """The need of a message; in a session that was started fresh, of that session alone."""
    scope, words = occasion.scope, message if occasion.searches else ""
    if state.isolated and scope.session_id is None:
        scope = Scope(persona=scope.persona, session_id=state.session_id)
    zone = occasion.time_zone or state.time_zone
    return Need(state, words, scope, zone, now_ms, occasion.rung, occasion.plays)


async def speakers(said: Iterable[ConversationTurn | RetrievedItem], occasion: Occasion) -> Mapping[int, str]:
    """The names in a group; none in a conversation of one person, or when they cannot be told now."""
    if occasion.names is None:
        return NOBODY
    try:
        return await occasion.names({each.user_id for each in said if each.user_id is not None})
    except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
        log.warning("the names of a group are left out of the packet: %s", error)
        return NOBODY


def heard_ms(turns: Iterable[ConversationTurn], answered_ms: int) -> int:
    """When the person was answered last, by these turns: a task's run behind that told them nothing of other rings."""
    said = sorted((turn.created_at_ms, turn.action_name == BY_CLOCK) for turn in turns)
    own = [at_ms for at_ms, is_run in said if not is_run]
    return own[-1] if own and said[-1][1] else answered_ms


def began_by_itself(turns: Sequence[ConversationTurn]) -> bool:
    """Whether a session, whose first turns these are, holds runs of tasks alone: nobody was answered in it."""
    return bool(turns) and turns[0].seq == 1 and all(turn.action_name == BY_CLOCK for turn in turns)


def without_ring(changes: Iterable[NoteChange], rung: int) -> list[NoteChange]:
    """The changes without the rings of a task whose run is the message itself."""
    return [each for each in changes if each.number != rung or each.verb != "ring"]
