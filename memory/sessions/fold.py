"""The fold that brings a session on by one turn: state, digest, and rolling summary when due. Pure."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from memory.ports import TokenCounter
from memory.search.languages import Languages
from memory.sessions import summarizer
from memory.state import state_manager
from memory.storage.turn_rows import LoggedTurn
from memory.types import ConversationTurn, SessionState

KEPT_TURNS = 13
"""Turns that a live session and its checkpoint carry: the 10 that a summary folds and the 3 that stay raw (002)."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fold:
    """The one fold of a state over turns, for live and for rebuilt sessions: both must end up equal."""

    languages: Languages
    counter: TokenCounter
    summary_max_tokens: int = 1000

    def advance(self, state: SessionState, logged: LoggedTurn, recent: Sequence[ConversationTurn]) -> SessionState:
        """Return the state after one more turn; a turn seen already changes nothing. Never raises.

        `recent` are the turns before this one, oldest first; a summary that is due is folded from them.
        """
        turn = logged.turn
        if turn.seq <= state.last_seq:
            return state
        try:
            moved = state_manager.apply_turn(state, turn)
        except Exception:
            log.exception("turn %s was stored, but nothing could be read from it", turn.turn_id)
            moved = state_manager.counted(state, turn)
        moved = moved.model_copy(update={"last_turn_digest": logged.digest})
        return self.summarize(moved, (*recent, turn))

    def summarize(self, state: SessionState, turns: Sequence[ConversationTurn]) -> SessionState:
        """Return the state with its rolling summary brought up to date if that is due. Never raises."""
        try:
            return summarizer.fold(state, turns, self.languages, self.counter, self.summary_max_tokens)
        except Exception:
            log.exception("the summary of session %s could not be folded; it is tried again", state.session_id)
            return state

    def delta(self, state: SessionState, turns: Sequence[ConversationTurn]) -> str:
        """Return the summary of turns that the rolling one does not cover yet, "" for none. Never raises."""
        fresh = [turn for turn in turns if turn.seq > state.summarized_through_seq]
        if not fresh:
            return ""
        try:
            return summarizer.summarize(fresh, "", self.languages, self.counter, self.summary_max_tokens)
        except Exception:
            log.exception("the last turns of session %s could not be summed up", state.session_id)
            return ""
