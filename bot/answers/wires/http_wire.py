"""One model of a provider with an HTTP format of ours: the light way, without a library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from bot.answers.cost import Usage, list_price
from bot.answers.errors import garbage
from bot.answers.wires.port import Format, GrowingReply, WireRequest
from bot.answers.wires.server import ModelServer


class HttpWire:
    """`bot.answers.wires.port.Wire` over aiohttp."""

    def __init__(self, name: str, server: ModelServer, spoken: Format, provider: str, *, listed: bool) -> None:
        """Ask this server; `listed` says whether the price list is looked at, which knows no server on this machine."""
        self._name = name
        self._server = server
        self._format = spoken
        self._provider = provider
        self._listed = listed and not server.is_here
        self.searches = spoken.searches

    async def stream(self, asked: WireRequest, reply: GrowingReply) -> AsyncGenerator[bool]:
        """Fill the reply, and yield at each sign of life whether its text grew."""
        body = self._format.body(self._name, asked)
        async with aclosing(self._server.stream(self._format.path, body, lambda: reply.over)) as arriving:
            async for pieces in arriving:
                grew = [self._read(reply, piece) for piece in pieces if not reply.over]
                yield any(grew)

    def _read(self, reply: GrowingReply, piece: dict[str, Any]) -> bool:
        """Take one piece; return True when the text grew. Raises `ModelError`, also for one of another shape."""
        try:
            return self._format.read(reply, piece)
        except (AttributeError, TypeError, LookupError) as exc:
            raise garbage("a piece of the answer has another shape") from exc

    async def price(self, usage: Usage) -> Decimal | None:
        """Return the cost by the price list; None when it is not asked."""
        if not self._listed:
            return None
        return await asyncio.to_thread(list_price, self._name, self._provider, self._server.url, usage)

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._server.close()
