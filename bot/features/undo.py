"""[Undo] under what was noted, ended or moved: what that message changed counts no more, whatever was said since."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from bot import replies
from bot.answers.take_back import UNDO_NOTE, restored, taken_back
from bot.delivery.outbox import OutgoingMessage, Target
from bot.reminders.steps import back
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.errors import UnknownSession
from memory.longterm.promoter import read_memory_row
from memory.notes.store import ask_to_read_again
from memory.ports import Statement
from memory.state.state_manager import undo
from memory.types import ConversationTurn

QUOTED_CHARS = 120


class Undoing:
    """Takes back what was noted of one message; the message itself stays in the talk."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {UNDO_NOTE: self._undo}

    async def _undo(self, tap: Tap) -> None:
        """Take back what the message changed, as one transaction with the button's use."""
        services, envelope, turn_id = self._services, tap.envelope, tap.payload["turn_id"]
        turn = await services.memory.store.turn(turn_id)
        if turn is None or turn.conversation_id != envelope.conversation_id:
            gone = OutgoingMessage(replies.say("undo_gone"), edits_message_id=envelope.message_id)
            await services.committer.done([envelope], [gone], tap.use)
            return
        quoted = replies.say("quoted", text=replies.shorten(turn.user_text, QUOTED_CHARS))
        message = OutgoingMessage(replies.say("undone", text=quoted), edits_message_id=envelope.message_id)
        ends = (tap.use, services.inbox.done(envelope), *await withdrawals(services, turn))
        try:
            await services.committer.say(
                Target.of(envelope),
                [message],
                partial(services.memory.recorder.edit, turn.session_id, lambda state: undo(state, [turn_id]), *ends),
            )
        except UnknownSession:
            gone = OutgoingMessage(replies.say("undo_gone"), edits_message_id=envelope.message_id)
            await services.committer.done([envelope], [gone], tap.use)
        services.reminders.look()


async def withdraw(services: Services, turn_id: str) -> None:
    """Let what was noted of a turn count no more; nothing happens for one that is not there. `StorageUnavailable`."""
    turn = await services.memory.store.turn(turn_id)
    if turn is not None:
        statements = await withdrawals(services, turn)
        with suppress(UnknownSession):
            await services.memory.recorder.edit(turn.session_id, lambda state: undo(state, [turn_id]), *statements)


async def withdrawals(services: Services, turn: ConversationTurn) -> list[Statement]:
    """Return what makes the memories of a turn count no more, and what they, and reminders, were before count again."""
    conversation_id, now_ms = turn.conversation_id, services.clock.now_ms()
    of = {"conversation_id": conversation_id, "turn_id": turn.turn_id}
    gone = [row["memory_id"] for row in await services.db.read("memories_of_turn", **of)]
    older = [read_memory_row(row) for row in await services.db.read("memories_replaced", **of)]
    state = await services.memory.recorder.session(turn.session_id)
    steps = [back(step, now_ms) for step in state.job_steps if step.turn_id == turn.turn_id]
    withdrawn = [*taken_back(gone), *restored(older, gone, conversation_id, services.memory.languages)]
    return [*withdrawn, *steps, *ask_to_read_again(turn.session_id)]
