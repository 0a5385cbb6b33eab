"""Requests over aiohttp, whose parser is C: half the processor time of httpx, with which Telegram's library comes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, RequestData

from bot.settings import SettingsError
from memory.process.shielded import Shielded

CONNECT_S = 10.0
KEPT_S = 30.0
"""So long a connection waits for its next request; a new one costs three ways to the server and back."""
UPLOAD_S = 300.0
"""A file takes no longer."""

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def always() -> bool:
    """Return True: this process alone sends."""
    return True


class NotSent(Exception):
    """The cause of a failed request that surely did not leave."""


class _MayNotSend(aiohttp.ClientConnectionError):
    """Raised when it is not certain that this process may still send."""


_NEVER_LEFT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL, _MayNotSend)


class _Connector(aiohttp.TCPConnector):
    """Looks whether it may still send in the moment in which bytes are about to leave."""

    def __init__(self, may_send: Callable[[], bool], **options: Any) -> None:
        super().__init__(**options)
        self._may_send = may_send

    async def connect(self, *args: Any, **options: Any) -> Any:
        """Return a connection, on which the request is written next."""
        connection = await super().connect(*args, **options)
        if not self._may_send():
            connection.release()
            raise _MayNotSend
        return connection


class TelegramRequest(BaseRequest):
    """Lets each request come to its end, also when nobody waits for it any more.

    A preview that is cut short by its answer would take its connection with it, and the answer would need a new one.
    When `may_send` says no in the moment in which bytes are about to leave, the request fails as if there were no
    connection: nothing was sent.
    """

    def __init__(
        self, *, connections: int, read_timeout_s: float, pool_timeout_s: float, may_send: Callable[[], bool] = always
    ) -> None:
        self._connections = connections
        self._read_timeout_s = read_timeout_s
        self._pool_timeout_s = pool_timeout_s
        self._may_send = may_send
        self._session: aiohttp.ClientSession | None = None
        self._running = Shielded()

    @property
    def read_timeout(self) -> float:
        """The time that an answer may take, in seconds."""
        return self._read_timeout_s

    async def initialize(self) -> None:
        """Make ready; it connects at its first call."""
        if self._session is None:
            connector = _Connector(self._may_send, limit=self._connections, keepalive_timeout=KEPT_S, ssl=trusted())
            self._session = aiohttp.ClientSession(connector=connector, headers={"User-Agent": self.USER_AGENT})

    async def shutdown(self) -> None:
        """Break off the requests under way, and close the connections."""
        session, self._session = self._session, None
        running = list(self._running.tasks)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if session is not None:
            await session.close()

    async def do_request(  # noqa: PLR0917 - as the library calls it
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,  # noqa: ARG002 - what is no file goes out at once
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Return status and body. Raises `TimedOut` or `NetworkError`, with `NotSent` as cause when nothing left."""
        connect_s = _or(connect_timeout, CONNECT_S)
        patience = aiohttp.ClientTimeout(
            total=UPLOAD_S if request_data and request_data.contains_files else None,
            connect=_or(pool_timeout, self._pool_timeout_s) + connect_s,
            sock_connect=connect_s,
            sock_read=_or(read_timeout, self._read_timeout_s),
        )
        return await self._running.run(self._ask(method, url, patience, request_data), name="telegram request")

    async def _ask(
        self, method: str, url: str, patience: aiohttp.ClientTimeout, said: RequestData | None
    ) -> tuple[int, bytes]:
        if self._session is None:
            raise RuntimeError("this request object is not initialized")
        address, (data, headers) = urlsplit(url), _body(said)
        options: dict[str, Any] = {"timeout": patience, "proxy": proxy_of(address.scheme, address.hostname or "")}
        try:
            async with self._session.request(
                method, url, data=data, headers=headers, allow_redirects=False, **options
            ) as answer:
                return answer.status, await answer.read()
        except (TimeoutError, aiohttp.ClientError) as exc:
            failed = _told(exc)
        raise failed  # outside: aiohttp's own error may hold the address, and with it the token


def _or(given: Any, default: float) -> float:
    return default if given is BaseRequest.DEFAULT_NONE or given is None else float(given)


def _body(said: RequestData | None) -> tuple[bytes | aiohttp.FormData | None, dict[str, str]]:
    if said is None:
        return None, {}
    if not said.contains_files:
        return said.url_encoded_parameters().encode(), _FORM
    form = aiohttp.FormData(quote_fields=False)  # else a name in another alphabet, or with a space, reads %20
    for name, value in said.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, kind) in said.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form, {}


def _told(error: Exception) -> TelegramError:
    """Return aiohttp's error as Telegram's library tells it."""
    name = type(error).__name__
    told = TimedOut(name) if isinstance(error, TimeoutError) else NetworkError(name)
    told.__cause__ = NotSent(name) if isinstance(error, _NEVER_LEFT) else None
    return told


@cache
def proxy_of(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names for an address, None for the straight way.

    One without a scheme speaks HTTP. Looked up once: aiohttp's own `trust_env` asks a thread at every request.
    Raises `SettingsError` for one that speaks something else, such as SOCKS.
    """
    proxies = {} if proxy_bypass(host) else getproxies()
    found = proxies.get(scheme) or proxies.get("all")
    if not found:
        return None
    proxy = found if "://" in found else f"http://{found}"
    if not proxy.startswith(("http://", "https://")):
        name = f"{scheme}_proxy" if proxies.get(scheme) else "all_proxy"
        fault = f"speaks {proxy.partition('://')[0]}, and only http and https are spoken here; name such a one,"
        raise SettingsError({name.upper(): f"{fault} or list {host} in NO_PROXY"})
    return proxy


@cache
def trusted() -> ssl.SSLContext:
    """Return the certificates that we trust, read once per process (20 ms)."""
    return httpx.create_ssl_context()
