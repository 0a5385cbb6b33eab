"""[Undo] under notes added, ended or moved: a new change that puts back fields that nobody touched since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot import replies
from bot.answers.answer_buttons import UNDO_NOTE
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.lines import name_of, note_line
from bot.reminders.ringing import rang_row
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.ledger import series
from memory.ledger.types import Actor, Applied, Ledger, NoteChange
from memory.ledger.undo import undo
from memory.ledger.views import waits_for_word
from memory.ports import Statement

LINES: Final = 8


# --- pure -----------------------------------------------------------------------------------------------------------


def undone_text(ledger: Ledger, changes: Sequence[NoteChange], by: Actor, zone: str) -> str:
    """The sentence when these changes are taken back: each note once, by its change and in its new state.

    `As it was: Call Ana (tomorrow at 09:00)`, `Here again: …`, `Gone: …` with the ring that goes with it, and notes
    changed later, which are left. A ring that goes from a note that stays has a line of its own.
    """
    after, outcomes = undo(ledger, changes, by)
    lines: list[str] = []
    for note_id in dict.fromkeys(change.note_id for change in changes):
        before, now = ledger.by_id(note_id), after.by_id(note_id)
        if before is None or now is None or not (before.is_open or now.is_open):
            continue
        word = "left" if now is before else "gone" if not now.is_open else "was" if before.is_open else "back"
        shown = next((each for each in (now, before) if each.is_open), now)
        lines.append("• " + replies.say(f"undone_{word}", text=note_line(shown, by.at_ms, zone)))
        if now.is_open and before.rings_at_ms is not None and now.rings_at_ms is None:
            lines.append("• " + replies.say("undone_quiet", text=name_of(now)))
    more = [replies.say("forget_goes_more", count=len(lines) - LINES)] if len(lines) > LINES else []
    is_done = not lines or any(isinstance(outcome, Applied) for outcome in outcomes)
    return "\n".join([*([replies.say("undone")] if is_done else []), *lines[:LINES], *more])


def rung_again(ledger: Ledger, changes: Sequence[NoteChange], by: Actor) -> tuple[tuple[Button, ...], ...]:
    """The row of a reminder that rang, where taking these changes back leaves one note that waits for a word."""
    after, _ = undo(ledger, changes, by)
    notes = [note for note_id in dict.fromkeys(change.note_id for change in changes) if (note := after.by_id(note_id))]
    rang = series.last(notes[0], "rang") if len(notes) == 1 and notes[0].is_open and waits_for_word(notes[0]) else None
    return (rang_row(notes[0], rang.original_local, by.at_ms),) if rang else ()


# --- feature --------------------------------------------------------------------------------------------------------


class Undoing:
    """Takes back the changes of a message or a command; the message itself stays in the talk."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {UNDO_NOTE: self._undo}

    async def _undo(self, tap: Tap) -> None:
        """Take back its changes, in one transaction with the button's use; nothing after it was forgotten."""
        services, envelope = self._services, tap.envelope
        ledgers, conversation_id = services.memory.ledgers, envelope.conversation_id
        changes = await ledgers.caused_by(conversation_id, tap.payload.get("cause") or tap.payload["turn_id"])
        if not changes:
            gone = OutgoingMessage(replies.say("undo_gone"), edits_message_id=envelope.message_id)
            await services.committer.done([envelope], [gone], tap.use)
            return
        by = Actor("person", services.clock.now_ms(), envelope.button_id)
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        ledger = await ledgers.read(conversation_id)
        text, rows = undone_text(ledger, changes, by, zone), rung_again(ledger, changes, by)

        async def store(*rows: Statement) -> None:
            await ledgers.undo(conversation_id, changes, by, tap.use, services.inbox.done(envelope), *rows)

        message = OutgoingMessage(text, buttons=rows, edits_message_id=envelope.message_id)
        await services.committer.say(Target.of(envelope), [message], store)
        services.reminders.look()


async def withdraw(services: Services, tap: Envelope, turn_id: str) -> None:
    """Take back the changes of a turn whose message was edited; name in the offer the reminders that moved.

    A second time changes nothing, and says the same. Raises `StorageUnavailable`.
    """
    await services.memory.withdraw(turn_id)
    services.reminders.look()
    ledgers, here, now_ms = services.memory.ledgers, tap.conversation_id, services.clock.now_ms()
    changes, ledger = await ledgers.caused_by(here, f"edit:{turn_id}"), await ledgers.read(here)
    zone = (await services.people.clock(here, tap.user_id)).name
    moved = dict.fromkeys(change.number for change in changes if "rings_from" in change.after)
    notes = [note for number in moved if (note := ledger.find(number)) and note.is_open]
    lines = ["• " + replies.say("undone_was", text=note_line(note, now_ms, zone)) for note in notes[:LINES]]
    if lines:
        said = OutgoingMessage("\n".join([replies.say("undone"), *lines]), edits_message_id=tap.message_id)
        await services.committer.write(Target.of(tap), [said])
