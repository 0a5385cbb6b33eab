"""The playground's bot, forked from a process that has imported everything."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.playground import child
from loopback.forked import Forked


def work(clock_path: str) -> None:
    """Do what `python -m bot.playground.child` does."""
    asyncio.run(child.run(Path(clock_path)))


async def fork(env: dict[str, str], clock_path: Path, log_path: Path) -> Forked:
    """Start the bot; the program itself is `bot.playground.keeper.start_program`."""
    return Forked(work, str(clock_path), folder=clock_path.parent, env=env, log_path=log_path)
