"""Downloads of files: under a link that `getFile` gave, for an hour, with faults as a network has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

from bot.playground.bot_api.faults import Faults, Kind
from bot.playground.bot_api.world import World

LINK_S = 3600
DOWNLOAD = "download"
"""The name under which tests plant faults in downloads."""


class Downloads:
    """Serves `/file/bot<token>/documents/<file id>`."""

    def __init__(self, world: World, faults: Faults, now_s: Callable[[], float]) -> None:
        self._world = world
        self._faults = faults
        self._now_s = now_s
        self.served: list[str] = []
        """The file ids that were asked for, refused ones too."""

    async def serve(self, request: web.Request, token: str, released: asyncio.Event) -> web.StreamResponse:
        """Return a file; 404 without a link or with one that is too old."""
        file_id = request.match_info["file_id"]
        self.served.append(file_id)
        fault = self._faults.strike(DOWNLOAD, {})
        if fault and fault.kind is Kind.HANG:
            await released.wait()
        if fault and fault.kind in (Kind.HANG, Kind.DROPPED, Kind.HANG_AFTER):
            return await self._cut(request, file_id, released, hangs=fault.kind is Kind.HANG_AFTER)
        if fault and fault.kind is Kind.SERVER_ERROR:
            return web.Response(status=500)
        data, link_at_s = self._world.files.get(file_id), self._world.links.get(file_id)
        if request.match_info["token"] != token or data is None or link_at_s is None:
            return web.Response(status=404)
        if self._now_s() - link_at_s > LINK_S:
            return web.Response(status=404)
        if fault and fault.kind is Kind.MALFORMED:
            return web.Response(body=b"<html>this is not the file</html>")
        return web.Response(body=data)

    async def _cut(
        self, request: web.Request, file_id: str, released: asyncio.Event, *, hangs: bool
    ) -> web.StreamResponse:
        """Send half of a file, then nothing more."""
        data = self._world.files.get(file_id, b"")
        answer = web.StreamResponse(headers={"Content-Length": str(len(data))})
        await answer.prepare(request)
        await answer.write(data[: len(data) // 2])
        if hangs:
            await released.wait()
        if request.transport:
            request.transport.abort()
        return answer
