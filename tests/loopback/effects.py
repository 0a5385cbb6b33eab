"""A service on this machine that tools of tests call, and that counts what was done to it, with the keys that came."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

TOOLS = '''"""Tools of a test: one reads, one changes, one takes a key."""

from urllib.parse import quote
from urllib.request import Request, urlopen

from bot.tools import CallContext, tool


def ask(path, key=""):
    with urlopen(Request("{url}" + path, method="POST", headers={{"Idempotency-Key": key}}), timeout=20) as answer:
        return answer.read().decode()


@tool(reads_only=True)
def look(what: str) -> str:
    """Look something up."""
    return ask("/look")


@tool()
def add(item: str, count: int = 1) -> str:
    """Put something on the shopping list."""
    return ask("/add?item=" + quote(item))


@tool(idempotent=True)
def book(room: str, context: CallContext) -> str:
    """Book a room."""
    return ask("/book", context.call_id)
'''


class LoopbackEffects:
    """Counts effects; a path in `hangs` answers only when the service ends."""

    def __init__(self, path: Path) -> None:
        """Write tools that call it into this file, once it runs."""
        self.path = str(path)
        self.done: list[tuple[str, str]] = []
        """Path and key of each effect."""
        self.items: Counter[str] = Counter()
        """How often each thing was put on the list."""
        self.hangs: set[str] = set()
        self.answer = "it is done"
        self._runner: web.AppRunner | None = None
        self._ended = asyncio.Event()
        self.url = ""

    def count(self, path: str) -> int:
        """Return how often something was done; the same key counts once."""
        keys = [key for done, key in self.done if done == path]
        return len({key for key in keys if key}) + keys.count("")

    def _write(self) -> None:
        Path(self.path).write_text(TOOLS.format(url=self.url), encoding="utf-8")

    async def _take(self, request: web.Request) -> web.Response:
        self.done.append((request.path, request.headers.get("Idempotency-Key", "")))
        self.items[request.query.get("item", "")] += 1
        if request.path in self.hangs:
            await self._ended.wait()
        return web.Response(text=self.answer)

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/{what}", self._take)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._write()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._runner is not None:
            await self._runner.cleanup()
