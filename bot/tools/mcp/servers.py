"""All MCP servers of one bot: their tools as they were seen last, a connection when one is called, none when idle."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
import structlog

from bot.tools.choices import Choices, server_name
from bot.tools.mcp.config import ServerConfig
from bot.tools.mcp.leftovers import begin_records
from bot.tools.mcp.login.invitations import Invitations
from bot.tools.mcp.login.logins import Logins
from bot.tools.mcp.login.polling import CodePolls, SayWith
from bot.tools.mcp.naming import described, name_of
from bot.tools.mcp.server_state import ServerState
from bot.tools.mcp.session import Session, ToolInfo
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from memory.errors import StorageError
from memory.ports import Clock, Database, Statement, unobserved

log = structlog.get_logger(__name__)

IDLE_S: Final = 300.0
"""A server that nobody called for so long is ended."""
FIRST_S: Final = 10.0
"""So long the first message waits for the tools of a new server; later ones don't wait."""
START_S: Final = 60.0


class LoginNeeded(NotDone):
    """The server takes nothing without a login of the person's own."""


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
        logins: Logins,
        say: SayWith,
        behind: Callable[..., object] = unobserved,
    ) -> None:
        """`trusted` are servers whose word on their tools counts; `records` is a folder of our own.

        `say` says something to a person beside the answer.
        """
        self._servers = {config.name: ServerState(config) for config in configs}
        self._personal: dict[tuple[str, int], ServerState] = {}
        self.logins = logins
        self.codes = CodePolls(logins, clock, say, self.forget)
        self._invitations = Invitations(say, clock)
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

    def why_not(self, name: str) -> str:
        """Return why a server failed when it was needed last, "" when it did not."""
        server = self._servers[name]
        return server.why if server.failures else ""

    async def offered(self, place: Place, choices: Choices) -> Sequence[Tool]:
        """Return the tools of this place, as their servers described them last. Raises `StorageUnavailable`."""
        mine = [server for server in self._servers.values() if server.config.is_for(place.user_id)]
        mine = [server for server in mine if server_name(server.config.name) not in choices.off_for_all]
        if mine:
            await self._load(mine)
        found: list[Tool] = []
        for shared in mine:
            server = await self._server_of(shared, place)
            if server is None:
                found.append(self._invitations.tool(shared.config.name, shared.config.origin))
            else:
                found += [self._tool(server, info, place) for info in server.tools]
        return found

    # --- logins -----------------------------------------------------------------------------------------------------

    async def _server_of(self, shared: ServerState, place: Place) -> ServerState | None:
        """Return the server as this person uses it; None where they have to log in first. `StorageUnavailable`."""
        if not shared.wants_login:
            return shared
        tools = await self.logins.tools_of(shared.config.name, place.user_id)
        if tools is None or place.user_id is None:
            return None
        at = (shared.config.name, place.user_id)
        server = self._personal.setdefault(at, ServerState(shared.config, place.user_id, wants_login=True))
        if tools:
            server.tools, server.is_known = tuple(ToolInfo(**each) for each in tools), True
        elif not server.is_known:
            await self._wait_for([server])
        return server

    async def is_in(self, name: str, user_id: int | None) -> bool | None:
        """Return whether a person is logged in, None at a server that asks for no login. `StorageUnavailable`."""
        server = self._servers.get(name)
        if server is None or not server.wants_login:
            return None
        return await self.logins.tools_of(name, user_id) is not None

    async def log_out(self, name: str, user_id: int) -> bool:
        """End a person's login with its connection; return whether there was one. Raises `StorageUnavailable`."""
        await self.forget(name, user_id)
        return await self.logins.end(name, user_id)

    async def forget(self, name: str, user_id: int) -> None:
        """Let go of a person's connection: the login behind it is another now, or over."""
        self._invitations.forget(name, user_id)
        server = self._personal.pop((name, user_id), None)
        if server is not None and server.session is not None:
            await self._end(server, server.session)

    # --- what is known ----------------------------------------------------------------------------------------------

    async def _load(self, wanted: Sequence[ServerState]) -> None:
        """Read the tools seen last; those of new or changed servers are learned, and waited for a little, once."""
        await self._read()
        new = [each for each in wanted if not each.is_known and not each.wants_login and not each.was_asked]
        for server in new:
            server.was_asked = True
        await self._wait_for(new)

    async def _read(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        if self._records is not None:
            await asyncio.to_thread(begin_records, self._records)
        for row in await self._db.read("tool_listings"):
            server = self._servers.get(row["server"])
            if server is not None and row["origin"] == server.config.origin:
                server.tools = tuple(ToolInfo(**each) for each in orjson.loads(row["tools_json"]))
                server.is_known = True
        for server in self._servers.values():
            if server.config.takes_logins:
                server.wants_login = await self.logins.is_asked(server.config.name)

    async def _wait_for(self, servers: Sequence[ServerState]) -> None:
        """Learn the tools of servers; slow ones are known with a later message."""
        tasks = {asyncio.create_task(self._learn(server), name="mcp-learn") for server in servers}
        self._learning |= tasks
        for task in tasks:
            task.add_done_callback(self._learning.discard)
        if tasks:
            await asyncio.wait(tasks, timeout=FIRST_S)

    async def _learn(self, server: ServerState) -> None:
        try:
            await self._session_of(server)
        except LoginNeeded:
            log.info("an MCP server wants a login", server=server.config.name)
        except NotDone as exc:
            log.warning("an MCP server cannot be used", server=server.config.name, why=str(exc))

    async def _seen(self, server: ServerState, tools: Sequence[ToolInfo]) -> None:
        """Take note of how a server describes its tools now."""
        now = tuple(map(described, tools))
        if server.is_known and now == server.tools:
            return
        server.tools, server.is_known = now, True
        if server.user_id is not None:
            await self.logins.keep_tools(server.config.name, server.user_id, [asdict(each) for each in now])
            return
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

    def _tool(self, server: ServerState, info: ToolInfo, place: Place) -> Tool:
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
            ready=partial(self._ready, server, info, place),
            annotations=info.annotations,
        )

    async def _ready(self, server: ServerState, info: ToolInfo, place: Place) -> None:
        try:
            await self._session_of(server)
        except LoginNeeded:
            raise NotDone(await self._invitations.told(server.config.name, place)) from None
        if info not in server.tools:
            raise NotDone("the tool describes itself in another way now, or is gone; look again with the next message")

    async def _run(
        self, server: ServerState, info: ToolInfo, given: Mapping[str, Any], context: CallContext
    ) -> ToolResult:
        session = server.session
        if session is None or not session.is_alive:
            raise NotDone(f"the server {server.config.name} is not running")
        server.calls += 1
        try:
            return await session.call(info.name, given, context.call_id)
        except NotDone:
            if session.wants_login:
                raise NotDone(await self._invitations.told(server.config.name, context.place)) from None
            raise
        except BaseException as exc:
            self._behind(self._end(server, session), "mcp-end")  # whatever it does with the call, nobody waits for it
            server.fails(type(exc).__name__)
            raise
        finally:
            server.calls -= 1
            self._rest_later(server)

    # --- connections ------------------------------------------------------------------------------------------------

    async def _session_of(self, server: ServerState) -> Session:
        """Return an open connection, made now if there is none. Raises `NotDone`."""
        name, user_id = server.config.name, server.user_id
        async with server.lock:
            if user_id is not None and await self.logins.token(name, user_id) is None:
                raise LoginNeeded("a login is needed")
            before = server.session
            if before is not None and (server.calls or await before.answers()):
                return before
            if before is not None:
                await self._end(server, before)
            server.require_patience()
            give = None if user_id is None else partial(self._token, name, user_id)
            session = Session(server.config, self._records, self._errors, give)
            try:
                async with asyncio.timeout(START_S):
                    await session.start()
            except (NotDone, TimeoutError) as exc:
                why = str(exc) or "it did not start in time"
                if session.wants_login:
                    server.wants_login = True
                    raise LoginNeeded("a login is needed") from None
                server.fails(why)
                raise NotDone(why, foreign=True) from None
            server.session, server.failures, server.why = session, 0, ""
            await self._seen(server, session.tools)
            self._rest_later(server)
            return session

    async def _token(self, name: str, user_id: int, refused: str) -> str | None:
        try:
            return await self.logins.token(name, user_id, refused)
        except (NotDone, StorageError) as exc:  # the request goes without, and the server refuses it
            log.warning("a login cannot be used just now", server=name, why=str(exc))
            return None

    def _rest_later(self, server: ServerState) -> None:
        if server.idle is not None:
            server.idle.cancel()
        server.idle = asyncio.get_running_loop().call_later(IDLE_S, self._rest, server)

    def _rest(self, server: ServerState) -> None:
        session = server.session
        if session is None or server.calls:
            return
        server.session = None
        self._behind(session.end(), "mcp-rest")

    async def _end(self, server: ServerState, session: Session) -> None:
        if server.session is session:
            server.session = None
        await session.end()

    async def close(self) -> None:
        """End every server."""
        await self.codes.close()
        for task in self._learning:
            task.cancel()
        servers = [*self._servers.values(), *self._personal.values()]
        for server in servers:
            if server.idle is not None:
                server.idle.cancel()
        sessions = [server.session for server in servers if server.session is not None]
        await asyncio.gather(*(session.end() for session in sessions), return_exceptions=True)
        self._errors.close()
