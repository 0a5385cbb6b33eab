"""What a tap on a button means: looked up on our side, authorised again, used once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson
import structlog
from telegram import Bot
from telegram.error import TelegramError

from bot import replies
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Tap
from bot.turns.services import Services
from memory.errors import Conflict, StorageUnavailable
from memory.ports import Row, Statement

log = structlog.get_logger(__name__)


def refusal(row: Row | None, envelope: Envelope, now_ms: int) -> str | None:
    """Return why a tap is not obeyed, or None when it is."""
    if row is None or row["conversation_id"] != envelope.conversation_id or row["expires_at_ms"] < now_ms:
        return replies.say("tap_too_old")
    if row["user_id"] is not None and row["user_id"] != envelope.user_id:
        return replies.say("tap_not_yours")
    if row["used_at_ms"] is not None:
        return replies.say("tap_used")
    return None


class Buttons:
    """Finds the row behind a button and does what it says; each in one transaction with the row's use."""

    def __init__(self, bot: Bot, services: Services, actions: Mapping[str, Action]) -> None:
        self._bot = bot
        self._services = services
        self._actions = actions

    async def run(self, envelope: Envelope) -> None:
        """Obey a tap once; a second one, somebody else's or an old one only gets a word."""
        row = await self._services.db.read_one("button_find", button_id=envelope.button_id)
        now_ms = self._services.clock.now_ms()
        word = refusal(row, envelope, now_ms)
        if row is None or word is not None:
            await self._services.committer.done([envelope], [])
            await self._toast(envelope, word or replies.say("tap_too_old"))
            return
        use = Statement("button_use", {"group_id": row["group_id"], "at_ms": now_ms})
        use = replace(use, expect=await self._group_size(row))
        tap = Tap(envelope, use, orjson.loads(row["payload_json"]))
        try:
            has_new_buttons = await self._actions[row["action"]](tap)
        except Conflict:
            log.info("second tap on one message", button=envelope.button_id)
            await self._services.committer.done([envelope], [])
            await self._toast(envelope, replies.say("tap_used"))
            return
        await self._toast(envelope, replies.say("tap_done"))
        if not has_new_buttons:
            await self._without_buttons(envelope)

    async def _group_size(self, row: Row) -> int:
        found = await self._services.db.read_one("button_group_size", group_id=row["group_id"])
        return found["n"] if found else 0

    async def _toast(self, envelope: Envelope, text: str) -> None:
        services = self._services
        try:
            while not services.memory.db.owned():  # the word would not go out
                await services.db.write()
            await self._bot.answer_callback_query(envelope.callback_id, text=text)
        except (TelegramError, StorageUnavailable) as exc:  # a query older than a minute cannot be answered any more
            log.debug("tap not acknowledged", error=str(exc))

    async def _without_buttons(self, envelope: Envelope) -> None:
        try:
            await self._bot.edit_message_reply_markup(envelope.chat_id, envelope.message_id)
        except TelegramError as exc:  # the message may show other text already; its buttons are spent anyway
            log.debug("buttons not taken away", error=str(exc))
