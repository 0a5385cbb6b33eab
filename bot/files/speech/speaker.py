"""Answers said aloud: asked of a voice behind the answer, and sent as voice messages, each once.

A crash before the answer's commit leaves nothing; behind it the row in `speeches`, which the next start takes up (the
voice is asked again); behind the commit that puts the voice message into the outbox that message, which is sent, or
looked for, like any other (`bot.delivery.sender`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import structlog

from bot import replies
from bot.delivery.outbox import Outbox, OutgoingMessage, Part, Target, render
from bot.delivery.sender import Delivery
from bot.files.hearing.errors import NotHeard
from bot.intake.local import is_local
from bot.lines import is_group
from bot.people.choices import VOICE
from memory.context.transcript import clip
from memory.errors import Conflict, StorageUnavailable
from memory.ports import Clock, Database, Row, Statement
from memory.process import faults

MOST_CHARS: Final = 4000
"""OpenAI's server takes 4,096; that is four or five minutes of speech."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WayOut:
    """The database and outbox of voice messages."""

    db: Database
    clock: Clock
    outbox: Outbox
    delivery: Delivery


class Voice(Protocol):
    """Turns text into sound."""

    async def speak(self, text: str) -> bytes:
        """Return the sound of a text. Raises `NotHeard`."""
        ...

    async def close(self) -> None:
        """End its processes."""
        ...


class Speaker:
    """Says answers aloud for those who asked for it."""

    def __init__(self, to: WayOut, voice: Voice | None, *, behind: Callable[..., object]) -> None:
        self._to = to
        self._voice = voice
        self._behind = behind
        self._at_work: set[str] = set()

    @property
    def speaks(self) -> bool:
        """Whether there is anybody who speaks."""
        return self._voice is not None

    def wished(self, target: Target, turn_id: str, text: str, choices: Mapping[str, Any]) -> list[Statement]:
        """Statements that an answer is to be said; none where nobody asked for it, and in groups."""
        there = target.chat_id
        if not (self.speaks and choices.get(VOICE)) or is_group(target.conversation_id) or is_local(there):
            return []
        words = "\n".join(part for part, _ in render(text, markdown=True))
        values = {
            "turn_id": turn_id,
            "bot_id": target.bot_id,
            "conversation_id": target.conversation_id,
            "chat_id": there,
            "thread_id": target.thread_id,
            "user_id": target.user_id,
            "text": clip(words, MOST_CHARS),
            "created_at_ms": self._to.clock.now_ms(),
        }
        return [Statement("speech_wish", values)]

    def look(self) -> None:
        """Say the waiting answers, behind everything else."""
        if self.speaks:
            self._behind(self.say_all(), "speech")

    async def say_all(self) -> None:
        """Say everything that waits, one after another. Never raises but for a stop."""
        try:
            rows = await self._to.db.read("speeches_waiting")
        except StorageUnavailable:
            return  # the next answer, or the next start, looks again
        for row in rows:
            if row["turn_id"] in self._at_work:
                continue
            self._at_work.add(row["turn_id"])
            try:
                if await self._to.db.read_one("speech_waiting", turn_id=row["turn_id"]):  # nobody said it meanwhile
                    await self._say(row)
            except (Conflict, StorageUnavailable) as exc:
                log.info("an answer is not said by this process", turn_id=row["turn_id"], reason=type(exc).__name__)
            finally:
                self._at_work.discard(row["turn_id"])

    async def _say(self, row: Row) -> None:
        target = Target(row["bot_id"], row["conversation_id"], row["chat_id"], row["thread_id"], row["user_id"])
        parts: list[Part]
        try:
            part = self._to.outbox.voice(target, row["turn_id"], await self._spoken(row["text"]))
            parts, rows = [part], [self._to.outbox.insert(part)]
        except NotHeard as exc:
            log.warning("an answer could not be said", turn_id=row["turn_id"], reason=str(exc))
            parts, rows = self._to.outbox.compose(target, OutgoingMessage(replies.say("speech_failed")), row["turn_id"])
        faults.point("speech_made")
        await self._to.db.write(Statement("speech_over", {"turn_id": row["turn_id"]}, expect=1), *rows)
        faults.point("speech_queued")
        self._to.delivery.deliver(parts)

    async def _spoken(self, text: str) -> bytes:
        """The sound of a text. Raises `NotHeard`."""
        if self._voice is None:
            raise NotHeard("missing", "nobody speaks any more")
        return await self._voice.speak(text)

    async def close(self) -> None:
        """End the voice's process."""
        if self._voice is not None:
            await self._voice.close()
