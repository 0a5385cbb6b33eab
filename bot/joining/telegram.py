"""The way to Telegram, and who we are there."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial

from telegram import Bot

from bot.delivery.chats import PEOPLE
from bot.delivery.connection import StartError, make_bot, until_reached
from bot.intake.chat_moves import ChatMoves
from bot.intake.updates import Me
from bot.joining.process import Process
from bot.joining.storage import Stored


@dataclass(frozen=True, slots=True)
class TelegramLink:
    """The way to Telegram, and who we are there."""

    bot: Bot
    moves: ChatMoves
    me: Me


async def connect(process: Process, stored: Stored, opened: AsyncExitStack) -> TelegramLink:
    """Learn who we are. Waits for a network that is down; raises StartError when the token is missing or refused."""
    settings, db = process.settings, stored.db
    token = settings.telegram_bot_token
    if token is None:
        raise StartError("TELEGRAM_BOT_TOKEN is missing")
    bot = make_bot(token.get_secret_value(), settings.telegram_api_url, db.owned)
    opened.push_async_callback(_hang_up, bot)
    await until_reached(settings.telegram_api_url, bot.initialize, process.pauses)
    moves = ChatMoves(db, partial(stored.chats.tell, PEOPLE))
    await moves.open(bot.id)
    hears_all = bool(bot.bot.can_read_all_group_messages)
    return TelegramLink(bot, moves, Me(bot.id, bot.username or "", moves.origins, moves.earlier, hears_all=hears_all))


async def _hang_up(bot: Bot) -> None:
    with suppress(Exception):
        await bot.shutdown()
