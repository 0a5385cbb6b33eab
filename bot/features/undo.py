"""[Undo] under what was noted, ended or moved: a new change that puts back what nobody touched since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot import replies
from bot.answers.answer_buttons import UNDO_NOTE
from bot.delivery.outbox import OutgoingMessage, Target
from bot.lines import bare, note_line
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.ledger.types import Actor, Applied, Ledger, NoteChange
from memory.ledger.undo import undo
from memory.ports import Statement

TITLES: Final = 3


# --- pure -----------------------------------------------------------------------------------------------------------


def undone_text(ledger: Ledger, changes: Sequence[NoteChange], by: Actor, zone: str) -> str:
    """What is said when these changes are taken back: what counts no more, or how it stands where it was touched."""
    after, outcomes = undo(ledger, changes, by)
    back = [outcome.note for outcome in outcomes if isinstance(outcome, Applied)]
    if not back:
        touched = [note for change in changes if (note := ledger.by_id(change.note_id)) is not None]
        lines = [note_line(note, by.at_ms, zone) for note in dict.fromkeys(touched) if note.is_open]
        return "\n".join([replies.say("undo_touched"), *(f"• {line}" for line in lines)])
    notes = list({note.note_id: after.by_id(note.note_id) for note in reversed(back)}.values())
    titles = [bare(note.text) for note in notes if note is not None][:TITLES]
    return replies.say("undone", text="; ".join(titles))


# --- feature --------------------------------------------------------------------------------------------------------


class Undoing:
    """Takes back what a message or a command changed; the message itself stays in the talk."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {UNDO_NOTE: self._undo}

    async def _undo(self, tap: Tap) -> None:
        """Take back what it changed, as one transaction with the button's use; nothing after it was forgotten."""
        services, envelope = self._services, tap.envelope
        ledgers, conversation_id = services.memory.ledgers, envelope.conversation_id
        changes = await ledgers.caused_by(conversation_id, tap.payload.get("cause") or tap.payload["turn_id"])
        if not changes:
            gone = OutgoingMessage(replies.say("undo_gone"), edits_message_id=envelope.message_id)
            await services.committer.done([envelope], [gone], tap.use)
            return
        by = Actor("person", services.clock.now_ms(), envelope.button_id)
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        text = undone_text(await ledgers.read(conversation_id), changes, by, zone)

        async def store(*rows: Statement) -> None:
            await ledgers.undo(conversation_id, changes, by, tap.use, services.inbox.done(envelope), *rows)

        message = OutgoingMessage(text, edits_message_id=envelope.message_id)
        await services.committer.say(Target.of(envelope), [message], store)
        services.reminders.look()


async def withdraw(services: Services, turn_id: str) -> None:
    """Take back what a turn changed: its message reads otherwise now. `StorageUnavailable`."""
    await services.memory.withdraw(turn_id)
    services.reminders.look()
