"""The bot of the browser playground: the production application in a process that can be killed, on a movable clock."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.app import App
from bot.app import run as run_app
from bot.playground.moved_clock import MovedClock, follow
from bot.process.logs import set_up
from bot.settings import Settings


async def run(clock_path: Path) -> None:
    """Run until SIGTERM; reminders are looked at as soon as the clock was moved."""
    settings = Settings()
    level = "ERROR" if settings.continuity_log_level == "INFO" else settings.continuity_log_level
    set_up(level, secrets=settings.secrets)
    clock = MovedClock(clock_path)
    app = App(settings, clock=clock)
    follower = asyncio.create_task(follow(clock, app.time_was_moved))
    try:
        await run_app(app)
    finally:
        follower.cancel()
        await asyncio.gather(follower, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1])))
