"""A turn between the message and its answer: the model's prompt, and the storing of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.context.packet_text import prompt
from memory.context.transcript import chat_messages
from memory.ledger.types import Add, Hand, Operation
from memory.packets import ConversationContextPacket
from memory.ports import Statement
from memory.sessions.exchange import Deed, Exchange, ModelTokens, StateChange
from memory.sessions.recorder import Recorder
from memory.state.notes_marks import marked
from memory.types import ConversationTurn, SessionState, ToolCall

NO_DEED, NO_MODEL = Deed(), ModelTokens()


def said_at(sent_at_ms: int | None, now_ms: int, before_ms: int, gap_ms: int) -> int:
    """Return the time that a message counts as said: the time it was sent, or now.

    It is not before the message before it, and at most half of `gap_ms` ago: else the next one would begin a new
    session.

    >>> said_at(1_000, 9_000, 4_000, 20_000)
    4000
    """
    return min(now_ms, max(sent_at_ms or now_ms, before_ms, now_ms - gap_ms // 2))


@dataclass(slots=True, kw_only=True, eq=False)
class PendingTurn:
    """A message that waits for its answer, with the prompt for the model. Answer it, then `record`."""

    conversation_id: str
    text: str
    state: SessionState
    packet: ConversationContextPacket
    turn_id: str
    user_id: int | None
    third_party: bool
    dedupe_key: str | None
    time_zone: str
    recorder: Recorder
    said_at_ms: int
    """The message's time, which stands before it in later prompts."""
    epoch: str = ""
    """The ledger's epoch before anything was read for the prompt."""
    besides_tokens: int = 0
    """Tokens of the prompt that are neither history nor the packet's: instructions, tools, bootstrap, files."""
    recorded: ConversationTurn | None = None
    """The stored turn: after `record`, or at once when the same `dedupe_key` was answered before (send its answer)."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The prompt as `role` and `content`, within the budget; your own instructions go before it.

        Roles alternate, the last message is the user's, and older talk stands in fenced blocks that are marked as data.
        """
        return chat_messages(prompt(self.packet, self.text))

    async def record(
        self,
        answer: str,
        *also: Statement,
        tool_calls: Sequence[ToolCall] = (),
        authored: str | None = None,
        deed: Deed = NO_DEED,
        usage: ModelTokens = NO_MODEL,
        change: StateChange | None = None,
        operations: Sequence[Operation] = (),
        hand: Hand = "model",
    ) -> ConversationTurn:
        """Store the turn with `also` in one transaction; when this returns it survives a power cut. Then send it.

        `authored` is for an answer that your program put together from people's words: the part in its own name, from
        which alone promises and questions are read. `deed` names the act that the answer reports, `usage` its cost,
        `change` (pure) its effect on the session, `operations` its effect on the notes, by `hand`. A new note that
        names no turn rests on this one: it goes when the turn is forgotten.
        Raises `Conflict` when it, or its `dedupe_key`, was stored already, `Outdated` when something of the chat was
        forgotten or edited since `begin`, `StorageUnavailable` when the disk refuses: nothing is stored.
        """
        exchange = Exchange(
            turn_id=self.turn_id,
            session_id=self.state.session_id,
            conversation_id=self.conversation_id,
            user_text=self.text,
            assistant_text=answer,
            tool_calls=tuple(tool_calls),
            authored=authored,
            action_name=deed.action_name,
            job_refs=deed.job_refs,
            model=usage.model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            created_at_ms=self.said_at_ms,
            user_id=self.user_id,
            third_party=self.third_party,
            dedupe_key=self.dedupe_key,
            time_zone=self.time_zone,
            change=self._with_notes(change),
            operations=tuple(map(self._resting, operations)),
            hand=hand,
            epoch=self.epoch,
        )
        self.recorded = await self.recorder.record(exchange, self.packet, *also)
        return self.recorded

    def _resting(self, operation: Operation) -> Operation:
        """Return the operation; a new note in it rests on this turn unless it names another (P13)."""
        if not isinstance(operation, Add):
            return operation
        here = {"turn_ids": (self.turn_id,), "session_id": self.state.session_id, "user_id": self.user_id}
        return replace(operation, fields=here | dict(operation.fields))

    def _with_notes(self, change: StateChange | None) -> StateChange | None:
        """Return a change that also freezes this reply's notes, if they were taken for it."""
        mark = self.packet.notes_mark
        if mark is None or mark in self.state.notes_marks:
            return change
        return lambda state: marked(change(state) if change else state, mark)
