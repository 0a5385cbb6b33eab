"""/export: everything that is kept about a private chat, as one JSON document, and the notes as Markdown to read.

A file cannot go through the outbox, which holds text. It is made in memory, sent, and only then the command is
finished: a crash in between sends it once more after the restart, which does no harm, and it never lies on our disk.
"""

from __future__ import annotations

import asyncio
import gzip
from datetime import datetime
from typing import Any

from telegram import Bot
from telegram.error import RetryAfter, TelegramError

from bot import replies
from bot.delivery.after_failure import retry_after_s
from bot.delivery.outbox import OutgoingMessage
from bot.features.lists import Listing
from bot.features.loops import loop_list
from bot.features.memories import memory_list
from bot.files.export import exported
from bot.intake.updates import Envelope
from bot.people.export import about_person, tasks, tool_calls
from bot.turns.feature import Action, Command
from bot.turns.services import Services
from memory.ledger.types import Ledger
from memory.privacy.export import as_bytes, as_markdown, gather
from memory.zones import zone_of

MAX_BYTES = 45_000_000
"""Telegram takes 50 MB from a bot."""
TRIES = 3
LONGEST_WAIT_S = 60.0
UPLOAD_S = 120.0


# --- pure -----------------------------------------------------------------------------------------------------------


def packed(document: dict[str, Any], day: str) -> tuple[str, bytes] | None:
    """Return file name and bytes, compressed when they would be too large; None when they are too large even so."""
    data, name = as_bytes(document), f"continuity-{day}.json"
    if len(data) <= MAX_BYTES:
        return name, data
    data = gzip.compress(data, mtime=0)
    return (f"{name}.gz", data) if len(data) <= MAX_BYTES else None


def notes_text(ledger: Ledger, now_ms: int, zone: str) -> str:
    """Return the notes as Markdown, as /loops and /memory show them, each once; "" when there are none."""
    pages: list[tuple[str, list[str]]] = []
    told = set[str]()
    lists = (loop_list(ledger, now_ms, zone), memory_list(ledger, now_ms, zone, whole=True))
    for listing in (each for each in lists if isinstance(each, Listing)):
        for group in listing.groups:
            notes = [note for note in group.notes if note.note_id not in told]
            told |= {note.note_id for note in notes}
            head = f"{listing.head.rstrip(':')}: {group.head}" if group.head else listing.head
            pages.append((head, [*map(listing.line, notes)]))
    return as_markdown(pages)


def contents_text(document: dict[str, Any]) -> str:
    """Return how much is in it, in words."""
    turns = sum(len(session["turns"]) for session in document["sessions"])
    counts = (
        (len(document["sessions"]), "conversation"),
        (turns, "message"),
        (len(document["notes"]), "note"),
        (len(document["jobs"]), "reminder"),
        (len(document.get("files", ())), "file"),
    )
    return ", ".join(replies.counted(count, word) for count, word in counts if count)


# --- feature --------------------------------------------------------------------------------------------------------


class Exporting:
    """Sends a person all data of their private chat."""

    def __init__(self, services: Services, bot: Bot) -> None:
        self._services = services
        self._bot = bot
        self.commands: dict[str, Command] = {"export": self.export}
        self.actions: dict[str, Action] = {}

    async def export(self, envelope: Envelope) -> None:
        """Send the document, or say why not."""
        text = await self._exported(envelope)
        await self._services.committer.done([envelope], [OutgoingMessage(text)] if text else [])

    async def _exported(self, envelope: Envelope) -> str:
        """Return the rest to be said, "" when the document says it all."""
        if not envelope.private or envelope.user_id is None:
            return replies.say("export_group")
        services = self._services
        document = await gather(services.db, services.memory.ledgers, services.clock, envelope.conversation_id)
        if not document["sessions"] and not document["jobs"]:
            return replies.say("export_nothing")
        document["tool_calls"] = await tool_calls(services.db, envelope.conversation_id)
        document["tasks"] = await tasks(services.db, envelope.conversation_id)
        document["files"] = await exported(services.db, envelope.conversation_id, None)
        document["person"] = await about_person(services.db, envelope.user_id)
        zone, now_ms = (
            (await services.people.clock(envelope.conversation_id, envelope.user_id)).name,
            services.clock.now_ms(),
        )
        day = f"{datetime.fromtimestamp(now_ms / 1000, zone_of(zone)):%Y-%m-%d}"
        file = await asyncio.to_thread(packed, document, day)
        if file is None:
            return replies.say("export_too_big")
        caption = replies.say("export_caption", what=contents_text(document))
        if failed := await self._send(envelope, *file, caption):
            return failed
        ledger = await services.memory.ledgers.read(envelope.conversation_id)
        notes = notes_text(ledger, now_ms, zone)
        if not notes:
            return ""
        return await self._send(envelope, f"notes-{day}.md", notes.encode(), replies.say("export_notes"))

    async def _send(self, envelope: Envelope, name: str, data: bytes, caption: str) -> str:
        """Send the file, waiting as Telegram asks; return "" or why it could not be sent."""
        why = ""
        for _ in range(TRIES):
            try:
                sent = await self._bot.send_document(
                    envelope.chat_id,
                    data,
                    filename=name,
                    caption=caption,
                    message_thread_id=envelope.thread_id,
                    read_timeout=UPLOAD_S,
                    write_timeout=UPLOAD_S,
                )
            except RetryAfter as exc:
                why = str(exc)
                await asyncio.sleep(min(LONGEST_WAIT_S, retry_after_s(exc)))
            except TelegramError as exc:  # perhaps it arrived: not sent again unasked
                return replies.say("export_failed", why=exc.message)
            else:
                self._services.delivery.high_water.saw(envelope.chat_id, sent.message_id)
                return ""
        return replies.say("export_failed", why=why)
