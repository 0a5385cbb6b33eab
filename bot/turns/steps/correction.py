"""A reply to the words heard: it replaces those of the voice message, as if that had been edited."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace

from bot.intake.media import own_words
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.foreign import parts


async def head_of(services: Services, batch: Sequence[Envelope], claimed: Awaitable[None]) -> Envelope:
    """Return the first update of a batch, as the edit that it amounts to where it corrects the words heard."""
    head = batch[0]
    if head.kind == "edit":
        return await _with_its_words(services, head)
    edit = await _correction(services, head) if len(batch) == 1 else None
    if edit is not None:
        await claimed
    return edit or head


async def _with_its_words(services: Services, edit: Envelope) -> Envelope:
    """Return the edit of a voice message, of which the caption alone can change, with its words."""
    file = edit.files[0] if len(edit.files) == 1 and edit.files[0].message_id == edit.message_id else None
    if file is None:
        return edit
    known = await services.files.shelf.of_message(edit.conversation_id, file.message_id)
    if known is None or not known.is_spoken or known.number is None:
        return edit
    said = await services.files.readings.spoken(known)
    return replace(edit, text="\n".join(filter(None, (known.line(), own_words(edit.text), said))), files=())


async def _correction(services: Services, reply: Envelope) -> Envelope | None:
    """Return the edit that a message amounts to, None when it is a message like any other.

    The words heard are replaced before the edit is worked on: a crash makes that happen twice, which changes nothing.
    Raises `StorageUnavailable`.
    """
    if reply.kind != "text" or reply.replies_to is None or reply.files or reply.third_party:
        return None
    text = "\n".join(part for is_foreign, part in parts(reply.text) if not is_foreign)  # what it replies to is not said
    where = {"bot_id": reply.bot_id, "conversation_id": reply.conversation_id, "message_id": reply.replies_to}
    row = await services.db.read_one("heard_of_message", **where)
    number = int(row["kind"].rpartition(" ")[2]) if row else None
    file = await services.files.shelf.find(reply.conversation_id, number) if number is not None else None
    if file is None or not file.is_spoken or file.user_id != reply.user_id:
        return None
    await services.db.write(*services.files.readings.corrected(file, text))
    line = replace(file, reason="corrected").line()
    return replace(reply, kind="edit", message_id=file.message_id, text=f"{line}\n{text}")
