"""Connections to addresses of strangers: each is looked up once and checked, nothing is kept between two of them."""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from bot.intake.telegram_request import trusted
from bot.tools.tool import NotDone
from bot.tools.web.addresses import Reach, literal

NOT_PUBLIC: Final = "that address is not one of the open web, so it is not read"
_PACKED: Final = {"Accept-Encoding": "gzip, deflate"}
"""The encodings that `read_body` unpacks."""
_CHUNK: Final = 64 * 1024
_AUTOMATIC: Final = 47
"""zlib finds out itself whether it's gzip or deflate."""

LookUp = Callable[[str, int], Awaitable[list[str]]]
"""Returns the addresses of a host. Raises OSError."""


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system knows them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedResolver(AbstractResolver):
    """Looks a host up once and hands the very addresses that were checked to the connection."""

    def __init__(self, may_reach: Reach, look: LookUp) -> None:
        self._may_reach = may_reach
        self._look = look

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - aiohttp's
    ) -> list[ResolveResult]:
        """Return the addresses. One that may not be reached refuses the host as a whole (`NotDone`)."""
        addresses = [ip_address(address) for address in await self._look(host, port)]
        if not addresses:
            raise OSError(f"{host} has no address")
        if not all(self._may_reach(address, port) for address in addresses):
            raise NotDone(NOT_PUBLIC)
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET6 if address.version == 6 else socket.AF_INET,  # noqa: PLR2004 - IPv6
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Close nothing."""


def require_reach(url: URL, may_reach: Reach) -> None:
    """Raise `NotDone` for a host that is written as an address that may not be reached: no resolver is asked then."""
    address = literal(url.host or "")
    if address is not None and not may_reach(address, url.port or 0):
        raise NotDone(NOT_PUBLIC)


def open_session(
    resolver: AbstractResolver | None = None, *, headers: Mapping[str, str] | None = None, proxy: str | None = None
) -> aiohttp.ClientSession:
    """Return a session without cookies, without reuse of connections, with no proxy but the one that is given.

    Without a `resolver` every address is reached: those that the operator wrote. Bodies come packed: `read_body`.
    """
    connector = aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True, ssl=trusted())
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={**_PACKED, **(headers or {})},
        proxy=proxy,
        auto_decompress=False,
        trust_env=False,
    )


async def read_body(answer: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """Return the body, unpacked, and whether it was cut: at most `most` bytes are read, and unpacked to."""
    packed = answer.headers.get("Content-Encoding", "").lower() not in {"", "identity"}
    unpack: Any = zlib.decompressobj(_AUTOMATIC) if packed else None
    body, came = bytearray(), 0
    async for chunk in answer.content.iter_chunked(_CHUNK):
        came += len(chunk)
        body += unpack.decompress(chunk, most + 1 - len(body)) if unpack else chunk
        if len(body) > most or came > most:
            return bytes(body[:most]), True
    return bytes(body), False
