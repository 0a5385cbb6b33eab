"""The HTTP port in a flood: of guesses, of connections, of requests; whoever belongs there still gets in."""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import urlsplit

import httpx
import pytest
from loopback.model import ToolCall
from loopback.served import AUTH, TOKEN
from pydantic import SecretStr

from bot.http import connections, door
from bot.http.guesses import TRIES

pytestmark = pytest.mark.sweep

SECRET = "a-secret-of-16-characters"
WEBHOOK = {"telegram_webhook_url": "http://127.0.0.1:1/telegram/webhook", "telegram_webhook_secret": SecretStr(SECRET)}
UPDATE = {"update_id": 1, "message": {"message_id": 1, "date": 1, "chat": {"id": 9, "type": "private"}}}
GUARDED = ["/sessions", "/sessions/s_1", "/continuity/preview?session_id=x", "/metrics", "/openapi.json", "/chat"]
ODD = [
    "/sessions?conversation=%00",
    "/sessions/a%00b",
    "/continuity/preview?session_id=a%00b",
    "/sessions?conversation=%ED%A0%80",
]


@pytest.mark.parametrize("path", GUARDED)
async def test_guesses_of_the_token_have_to_wait_and_the_token_gets_in(served, path):
    """After a few wrong ones each further one is a 429, whatever X-Forwarded-For says; the right one is taken."""
    app, client = await served()
    async with httpx.AsyncClient(base_url=app.http_url) as stranger:
        found = [
            (await stranger.get(path, headers={"Authorization": f"Bearer {n}", "X-Forwarded-For": f"192.0.2.{n}"}))
            for n in range(TRIES + 20)
        ]
        without = await stranger.get(path)

    assert [answer.status_code for answer in found] == [401] * TRIES + [429] * 20
    assert 0 < int(found[-1].headers["retry-after"]) <= 60
    assert without.status_code == 401
    assert (await client.get(path)).status_code not in (401, 429)


async def test_a_proxy_that_is_trusted_tells_who_guesses(served):
    """Behind it one client's guesses are not held against another; what it does not know of is not believed."""
    app, _ = await served(continuity_http_trusted_proxies="127.0.0.1")
    async with httpx.AsyncClient(base_url=app.http_url) as proxy:

        async def guess(said: str) -> int:
            headers = {"Authorization": "Bearer wrong", "X-Forwarded-For": said}
            return (await proxy.get("/sessions", headers=headers)).status_code

        one = [await guess("192.0.2.1") for _ in range(TRIES + 1)]
        claims = [await guess(f"198.51.100.{n}, 192.0.2.1") for n in range(3)]
        other = await guess("192.0.2.2")

    assert (one[-1], claims, other) == (429, [429] * 3, 401)


async def test_guesses_of_the_webhooks_secret_have_to_wait(served):
    """As with the token; Telegram itself is heard all the time."""
    app, _ = await served(**WEBHOOK)
    async with httpx.AsyncClient(base_url=app.http_url) as stranger:

        async def status(secret: str) -> int:
            headers = {"X-Telegram-Bot-Api-Secret-Token": secret}
            return (await stranger.post("/telegram/webhook", json=UPDATE, headers=headers)).status_code

        wrong = [await status(f"wrong {n}") for n in range(TRIES + 3)]

        assert wrong == [403] * TRIES + [429] * 3
        assert await status(SECRET) == 200


@contextlib.asynccontextmanager
async def held_open(url: str, count: int, sent: bytes = b""):
    """Hold so many connections open that say this and no more."""
    parts = urlsplit(url)
    lines = [await asyncio.open_connection(parts.hostname, parts.port) for _ in range(count)]
    for _, writer in lines:
        writer.write(sent)
        await writer.drain()
    try:
        yield
    finally:
        for _, writer in lines:
            writer.transport.abort()


SLOW = {
    "nothing": b"",
    "half a head": b"GET /health HTTP/1.1\r\nHost:",
    "half a body": b"POST /console/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ntoken=",
    "an answer": b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "answers that nobody reads": b"GET /console/static/htmx.min.js HTTP/1.1\r\nHost: x\r\n\r\n" * 200,
}


@pytest.mark.parametrize("sent", SLOW.values(), ids=SLOW)
async def test_connections_that_only_wait_keep_nobody_out(served, monkeypatch, sent):
    """As many as there are places, and more: health, webhook and API are answered, and there are never more."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 32)
    app, client = await served(**WEBHOOK)
    async with held_open(app.http_url, 80, sent):
        async with httpx.AsyncClient(base_url=app.http_url) as others:
            secret = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
            found = [
                (await others.get("/health")).status_code,
                (await others.post("/telegram/webhook", json=UPDATE, headers=secret)).status_code,
                (await client.get("/sessions")).status_code,
            ]

        assert found == [200, 200, 200]
        assert len(app._http._server.server_state.connections) <= 36


async def test_requests_with_the_token_leave_places_to_health_and_webhook(served, monkeypatch):
    """One client too many with the token is told to come again; nobody else is."""
    monkeypatch.setattr(door, "MOST_AT_ONCE", 4)
    _, client = await served(**WEBHOOK)
    answers, asked = asyncio.Event(), asyncio.Semaphore(0)

    async def slow(*_: object, **__: object) -> list[object]:
        asked.release()
        await answers.wait()
        return []

    monkeypatch.setattr("bot.http.sessions.list_sessions", slow)
    busy = [asyncio.create_task(client.get("/sessions")) for _ in range(4)]
    for _ in busy:
        await asked.acquire()
    late = await client.get("/sessions")
    health = await client.get("/health")
    headers = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
    webhook = await client.post("/telegram/webhook", json=UPDATE, headers=headers)
    answers.set()

    assert [(await each).status_code for each in busy] == [200] * 4
    assert (late.status_code, late.headers["retry-after"]) == (503, "1")
    assert (health.status_code, webhook.status_code) == (200, 200)
    assert (await client.get("/sessions")).status_code == 200


@pytest.mark.parametrize("path", ODD)
async def test_a_value_that_no_database_takes_is_no_outage(served, path):
    """NUL and halves of characters are cleaned out of what is asked for; nobody hears that storage fails."""
    app, client = await served()

    answer = await client.get(path)

    assert answer.status_code in (200, 400, 404)
    assert "query" not in answer.text
    assert "continuity.db" not in answer.text
    assert app.health().ok


async def test_nul_in_a_message_of_an_app_is_cleaned_like_a_persons(served):
    """It is answered, and the bot is as well as before."""
    app, client = await served()

    answer = await client.post("/chat", json={"session_id": "home", "message": "a\x00b", "name": "x\x00"})

    assert answer.status_code == 200
    assert app.health().ok
    assert (await client.get("/health", headers=AUTH)).json()["status"] == "ok"
    assert TOKEN not in answer.text


@pytest.mark.parametrize("odd", ["a\x00b", "a\x00", "\x00", "a\U000e0041b"], ids=["within", "behind", "alone", "a tag"])
async def test_what_a_model_writes_is_one_turn_at_most(served, model, odd):
    """NUL in an answer, or in what a tool is called with, is cleaned out: the next message is answered at once."""
    app, client = await served()
    replies = iter([[ToolCall("set_reminder", {"what": odd, "when": odd})], odd, "well"])
    model.reply = lambda _: next(replies, "well")

    first = await client.post("/chat", json={"session_id": "home", "message": "hello"})
    second = await client.post("/chat", json={"session_id": "home", "message": "and now?"})

    assert first.status_code == 200
    assert "\x00" not in first.json()["reply"]
    assert second.json()["reply"] == "well"
    assert app.health().ok


PAGES = [
    "sessions/a%00b",
    "turns/a%00b/prompt",
    "turns/%00/found",
    "do/rebuild?session_id=%00",
    "do/drop?bot_id=9&update_id=99999999999999999999",
]


@pytest.mark.parametrize("path", PAGES)
async def test_the_console_takes_odd_values_too(served, path):
    """Whoever is logged in and asks for what cannot be there is told so; the bot is as well as before."""
    app, _ = await served()
    async with httpx.AsyncClient(base_url=app.http_url, follow_redirects=True) as browser:
        await browser.post("/console/login", data={"token": TOKEN})
        answer = await browser.get(f"/console/{path}")

    assert answer.status_code < 500
    assert "insert_" not in answer.text
    assert "/bot.db" not in answer.text
    assert app.health().ok
