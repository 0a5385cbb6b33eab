"""A Telegram bot with aiogram that remembers: killed in the middle, it goes on where it was. It needs BOT_TOKEN.

An update is acknowledged when its answer was sent, so a death loses none. Telegram brings what was under way again, and
what was stored by then is sent without asking the model once more: at worst an answer shows twice, never not at all.
In each chat one message is answered after the other, and chats do not wait for each other but between two polls.
"""

import asyncio
import itertools
import logging
import os
import re

from aiogram import Bot, Dispatcher, F
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramNetworkError, TelegramRetryAfter, TelegramServerError
from aiogram.filters import Command
from aiogram.types import Message, Update

from memory import Conflict, ConversationMemory, ForgetRequest, StorageUnavailable

TRY_AGAIN = (TelegramNetworkError, TelegramRetryAfter, TelegramServerError, StorageUnavailable, Conflict)
dispatcher = Dispatcher()
log = logging.getLogger(__name__)


async def model(messages: list[dict[str, str]]) -> str:
    """Put your own here: it gets `role` and `content`."""
    number = re.search(r"order is (\d+)", " ".join(message["content"] for message in messages[:-1]))
    return f"Order {number[1]} is on its way." if number else "Noted."


@dispatcher.message(Command("forget"))
async def forget(message: Message, memory: ConversationMemory) -> None:
    """Let everything of this chat go."""
    gone = await memory.forget(ForgetRequest(f"tg:{message.chat.id}", everything=True))
    await message.answer(f"{gone.counts.turns} turns are gone for good.")


@dispatcher.message(F.text)
async def answer(message: Message, memory: ConversationMemory) -> None:
    """Store the answer, then send it; a message that Telegram brings again has its answer already."""
    chat, who = f"tg:{message.chat.id}", message.from_user
    key = f"{chat}:{message.message_id}"
    turn = await memory.begin(chat, message.text or "", user_id=who.id if who else None, dedupe_key=key)
    stored = turn.recorded or await turn.record(await model(turn.messages))
    await message.answer(stored.assistant_text)


async def finish(bot: Bot, update: Update, memory: ConversationMemory) -> None:
    """Handle an update until it is done; what can never be done is logged, and stands in nobody's way."""
    while True:
        try:
            await dispatcher.feed_update(bot, update, memory=memory)
        except TRY_AGAIN as exc:
            log.warning("update %d is tried again: %s", update.update_id, exc)
            await asyncio.sleep(1)
        except Exception:
            log.exception("update %d is left unanswered", update.update_id)
            return
        else:
            return


async def in_order(bot: Bot, updates: list[Update], memory: ConversationMemory) -> None:
    """Finish the updates of one chat, one after the other."""
    for update in updates:
        await finish(bot, update, memory)


def chat_of(update: Update) -> int:
    """Return the chat of a message; 0 for what is none."""
    return update.message.chat.id if update.message else 0


async def poll(bot: Bot, memory: ConversationMemory) -> None:
    """Fetch updates for ever. The offset of the next poll acknowledges those of the one before: they are finished."""
    offset = 0
    while True:
        try:
            updates = await bot.get_updates(offset, timeout=30, request_timeout=60, allowed_updates=["message"])
        except (TelegramNetworkError, TelegramRetryAfter, TelegramServerError) as exc:
            log.warning("Telegram is away: %s", exc)
            await asyncio.sleep(1)
            continue
        chats = itertools.groupby(sorted(updates, key=chat_of), chat_of)  # sorting keeps the order within a chat
        await asyncio.gather(*(in_order(bot, list(each), memory) for _, each in chats))
        offset = updates[-1].update_id + 1 if updates else offset


async def main() -> None:
    """Poll until stopped."""
    server = TelegramAPIServer.from_base(os.environ.get("TELEGRAM_API_URL", "https://api.telegram.org"))
    async with (
        await ConversationMemory.open("data") as memory,
        Bot(os.environ["BOT_TOKEN"], session=AiohttpSession(api=server)) as bot,
    ):
        await bot.delete_webhook()
        await poll(bot, memory)


if __name__ == "__main__":
    asyncio.run(main())
