"""Requests that nobody waits for any more, to Telegram and to a model: the next ones are answered all the same."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from telegram.error import TimedOut
from telegram.request import HTTPXRequest

from bot.answers.wires.server import ModelServer
from bot.intake.telegram_request import TelegramRequest

WORDS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Server(asyncio.Protocol):
    """Gives the same answer to each request; with an empty one it says nothing. Adds itself to `made`."""

    def __init__(self, answer: bytes, made: list[Server]) -> None:
        self._answer = answer
        made.append(self)

    def connection_made(self, transport) -> None:
        self._transport = transport

    def data_received(self, _: bytes) -> None:
        self._transport.write(self._answer)


@asynccontextmanager
async def server(answer: bytes = ANSWER, made: list[Server] | None = None):
    """Serve on a port of this machine; yield the address."""
    all_made = [] if made is None else made
    running = await asyncio.get_running_loop().create_server(lambda: Server(answer, all_made), "127.0.0.1", 0)
    async with running:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}/"


def telegram(**timeouts) -> TelegramRequest:
    """Return a request object with one connection."""
    return TelegramRequest(**{"connections": 1, "read_timeout_s": 5, "pool_timeout_s": 0.2} | timeouts)


async def turns_that_mute(kind) -> list[int]:
    """Break requests off after 0, 1, 2 … turns of the loop; return after how many no other came through any more."""
    muted = []
    async with server() as url:
        for turns in range(40):
            request = kind()
            await request.initialize()
            await request.do_request(url, "GET")
            for _ in range(5):
                broken = asyncio.create_task(request.do_request(url, "GET"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                broken.cancel()
                await asyncio.gather(broken, return_exceptions=True)
            try:
                await request.do_request(url, "GET")
            except TimedOut:
                muted.append(turns)
            await request.shutdown()
    return muted


async def test_requests_that_are_broken_off_mute_nobody():
    """Whenever the one who asked goes away, the next request finds a connection."""
    assert await turns_that_mute(telegram) == []


async def test_a_request_of_the_library_s_own_kind_keeps_its_connection_for_ever():
    """Negative control: it goes over httpcore 1.0.9."""
    assert await turns_that_mute(lambda: HTTPXRequest(connection_pool_size=1, pool_timeout=0.2)) != []


async def test_a_request_that_is_broken_off_leaves_its_connection_to_the_next():
    """A preview that its answer cuts short does not cost the answer a new way to Telegram."""
    made = []
    async with server(made=made) as url:
        request = telegram()
        await request.initialize()
        for _ in range(5):
            broken = asyncio.create_task(request.do_request(url, "GET"))
            for _ in range(8):
                await asyncio.sleep(0)
            broken.cancel()
            await asyncio.gather(broken, return_exceptions=True)
            await request.do_request(url, "GET")
        await request.shutdown()

    assert len(made) == 1


@pytest.mark.parametrize("wait", [0, 5])
async def test_a_shutdown_ends_what_is_under_way(wait):
    """A request that nobody answers does not hold up the end."""
    async with server(b"") as url:
        request = telegram(read_timeout_s=60)
        await request.initialize()
        asked = asyncio.create_task(request.do_request(url, "GET"))
        for _ in range(wait):
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)

        await request.shutdown()

    assert not [task for task in asyncio.all_tasks() if task.get_name() == "telegram request"]


async def test_answers_of_a_model_that_are_stopped_mute_nobody():
    """More of them than a pool has places by itself, stopped at many turns of the loop: the next one comes."""
    async with server(WORDS) as url:
        model = ModelServer(url.rstrip("/"), {})

        async def ask() -> None:
            async for _ in model.stream("/chat/completions", {}, lambda: False):
                pass

        await ask()
        for turns in range(8, 18):
            for _ in range(110):
                stopped = asyncio.create_task(ask())
                for _ in range(turns):
                    await asyncio.sleep(0)
                stopped.cancel()
                await asyncio.gather(stopped, return_exceptions=True)
        async with asyncio.timeout(10):
            await ask()
        await model.close()
