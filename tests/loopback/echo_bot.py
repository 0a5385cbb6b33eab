"""A bot that repeats what it is told, to try the loopback servers and the terminal without the real one.

`/buttons` shows a keyboard, `/slow` streams a draft, `/two` answers twice, `/edit` edits its answer, `/file` sends one.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager

from telegram import BotCommand, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, Update
from telegram.ext import Application, CallbackQueryHandler, MessageHandler, filters

_STORY = "Once upon a time there was a bot that wrote rather slowly, word after word, until everything was said."


async def _answer(update: Update, context) -> None:
    message = update.effective_message
    handler = _COMMANDS.get((message.text or "").split()[0] if message.text else "")
    if handler:
        await handler(message, context.bot)
    else:
        await message.reply_text(f"echo: {message.text}")


async def _buttons(message, bot) -> None:
    rows = [
        [InlineKeyboardButton("Continue", callback_data="go"), InlineKeyboardButton("Start fresh", callback_data="no")]
    ]
    await message.reply_text("Shall we go on?", reply_markup=InlineKeyboardMarkup(rows))


async def _slow(message, bot) -> None:
    words = _STORY.split()
    pace_s = float(os.environ.get("ECHO_PACE_S", "0.05"))
    await bot.send_chat_action(message.chat_id, "typing")
    for count in range(1, len(words)):
        await bot.send_message_draft(message.chat_id, 7, " ".join(words[:count]))
        await asyncio.sleep(pace_s)
    await message.reply_text(_STORY, entities=[MessageEntity("bold", 0, 4)])


async def _two(message, bot) -> None:
    await message.reply_text("first")
    await message.reply_text("second")


async def _edit(message, bot) -> None:
    sent = await message.reply_text("draft version")
    await sent.edit_text("final version")


async def _file(message, bot) -> None:
    await message.reply_document(b'{"all": "yours"}', filename="export.json", caption="your data")


_COMMANDS = {"/buttons": _buttons, "/slow": _slow, "/two": _two, "/edit": _edit, "/file": _file}


async def _pressed(update: Update, context) -> None:
    await update.callback_query.answer("noted")
    await update.callback_query.edit_message_text(f"You chose {update.callback_query.data}")


@asynccontextmanager
async def echo_application(api_url: str, token: str):
    """Poll while the block runs; yield what waits until every update is handled."""
    application = (
        Application.builder().token(token).base_url(f"{api_url}/bot").base_file_url(f"{api_url}/file/bot").build()
    )
    application.add_handler(MessageHandler(filters.ALL, _answer))
    application.add_handler(CallbackQueryHandler(_pressed))
    async with application:
        await application.bot.set_my_commands([BotCommand(n[1:], f"try {n[1:]}") for n in _COMMANDS])
        await application.start()
        await application.updater.start_polling()
        yield application.update_queue.join
        await application.updater.stop()
        await application.stop()


async def _main() -> None:
    async with echo_application(os.environ["TELEGRAM_API_URL"], os.environ["TELEGRAM_BOT_TOKEN"]):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
