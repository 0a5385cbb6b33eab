"""`make run` without a token: the playground in the browser, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bot.playground.bot_api.server import LoopbackBotApi
from bot.playground.bot_api.world import fresh_token
from bot.playground.folder import held, show_at
from bot.playground.keeper import ProcessKeeper, Start, start_program
from bot.playground.moved_clock import MovedClock
from bot.playground.pages import PlaygroundPages

STARTS_WITHIN_S = 60.0


async def play(folder: Path, say: Callable[[str], None], *, port: int, show: bool = True) -> None:
    """Serve the page until SIGINT or SIGTERM. Everything stays in `folder`; the next start goes on there.

    Raises `Locked` when another playground works there, and `StorageUnavailable` when the folder cannot be used.
    """
    with held(folder):
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        playground = Playground(folder, MovedClock(folder / "clock"))
        await playground.start(port)
        try:
            show_at(folder, playground.api.url)
            say(f"Open {playground.api.url} in a browser. Ctrl-C ends it; everything is kept in {folder}.")
            if show and _has_screen():
                with suppress(webbrowser.Error):
                    await asyncio.to_thread(webbrowser.open, playground.api.url)
            await stop.wait()
        finally:
            await playground.stop()


def _has_screen() -> bool:
    """Return True where a browser has a screen to open on; a browser in the terminal would be in the way."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class Playground:
    """The server with the page, and the bot beside it."""

    def __init__(self, folder: Path, clock: MovedClock, start: Start = start_program) -> None:
        self._folder = folder
        self._clock = clock
        self.api = LoopbackBotApi(
            token=fresh_token(),
            state_path=folder / "playground.json",
            now_s=lambda: clock.now_ms() / 1000,
            add_routes=lambda app: self._pages.add_routes(app),  # noqa: PLW0108 - built from the server, so later
        )
        env = {**os.environ, **self._settings()}
        self._keeper = ProcessKeeper(env, folder / "clock", folder / "bot.log", self._changed, start)
        self._pages = PlaygroundPages(self.api, self._keeper, clock, self.reset)

    def _settings(self) -> dict[str, str]:
        """Return the playground's own settings for Telegram and files."""
        return {
            "TELEGRAM_BOT_TOKEN": self.api.token,
            "TELEGRAM_WEBHOOK_URL": "",
            "CONTINUITY_SEND_GAP_MS": "0",
            "CONTINUITY_DATABASE_URL": f"sqlite:///{(self._folder / 'continuity.db').absolute()}",
            "CONTINUITY_CHECKPOINT_DIR": str((self._folder / "checkpoints").absolute()),
            "CONTINUITY_ALLOWED_USERS": "*",
            "CONTINUITY_HTTP_HOST": "127.0.0.1",
        }

    def _changed(self) -> None:
        self._pages.bot_changed()

    async def start(self, port: int) -> None:
        """Listen, on a free port when this one is taken, and start the bot."""
        try:
            await self.api.start(port)
        except OSError:
            await self.api.start(0)
        self._keeper.point_to(self.api.url)
        self._pages.people_at_start()
        self._keeper.begin()

    @property
    def bot_address(self) -> tuple[str, str]:
        """The address of the bot's own HTTP service, and its token."""
        return f"http://127.0.0.1:{self._keeper.port}", self._keeper.token

    async def running(self) -> None:
        """Wait until the bot runs."""
        await self.api.changes.until(lambda: self._keeper.state == "running", STARTS_WITHIN_S)

    async def stop(self) -> None:
        """Stop the bot in good order, then the server."""
        await self._keeper.end()
        await self._pages.close()
        await self.api.stop()

    async def reset(self) -> None:
        """Forget all messages and notes, and begin again with today's clock."""
        await self._keeper.end()
        for name in ("continuity.db", "continuity.db-wal", "continuity.db-shm", "continuity.db.waiting", "clock"):
            (self._folder / name).unlink(missing_ok=True)
        shutil.rmtree(self._folder / "checkpoints", ignore_errors=True)
        self._clock.forget()
        self.api.world.chats.clear()
        self.api.updates.waiting.clear()
        self._pages.people_at_start()
        self._pages.events.forget()
        self.api.world.changed()
        self._keeper.begin()
