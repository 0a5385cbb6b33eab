"""The fixture `served`: a running bot with its HTTP service, and a client that knows the token."""

from __future__ import annotations

import canaries
import httpx
import pytest
from pydantic import SecretStr

from bot.app import App
from bot.playground.bot_api.world import PLAYGROUND_TOKEN
from bot.settings import Settings
from bot.tables import BOT_TABLES
from loopback.bot_here import QUICK
from memory.testing import lay_tables

TOKEN = canaries.HTTP_TOKEN
AUTH = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def served(api, model, tmp_path, monkeypatch, database_server):
    """Offer a factory: a running bot with its HTTP service, and a client that knows the token.

    Everything is logged, and the test fails if a secret stands in the log, in an answer or in a file.
    """
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv("OPENAI_API_KEY", canaries.MODEL_KEY)
    running = []

    async def make(clock=None, tracer=None, **settings):
        fields = {
            "telegram_bot_token": SecretStr(PLAYGROUND_TOKEN),
            "telegram_api_url": api.url,
            "continuity_model": "openai-chat:loopback",
            "continuity_database_url": database_server or f"sqlite:///{tmp_path / 'bot.db'}",
            "continuity_checkpoint_dir": tmp_path / "checkpoints",
            "continuity_http_port": 0,
            "continuity_http_token": SecretStr(TOKEN),
            "continuity_allowed_users": "1",
        }
        lay_tables(database_server or tmp_path / "bot.db", [BOT_TABLES])
        values = Settings(_env_file=None, **(fields | settings))
        app = App(values, clock=clock, pauses=QUICK, tracer=tracer, announce=lambda _: None)
        await app.start()
        hooks = {"response": [canaries.search_answer]}
        client = httpx.AsyncClient(base_url=app.http_url, headers=AUTH, timeout=30, event_hooks=hooks)
        running.append((app, client))
        return app, client

    with canaries.searched_log(canaries.SECRETS):
        yield make
        for app, client in running:
            await client.aclose()
            await app.stop()
    assert canaries.leaks(tmp_path, canaries.SECRETS) == {}
