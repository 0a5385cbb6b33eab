"""One page from the open net: checked where it leads, bounded in size and time, without cookies and credentials."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import aiohttp
from yarl import URL

from bot.tools.tool import NotDone
from bot.tools.web import robots
from bot.tools.web.addresses import Reach, is_public, parsed
from bot.tools.web.connections import CheckedResolver, LookUp, look_up, open_session, read_body, require_reach

MAX_BYTES: Final = 2 * 1024 * 1024
"""Of a page so many bytes are read, the rest is left."""
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
}
_MOVED: Final = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The response of a site."""

    url: URL
    """The page's address behind all redirects."""
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


class WebFetcher:
    """Reads pages. Nothing is kept between two of them, and no proxy is used: it could not be checked."""

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
        return open_session(CheckedResolver(self._may_reach, self._look), headers=_HEADERS)

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
        require_reach(url, self._may_reach)
        async with session.get(url, allow_redirects=False) as answer:
            body, is_cut = b"", False
            if answer.status == HTTPStatus.OK:
                is_pdf = answer.headers.get("Content-Type", "").lower().startswith(PDF)
                body, is_cut = await read_body(answer, MAX_PDF_BYTES if is_pdf else most)
            return Fetched(url, answer.status, answer.headers, body, is_cut)


def _moved(url: URL, target: str) -> URL:
    return parsed(str(url.join(URL(target))))


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
