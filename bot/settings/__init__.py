"""Every setting of the bot, read and checked once at start."""

from bot.settings.faults import SettingsError, limits
from bot.settings.fields import OFFLINE, TELEGRAM_URL
from bot.settings.settings import NO_PRICES, Prices, Settings, read_settings
from bot.settings.shapes import HTTP_TOKEN_CHARS, SEARCH_KEYS, TOKEN_SHAPE, is_long, is_loopback

__all__ = [
    "HTTP_TOKEN_CHARS",
    "NO_PRICES",
    "OFFLINE",
    "SEARCH_KEYS",
    "TELEGRAM_URL",
    "TOKEN_SHAPE",
    "Prices",
    "Settings",
    "SettingsError",
    "is_long",
    "is_loopback",
    "limits",
    "read_settings",
]
