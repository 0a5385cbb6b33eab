"""One page from the open net: checked where it leads, bounded in size and time, without cookies and credentials."""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from bot.intake.telegram_request import trusted
from bot.tools.tool import NotDone
from bot.tools.web import robots
from bot.tools.web.addresses import Reach, is_public, literal, parsed

MAX_BYTES: Final = 2 * 1024 * 1024
"""Of a page so much is read; what is behind it is left."""
PDF: Final = "application/pdf"
MAX_PDF_BYTES: Final = 20_000_000
"""A longer PDF is not read: without its end it is none."""
LONGEST_S: Final = 15.0
"""A page with all its redirects takes no longer."""
MAX_REDIRECTS: Final = 5
AGENT: Final = "ContinuityBot"
"""Our name in robots.txt."""
_HEADERS: Final = {
    "User-Agent": f"{AGENT}/1.0 (an assistant that reads a page for one person)",
    "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1",
    "Accept-Encoding": "gzip, deflate",
}
_MOVED: Final = {301, 302, 303, 307, 308}
_CHUNK: Final = 64 * 1024
_AUTOMATIC: Final = 47
"""zlib finds out itself whether it's gzip or deflate."""

LookUp = Callable[[str, int], Awaitable[list[str]]]
"""Returns the addresses of a host. Raises OSError."""


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system knows them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a site gave."""

    url: URL
    """Where it was in the end."""
    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool

    @property
    def media_type(self) -> str:
        """`text/html` and the like, in small letters; "" when nobody says."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The charset that the site claims; "" when it claims none."""
        _, _, claimed = self.headers.get("Content-Type", "").lower().partition("charset=")
        return claimed.partition(";")[0].strip(" \"'")


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


NOT_PUBLIC: Final = "that address is not one of the open web, so it is not read"


class WebFetcher:
    """Reads pages. Nothing is kept between two of them, and no proxy stands between: it could not be checked."""

    def __init__(self, may_reach: Reach = is_public, look: LookUp = look_up, longest_s: float = LONGEST_S) -> None:
        self._may_reach = may_reach
        self._look = look
        self._longest_s = longest_s

    async def fetch(self, url: URL) -> Fetched:
        """Return a page that was found, wherever it was moved to. Raises `NotDone` with the reason."""
        try:
            async with asyncio.timeout(self._longest_s), self._session() as session:
                fetched = await self._follow(session, url)
        except TimeoutError:
            raise NotDone(f"the page did not come within {self._longest_s:g} seconds") from None
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as exc:
            raise NotDone(f"the page could not be reached ({type(exc).__name__})") from exc
        if fetched.status != HTTPStatus.OK:
            raise NotDone(refusal(fetched.status))
        return fetched

    def _session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=CheckedResolver(self._may_reach, self._look),
            use_dns_cache=False,
            force_close=True,
            ssl=trusted(),
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_HEADERS,
            auto_decompress=False,
            trust_env=False,
        )

    async def _follow(self, session: aiohttp.ClientSession, url: URL) -> Fetched:
        """Return the page at the end of its redirects, each checked like the first."""
        rules: dict[URL, str] = {}
        for _ in range(MAX_REDIRECTS + 1):
            await self._ask_leave(session, url, rules)
            fetched = await self._get(session, url, MAX_BYTES)
            if fetched.status not in _MOVED or not (target := fetched.headers.get("Location")):
                return fetched
            url = _moved(url, target)
        raise NotDone(f"the page was moved more than {MAX_REDIRECTS} times")

    async def _ask_leave(self, session: aiohttp.ClientSession, url: URL, rules: dict[URL, str]) -> None:
        """Raise `NotDone` when the site does not want its page to be read by programs."""
        origin = url.origin()
        if origin not in rules:
            rules[origin] = await self._rules(session, origin)
        if not robots.allows(rules[origin], AGENT, url.raw_path_qs):
            raise NotDone("the site does not want programs to read this page (robots.txt)")

    async def _rules(self, session: aiohttp.ClientSession, origin: URL) -> str:
        at = origin / "robots.txt"
        for _ in range(MAX_REDIRECTS + 1):
            fetched = await self._get(session, at, robots.MAX_BYTES)
            target = fetched.headers.get("Location")
            if fetched.status not in _MOVED or not target:
                break
            at = _moved(at, target)
        if fetched.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise NotDone(f"the site has a fault just now ({fetched.status}), also in its robots.txt")
        return fetched.body.decode(errors="replace") if fetched.status == HTTPStatus.OK else ""

    async def _get(self, session: aiohttp.ClientSession, url: URL, most: int) -> Fetched:
        address = literal(url.host or "")  # one that is written out is not looked up
        if address is not None and not self._may_reach(address, url.port or 0):
            raise NotDone(NOT_PUBLIC)
        async with session.get(url, allow_redirects=False) as answer:
            body, is_cut = b"", False
            if answer.status == HTTPStatus.OK:
                is_pdf = answer.headers.get("Content-Type", "").lower().startswith(PDF)
                body, is_cut = await read_body(answer, MAX_PDF_BYTES if is_pdf else most)
            return Fetched(url, answer.status, answer.headers, body, is_cut)


def _moved(url: URL, target: str) -> URL:
    return parsed(str(url.join(URL(target))))


async def read_body(answer: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """Return the body, unpacked, and whether it was cut: neither what comes nor what it unpacks to is longer."""
    packed = answer.headers.get("Content-Encoding", "").lower() not in {"", "identity"}
    unpack: Any = zlib.decompressobj(_AUTOMATIC) if packed else None
    body, came = bytearray(), 0
    async for chunk in answer.content.iter_chunked(_CHUNK):
        came += len(chunk)
        body += unpack.decompress(chunk, most + 1 - len(body)) if unpack else chunk
        if len(body) > most or came > most:
            return bytes(body[:most]), True
    return bytes(body), False


def refusal(status: int) -> str:
    """Return in a sentence why a site gave no page."""
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return f"there is no such page ({status})"
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS}:
        return f"the site does not let us read this page ({status})"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "the site has had too many requests (429); later it may work"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"the site has a fault just now ({status}); later it may work"
    return f"the site gave no page ({status})"
