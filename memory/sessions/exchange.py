"""An exchange: the words of one turn before they are read and stored, and the turn that it becomes. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import orjson

from memory.ledger.ledgers import Writing
from memory.ledger.store import refusal_row
from memory.ledger.types import Actor, Add, Hand, Operation, Outcome, Refusal
from memory.ports import Statement, TokenCounter
from memory.search.languages import UNDETERMINED, Languages
from memory.state import state_manager
from memory.text import clean
from memory.types import CARE, PRIVATE, ConversationTurn, SessionState, ToolCall

StateChange = Callable[[SessionState], SessionState]


@dataclass(frozen=True, slots=True)
class ModelTokens:
    """The model that answered, None for none, and the tokens that it took."""

    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Deed:
    """The act that an answer reports, by its name, and the ids of the jobs that it worked on."""

    action_name: str | None = None
    job_refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """The words of one turn, before they are read and stored."""

    turn_id: str
    session_id: str
    conversation_id: str
    user_text: str
    assistant_text: str
    created_at_ms: int
    user_id: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    third_party: bool = False
    authored: str | None = None
    """The program's own words in a reply that repeats people; None for a model's reply."""
    action_name: str | None = None
    job_refs: tuple[str, ...] = ()
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    dedupe_key: str | None = None
    """The message that it answers, by the caller's key: a second turn with the same key is a `Conflict` (P2)."""
    time_zone: str | None = None
    """The zone in which "by Friday" is read from now on; None keeps the session's."""
    change: StateChange | None = None
    """The turn's own change of the session (a tool closed a loop): pure, applied after the fold."""
    operations: tuple[Operation, ...] = ()
    """The turn's changes of the conversation's notes; applied to the ledger as it stands at the commit."""
    hand: Hand = "model"
    """The hand behind the operations."""
    epoch: str = ""
    """The ledger's epoch when the answer was made; if it changed, the turn is not stored. "" = made from nothing."""


def _cleaned_call(call: ToolCall) -> ToolCall:
    return ToolCall(
        call_id=clean(call.call_id),
        name=clean(call.name),
        arguments=clean(call.arguments),
        result=clean(call.result),
    )


def refusals(writing: Writing, exchange: Exchange) -> list[Statement]:
    """Apply a turn's operations to the notes, and return the statements that record those that did not fit any more.

    They fitted when the turn's tool did them, so the model hears of it with the next message; likewise of a note that
    got another number than the tool had told.
    """
    if not exchange.operations:
        return []
    by = Actor(exchange.hand, exchange.created_at_ms, exchange.turn_id)
    outcomes = zip(exchange.operations, writing.apply(exchange.operations, by), strict=True)
    lost = [(operation, refusal) for operation, outcome in outcomes if (refusal := _lost(operation, outcome))]
    return [
        refusal_row(
            f"f_{exchange.turn_id}_{n}", exchange.conversation_id, exchange.session_id, (operation, outcome), by
        )
        for n, (operation, outcome) in enumerate(lost, 1)
    ]


def kept_private(exchange: Exchange) -> Exchange:
    """The turn as a private session stores it: without operations on notes."""
    is_care = exchange.action_name == CARE
    return replace(exchange, operations=(), action_name=CARE if is_care else PRIVATE)


def _lost(operation: Operation, outcome: Outcome) -> Refusal | None:
    """The reason why an operation did not come out as the model was told; None when it did."""
    if isinstance(outcome, Refusal):
        return outcome
    told = operation.number if isinstance(operation, Add) else None
    return None if told in {None, outcome.note.number} else Refusal("number", told, f"#{outcome.note.number}")


def turn_of(exchange: Exchange, state: SessionState, languages: Languages, counter: TokenCounter) -> ConversationTurn:
    """The turn that an exchange becomes; a text too short to tell gets the language of the turn before, else none."""
    user_text, assistant_text = clean(exchange.user_text), clean(exchange.assistant_text)
    calls = tuple(_cleaned_call(call) for call in exchange.tool_calls)
    authored = None if exchange.authored is None else clean(exchange.authored)
    acted = bool(calls or exchange.operations or exchange.job_refs)
    signs = state_manager.read_turn(state, user_text, assistant_text, acted=acted)
    count, language = counter.count, languages.detect(user_text, state.language or UNDETERMINED).code
    return ConversationTurn(
        turn_id=exchange.turn_id,
        session_id=exchange.session_id,
        conversation_id=exchange.conversation_id,
        seq=state.last_seq + 1,
        user_id=exchange.user_id,
        user_text=user_text,
        assistant_text=assistant_text,
        intent=signs.intent,
        action_name=exchange.action_name,
        response_type=signs.response_type,
        job_refs=exchange.job_refs,
        tool_calls=calls,
        third_party=exchange.third_party,
        authored=authored,
        language=None if language == UNDETERMINED else language,
        user_tokens=count(user_text),
        assistant_tokens=count(assistant_text),
        tool_tokens=count(orjson.dumps([call.model_dump() for call in calls]).decode()) if calls else 0,
        created_at_ms=exchange.created_at_ms,
    )
