"""Requests made to be read in two ways, ids made to leave their folder, bodies made to be large: refused, in a word."""

from __future__ import annotations

import asyncio
import contextlib
import re
from itertools import product
from urllib.parse import quote, urlsplit

import pytest
from loopback.served import TOKEN
from pydantic import SecretStr

from bot.http.bodies import MAX_BODY_BYTES
from bot.playground.bot_api.server import LoopbackBotApi

SECRET = "a-secret-of-16-characters"
KNOWN = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
BODY = '{"session_id": "smuggled", "message": "hello"}'
SMUGGLED = f"POST /chat HTTP/1.1\r\n{KNOWN}Content-Length: {len(BODY)}\r\n\r\n{BODY}"
TWO_WAYS = {
    "two lengths": "Content-Length: 0\r\nContent-Length: {length}\r\n",
    "a list of lengths": "Content-Length: 0, {length}\r\n",
    "a length and pieces": "Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n",
    "pieces and a length": "Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n",
    "pieces twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "pieces of pieces": "Transfer-Encoding: chunked, chunked\r\n",
    "pieces that are none": "Transfer-Encoding: xchunked\r\n",
    "pieces undone": "Transfer-Encoding: chunked, identity\r\n",
    "a blank before the colon": "Transfer-Encoding : chunked\r\n",
    "a name with a control sign": "Transfer-Encoding\x0b: chunked\r\n",
    "a name on two lines": "Transfer-\r\n Encoding: chunked\r\n",
    "a signed length": "Content-Length: +{length}\r\n",
    "a negative length": "Content-Length: -1\r\n",
    "a length in hex": "Content-Length: 0x2e\r\n",
    "an endless length": "Content-Length: 99999999999999999999999\r\n",
}
"""Heads of which one reader takes another length than the next; the rest would be a request of its own."""
BROKEN_PIECES = ("-1\r\n", "0x5\r\nhello\r\n", "ffffffffffffffffffff\r\nx", "5\r\nhelloX0\r\n\r\n", "5 \n", "\r\n")
PATHS = (
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e%2f%2e%2e%2fcontinuity.db", "..\\..\\boot.ini", "%5c..%5c",
    "%00", "s_1%00.json", "%0d%0aX-Injected:%20yes", "%ff%fe", "%c0%ae%c0%ae%c0%af", "%ed%a0%80", "%25%32%66",
    "%E2%80%AE",
    quote("🏴" * 50), quote("a\u0300" * 90), "a" * 200, "a" * 201, "a" * 60_000, "'%20OR%201=1--", "*", "%25", "_",
    "%7f",
    "con", "-", ".", "..", "~root", "$(id)", "{{7*7}}", "%3Cscript%3E",
)  # fmt: skip
NAMES = (
    "../x", "a/b", "a\\b", "", ".", "..", "-a", "a" * 129, "a\x00b", "a\nb", "é", "\u202ea", "a b", "a%2fb", "🏴",
    "\ud7ff", "a" * 100_000,
)  # fmt: skip


async def answered(url: str, raw: bytes) -> bytes:
    """Return all that comes back for these bytes until the other side closes or says no more."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    said = b""
    with contextlib.suppress(ConnectionError):
        writer.write(raw)
        await writer.drain()
        writer.write_eof()
        while piece := await reader.read(65_536):
            said += piece
    writer.close()
    return said


def statuses(said: bytes) -> list[int]:
    """Return the status of each answer in what came back."""
    return [int(each) for each in re.findall(rb"^HTTP/1\.1 (\d{3}) ", said, re.MULTILINE)]


@pytest.fixture
async def running(served):
    """Run a bot with webhook and token."""
    app, client = await served(
        telegram_webhook_url="http://127.0.0.1:1/telegram/webhook", telegram_webhook_secret=SecretStr(SECRET)
    )
    return app, client


async def nothing_taken(app) -> bool:
    """Return whether no message waits."""
    return not await app.services.db.read("inbox_unfinished", bot_id=app.services.me.bot_id)


async def test_a_request_of_two_lengths_is_refused_and_the_line_closed(running, caplog):
    """Whatever a proxy before us takes for its body, no second request comes out of it: one refusal, then silence."""
    app, _ = running
    host = f"Host: x\r\nX-Telegram-Bot-Api-Secret-Token: {SECRET}\r\n"
    for path, (name, head) in product(("/chat", "/telegram/webhook", "/health"), TWO_WAYS.items()):
        told = head.format(length=len(SMUGGLED) + 5)
        pieces = "" if name.endswith("length") else "0\r\n\r\n"

        said = await answered(app.http_url, f"POST {path} HTTP/1.1\r\n{host}{told}\r\n{pieces}{SMUGGLED}".encode())

        assert statuses(said) in ([], [400], [413]), (path, name, said)
        assert b"smuggled" not in said
    assert "Traceback" not in caplog.text
    assert await nothing_taken(app)


async def test_pieces_that_are_none_are_refused(running, caplog):
    """A piece without a size, with another size, with a size that no number holds: nothing is taken of it."""
    app, _ = running
    for pieces in BROKEN_PIECES:
        head = f"POST /chat HTTP/1.1\r\n{KNOWN}Transfer-Encoding: chunked\r\n\r\n"

        said = await answered(app.http_url, (head + pieces + SMUGGLED).encode())

        assert not {200, 500} & set(statuses(said)), (pieces, said)
    assert "Traceback" not in caplog.text
    assert await nothing_taken(app)


async def test_an_id_in_a_path_names_a_session_or_nothing(running, caplog):
    """Dots, slashes, NUL, other scripts, lengths: 404 or 422 in words of ours, no file, no header, no failure."""
    app, _ = running
    places = ("/sessions/{}", "/continuity/preview?session_id={}", "/console/sessions/{}", "/console/static/{}")
    for where, path in product(places, PATHS):
        fine = {303, 404} if "console" in where else {200, 400, 404, 422}
        asked = f"GET {where.format(path)} HTTP/1.1\r\n{KNOWN}Connection: close\r\n\r\n"
        said = await answered(app.http_url, asked.encode())

        assert set(statuses(said)) <= fine, (where, path, said[:300])
        assert b"root:" not in said
        assert b"SQLite format" not in said
        assert b"\r\nx-injected" not in said.lower()
    assert "Traceback" not in caplog.text


async def test_a_name_of_a_conversation_is_plain(running, tmp_path):
    """What could be read as a path or as two names is refused before anything is stored; no file is made."""
    app, client = running
    before = sorted(tmp_path.rglob("*"))

    found = {name: await client.post("/chat", json={"session_id": name, "message": "hello"}) for name in NAMES}

    assert {name: answer.status_code for name, answer in found.items()} == dict.fromkeys(NAMES, 422)
    assert sorted(tmp_path.rglob("*")) == before
    assert await nothing_taken(app)


async def test_a_key_with_other_signs_is_refused(running):
    """A line break in a value begins another header and nothing more; anything but plain letters is no key."""
    app, _ = running
    for value in ("k\r\nX-Injected: yes", "k\nX: y", "k\x00", "k k", "é", "k" * 201, "", "\x7f"):
        asked = f"POST /chat HTTP/1.1\r\n{KNOWN}Idempotency-Key: {value}\r\nContent-Length: 2\r\n\r\n{{}}"

        said = await answered(app.http_url, asked.encode())

        assert statuses(said) in ([400], [422]), (value, said)
        assert b"\r\nx-injected" not in said.lower()


WRONG = ("", "a", SECRET[:-1], SECRET + "a", SECRET.upper(), f" {SECRET}x", SECRET[::-1], "\xff" * 25, "a" * 50_000)


async def test_no_other_secret_opens_the_webhook(running):
    """Shorter, longer, in capitals, with a tail: refused each, and the update is not taken; the right one is."""
    app, _ = running
    body = '{"update_id": 1, "message": {"message_id": 1, "date": 1, "chat": {"id": 1, "type": "private"}}}'

    async def status(given: str) -> list[int]:
        head = f"Host: x\r\nX-Telegram-Bot-Api-Secret-Token: {given}\r\nContent-Length: {len(body)}\r\n"
        asked = f"POST /telegram/webhook HTTP/1.1\r\n{head}Connection: close\r\n\r\n{body}"
        return statuses(await answered(app.http_url, asked.encode("latin-1")))

    for secret in WRONG:
        assert await status(secret) in ([403], [400]), secret
    assert await app.services.db.read_one("inbox_one", bot_id=app.services.me.bot_id, update_id=1) is None
    assert await status(SECRET) == [200]


DEEP = 100_000
BODIES = {
    "deep lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "a deep message": b'{"update_id": 7, "message": ' + b'{"reply_to_message": ' * 20_000 + b"{}" + b"}" * 20_001,
    "a long number": b'{"update_id": ' + b"9" * 100_000 + b"}",
    "a fraction": b'{"update_id": 1e400}',
    "many keys": b"{" + b",".join(b'"%d": 1' % n for n in range(50_000)) + b"}",
    "the same key": b'{"update_id": 1, "update_id": 2, "message": 1}',
    "half a character": b'{"update_id": 1, "message": {"text": "\\ud800"}}',
    "not a number": b'{"update_id": NaN}',
    "other letters": '{"update_id": "１"}'.encode("utf-16"),
    "too much": b" " * (MAX_BODY_BYTES + 1),
}


@pytest.mark.sweep
async def test_no_body_is_too_odd(running, caplog):
    """Deep, long, doubled, not Unicode: an answer to each at once, at the webhook and at the API, and none fails."""
    _, client = running
    json = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": SECRET}
    for kind, body in BODIES.items():
        for path in ("/telegram/webhook", "/chat", "/continuity/choice"):
            answer = await client.post(path, content=body, headers=json)

            fine = {200, 400, 413} if "webhook" in path else {400, 413, 422}
            assert answer.status_code in fine, (kind, path, answer.text)
            assert "error parsing" not in answer.text
    assert "Traceback" not in caplog.text
    assert (await client.get("/health")).status_code == 200


async def test_the_playground_reads_a_request_one_way_too():
    """Its server takes none of two lengths either: at most one answer, and it is a refusal."""
    async with LoopbackBotApi() as api:
        head_of_it = f"POST /bot{api.token}/sendMessage HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        inner = f'{head_of_it}Content-Length: 33\r\n\r\n{{"chat_id": 1, "text": "smuggled"}}'
        for name, head in TWO_WAYS.items():
            told = head.format(length=len(inner) + 5)
            pieces = "" if name.endswith("length") else "0\r\n\r\n"
            asked = f"POST /bot{api.token}/getMe HTTP/1.1\r\nHost: x\r\n{told}\r\n{pieces}{inner}"

            said = await answered(api.url, asked.encode())

            assert statuses(said) in ([], [400]), (name, said)
        assert api.calls_of("sendMessage") == []
