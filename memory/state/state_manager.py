"""The state of a session as a fold of its turns: counts, status, and the question that waits (002). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memory.text import asks_at_the_end, clean, sentences, shorten
from memory.types import PRIVATE, ConversationTurn, PendingClarification, ResponseType, SessionState, Topic

MAX_QUESTION_CHARS = 300
TITLE_CHARS = 60
WITHDRAWN = 100
_READ_FROM_TURNS = (
    "rolling_summary", "summarized_through_seq", "pending_clarifications", "active_topics", "last_turn_digest",
    "last_intent", "last_response_type", "language",
)  # fmt: skip
"""Fields that hold words of the turns, or that follow from them."""


@dataclass(frozen=True, slots=True)
class TurnSigns:
    """Signs of a turn, before it is stored."""

    intent: str
    """question, answer (to the assistant's last question), command, or chat."""
    response_type: ResponseType


def new_state(session_id: str, conversation_id: str) -> SessionState:
    """The state of a session before its first turn."""
    return SessionState(session_id=session_id, conversation_id=conversation_id)


def behind(state: SessionState, before: SessionState) -> SessionState:
    """The state of a new session behind another one, which counts only when something was said in it."""
    after_private = before.private if before.turn_count else before.after_private
    return state.model_copy(update={"after_private": after_private})


def read_turn(state: SessionState, user_text: str, assistant_text: str, *, acted: bool = False) -> TurnSigns:
    """The signs of a turn, without understanding a word: the side that asks, and whether something was done."""
    if user_text.startswith("/"):
        intent = "command"
    elif asks_at_the_end(user_text):
        intent = "question"
    else:
        intent = "answer" if state.pending_clarifications else "chat"
    if asks_at_the_end(assistant_text):
        return TurnSigns(intent, "question")
    return TurnSigns(intent, "action" if acted else "answer" if assistant_text.strip() else "none")


def apply_turn(state: SessionState, turn: ConversationTurn) -> SessionState:
    """The state after one more turn; a turn seen already changes nothing.

    A clarification is pending while the last sentence of the reply asks; until the keeper has named the session its
    topic is its first sentence. Loops, jobs and references are filled from the ledger when the state is saved. Never
    raises for a turn that the contract accepts.
    """
    if turn.seq <= state.last_seq:
        return state
    pending = () if turn.unfiled else _asked(turn)
    return state.model_copy(
        update=_counts(state, turn)
        | {
            "status": "awaiting_clarification" if pending else "active",
            "private": state.private or turn.action_name == PRIVATE,
            "isolated": state.isolated or turn.action_name == PRIVATE,
            "language": turn.language or state.language,
            "pending_clarifications": pending,
            "active_topics": state.active_topics or _begun(turn),
        }
    )


def _begun(turn: ConversationTurn) -> tuple[Topic, ...]:
    """The first sentence of a session, as its topic; () for a command or somebody else's words."""
    first = next(sentences(turn.typed), "")
    if not first or turn.unfiled or turn.third_party or first.startswith("/"):
        return ()
    return (Topic(name=shorten(first, TITLE_CHARS), weight=1.0, first_seq=turn.seq, last_seq=turn.seq),)


def counted(state: SessionState, turn: ConversationTurn) -> SessionState:
    """The state with the turn counted and nothing read from it."""
    return state.model_copy(update=_counts(state, turn))


def _counts(state: SessionState, turn: ConversationTurn) -> dict[str, Any]:
    return {
        "status": "active",
        "last_intent": turn.intent,
        "last_response_type": turn.response_type,
        "turn_count": state.turn_count + 1,
        "last_seq": turn.seq,
        "last_turn_id": turn.turn_id,
        "last_turn_at_ms": turn.created_at_ms,
    }


def _asked(turn: ConversationTurn) -> tuple[PendingClarification, ...]:
    text = clean(turn.spoken)
    if not asks_at_the_end(text):
        return ()
    question = [each for each in sentences(text) if asks_at_the_end(each)][-1:] or [text]
    asked = PendingClarification(
        question=shorten(question[0], MAX_QUESTION_CHARS),
        turn_id=turn.turn_id,
        asked_seq=turn.seq,
        asked_at_ms=turn.created_at_ms,
    )
    return (asked,)


def taken_up(state: SessionState, at_ms: int) -> SessionState:
    """The state of a session that is taken up again: its silence counts from now."""
    return state.model_copy(update={"status": "resuming", "taken_up_at_ms": at_ms, "edits": state.edits + 1})


def reworded(state: SessionState, afresh: SessionState, turn_id: str, *, differs: bool) -> SessionState:
    """The state after the message of a turn was edited; `afresh` is the fold of its turns as they read now.

    Decisions between turns stay; a summary that tells the old words goes, and is made again when it is due.
    """
    update = {name: getattr(afresh, name) for name in _READ_FROM_TURNS} | {"edits": state.edits + 1}
    if differs:
        update["edited"] = (*(each for each in state.edited if each != turn_id), turn_id)[-WITHDRAWN:]
    return state.model_copy(update=update)


def withdrawn_from(state: SessionState, turn_id: str) -> SessionState:
    """Note that the message of a turn was edited and answered again."""
    return state.model_copy(update={"undone": (*state.undone, turn_id)[-WITHDRAWN:]})


def session_title(state: SessionState) -> str:
    """The keeper's title of the session, else its first sentence; "" while nothing was said."""
    return shorten(state.active_topics[0].name, TITLE_CHARS) if state.active_topics else ""
