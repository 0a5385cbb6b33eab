"""What is done with a batch from a lane: claim it, do it, and when it fails again and again put it aside (P3)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import structlog

from bot import replies
from bot.delivery.commit import until_stored
from bot.delivery.outbox import Button, Message
from bot.delivery.sender import backoff_s
from bot.intake.updates import Envelope
from bot.turns.buttons import Buttons
from bot.turns.feature import Command
from bot.turns.model_waits import limit
from bot.turns.services import Services
from bot.turns.turn import Turns
from memory import faults
from memory.errors import Conflict, StorageUnavailable

log = structlog.get_logger(__name__)

GONE = ("kicked", "left")


class Dispatch:
    """The work function of the lanes."""

    def __init__(self, services: Services, turns: Turns, commands: Mapping[str, Command], taps: Buttons) -> None:
        self._services = services
        self._turns = turns
        self._commands = commands
        self._taps = taps

    async def work(self, batch: Sequence[Envelope]) -> None:
        """Work on a batch until it is done, parked or quarantined; only a defect of the last resort raises."""
        turn_id = batch[0].turn_id or self._services.ids.new("t")
        batch = [replace(envelope, turn_id=turn_id) for envelope in batch]
        await self._services.delivery.reachable(batch[0].bot_id, batch[0].chat_id)
        while True:
            attempts = max(envelope.attempts for envelope in batch)
            try:
                if attempts >= limit(excused=batch[0].excused):
                    await self._quarantine(batch, turn_id, attempts)
                    return
                if batch[0].kind == "text":
                    await self._services.responder.warm()  # slow at first; a death meanwhile is no attempt
                await until_stored(partial(self._services.inbox.claim, batch, turn_id))
                faults.point("turn_claimed")
                await self._until_storage_works(batch, turn_id)
            except Conflict:
                log.info("finished already", update_ids=[envelope.update_id for envelope in batch])
                return
            except Exception:
                log.exception(
                    "work failed", update_ids=[envelope.update_id for envelope in batch], attempt=attempts + 1
                )
                batch = [replace(envelope, attempts=attempts + 1, excused=False) for envelope in batch]
                await asyncio.sleep(backoff_s(attempts))
            else:
                return

    async def _until_storage_works(self, batch: Sequence[Envelope], turn_id: str) -> None:
        """Do the work; a disk that refuses is no failure of the update: wait and do it again (P10)."""
        tries = 0
        while True:
            try:
                await self._do(batch, turn_id)
            except StorageUnavailable as exc:
                tries += 1
                log.error("work waits for storage", error=str(exc))  # noqa: TRY400 - expected, it says what to do
                await asyncio.sleep(backoff_s(tries))
            else:
                return

    async def _do(self, batch: Sequence[Envelope], turn_id: str) -> None:
        head = batch[0]
        if head.kind == "text":
            await self._turns.answer(batch, turn_id)
        elif head.kind == "edit":
            if not await self._turns.door.joins(head):
                await self._offer_again(head)
        elif head.kind == "command":
            await self._command(head)
        elif head.kind == "tap":
            await self._taps.run(head)
        elif head.kind == "media":
            what = replies.MEDIA_NAMES.get(head.text, head.text)
            await self._services.committer.done([head], [Message(replies.ONLY_TEXT.format(what=what))])
        elif head.kind == "unreadable":
            message = Message(replies.UNREADABLE)
            await self._services.committer.quarantined([head], [message], "it cannot be read", turn_id)
        else:
            await self._membership(head)

    async def _command(self, envelope: Envelope) -> None:
        command = self._commands.get(envelope.command)
        if command is not None:
            await command(envelope)
            return
        unknown = Message(replies.UNKNOWN_COMMAND.format(command=envelope.command[:32]))
        await self._services.committer.done([envelope], [unknown] if envelope.private else [])

    async def _offer_again(self, envelope: Envelope) -> None:
        button = Button(replies.ANSWER_AGAIN, "answer_again", {"text": envelope.text})
        message = Message(replies.EDITED, buttons=((button,),), reply_to_message_id=envelope.message_id)
        await self._services.committer.done([envelope], [message])

    async def _membership(self, envelope: Envelope) -> None:
        log.info("membership changed", chat_id=envelope.chat_id, status=envelope.text)
        if envelope.text in GONE:
            self._services.delivery.unreachable[envelope.chat_id] = f"the bot is {envelope.text} there"
        await self._services.committer.done([envelope], [])

    async def _quarantine(self, batch: Sequence[Envelope], turn_id: str, attempts: int) -> None:
        log.error("quarantined", update_ids=[envelope.update_id for envelope in batch], turn_id=turn_id)
        message = Message(replies.QUARANTINED, edits_message_id=await self._services.delivery.preview(turn_id))
        await self._services.committer.quarantined(batch, [message], f"{attempts} attempts failed", turn_id)
