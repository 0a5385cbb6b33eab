"""The fixtures `api`, `model`, `bot_here` and `bot_process`; a conftest imports them to offer them to its folder."""

from __future__ import annotations

import os

import canaries
import pytest

from bot.playground.bot_api.server import LoopbackBotApi
from loopback.bot_here import BotHere, MovedClock
from loopback.bot_process import BotProcess
from loopback.forked import OURS
from loopback.model import LoopbackModel
from loopback.sounds import LoopbackSounds
from loopback.strict import validate


@pytest.fixture
def clock():
    """Return the time of day of the Bot API server and of bots in this process; a test moves it ahead."""
    return MovedClock()


@pytest.fixture
async def api(clock):
    """Start a Bot API server; the test fails if the bot sent a request that Telegram's documentation does not know."""
    async with LoopbackBotApi(validate=validate, now_s=clock.now_s, driven=True) as server:
        yield server
        assert server.violations == []
        assert not [call.method for call in server.calls if canaries.leaked(str(call.params).encode(), {server.token})]


@pytest.fixture
async def model():
    """Start a language model that repeats what it is told unless the test sets `model.reply`."""
    async with LoopbackModel() as server:
        yield server


@pytest.fixture
async def sounds():
    """Start a server that listens and speaks."""
    async with LoopbackSounds() as server:
        yield server


@pytest.fixture
def database_server(request):
    """Return the address of an empty database for `pytest --database postgres`, None for a file in the bot's folder."""
    if request.config.getoption("--database") == "sqlite":
        return None
    if request.node.get_closest_marker("file"):
        pytest.skip("it is about a database that is a file")
    return request.getfixturevalue("postgres")


@pytest.fixture
async def bot_here(api, model, clock, tmp_path, monkeypatch, database_server):  # noqa: PLR0917 - asked for by name
    """Offer a factory that starts a bot in this process with the given settings, or with `start=False` prepares it.

    Everything is logged, and the test fails if a secret stands in the log or in a file of the bot's folder.
    """
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    clock.to_morning()
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv("OPENAI_API_KEY", canaries.MODEL_KEY)
    made = []

    async def make(*, start=True, folder="bot", **settings):
        chosen = {"CONTINUITY_MODEL": "openai-chat:loopback"} | settings
        bot = BotHere(api, tmp_path / folder, clock, chosen, database_server)
        made.append(bot)
        return await bot.start() if start else bot

    with canaries.searched_log(canaries.SECRETS):
        yield make
        for bot in made:
            await bot.stop()
    assert [canaries.leaks(bot.folder, canaries.SECRETS) for bot in made] == [{} for _ in made]


@pytest.fixture
async def bot_process(api, model, tmp_path, database_server):
    """Offer a factory that starts a bot with the given environment, or with `start=False` only prepares it.

    Everything is logged, and the test fails if a secret stands in the log or in any other file of the bot's folder.
    """
    made = []

    async def make(*, start=True, folder="bot", command=None, **env):
        defaults = {
            "CONTINUITY_MODEL": "openai-chat:loopback",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": canaries.MODEL_KEY,
            "CONTINUITY_LOG_LEVEL": "DEBUG",
        }
        bot = BotProcess(api, tmp_path / folder, defaults | env, command, database_server)
        made.append(bot)
        return await bot.start() if start else bot

    yield make
    for bot in made:
        await bot.kill()
        assert canaries.leaks(bot.folder, canaries.secrets_in(bot.env)) == {}
        print(f"--- {bot.log_path.name} of {bot.folder.name} ---\n{bot.log}")  # noqa: T201 - shown when the test failed
