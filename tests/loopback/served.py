"""The fixture `served`: a running bot with its HTTP service, and a client that knows the token."""

from __future__ import annotations

import httpx
import pytest
from pydantic import SecretStr

from bot.app import App
from bot.playground.world import PLAYGROUND_TOKEN
from bot.settings import Settings
from loopback.bot_here import QUICK

TOKEN = "a-token-for-the-tests"
AUTH = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def served(api, model, tmp_path, monkeypatch, database_server):
    """Offer a factory: a running bot with its HTTP service, and a client that knows the token."""
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
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
        values = Settings(_env_file=None, **(fields | settings))
        app = App(values, clock=clock, pauses=QUICK, tracer=tracer, announce=lambda _: None)
        await app.start()
        client = httpx.AsyncClient(base_url=app.http_url, headers=AUTH, timeout=30)
        running.append((app, client))
        return app, client

    yield make
    for app, client in running:
        await client.aclose()
        await app.stop()
