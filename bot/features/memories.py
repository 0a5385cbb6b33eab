"""/memory: what is remembered here beyond a session, listed or searched, each with a way to forget it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot import replies
from bot.delivery.outbox import Button, Message
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.listing import say_list
from bot.turns.services import Services
from memory.longterm.promoter import read_memory_row
from memory.search.query import Query
from memory.types import Memory

LISTED = 8
SEARCHED = 500
TEXT_CHARS = 160
BUTTONS_A_ROW = 4


# --- pure -----------------------------------------------------------------------------------------------------------


def day_text(at_ms: int, zone: str) -> str:
    """Return a day as people write it, e.g. `3 May 2026`."""
    at = datetime.fromtimestamp(at_ms / 1000, ZoneInfo(zone))
    return f"{at.day} {at:%b %Y}"


def memory_line(number: int, memory: Memory, zone: str) -> str:
    """Return one line: kind, what, since when."""
    kind = replies.MEMORY_KINDS[memory.kind]
    return f"{number}. {kind}: {replies.shorten(memory.text, TEXT_CHARS)} ({day_text(memory.at_ms, zone)})"


def memory_list(head: str, memories: Sequence[Memory], zone: str, *, first: int = 1, more: int = 0) -> Message:
    """Return a numbered list with a button to forget each, and one to go on when there is more."""
    lines = [head, *(memory_line(number, each, zone) for number, each in enumerate(memories, first))]
    forget = [
        Button(replies.FORGET_NUMBER.format(number=number), "forget_ask", {"memory_ids": [each.memory_id]})
        for number, each in enumerate(memories, first)
    ]
    rows = [tuple(forget[at : at + BUTTONS_A_ROW]) for at in range(0, len(forget), BUTTONS_A_ROW)]
    if more:
        lines.append(replies.MEMORY_MORE.format(count=more))
        rows.append((Button(replies.SHOW_MORE, "memory_page", {"offset": first - 1 + len(memories)}),))
    return Message("\n".join(lines), buttons=tuple(rows))


def holding(memories: Sequence[Memory], words: str) -> list[Memory]:
    """Return the memories that hold these words, in any case."""
    return [memory for memory in memories if words.casefold() in memory.text.casefold()]


# --- feature --------------------------------------------------------------------------------------------------------


class Memories:
    """Shows what is remembered in this conversation: never what was said in another one, so none of it in a group."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"memory": self.show}
        self.actions: dict[str, Action] = {"memory_page": self._page}

    async def show(self, envelope: Envelope) -> None:
        """List what is remembered, or what of it has to do with some words."""
        message = await (self._search(envelope) if envelope.arguments else self._listed(envelope, 0))
        await say_list(self._services, envelope, message, [])

    async def _page(self, tap: Tap) -> bool:
        message = await self._listed(tap.envelope, tap.payload["offset"])
        message = replace(message, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use)
        return bool(message.buttons)

    async def _listed(self, envelope: Envelope, offset: int) -> Message:
        memories, count = await self.read(envelope, LISTED, offset)
        if not memories:
            return Message(replies.MEMORY_NONE if envelope.private else replies.MEMORY_NONE_GROUP)
        head = replies.MEMORY_HEAD if envelope.private else replies.MEMORY_HEAD_GROUP
        more = max(0, count - offset - len(memories))
        return memory_list(head, memories, await self._zone(envelope), first=offset + 1, more=more)

    async def _search(self, envelope: Envelope) -> Message:
        """Return what holds the words; failing that, what the search finds of the same meaning."""
        words = envelope.arguments
        known, _ = await self.read(envelope, SEARCHED, 0)
        found = holding(known, words) or await self._related(envelope, words, known)
        quoted = replies.shorten(words, 60)
        if not found:
            return Message(replies.MEMORY_NOT_FOUND.format(words=quoted))
        return memory_list(replies.MEMORY_FOUND.format(words=quoted), found[:LISTED], await self._zone(envelope))

    async def _related(self, envelope: Envelope, words: str, known: Sequence[Memory]) -> list[Memory]:
        services = self._services
        items = await services.searcher.search(
            Query(envelope.conversation_id, words, limit=4 * LISTED, now_ms=services.clock.now_ms())
        )
        by_id = {memory.memory_id: memory for memory in known}
        return [by_id[item.ref] for item in items if item.source == "memory" and item.ref in by_id]

    async def read(self, envelope: Envelope, limit: int, offset: int) -> tuple[list[Memory], int]:
        """Return memories of this conversation, the latest first, and how many there are; in a group only one's own."""
        whose = {
            "conversation_id": envelope.conversation_id,
            "user_id": None if envelope.private else envelope.user_id,
        }
        db = self._services.db
        rows = await db.read("memories_remembered", **whose, limit=limit, offset=offset)
        count = await db.read_one("memories_counted", **whose)
        return [read_memory_row(row) for row in rows], count["n"] if count else 0

    async def _zone(self, envelope: Envelope) -> str:
        return (await self._services.people.time_zone(envelope.user_id)).name
