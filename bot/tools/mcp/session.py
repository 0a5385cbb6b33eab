"""One connection to an MCP server, over the official SDK; its import waits for the first server that is needed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from bot.tools.mcp.config import ServerConfig
from bot.tools.tool import NotDone, ToolResult

if TYPE_CHECKING:
    from mcp import ClientSession

    from bot.tools.mcp.bearer import GiveToken

GUARD: Final = Path(__file__).with_name("guard.py")
ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "SYSTEMROOT")
"""Variables of our environment that a server gets, besides those in its `env`."""
MOST_TOOLS: Final = 500
MOST_BYTES: Final = 16_000_000
"""Of one answer over HTTP."""
END_S: Final = 8.0
PING_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool as its server describes it."""

    name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    annotations: Mapping[str, Any]


class Session:
    """A running connection, in a task of its own, since the SDK's parts must end where they began."""

    def __init__(
        self, config: ServerConfig, records: Path | None, errors: TextIO, give: GiveToken | None = None
    ) -> None:
        """`records` is the guard's folder of process ids; `errors` gets the server's error output.

        `give` returns the token of the person whose connection it is, None for one of everybody.
        """
        self.config = config
        self.tools: tuple[ToolInfo, ...] = ()
        self._records = records
        self._errors = errors
        self._session: ClientSession | None = None
        self._give = give
        self._ending = asyncio.Event()
        self.wants_login = False
        """Whether the server refused the last request for want of a login."""
        self._task: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether calls may reach the server."""
        return self._session is not None and self._task is not None and not self._task.done()

    async def start(self) -> None:
        """Connect and learn the tools. Raises `NotDone`, which says why not."""
        await asyncio.to_thread(_import)
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(begun), name=f"mcp:{self.config.name}")
        try:
            await asyncio.shield(begun)
        except asyncio.CancelledError:
            await self.end()
            raise
        except Exception as exc:
            await self.end()
            raise NotDone(f"the server {self.config.name} could not be started ({_why(exc)})", foreign=True) from exc

    async def _live(self, begun: asyncio.Future[None]) -> None:
        try:
            async with AsyncExitStack() as stack:
                from mcp import ClientSession

                read, write = await stack.enter_async_context(self._transport())
                session = await stack.enter_async_context(ClientSession(read, write))
                await session.initialize()
                self.tools = await _listed(session)
                self._session = session
                begun.set_result(None)
                await self._ending.wait()
        except BaseException as exc:
            if not begun.done():
                begun.set_exception(exc if isinstance(exc, Exception) else RuntimeError(type(exc).__name__))
            elif isinstance(exc, asyncio.CancelledError):
                raise
        finally:
            self._session = None

    def _transport(self) -> Any:
        return self._http() if self.config.url else self._stdio()

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        """The way to an address: no redirect elsewhere, no proxy of the environment, nothing sent twice."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from bot.tools.mcp.bearer import Bearer
        from bot.tools.mcp.bounded import Bounded

        config = self.config
        client = httpx2.AsyncClient(
            headers=dict(config.headers),
            auth=Bearer(self._give or _nothing, notes=self._note_refusal) if config.takes_logins else None,
            timeout=httpx2.Timeout(15, read=300),
            transport=Bounded(httpx2.AsyncHTTPTransport(retries=0), MOST_BYTES),
            trust_env=False,
        )
        async with client, streamable_http_client(config.url, http_client=client) as streams:
            yield streams

    def _note_refusal(self, refused: bool) -> None:  # noqa: FBT001 - a callback
        self.wants_login = refused

    def _stdio(self) -> Any:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        config = self.config
        kept = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        setup = {
            "command": config.command,
            "args": list(config.args),
            "env": {**kept, **config.env},
            "cwd": config.cwd,
            "memory_mb": config.memory_mb,
            "record": str(self._records) if self._records else "",
        }
        guard = StdioServerParameters(command=sys.executable, args=["-I", str(GUARD), json.dumps(setup)])
        return stdio_client(guard, errlog=self._errors)

    async def answers(self) -> bool:
        """Return whether the server is there: one that has died since the last call is seen before the next."""
        from mcp import MCPError
        from mcp_types import METHOD_NOT_FOUND

        session = self._session
        if session is None or not self.is_alive:
            return False
        try:
            async with asyncio.timeout(PING_S):
                await session.send_ping()
        except MCPError as exc:
            return bool(exc.error.code == METHOD_NOT_FOUND)
        except Exception:  # noqa: BLE001 - whatever it is, nothing can be said to it
            return False
        return True

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str) -> ToolResult:
        """Make one call, once. Raises `NotDone` when it surely was not made, anything else when nobody knows."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        session = self._session
        if session is None or not self.is_alive:
            raise NotDone(f"the server {self.config.name} is not running")
        try:
            meta: Any = {"continuity/call-id": call_id}
            result = await session.call_tool(name, dict(arguments), meta=meta)
        except MCPError as exc:
            if exc.error.code in {CONNECTION_CLOSED, REQUEST_TIMEOUT}:
                raise
            if self.wants_login:
                raise NotDone(f"the server {self.config.name} refused it: a login is needed") from exc
            return ToolResult(exc.error.message, failed=True)
        structured = getattr(result, "structured_content", None)
        text = "\n".join(filter(None, map(_block, result.content))) or (json.dumps(structured) if structured else "")
        return ToolResult(text, failed=bool(result.is_error))

    async def end(self) -> None:
        """Close the connection and end the server; a server that does not end in time is killed."""
        self._ending.set()
        task = self._task
        if task is None or task.done():
            return
        done, _ = await asyncio.wait({task}, timeout=END_S)
        if not done:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await asyncio.wait({task}, timeout=END_S)


def _import() -> None:
    """Import the SDK, which takes seconds, beside the event loop."""
    import mcp.client.stdio
    import mcp.client.streamable_http  # noqa: F401 - loads it as an attribute of `mcp`


async def _listed(session: ClientSession) -> tuple[ToolInfo, ...]:
    """Return the tools of a server, page by page; one that never stops listing is stopped."""
    from mcp_types import PaginatedRequestParams

    found: list[ToolInfo] = []
    cursor: str | None = None
    while len(found) < MOST_TOOLS:
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        for tool in page.tools:
            said = tool.annotations
            noted = said.model_dump(mode="json", by_alias=True, exclude_none=True) if said else {}
            title = tool.title or (said.title if said else None) or ""
            found.append(ToolInfo(tool.name, title, tool.description or "", tool.input_schema, noted))
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(found[:MOST_TOOLS])


async def _nothing(_: str) -> str | None:
    return None


def _block(content: Any) -> str:
    """Return a piece of a result as text; of a picture or file its name."""
    kind = getattr(content, "type", "")
    if kind == "text":
        return str(content.text)
    if kind == "resource":
        text = getattr(content.resource, "text", None)
        return str(text) if text is not None else f"[{content.resource.uri}]"
    if kind == "resource_link":
        return f"[{content.name}: {content.uri}]"
    return f"[{kind}, {getattr(content, 'mime_type', 'unknown')}]"


def _why(error: BaseException) -> str:
    """Return an error in a few words, of several the first."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
