"""The door of the playground's server: only this machine's own programs and its own page come in, by its own name.

Any web site that a browser has open can send requests to 127.0.0.1, and by a name of its own that suddenly points here
read the answers. So every request has to name this server as its host; one that a page has sent must come from this
server's page. No other page may show an answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

HOSTS: Final = ("127.0.0.1", "localhost")
OWN_SITES: Final = ("same-origin", "none")
"""Headers of a browser with a request of this page, and of an address that somebody typed."""
FRAMES: Final = "frame-ancestors 'none'"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def why_foreign(headers: list[tuple[str, str]], port: int) -> str:
    """Return why a request is not let in, in a few words; "" when it is."""

    def given(name: str) -> list[str]:
        return [value.strip().lower() for key, value in headers if key.lower() == name]

    ours = [f"{host}:{port}" for host in HOSTS]
    host, origin, site = given("host"), given("origin"), given("sec-fetch-site")
    if len(host) != 1 or host[0] not in ours:
        return "it is for another host"
    if origin and origin != [f"http://{host[0]}"]:
        return "a page of another site sent it"
    if site and (len(site) != 1 or site[0] not in OWN_SITES):
        return "another site led to it"
    return ""


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a request that does not come from here, before its route sees it."""
    socket = request.transport.get_extra_info("sockname") if request.transport else None
    why = why_foreign(list(request.headers.items()), socket[1] if socket else 0)
    if why:
        return web.json_response({"error": f"refused: {why}"}, status=403)
    return await handler(request)


async def sign(_: web.Request, response: web.StreamResponse) -> None:
    """Let no other page show an answer, and no browser guess its type."""
    headers = response.headers
    headers.setdefault("Content-Security-Policy", f"default-src 'none'; {FRAMES}")
    headers.setdefault("X-Frame-Options", "DENY")
    headers.setdefault("X-Content-Type-Options", "nosniff")
    headers.setdefault("Referrer-Policy", "no-referrer")
    headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
