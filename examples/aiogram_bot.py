"""A Telegram bot with aiogram that remembers: killed in the middle, it goes on where it was. It needs BOT_TOKEN."""

import asyncio
import os
import re

from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.filters import Command
from aiogram.types import Message

from memory import ConversationMemory, ForgetRequest

dispatcher = Dispatcher()


async def model(messages: list[dict[str, str]]) -> str:
    """Put your own here: it gets `role` and `content`."""
    number = re.search(r"order is (\d+)", " ".join(message["content"] for message in messages[:-1]))
    return f"Order {number[1]} is on its way." if number else "Noted."


@dispatcher.message(Command("forget"))
async def forget(message: Message, memory: ConversationMemory) -> None:
    """Let everything of this chat go."""
    gone = await memory.forget(ForgetRequest(f"tg:{message.chat.id}", everything=True))
    await message.answer(f"{gone.counts.turns} turns are gone for good.")


@dispatcher.message()
async def answer(message: Message, memory: ConversationMemory) -> None:
    """Answer once, also when Telegram brings the message twice."""
    chat = f"tg:{message.chat.id}"
    turn = await memory.begin(chat, message.text or "", dedupe_key=f"{chat}:{message.message_id}")
    stored = turn.recorded or await turn.record(await model(turn.messages))
    await message.answer(stored.assistant_text)


async def main() -> None:
    """Poll until stopped."""
    server = TelegramAPIServer.from_base(os.environ.get("TELEGRAM_API_URL", "https://api.telegram.org"))
    async with await ConversationMemory.open("data") as memory:
        bot = Bot(os.environ["BOT_TOKEN"], session=AiohttpSession(api=server))
        await dispatcher.start_polling(bot, memory=memory)


if __name__ == "__main__":
    asyncio.run(main())
