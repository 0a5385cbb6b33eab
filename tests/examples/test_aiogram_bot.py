"""The bot in `examples/aiogram_bot.py`, as a process on the loopback Bot API."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.acceptance, pytest.mark.crash]

ROOT = Path(__file__).parents[2]
QUICK = Path(__file__).with_name("quick_aiogram.py")


async def test_the_bot_goes_on_after_a_kill_and_forgets(api, bot_process):
    """Killed and started again it knows the first message; /forget lets everything go."""
    command = (sys.executable, str(QUICK), str(ROOT / "examples" / "aiogram_bot.py"))
    bot = await bot_process(command=command, BOT_TOKEN=api.token, PYTHONPATH=str(ROOT))
    api.people.says(1, "My order is 7781.")
    await api.until(lambda: api.texts(1) == ["Noted."])

    await bot.kill()
    await bot.start()
    api.people.says(1, "Where is it?")
    await api.until(lambda: api.texts(1)[1:] == ["Order 7781 is on its way."])
    api.people.says(1, "/forget")
    await api.until(lambda: api.texts(1)[2:] == ["2 turns are gone for good."])
