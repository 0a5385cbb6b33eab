"""The bot of the browser playground: the production application in a process that can be killed, on a movable clock."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

from bot.app import App
from bot.delivery.rate_limit import RateLimits
from bot.playground.moved_clock import MovedClock, follow
from bot.process.logs import set_up
from bot.process.watch import LoopWatch
from bot.settings import Settings


async def run(clock_path: Path) -> None:
    """Run until SIGTERM; reminders are looked at as soon as the clock was moved."""
    settings = Settings()
    level = "ERROR" if settings.continuity_log_level == "INFO" else settings.continuity_log_level
    set_up(level, secrets=settings.secrets)
    clock = MovedClock(clock_path)
    app = App(settings, limits=RateLimits(private_gap_s=0.0), clock=clock)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, app.ask_to_stop)
    async with LoopWatch(settings.continuity_loop_limit_s) as watch:
        await app.start()
        follower = asyncio.create_task(follow(clock, app.services.reminders.look))
        await app.stopped()
        watch.stopping()
        follower.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await follower
        await app.stop()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1])))
