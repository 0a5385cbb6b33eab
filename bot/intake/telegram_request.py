"""Connections to Telegram; all of them trust the same certificates, which take 20 ms to read."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import httpx
from telegram.request import HTTPXRequest

WRITES = ("http11.send_request_headers.started", "http11.send_request_body.started")


class WholeRequests(HTTPXRequest):
    """Lets each request come to its end, also when nobody waits for it any more.

    One that is broken off in the wrong moment keeps its place in the pool for ever (httpcore 1.0.9): a preview that is
    cut short by its answer, sixty-four times, and the bot could send nothing until its next start.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._running: set[asyncio.Task[tuple[int, bytes]]] = set()

    async def do_request(self, *args: Any, **options: Any) -> tuple[int, bytes]:
        """Return status and body."""
        running = asyncio.create_task(super().do_request(*args, **options), name="telegram request")
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.shield(running)

    async def shutdown(self) -> None:
        """Break off what is left, and close the pool with it."""
        running = list(self._running)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await super().shutdown()


def telegram_request(
    *,
    connections: int,
    read_timeout_s: float,
    pool_timeout_s: float,
    may_send: Callable[[], bool] | None = None,
    kind: type[HTTPXRequest] = HTTPXRequest,
) -> HTTPXRequest:
    """Return a request object with a pool of its own; it connects at its first call.

    When `may_send` says no in the moment in which bytes are about to leave, the request fails as if there were no
    connection: nothing was sent.
    """

    async def look(event: str, _: Mapping[str, Any]) -> None:
        if may_send is not None and event in WRITES and not may_send():
            raise httpx.ConnectError("it is not certain that this process may still send")

    async def watch(request: httpx.Request) -> None:
        request.extensions = {**request.extensions, "trace": look}

    hooks = {"event_hooks": {"request": [watch]}} if may_send is not None else {}
    return kind(
        connection_pool_size=connections,
        read_timeout=read_timeout_s,
        connect_timeout=10,
        pool_timeout=pool_timeout_s,
        httpx_kwargs={"verify": trusted(), **hooks},
    )


@cache
def trusted() -> ssl.SSLContext:
    """Return the certificates that we trust, read once per process."""
    return httpx.create_ssl_context()
