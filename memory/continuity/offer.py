"""The offer of a bootstrap and its injection into a prompt (001, prompt injection rules): offered, not imposed."""

from __future__ import annotations

from typing import Literal

from memory.continuity.staleness import RefreshDecision
from memory.continuity.types import Mode, Preference, SessionChoice

Offer = Literal["ask", "use", "show_and_use", "nothing"]
"""ask: show the preview and wait; use: carry forward in silence; show_and_use: carry forward and say so."""

SessionOrigin = Literal["first", "gap", "fresh", "continue"]


def offer(preference: Preference, *, available: bool, origin: SessionOrigin, asked_for: bool = False) -> Offer:
    """Return the offer at the start of a session.

    `asked_for` (the user said /continue) always shows the preview, in mode off and after /fresh too. "Ask" with the
    preview skipped asks nothing and carries nothing: only /continue does.
    """
    if not available:
        return "nothing"
    if asked_for:
        return "ask"
    if origin == "fresh" or preference.mode == "off":
        return "nothing"
    if preference.mode == "use":
        return "use" if preference.skip_preview else "show_and_use"
    return "nothing" if preference.skip_preview else "ask"


def session_mode(preference: Preference, choice: SessionChoice | None, origin: SessionOrigin) -> Mode:
    """Return the mode of one session: its own choice, else off after /fresh, else the preference."""
    if choice is not None:
        return choice.mode
    return "off" if origin == "fresh" else preference.mode


def injection(mode: Mode, *, stored_turns: int, user_id: int | None, primary_user_id: int | None) -> RefreshDecision:
    """Decide whether the packet goes into this prompt: before the first reply, in mode "use", for the primary user."""
    if stored_turns > 0:
        return RefreshDecision(go=False, reason="not the first reply of the session")
    if mode != "use":
        return RefreshDecision(go=False, reason=f"mode is {mode}")
    if user_id is None or user_id != primary_user_id:
        return RefreshDecision(go=False, reason="not the session's primary user")
    return RefreshDecision(go=True, reason="first reply of a session that carries context forward")
