"""Connections to Telegram; all of them trust the same certificates, which take 20 ms to read."""

from __future__ import annotations

import ssl
from functools import cache

import httpx
from telegram.request import HTTPXRequest


def telegram_request(*, connections: int, read_timeout_s: float, pool_timeout_s: float) -> HTTPXRequest:
    """Return a request object with a pool of its own; it connects at its first call."""
    return HTTPXRequest(
        connection_pool_size=connections,
        read_timeout=read_timeout_s,
        connect_timeout=10,
        pool_timeout=pool_timeout_s,
        httpx_kwargs={"verify": trusted()},
    )


@cache
def trusted() -> ssl.SSLContext:
    """Return the certificates that we trust, read once per process."""
    return httpx.create_ssl_context()
