"""The way to Telegram: a client for a token, and calls that wait until they get through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import structlog
from telegram import Bot
from telegram.error import BadRequest, InvalidToken, NetworkError, TelegramError

from bot.delivery.after_failure import backoff_s
from bot.intake.telegram_request import TelegramRequest, always, proxy_of
from bot.pauses import FULL, Pauses
from bot.settings import TELEGRAM_URL

START_PATIENCE_S = 120.0

log = structlog.get_logger(__name__)


class StartError(Exception):
    """The bot cannot start; the message gives the cause and the remedy."""


def make_bot(token: str, address: str, may_send: Callable[[], bool] = always) -> Bot:
    """Return the client of the Bot API at this address; it connects at its first call.

    `may_send` is asked in the moment in which a request leaves. Raises `SettingsError` for a proxy of the environment
    that can't be used.
    """
    api = address.rstrip("/")
    proxy_of(urlsplit(api).scheme, urlsplit(api).hostname or "")
    return Bot(
        token,
        base_url=f"{api}/bot",
        base_file_url=f"{api}/file/bot",
        request=TelegramRequest(connections=64, read_timeout_s=20, pool_timeout_s=30, may_send=may_send),
        get_updates_request=TelegramRequest(
            connections=1, read_timeout_s=20, pool_timeout_s=30
        ),  # the poller has its own
    )


async def until_reached(address: str, call: Callable[[], Awaitable[object]], pauses: Pauses = FULL) -> None:
    """Call Telegram until it can be reached. Raises StartError where waiting does not help.

    Telegram's own address is waited for as long as it takes, since a network comes back; another one, which may be a
    mistake, for two minutes.
    """
    tries, waited_s = 0, 0.0
    while True:
        try:
            await call()
        except InvalidToken as exc:
            hint = "" if address == TELEGRAM_URL else " and TELEGRAM_API_URL"
            raise StartError(f"Telegram refuses the token ({exc}); check TELEGRAM_BOT_TOKEN{hint}") from None
        except BadRequest as exc:
            raise StartError(f"Telegram refuses the settings: {exc}") from None
        except NetworkError as exc:
            tries += 1
            log.warning("Telegram cannot be reached, trying again", error=str(exc), tries=tries)
            if address != TELEGRAM_URL and waited_s >= START_PATIENCE_S:
                raise StartError(f"nobody answers at TELEGRAM_API_URL {address} ({exc}); check it") from None
            await pauses.rest(backoff_s(tries))
            waited_s += backoff_s(tries)
        except (TelegramError, LookupError, TypeError, AttributeError, ValueError) as exc:  # what its answer breaks
            raise StartError(f"{address} does not answer like Telegram ({exc}); check TELEGRAM_API_URL") from None
        else:
            return
