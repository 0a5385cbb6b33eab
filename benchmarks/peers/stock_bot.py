"""A bot as tutorials build it: python-telegram-bot, the openai client, 20 messages kept by PicklePersistence."""

import os

from openai import AsyncOpenAI
from telegram import Update
from telegram.ext import Application, ApplicationBuilder, ContextTypes, MessageHandler, PicklePersistence, filters

KEPT_MESSAGES = 20
client = AsyncOpenAI()


async def answer(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
    """Ask the model with what was said in this chat, and send what it says."""
    history = context.chat_data.setdefault("history", [])
    history.append({"role": "user", "content": update.effective_message.text})
    done = await client.chat.completions.create(model="loopback", messages=history[-KEPT_MESSAGES:])
    text = done.choices[0].message.content
    history.append({"role": "assistant", "content": text})
    await update.effective_message.reply_text(text)


def main() -> None:
    """Poll until the process ends."""
    application: Application = (
        ApplicationBuilder()
        .token(os.environ["TELEGRAM_BOT_TOKEN"])
        .base_url(f"{os.environ['TELEGRAM_API_URL']}/bot")
        .persistence(PicklePersistence("stock.pickle"))
        .concurrent_updates(True)
        .build()
    )
    application.add_handler(MessageHandler(filters.TEXT & ~filters.COMMAND, answer))
    application.run_polling()


if __name__ == "__main__":
    main()
