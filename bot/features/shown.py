"""A list is shown, remembered as the last one, and edited once the keeper has read the unread turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import structlog

from bot import replies
from bot.answers.answer_buttons import UNDO_NOTE
from bot.delivery.outbox import Button, OutgoingMessage, Part, Target
from bot.features.lists import Listing, opened, page, shown_on
from bot.intake.updates import Envelope
from bot.lines import name_of, note_line
from bot.turns.feature import Tap
from bot.turns.listing import shown_now
from bot.turns.services import Services
from memory.errors import Conflict, StorageError
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Applied, Ledger, Note, Operation
from memory.ports import Statement
from memory.types import ListedItem

FLUSH_S = 10.0
Kind = Literal["loop", "job", "memory"]
Made = Callable[[Ledger, str], "Listing | OutgoingMessage"]
"""A view of the ledger by a clock: a list, or the sentence that there is none."""
Looked = tuple[OutgoingMessage, Sequence[ListedItem] | None]
"""What notes tell now, and the lines that `/forget 2` means after it; None where it is no list."""
Look = Callable[[], Awaitable[Looked]]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class View:
    """One of the lists: which lines `/forget 2` means after it, and how it is made of a ledger."""

    kind: Kind
    made: Made

    def message(self, ledger: Ledger, zone: str, offset: int = 0) -> tuple[OutgoingMessage, list[Note]]:
        """A page of the list, and the notes on it."""
        made = self.made(ledger, zone)
        return (made, []) if isinstance(made, OutgoingMessage) else (page(made, offset), shown_on(made, offset))

    def items(self, notes: Sequence[Note]) -> list[ListedItem]:
        """The list as it is kept: ids of notes, not their words, which may be forgotten."""
        return [ListedItem(kind=self.kind, ref=note.note_id, text="") for note in notes]


async def show(services: Services, envelope: Envelope, view: View, also: str = "", *effects: Statement) -> None:
    """Say a list, with `also` behind it, and finish the update, as `show_read` does."""

    async def look() -> Looked:
        message, notes = await _made(services, envelope, view)
        return replace(message, text=f"{message.text}\n\n{also}" if also else message.text), view.items(notes)

    await show_read(services, envelope, look, *effects)


async def show_read(services: Services, envelope: Envelope, look: Look, *effects: Statement) -> OutgoingMessage:
    """Say what notes tell and finish the update; where they may lack something say so, let the keeper read, and edit.

    They lack nothing that the model noted itself: such turns are read when they are due, at no cost for the look.
    Returns the message that was said.
    """
    unread = await unread_of(services, envelope.conversation_id)
    message, items = await look()
    if unread:
        message = replace(message, text=f"{message.text}\n\n{replies.counted(unread, 'unread')}")
    parts = await _say(services, envelope, message, items, services.inbox.done(envelope), *effects)
    if unread:
        services.behind(_read_and_show(services, envelope, look, parts), "reads")
    return message


async def turn_page(services: Services, tap: Tap, view: View) -> bool:
    """Show another page in place of the one that was tapped, as `show_read` does."""

    async def look() -> Looked:
        message, notes = await _made(services, tap.envelope, view, tap.payload.get("offset", 0))
        return replace(message, edits_message_id=tap.envelope.message_id), view.items(notes)

    message = await show_read(services, tap.envelope, look, tap.use)
    return bool(message.buttons)


async def open_line(services: Services, tap: Tap, view: View) -> bool:
    """Show one line in place of its list, with its buttons and the way back."""
    note = await find_note(services, tap, view)
    if note is None:
        return True
    envelope, now_ms = tap.envelope, services.clock.now_ms()
    zone = (await services.people.reader(envelope.conversation_id, envelope.user_id)).name
    ledger = await read_listed(services, envelope.conversation_id)
    listing, note = view.made(ledger, zone), ledger.by_id(note.note_id) or note
    if isinstance(listing, OutgoingMessage):
        message = listing
    else:
        message = opened(listing, note, note_line(note, now_ms, zone), tap.payload["offset"])
    await services.committer.done([envelope], [replace(message, edits_message_id=envelope.message_id)], tap.use)
    return bool(message.buttons)


async def change_listed(services: Services, tap: Tap, operation: Operation, view: View, said: str = "") -> bool:
    """Change a note by a tap and show the list as it is then, with `said` before it; one transaction.

    Raises `Conflict` when the button was used before.
    """
    envelope, conversation_id = tap.envelope, tap.envelope.conversation_id
    by = Actor("person", services.clock.now_ms(), envelope.button_id)
    outcome = apply(await services.memory.ledgers.read(conversation_id), operation, by)
    if not isinstance(outcome, Applied):
        gone = OutgoingMessage(replies.say("loop_gone"), edits_message_id=envelope.message_id)
        await services.committer.done([envelope], [gone], tap.use)
        return False
    zone = (await services.people.reader(envelope.conversation_id, envelope.user_id)).name
    after = await services.tasks.rows.at_rest(outcome.ledger)
    message, _ = view.message(after, zone, tap.payload.get("offset", 0))
    text = f"{said}\n\n{message.text}" if said else message.text
    undo = (Button(replies.say("undo"), UNDO_NOTE, {"cause": envelope.button_id}),)
    message = replace(message, text=text, buttons=(*message.buttons, undo), edits_message_id=envelope.message_id)
    await change(services, tap, [operation], message)
    return bool(message.buttons)


async def change(
    services: Services, tap: Tap, operations: Sequence[Operation], message: OutgoingMessage, *also: Statement
) -> None:
    """Store a tap's changes of notes with its use and message. Raises `Conflict` when it was used before."""
    envelope = tap.envelope
    by = Actor("person", services.clock.now_ms(), envelope.button_id)

    async def store(*rows: Statement) -> None:
        ends = (services.inbox.done(envelope), tap.use, *also, *rows)
        await services.memory.change(envelope.conversation_id, operations, by, *ends)

    await services.committer.say(Target.of(envelope), [message], store)
    services.reminders.look()


async def find_note(services: Services, tap: Tap, view: View | None = None) -> Note | None:
    """The note behind a button while it stands; when it ended meanwhile, say so and return None.

    A button of an old list shows the list as it is now.
    """
    envelope = tap.envelope
    ledger = await services.memory.ledgers.read(envelope.conversation_id)
    note = ledger.by_id(tap.payload["note_id"])
    if note is not None and note.is_open:
        return note
    await say_unchanged(services, tap, replies.say("loop_gone_here") if view else _ended(note), view)
    return None


async def say_unchanged(services: Services, tap: Tap, said: str, view: View | None) -> bool:
    """Answer a tap that changes no note, a button of a list with the list as it is now."""
    envelope, message = tap.envelope, OutgoingMessage(said)
    if view is not None:
        zone = (await services.people.reader(envelope.conversation_id, envelope.user_id)).name
        message, _ = view.message(
            await read_listed(services, envelope.conversation_id), zone, tap.payload.get("offset", 0)
        )
        message = replace(message, text=f"{said}\n\n{message.text}")
    await services.committer.done([envelope], [replace(message, edits_message_id=envelope.message_id)], tap.use)
    return bool(message.buttons)


def _ended(note: Note | None) -> str:
    """The sentence on the end of a note whose button was tapped since, with its words where it may be told."""
    say = (
        {"done": "done_already", "dropped": "loop_dropped"}.get(note.status) if note and not note.is_forgotten else None
    )
    return replies.say(say, title=name_of(note)) if note and say else replies.say("loop_gone")


# --- what is not read yet -------------------------------------------------------------------------------------------


async def unread_of(services: Services, conversation_id: str) -> int:
    """The number of turns of which the notes may lack something; 0 when no keeper reads here. Never raises."""
    keeper = getattr(services.memory, "keeper", None)
    if keeper is None or not keeper.is_on:
        return 0
    try:
        return await services.memory.keeper.unread(conversation_id)
    except StorageError:
        return 0


async def _read_and_show(services: Services, envelope: Envelope, look: Look, parts: Sequence[Part]) -> None:
    """Let the keeper read, then edit the message to its new state; not when a button was tapped meanwhile.

    One of several parts stays as it was: the whole of it has no place in the last.
    """
    await services.memory.keeper.read_now(envelope.conversation_id)
    if len(parts) > 1:
        return
    [part] = parts
    await services.delivery.flush(FLUSH_S)
    try:
        row = await services.db.read_one("outbox_message_of", part_id=part.part_id)
        if row is None or row["message_id"] is None or await _is_tapped(services, part):
            return
        message, items = await look()
        if message.text == part.text:  # nothing was noted, and nothing was said of it
            return
        message = replace(message, edits_message_id=row["message_id"])
        await _say(services, envelope, message, items)
    except (StorageError, Conflict) as exc:
        log.warning("a list stays as it was before the keeper read", error=str(exc))


async def _is_tapped(services: Services, part: Part) -> bool:
    keyboard = (part.markup or {}).get("inline_keyboard") or [[]]
    if not keyboard[0]:
        return False
    row = await services.db.read_one("button_find", button_id=keyboard[0][0]["callback_data"])
    return row is None or row["used_at_ms"] is not None


async def _made(
    services: Services, envelope: Envelope, view: View, offset: int = 0
) -> tuple[OutgoingMessage, list[Note]]:
    ledger = await read_listed(services, envelope.conversation_id)
    zone = (await services.people.reader(envelope.conversation_id, envelope.user_id)).name
    return view.message(ledger, zone, offset)


async def read_listed(services: Services, conversation_id: str) -> Ledger:
    """The ledger as lists show it: work that is paused rings at no time. Raises `StorageUnavailable`."""
    return await services.tasks.rows.at_rest(await services.memory.ledgers.read(conversation_id))


async def _say(
    services: Services,
    envelope: Envelope,
    message: OutgoingMessage,
    items: Sequence[ListedItem] | None,
    *effects: Statement,
) -> list[Part]:
    """Store a message with the lines that it lists, if it is a list, and hand it to delivery; return its parts."""
    parts, rows = services.committer.compose(Target.of(envelope), [message])

    async def store() -> None:
        if items is None:
            await services.db.write(*rows, *effects)
        else:
            await shown_now(services, envelope.conversation_id, items, *rows, *effects)

    await services.committer.until_stored(store)
    services.delivery.deliver(parts)
    return parts
