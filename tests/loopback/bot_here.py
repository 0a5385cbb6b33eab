"""The bot in the test's own process: started in a moment, at its own time of day. It cannot be killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.app import App
from bot.delivery.rate_limit import RateLimits
from bot.pauses import Pauses
from bot.playground.bot_api.server import LoopbackBotApi
from bot.settings import Settings
from bot.tables import BOT_TABLES
from bot.tools.web.addresses import IPAddress
from memory.testing import lay_tables

HOUR_MS = 3_600_000
MONDAY_MS = 1_803_895_200_000
"""Monday, 1 March 2027, 10:00 UTC."""
QUICK = Pauses(0.05)
NO_PACE = RateLimits(private_gap_s=0.0, group_per_minute=1_000_000, total_per_second=1_000_000)


def here_alone(address: IPAddress, _: int) -> bool:
    """Let pages of this machine be read, at any port, and no others."""
    return address.is_loopback


class MovedClock:
    """The machine's clock, moved ahead by the test."""

    def __init__(self) -> None:
        self._ahead_ms = 0

    def now_ms(self) -> int:
        """Return UTC epoch milliseconds."""
        return time.time_ns() // 1_000_000 + self._ahead_ms

    def now_s(self) -> float:
        """Return the same in seconds, for the Bot API server."""
        return self.now_ms() / 1000

    def to_morning(self) -> None:
        """Move to ten o'clock on a Monday, so that days and times are the same whenever a test runs."""
        self._ahead_ms += MONDAY_MS - self.now_ms()

    def advance(self, *, s: float = 0, hours: float = 0) -> None:
        """Move on."""
        self._ahead_ms += int(s * 1000 + hours * HOUR_MS)


class BotHere:
    """One bot with its data folder; each start keeps the data of the one before."""

    def __init__(
        self,
        api: LoopbackBotApi,
        folder: Path,
        clock: MovedClock,
        settings: Mapping[str, Any],
        server: str | None = None,
    ) -> None:
        self.api = api
        self.clock = clock
        self.folder = folder
        self.database = server or folder / "continuity.db"
        self.checkpoints = folder / "checkpoints"
        self.said: list[str] = []
        """What the console was told."""
        self._settings = {
            "TELEGRAM_BOT_TOKEN": SecretStr(api.token),
            "TELEGRAM_API_URL": api.url,
            "CONTINUITY_DATABASE_URL": server or f"sqlite:///{self.database}",
            "CONTINUITY_CHECKPOINT_DIR": self.checkpoints,
            "CONTINUITY_ALLOWED_USERS": "*",
            **settings,
        }
        self._app: App | None = None

    @property
    def app(self) -> App:
        """The running bot."""
        assert self._app is not None, "the bot is not running"
        return self._app

    async def start(self, **settings: Any) -> BotHere:
        """Start and wait until it polls; `settings` are for this start only. Raises StartError."""
        values = {name.lower(): value for name, value in {**self._settings, **settings}.items()}
        app = App(
            Settings(_env_file=None, **values),
            limits=NO_PACE,
            pauses=QUICK,
            clock=self.clock,
            announce=self.said.append,
            may_reach=here_alone,
        )
        lay_tables(self.database, [BOT_TABLES])
        polls = self.api.poll_count
        await app.start()
        self._app = app
        if not values.get("telegram_webhook_url"):
            await self.api.until(lambda: self.api.poll_count > polls)
        return self

    async def stop(self) -> None:
        """Stop in good order; a bot that is not running is left alone."""
        app, self._app = self._app, None
        if app is not None:
            await app.stop()

    async def restart(self, **settings: Any) -> BotHere:
        """Stop in good order and start again on the same data."""
        await self.stop()
        return await self.start(**settings)

    async def settled(self, *update_ids: int) -> None:
        """Wait until these updates were taken, and everything taken so far is finished and on the screen."""
        await self.api.until(lambda: all(self.api.is_confirmed(update_id) for update_id in update_ids))
        async with asyncio.timeout(30):
            await self.app.settled()
            await self.app.services.memory.recorder.settle()

    async def passes(self, **duration: float) -> None:
        """Let time pass for the bot, and what became due meanwhile come."""
        self.clock.advance(**duration)
        if self._app is not None:
            await asyncio.create_task(self._app.services.reminders.run())
            await self.settled()
