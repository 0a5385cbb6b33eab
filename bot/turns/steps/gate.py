"""The gate before a turn: which messages are answered now, and the context that earlier sessions give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.answers.responder import Ask
from bot.delivery.outbox import OutgoingMessage
from bot.intake.updates import Envelope
from memory.ports import Statement
from memory.types import SessionState


def is_settled(batch: Sequence[Envelope], state: SessionState) -> bool:
    """Return whether nothing is to be decided at the gate: the session goes on as it is.

    Not at its beginning; nor in one begun without what was before, where a message may answer the preview of /continue;
    nor for messages that were begun already, since a crash may have come between that answer and its turn.
    """
    was_begun = any(each.attempts or not each.fresh for each in batch)
    return bool(state.turn_count) and (state.private or not (state.isolated or was_begun))


class Behind(Protocol):
    """The line under an answer, and the statements stored with it."""

    @property
    def messages(self) -> Sequence[OutgoingMessage]:
        """The messages behind the answer."""
        ...

    @property
    def effects(self) -> Sequence[Statement]:
        """Committed with the turn."""
        ...


class TurnGate(Protocol):
    """Decides which messages are answered now, and the context carried into them."""

    async def enter(self, batch: Sequence[Envelope], turn_id: str, state: SessionState) -> Sequence[Envelope]:
        """Return the messages answered now, as this turn; none when they wait for the user's word.

        Raises `Postponed` when others have to be answered before.
        """
        ...

    async def carries(self, first: Envelope, state: SessionState) -> bool:
        """Return whether notes of the conversation's other sessions may reach the model in this one."""
        ...

    async def is_shown(self, first: Envelope, state: SessionState) -> bool:
        """Return whether the chat shows the context carried into this first turn of a session."""
        ...

    async def behind(self, first: Envelope, ask: Ask, answer: str) -> Behind:
        """Return the line under the first answer of a session that context was carried into."""
        ...

    async def joins(self, edit: Envelope) -> bool:
        """Let an edit wait together with the message that it edits; False when that does not wait."""
        ...
