"""The HTTP port before clients that mean no good, or never say anything: no traceback, no path, no idle connection."""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import SecretStr

from bot.app import App
from bot.http import connections
from bot.playground.bot_api.world import PLAYGROUND_TOKEN
from bot.settings import Settings

pytestmark = pytest.mark.sweep

SECRET = "a-secret-of-16-characters"
ODD = "gr\u00fc\u00df".encode()


@pytest.fixture
async def running(api, tmp_path, monkeypatch):
    """Run a bot with webhook and token, and let a request take a fifth of a second at most."""
    monkeypatch.setattr(connections, "RECEIVE_S", 0.2)
    app = App(
        Settings(
            _env_file=None,
            telegram_bot_token=SecretStr(PLAYGROUND_TOKEN),
            telegram_api_url=api.url,
            telegram_webhook_url="https://bot.example/telegram/webhook",
            telegram_webhook_secret=SecretStr(SECRET),
            continuity_database_url=f"sqlite:///{tmp_path / 'bot.db'}",
            continuity_checkpoint_dir=tmp_path / "checkpoints",
            continuity_http_port=0,
            continuity_http_token=SecretStr("a-token-for-the-tests"),
            continuity_allowed_users="1",
        ),
        announce=lambda _: None,
    )
    await app.start()
    async with httpx.AsyncClient(base_url=app.http_url, timeout=30) as client:
        yield app, client
    await app.stop()


async def test_a_header_in_other_letters_is_simply_wrong(running, caplog):
    """Neither a token nor a secret that is not ASCII is a failure of ours: 403 or fewer details, never 500."""
    _, client = running
    asked = [
        await client.get("/health", headers={b"Authorization": b"Bearer " + ODD}),
        await client.get("/metrics", headers={b"Authorization": b"Bearer " + ODD}),
        await client.post("/telegram/webhook", json={}, headers={b"X-Telegram-Bot-Api-Secret-Token": ODD}),
        await client.post("/telegram/webhook", json={}),
    ]

    assert [answer.status_code for answer in asked] == [200, 401, 403, 403]
    assert "boot_id" not in asked[0].text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"{}", b'{"update_id": "x"}', b"[" * 5000])
async def test_a_body_that_is_no_update_is_a_bad_request(running, caplog, body):
    """400 with a sentence; what is merely too deep to read is passed over, or Telegram would send it for ever."""
    _, client = running
    answer = await client.post("/telegram/webhook", content=body, headers={"X-Telegram-Bot-Api-Secret-Token": SECRET})

    assert answer.status_code == (200 if body.startswith(b"[[") else 400)
    assert "Traceback" not in caplog.text


async def test_health_without_the_token_names_no_path(running, tmp_path):
    """Whoever may only look sees which part fails, in a word; the operator sees the sentence."""
    app, client = running
    app.services.inbox.storage_error = f"database {tmp_path}/bot.db: the disk is full (OperationalError)"
    public = await client.get("/health")
    known = await client.get("/health", headers={"Authorization": "Bearer a-token-for-the-tests"})

    assert (public.status_code, public.json()) == (503, {"status": "failing", "problems": ["storage"]})
    assert str(tmp_path) in known.json()["problems"][0]


@pytest.mark.parametrize(
    "sent", [b"", b"GET /hea", b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", b"\x16\x03\x01\x02"]
)
async def test_a_connection_that_sends_no_whole_request_is_closed(running, sent):
    """Nothing, half a head, half a body, something else altogether: none holds a connection open."""
    app, _ = running
    parts = urlsplit(app.http_url)
    lines = [await asyncio.open_connection(parts.hostname, parts.port) for _ in range(20)]
    for _, writer in lines:
        writer.write(sent)
    async with asyncio.timeout(10):
        for reader, _ in lines:
            with contextlib.suppress(ConnectionError):
                while await reader.read(1000):
                    pass
    for _, writer in lines:
        writer.close()

    assert not app._http._server.server_state.connections


async def test_a_request_that_takes_long_to_answer_is_left_alone(running, monkeypatch):
    """The limit is for receiving; an answer may take longer, and the connection serves the next request."""
    app, client = running

    async def slow(_):
        await asyncio.sleep(3 * connections.RECEIVE_S)

    monkeypatch.setattr(app.joined.intake, "take", slow)
    update = {"update_id": 1}
    headers = {"X-Telegram-Bot-Api-Secret-Token": SECRET}

    assert (await client.post("/telegram/webhook", json=update, headers=headers)).status_code == 200
    assert (await client.post("/telegram/webhook", json=update, headers=headers)).status_code == 200
