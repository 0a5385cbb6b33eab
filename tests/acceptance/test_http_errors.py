"""Whatever is wrong with a request, the answer is problem+json with a sentence of ours; nothing large is ever held."""

from __future__ import annotations

import httpx
import pytest
from loopback.served import AUTH, TOKEN

from bot.http.bodies import MAX_BODY_BYTES
from memory.errors import StorageUnavailable

JSON = {"Content-Type": "application/json"}
LIBRARY = ("Input should", "JSON decode", "Field required", "Not Found", "Method Not Allowed", "dictionary", "parsing")
"""Words of libraries: a client is told what to do, in the program's own."""


@pytest.fixture
async def client(served):
    """Offer a client of a running bot that knows the token."""
    _, client = await served()
    return client


def said(answer: httpx.Response) -> str:
    """Return the sentence of an error, having seen that it is one as it should be."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (body["status"], body["type"]) == (answer.status_code, "about:blank")
    assert not any(word in body["detail"] for word in LIBRARY), body["detail"]
    return f"{answer.status_code} {body['detail']}"


async def pieces(n: int):
    """Yield a body in pieces, without a length."""
    for _ in range(n):
        yield b" " * 65_536


async def test_every_error_says_what_to_do_in_our_words(client):
    """Wrong path, method, form, body, field or value: 404, 405, 413, 415, 422, each with a sentence."""
    found = [
        said(await client.get("/nothing-here")),
        said(await client.get("/chat")),
        said(await client.post("/chat", content=b"<a/>", headers={"Content-Type": "application/xml"})),
        said(await client.post("/chat", content=b'{"message": "x"}')),
        said(await client.post("/chat", data={"message": "x"})),
        said(await client.post("/chat", content=b'{"message":', headers=JSON)),
        said(await client.post("/chat", json=["x"])),
        said(await client.post("/chat", json={})),
        said(await client.post("/chat", json={"message": 7})),
        said(await client.post("/chat", json={"message": "x" * 32_001})),
        said(await client.post("/chat", content=b'{"message": "\\ud800"}', headers=JSON)),
        said(await client.post("/continuity/choice", json={"session_id": "x", "mode": "z"})),
        said(await client.get("/sessions?limit=many")),
        said(await client.get("/sessions/s_unknown")),
        said(await client.post("/chat", json={"message": "x" * MAX_BODY_BYTES})),
        said(await client.post("/chat", content=pieces(20), headers=JSON)),
    ]

    assert found == [
        "404 there is nothing at this path; GET /openapi.json lists what there is",
        "405 this path takes POST",
        "415 send JSON, with the header Content-Type: application/json",
        "415 send JSON, with the header Content-Type: application/json",
        "415 send JSON, with the header Content-Type: application/json",
        "422 the body is no JSON",
        "422 the body has to be an object",
        "422 message is missing",
        "422 message has to be a text",
        "422 message has at most 32000 characters",
        "422 message has half a character in it",
        "422 mode has to be 'use' or 'off'",
        "422 limit has to be a whole number",
        "404 there is no session 's_unknown'; `continuity-bot sessions` lists them",
        "413 a request has at most 1,048,576 bytes",
        "413 a request has at most 1,048,576 bytes",
    ]


async def test_a_stranger_is_asked_for_the_token_before_anything_else(served):
    """Also with a body that is none, or too large: it is not even read."""
    app, _ = await served()
    async with httpx.AsyncClient(base_url=app.http_url, timeout=30) as stranger:
        empty = await stranger.post("/chat", json={})
        form = await stranger.post("/chat", content=b"x")
        large = await stranger.post("/chat", content=pieces(20), headers=JSON)

    assert [answer.status_code for answer in (empty, form, large)] == [401, 401, 401]


async def test_what_nobody_expected_is_a_500_without_a_word_of_it(served, monkeypatch):
    """The client and the operator's browser hear that the log says why, and nothing of what failed."""
    app, client = await served()

    async def failing(*_: object, **__: object) -> None:
        raise RuntimeError("a driver's words")

    monkeypatch.setattr("bot.http.sessions.list_sessions", failing)
    monkeypatch.setattr("bot.http.console.pages.read_names", failing)
    answer = await client.get("/sessions")
    async with httpx.AsyncClient(base_url=app.http_url, follow_redirects=True) as browser:
        page = await browser.post("/console/login", data={"token": TOKEN})

    assert said(answer) == "500 this failed here; the log of the bot says why"
    assert page.status_code == 500
    assert "The log of the bot says why." in page.text
    assert "driver" not in page.text


async def test_a_full_disk_is_told_in_the_stream_too(served, monkeypatch):
    """A stream has begun with 200 when the disk refuses: its last event says so, and nothing breaks off."""
    app, client = await served()

    async def full(*_: object, **__: object) -> bool:
        raise StorageUnavailable("database is full")

    monkeypatch.setattr(app.services.inbox, "put_all", full)
    answer = await client.post("/chat", json={"message": "x"}, headers=AUTH | {"Accept": "text/event-stream"})

    assert answer.text.startswith("event: problem\n")
    assert '"status":503' in answer.text


async def test_a_message_that_no_database_takes_as_it_is_gets_its_answer(client):
    """A NUL is left out of what is stored; the same message with the same key is still the same message."""
    headers = {"Idempotency-Key": "k"}
    answers = [await client.post("/chat", json={"session_id": "s", "message": "a\x00b"}, headers=headers) for _ in "12"]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
