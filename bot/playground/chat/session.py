"""`continuity-bot chat`: the production application against the loopback Bot API, in one process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from pydantic import SecretStr

from bot.app import App
from bot.playground.chat.terminal import PLAYGROUND_USER_ID
from bot.playground.chat.terminal import chat as converse
from bot.playground.folder import held
from bot.playground.moved_clock import MovedClock, follow
from bot.process.logs import set_up
from bot.settings import Settings


def playground_settings(settings: Settings, folder: Path, api_url: str, token: str) -> Settings:
    """Return the settings with those of Telegram and of files replaced by the playground's own."""
    return settings.model_copy(
        update={
            "telegram_bot_token": SecretStr(token),
            "telegram_api_url": api_url,
            "telegram_webhook_url": None,
            "continuity_send_gap_ms": 0,  # nobody limits us here, and a person at a keyboard should not wait for a line
            "continuity_http_port": None,
            "continuity_database_url": f"sqlite:///{(folder / 'continuity.db').absolute()}",
            "continuity_checkpoint_dir": folder / "checkpoints",
            "continuity_allowed_users": str(PLAYGROUND_USER_ID),
        }
    )


def chat(settings: Settings, folder: Path) -> int:
    """Talk until the person leaves; return the exit code. Raises StartError, and `Locked` when others are there."""
    with held(folder):
        return _chat(settings, folder)


def _chat(settings: Settings, folder: Path) -> int:
    level = "ERROR" if settings.continuity_log_level == "INFO" else settings.continuity_log_level
    set_up(level, secrets=settings.secrets)
    clock = MovedClock(folder / "clock")

    @contextlib.asynccontextmanager
    async def application(api_url: str, token: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        app = App(playground_settings(settings, folder, api_url, token), clock=clock)
        await app.start()
        follower = asyncio.create_task(follow(clock, app.time_was_moved))
        try:
            yield app.settled
        finally:
            follower.cancel()
            await asyncio.gather(follower, return_exceptions=True)
            await app.stop()

    return asyncio.run(converse(application, folder, model=settings.continuity_model, clock=clock))
