"""Words for somebody who may not use the bot: the code pairs, everybody else gets one polite line at most (P14)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from telegram import Bot
from telegram.error import TelegramError

from bot import replies
from bot.delivery.chats import PEOPLE, Chats
from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.access import Gate
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.ports import Statement


class Strangers:
    """Greets people who are not allowed in; `announce` tells the console who was paired."""

    def __init__(
        self,
        bot: Bot,
        services: Services,
        gate: Gate,
        message_ids: HighestMessageIds,
        announce: Callable[[str], None],
        *,
        chats: Chats,
    ) -> None:
        self._bot = bot
        self._services = services
        self._gate = gate
        self._message_ids = message_ids
        self._announce = announce
        self._chats = chats

    async def greet(self, envelope: Envelope) -> None:
        """Pair a person who knows the code; anybody else gets one polite line at most, and nothing is stored (P14)."""
        with replies.speaking((envelope.language or "").partition("-")[0]):
            await self._greet(envelope)

    async def _greet(self, envelope: Envelope) -> None:
        user_id = envelope.user_id
        if user_id is None or not envelope.private:
            return
        if self._gate.knows_code(user_id, envelope.text):
            self._gate.pair(user_id)
            pair = Statement("person_pair", {"user_id": user_id, "created_at_ms": self._services.clock.now_ms()})
            await self._services.committer.write(Target.of(envelope), [OutgoingMessage(replies.say("paired"))], pair)
            self._chats.tell(PEOPLE)
            self._announce(f"\nPaired with Telegram user {user_id}.\n")
            return
        if self._gate.should_tell(user_id):
            with suppress(TelegramError):
                text = replies.say("stranger_pairing") if self._gate.code else replies.say("stranger")
                sent = await self._bot.send_message(envelope.chat_id, text)
                self._message_ids.saw(envelope.chat_id, sent.message_id)
