"""What a request to Telegram tells of its failure, and the way that it takes."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import asynccontextmanager

import pytest
from telegram import Bot
from telegram.error import NetworkError, TimedOut

from bot.answers.wires.server import ModelServer
from bot.delivery.connection import make_bot
from bot.intake.telegram_request import NotSent, TelegramRequest, proxy_of
from bot.settings import SettingsError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n"


class Connection(asyncio.Protocol):
    """Notes what is received, and gives the same answer to it; with an empty one it says nothing."""

    def __init__(self, answer: bytes, received: list[bytes]) -> None:
        self._answer = answer
        self._received = received

    def connection_made(self, transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received.append(data)
        self._transport.write(self._answer)


@asynccontextmanager
async def server(answer: bytes = b""):
    """Serve on a port of this machine; yield the address and what was received."""
    received: list[bytes] = []
    running = await asyncio.get_running_loop().create_server(lambda: Connection(answer, received), "127.0.0.1", 0)
    async with running:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}/", received


@asynccontextmanager
async def telegram(**options):
    """Yield a request object with one connection."""
    async with TelegramRequest(**{"connections": 1, "read_timeout_s": 5, "pool_timeout_s": 0.2} | options) as request:
        yield request


async def cause(request, url, **timeouts):
    """Return the cause of a request's failure."""
    with pytest.raises(NetworkError) as failed:
        await request.do_request(url, "GET", **timeouts)
    return failed.value.__cause__


@pytest.fixture
def proxied(monkeypatch):
    """Name a proxy in the environment."""

    def name(variable, url):
        monkeypatch.setenv(variable, url)
        proxy_of.cache_clear()

    yield name
    proxy_of.cache_clear()


async def test_what_surely_did_not_leave_is_told_apart():
    """No connection, none that is free, and a word against it: not sent. An answer that does not come: perhaps."""
    async with server() as (url, _), telegram(read_timeout_s=0.2) as silent, telegram(may_send=lambda: False) as mute:
        asked = asyncio.create_task(cause(silent, url))
        await asyncio.sleep(0)

        assert isinstance(await cause(silent, url, connect_timeout=0, pool_timeout=0.05), NotSent)
        assert isinstance(await cause(mute, url), NotSent)
        assert isinstance(await cause(silent, "http://127.0.0.1:1/"), NotSent)
        assert await asked is None


async def test_what_may_not_be_sent_is_not():
    """It fails before a byte leaves, and the connection stays for the next that may."""
    may = False
    async with server(OK + b'{"ok":true,"result":[1,2]}') as (url, received), telegram(may_send=lambda: may) as request:
        assert isinstance(await cause(request, url), NotSent)
        assert not received
        may = True
        assert (await request.do_request(url, "GET"))[0] == 200


async def test_an_error_does_not_tell_the_token():
    """What a request raises names no address, however deep one looks; aiohttp's own error does."""
    async with server() as (url, _), telegram() as request:
        address = f"{url}bot1:secret/getMe"
        asked = asyncio.create_task(request.do_request(url, "GET"))
        await asyncio.sleep(0)
        with pytest.raises(TimedOut) as failed:
            await request.do_request(address, "GET", connect_timeout=0, pool_timeout=0.05)
        asked.cancel()

    assert "secret" not in "".join(traceback.format_exception(failed.value))


async def test_a_file_is_sent_whole_beside_its_words():
    """A document goes as multipart, what is no file as a form."""
    said = b'{"ok":true,"result":{"message_id":1,"date":1,"chat":{"id":7,"type":"private"}}}'
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said) + said
    async with server(whole) as (url, received):
        for send in (
            lambda bot: bot.send_document(7, b"all of it", filename="a.json", caption="here & now"),
            lambda bot: bot.send_message(7, "here & now"),
        ):
            async with telegram() as request:
                await send(Bot("1:x", base_url=f"{url}bot", request=request))

    sent = b"".join(received)
    assert b'filename="a.json"' in sent
    assert b"all of it" in sent
    assert b"here & now" in sent
    assert sent.endswith(b"chat_id=7&text=here+%26+now")


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
async def test_the_proxy_of_the_environment_is_asked(proxied, variable):
    """Both ways, to Telegram and to a model, lead over it; `no_proxy` leads around it."""
    async with server(OK + b'{"ok":true,"result":[1,2]}') as (url, received):
        proxied(variable, url)
        async with telegram() as request:
            await request.do_request("http://telegram.invalid/bot1:x/getMe", "POST")
        model = ModelServer("http://model.invalid/v1", {})
        async for _ in model.stream("/chat/completions", {}, lambda: False):
            pass
        await model.close()
        proxied("no_proxy", "telegram.invalid")

        assert b"POST http://telegram.invalid/bot1:x/getMe HTTP" in b"".join(received)
        assert b"POST http://model.invalid/v1/chat/completions HTTP" in b"".join(received)
        assert proxy_of("http", "telegram.invalid") is None


@pytest.mark.parametrize(("named", "proxy"), [("proxy:3128", "http://proxy:3128"), ("https://proxy", "https://proxy")])
def test_a_proxy_without_a_scheme_speaks_http(proxied, named, proxy):
    """So curl and others read `HTTPS_PROXY=proxy:3128`."""
    proxied("https_proxy", named)

    assert proxy_of("https", "telegram.invalid") == proxy


def test_a_proxy_that_speaks_something_else_is_refused(proxied):
    """Spoken to as HTTP it would answer nothing, and nobody would know why."""
    proxied("all_proxy", "socks5://127.0.0.1:9")

    with pytest.raises(SettingsError, match="ALL_PROXY speaks socks5"):
        proxy_of("https", "telegram.invalid")
    with pytest.raises(SettingsError, match=r"list telegram\.invalid in NO_PROXY"):
        make_bot("1:x", "https://telegram.invalid")
