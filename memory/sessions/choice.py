"""The choice of a message's session. Pure."""

from __future__ import annotations

from typing import Literal

from memory.types import SessionState

Choice = Literal["first", "gap", "same"]


def choose(current: SessionState | None, now_ms: int, gap_ms: int, *, goes_on: bool = False) -> Choice:
    """Return whether a message goes on in the current session or opens one. A restart is not a new session.

    A session that somebody went back to goes on, however old it is. For a message that comes by the clock every session
    that isn't apart `goes_on`: a person who answers it stays where they were.
    """
    if current is None:
        return "first"
    if goes_on and not current.isolated:
        return "same"
    silent_ms = now_ms - max(current.last_turn_at_ms, current.taken_up_at_ms)
    return "gap" if current.turn_count and silent_ms > gap_ms else "same"
