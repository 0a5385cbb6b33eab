"""All MCP servers of one bot: their tools as they were seen last, a connection when one is called, none when idle."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
import structlog

from bot.tools.mcp.config import ServerConfig
from bot.tools.mcp.leftovers import end_leftovers
from bot.tools.mcp.naming import described, name_of
from bot.tools.mcp.session import Session, ToolInfo
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from memory.errors import StorageError
from memory.ports import Clock, Database, Statement, unobserved

log = structlog.get_logger(__name__)

IDLE_S: Final = 300.0
"""A server that nobody called for so long is ended."""
FIRST_S: Final = 10.0
"""So long the first message waits for what a new server can do; later ones don't wait."""
START_S: Final = 60.0
BACK_OFF_S: Final = (2.0, 10.0, 60.0, 300.0)
"""How long a server that failed so often in a row is let alone."""


@dataclass(slots=True)
class _Server:
    """One server as it stands."""

    config: ServerConfig
    tools: tuple[ToolInfo, ...] = ()
    is_known: bool = False
    session: Session | None = None
    failures: int = 0
    not_before_s: float = 0.0
    why: str = ""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    idle: asyncio.TimerHandle | None = None
    calls: int = 0
    """Calls that are under way."""


class Servers:
    """Offers the tools of all servers, and reaches the servers."""

    def __init__(
        self,
        configs: Sequence[ServerConfig],
        trusted: frozenset[str],
        db: Database,
        clock: Clock,
        *,
        records: Path | None,
        behind: Callable[..., object] = unobserved,
    ) -> None:
        """`trusted` are servers whose word on their tools counts; `records` is a folder of our own."""
        self._servers = {config.name: _Server(config) for config in configs}
        self._trusted = trusted
        self._db = db
        self._clock = clock
        self._records = records
        self._behind = behind
        self._errors = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the bot lives
        self._loaded = False
        self._learning: set[asyncio.Task[None]] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The servers' names, in the order of the file."""
        return tuple(self._servers)

    def troubles(self) -> tuple[str, ...]:
        """Return the servers that failed when they were needed last, and are not known."""
        return tuple(name for name, server in self._servers.items() if server.failures and not server.is_known)

    async def offered(self, place: Place) -> Sequence[Tool]:
        """Return the tools of this place, as their servers described them last. Raises `StorageUnavailable`."""
        mine = [server for server in self._servers.values() if server.config.is_for(place.user_id)]
        if mine:
            await self._load()
        return [self._tool(server, info) for server in mine for info in server.tools]

    # --- what is known ----------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        """Read what was seen last; what is new or set up in another way is learned, and waited for a little, once."""
        if self._loaded:
            return
        self._loaded = True
        if self._records is not None:
            await asyncio.to_thread(_begin_records, self._records)
        for row in await self._db.read("tool_listings"):
            server = self._servers.get(row["server"])
            if server is not None and row["origin"] == server.config.origin:
                server.tools = tuple(ToolInfo(**each) for each in orjson.loads(row["tools_json"]))
                server.is_known = True
        new = [server for server in self._servers.values() if not server.is_known]
        self._learning = {asyncio.create_task(self._learn(server), name="mcp-learn") for server in new}
        if self._learning:
            await asyncio.wait(self._learning, timeout=FIRST_S)

    async def _learn(self, server: _Server) -> None:
        try:
            await self._session_of(server)
        except NotDone as exc:
            log.warning("an MCP server cannot be used", server=server.config.name, why=str(exc))

    async def _seen(self, server: _Server, tools: Sequence[ToolInfo]) -> None:
        """Take note of how a server describes its tools now."""
        now = tuple(map(described, tools))
        if server.is_known and now == server.tools:
            return
        server.tools, server.is_known = now, True
        values = {
            "server": server.config.name,
            "origin": server.config.origin,
            "tools_json": orjson.dumps([asdict(each) for each in now]).decode(),
            "at_ms": self._clock.now_ms(),
        }
        try:
            await self._db.write(Statement("tool_listing_keep", values))
        except StorageError as exc:
            log.warning("what a server offers is not kept", server=server.config.name, error=str(exc))

    # --- tools ------------------------------------------------------------------------------------------------------

    def _tool(self, server: _Server, info: ToolInfo) -> Tool:
        config = server.config
        trusted = config.name in self._trusted
        return Tool(
            name=name_of(config.name, info.name),
            description=info.description,
            parameters=info.parameters,
            run=partial(self._run, server, info),
            reads_only=info.annotations.get("readOnlyHint") is True,
            trusted=trusted,
            idempotent=trusted and info.annotations.get("idempotentHint") is True,
            server=config.name,
            origin=config.origin,
            title=info.title,
            ready=partial(self._ready, server, info),
            annotations=info.annotations,
        )

    async def _ready(self, server: _Server, info: ToolInfo) -> None:
        await self._session_of(server)
        if info not in server.tools:
            raise NotDone("the tool describes itself in another way now, or is gone; look again with the next message")

    async def _run(self, server: _Server, info: ToolInfo, given: Mapping[str, Any], context: CallContext) -> ToolResult:
        session = server.session
        if session is None or not session.is_alive:
            raise NotDone(f"the server {server.config.name} is not running")
        server.calls += 1
        try:
            return await session.call(info.name, given, context.call_id)
        except NotDone:
            raise
        except BaseException as exc:
            self._behind(self._end(server, session), "mcp-end")  # whatever it does with the call, nobody waits for it
            self._failed(server, type(exc).__name__)
            raise
        finally:
            server.calls -= 1
            self._rest_later(server)

    # --- connections ------------------------------------------------------------------------------------------------

    async def _session_of(self, server: _Server) -> Session:
        """Return a connection that lives, made now if there is none. Raises `NotDone`."""
        async with server.lock:
            before = server.session
            if before is not None and (server.calls or await before.answers()):
                return before
            if before is not None:
                await self._end(server, before)
            wait_s = server.not_before_s - _now_s()
            if wait_s > 0:
                name, why = server.config.name, server.why
                raise NotDone(f"the server {name} failed ({why}); it's tried again in {wait_s:.0f} s")
            session = Session(server.config, self._records, self._errors)
            try:
                async with asyncio.timeout(START_S):
                    await session.start()
            except (NotDone, TimeoutError) as exc:
                why = str(exc) or "it did not start in time"
                self._failed(server, why)
                raise NotDone(why) from None
            server.session, server.failures, server.why = session, 0, ""
            await self._seen(server, session.tools)
            self._rest_later(server)
            return session

    def _failed(self, server: _Server, why: str) -> None:
        pause_s = BACK_OFF_S[min(server.failures, len(BACK_OFF_S) - 1)]
        server.failures += 1
        server.why, server.not_before_s = why, _now_s() + pause_s

    def _rest_later(self, server: _Server) -> None:
        if server.idle is not None:
            server.idle.cancel()
        server.idle = asyncio.get_running_loop().call_later(IDLE_S, self._rest, server)

    def _rest(self, server: _Server) -> None:
        session = server.session
        if session is None or server.calls:
            return
        server.session = None
        self._behind(session.end(), "mcp-rest")

    async def _end(self, server: _Server, session: Session) -> None:
        if server.session is session:
            server.session = None
        await session.end()

    async def close(self) -> None:
        """End every server."""
        for task in self._learning:
            task.cancel()
        for server in self._servers.values():
            if server.idle is not None:
                server.idle.cancel()
        sessions = [server.session for server in self._servers.values() if server.session is not None]
        await asyncio.gather(*(session.end() for session in sessions), return_exceptions=True)
        self._errors.close()


def _begin_records(folder: Path) -> None:
    """Make the folder, and end what an earlier process left."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if ended := end_leftovers(folder):
        log.warning("MCP servers of an earlier process were ended", count=ended)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
