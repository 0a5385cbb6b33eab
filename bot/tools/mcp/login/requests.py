"""Requests of a login: to the host that the operator configured, and else to public addresses over https alone."""

from __future__ import annotations

import asyncio
import zlib
from typing import Final

import aiohttp
import httpx2
from yarl import URL

from bot.tools.tool import NotDone
from bot.tools.web.addresses import Reach
from bot.tools.web.connections import CheckedResolver, LookUp, look_up, open_session, read_body, require_reach

LONGEST_S: Final = 15.0
MAX_BYTES: Final = 256 * 1024


class LoginRequests:
    """Sends one request at a time; no redirect is followed, no cookie kept, nothing sent twice."""

    def __init__(self, own: frozenset[str], may_reach: Reach, look: LookUp = look_up) -> None:
        """`own` are the origins that the operator configured, such as `https://mcp.example.org`."""
        self._own = own
        self._may_reach = may_reach
        self._look = look

    def require(self, address: str) -> None:
        """Raise `NotDone` for an address to which neither we nor the person's browser is sent."""
        url = URL(address)
        if url.user is not None or url.password is not None:
            raise NotDone("the server names an address with a password in it")
        if self._is_own(url):
            return
        if url.scheme != "https":
            raise NotDone(f"the server names an address without https: {url.host}")
        require_reach(url, self._may_reach)

    def _is_own(self, url: URL) -> bool:
        return str(url.origin()) in self._own

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer. Raises `NotDone` with the reason, without any part of the request."""
        url = URL(str(request.url))
        self.require(str(url))
        resolver = None if self._is_own(url) else CheckedResolver(self._may_reach, self._look)
        skipped = {"host", "content-length", "accept-encoding", "connection"}
        headers = {name: value for name, value in request.headers.items() if name.lower() not in skipped}
        try:
            async with (
                asyncio.timeout(LONGEST_S),
                open_session(resolver) as session,
                session.request(
                    request.method, url, headers=headers, data=request.content, allow_redirects=False
                ) as answer,
            ):
                is_stream = answer.headers.get("Content-Type", "").startswith("text/event-stream")
                body, _ = (b"", False) if is_stream else await read_body(answer, MAX_BYTES)
                kept = [(name, value) for name, value in answer.headers.items() if name.lower() in _KEPT]
                return httpx2.Response(answer.status, headers=kept, content=body, request=request)
        except TimeoutError:
            raise NotDone(f"{url.host} did not answer in time") from None
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as exc:
            raise NotDone(f"{url.host} could not be reached ({type(exc).__name__})") from exc


_KEPT: Final = frozenset({"content-type", "www-authenticate"})
