"""The word on a deleted file: its name, the messages and notes that stay, and the button that forgets those."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.files.names import name_of
from bot.files.resting import resting
from bot.files.rows import StoredFile
from bot.lines import bare
from bot.turns.services import Services
from memory.ledger.types import Note
from memory.ledger.views import standing
from memory.types import ConversationTurn

MOST_NAMED: Final = 8


async def deleted_message(services: Services, file: StoredFile) -> OutgoingMessage:
    """The word on a file that is about to go, with the notes that rest on it and stay. Raises `StorageUnavailable`.

    No note goes with it: from a message that says nothing of the person's own none is made.
    """
    turn = await services.memory.store.turn(file.turn_id or "")
    return _message(await name_of(services, file), await _resting(services, file, turn), turn)


async def _resting(services: Services, file: StoredFile, turn: ConversationTurn | None) -> list[Note]:
    notes = standing(await services.memory.ledgers.read(file.conversation_id))
    rested_on = {turn_id for note in notes for turn_id in note.turn_ids}
    said = {each.turn_id: each.user_text for each in await services.memory.store.turns(rested_on)}
    read = [file.described, await services.files.finder.text_of(file), turn.assistant_text if turn else ""]
    return await asyncio.to_thread(resting, notes, file, "\n".join(read), said)


def _message(called: str, stay: Sequence[Note], turn: ConversationTurn | None) -> OutgoingMessage:
    lines = [replies.say("file_deleted", file=called)]
    if turn is None and not stay:
        return OutgoingMessage(lines[0])
    lines.append(replies.say("file_notes_stay" if stay else "file_talk_stays"))
    lines += [f"• {bare(note.text)}" for note in stay[:MOST_NAMED]]
    lines += [replies.say("list_more", count=len(stay) - MOST_NAMED)] if len(stay) > MOST_NAMED else []
    payload = {"turn_ids": [turn.turn_id] if turn else [], "note_ids": [note.note_id for note in stay]}
    button = Button(replies.say("forget_those_too"), "forget_ask", {name: ids for name, ids in payload.items() if ids})
    return OutgoingMessage("\n".join(lines), buttons=((button,),))
