"""The way of updates, webhook or polling, and the commands that Telegram shows."""

from __future__ import annotations

from contextlib import suppress

from telegram import Bot, BotCommand
from telegram.error import TelegramError

from bot import replies
from bot.delivery.connection import until_reached
from bot.intake.updates import ALLOWED_UPDATES
from bot.pauses import Pauses
from bot.sentences import DEFAULT, LANGUAGES
from bot.settings import Settings


async def introduce(bot: Bot) -> None:
    """Tell Telegram the commands, in each language. A failed call is tried again with the next start."""
    with suppress(TelegramError):
        for code in LANGUAGES:
            menu = [BotCommand(name, what) for name, what in replies.command_menu(code).items()]
            await bot.set_my_commands(menu, language_code=None if code == DEFAULT else code)


async def choose_way(settings: Settings, bot: Bot, pauses: Pauses) -> bool:
    """Have updates come by webhook when one is set; return whether they have to be polled. Raises `StartError`."""
    if settings.telegram_webhook_url:
        secret = settings.telegram_webhook_secret
        await until_reached(
            settings.telegram_api_url,
            lambda: bot.set_webhook(
                settings.telegram_webhook_url or "",
                secret_token=secret.get_secret_value() if secret else None,
                allowed_updates=ALLOWED_UPDATES,
            ),
            pauses,
        )
        return False
    await until_reached(settings.telegram_api_url, bot.delete_webhook, pauses)
    return True
