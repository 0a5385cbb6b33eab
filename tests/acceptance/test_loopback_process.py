"""The process helper starts, kills and restarts a bot and shows what it printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance

ECHO = (sys.executable, str(Path(__file__).parents[1] / "loopback" / "echo_bot.py"))


async def test_a_bot_is_killed_and_started_again(api, bot_process):
    """A message sent while the bot is dead is answered after the restart."""
    bot = await bot_process(command=ECHO)
    api.people.says(1, "before")
    await api.until(lambda: api.texts(1) == ["echo: before"])

    assert (await bot.kill(), bot.is_running) == (-9, False)
    api.people.says(1, "meanwhile")
    await bot.start()
    await api.until(lambda: api.texts(1)[-1:] == ["echo: meanwhile"])


async def test_a_bot_that_cannot_start_shows_why(bot_process):
    """The failure carries the exit code and what was printed."""
    bot = await bot_process(command=(sys.executable, "-c", "raise SystemExit('no disk')", ""), start=False)

    with pytest.raises(AssertionError, match=r"ended with 1 before it was ready:\nno disk"):
        await bot.start()
