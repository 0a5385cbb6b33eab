"""Connections to Telegram; all of them trust the same certificates, which take 20 ms to read."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import httpx
from telegram.request import HTTPXRequest

WRITES = ("http11.send_request_headers.started", "http11.send_request_body.started")


def telegram_request(
    *, connections: int, read_timeout_s: float, pool_timeout_s: float, may_send: Callable[[], bool] | None = None
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
    return HTTPXRequest(
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
