"""The fixtures `api`, `model` and `bot_process`; a conftest imports them to offer them to its folder."""

from __future__ import annotations

import pytest

from bot.playground.server import LoopbackBotApi
from loopback.bot_process import RUN, BotProcess
from loopback.model import LoopbackModel
from loopback.strict import validate


@pytest.fixture
async def api():
    """Start a Bot API server; the test fails if the bot sent a request that Telegram's documentation does not know."""
    async with LoopbackBotApi(validate=validate) as server:
        yield server
        assert server.violations == []


@pytest.fixture
async def model():
    """Start a language model that repeats what it is told unless the test sets `model.reply`."""
    async with LoopbackModel() as server:
        yield server


@pytest.fixture
async def bot_process(api, model, tmp_path):
    """Offer a factory that starts a bot with the given environment, or with `start=False` only prepares it."""
    made = []

    async def make(*, start=True, folder="bot", command=RUN, **env):
        defaults = {
            "CONTINUITY_MODEL": "openai-chat:loopback",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "sk-loopback",
        }
        bot = BotProcess(api, tmp_path / folder, defaults | env, command)
        made.append(bot)
        return await bot.start() if start else bot

    yield make
    for bot in made:
        await bot.kill()
        print(f"--- {bot.log_path.name} of {bot.folder.name} ---\n{bot.log}")  # noqa: T201 - shown when the test failed
