"""Web sites on this machine, with what was asked of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from yarl import URL

HERE = "127.0.0.1"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def site(posts: Handler | None = None, **paths: str | Handler) -> AsyncIterator[tuple[URL, list[str]]]:
    """Start a site of these paths (`_` for the first page), on any port; each is its HTML or a function.

    `posts` answers whatever is posted.

    Yields its address, and the paths that were asked for with their queries.
    """
    asked: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.path_qs)
        name = request.path.strip("/").replace(".", "_") or "_"
        found = paths.get(name)
        if found is None:
            return web.Response(status=404)
        return web.Response(text=found, content_type="text/html") if isinstance(found, str) else await found(request)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    if posts is not None:
        app.router.add_post("/{path:.*}", posts)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, HERE, 0).start()
    try:
        yield URL(f"http://{HERE}:{runner.addresses[0][1]}"), asked
    finally:
        await runner.cleanup()
