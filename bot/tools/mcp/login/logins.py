"""Logins of people at servers: begun by a tap, ended by an address sent back, renewed, revoked; one per person."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog
from yarl import URL

from bot.tools.mcp.config import ServerConfig
from bot.tools.mcp.login.pasted import Pasted
from bot.tools.mcp.login.seal import Seal
from bot.tools.mcp.login.way import Tokens, Way
from bot.tools.tool import NotDone
from bot.tools.web.addresses import Reach
from memory.errors import Conflict
from memory.ports import Clock, Database, Row, Statement

if TYPE_CHECKING:
    from bot.tools.mcp.login import device
    from bot.tools.mcp.login.requests import LoginRequests

log = structlog.get_logger(__name__)

LASTS_MS: Final = 15 * 60_000
"""A login that was begun takes no longer."""
DAY_MS: Final = 24 * 3_600_000
EARLY_MS: Final = 60_000
"""Tokens are renewed so long before they run out."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """The page to which a person goes to log in."""

    address: str
    host: str
    code: str = ""
    """The code that they enter there; "" where they send back the address of the last page."""
    lasts_ms: int = LASTS_MS


@dataclass(frozen=True, slots=True)
class Back:
    """An address that came back, fit or not."""

    server: str
    why: str
    """"" for one that may be used; over, else, refused for those that may not."""
    way: Way | None = None


@dataclass(frozen=True, slots=True)
class _Login:
    """A login that was kept, opened."""

    version: int
    tools_json: str
    way: Way
    tokens: Tokens


class Logins:
    """Keeps the logins of all people."""

    def __init__(
        self, configs: Sequence[ServerConfig], db: Database, clock: Clock, seal: Seal, may_reach: Reach
    ) -> None:
        """`may_reach` are the addresses to which a server may send us that the operator did not configure."""
        self._configs = {config.name: config for config in configs}
        self._db = db
        self._clock = clock
        self._seal = seal
        self._may_reach = may_reach
        self._renewing: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)

    # --- beginning and ending ---------------------------------------------------------------------------------------

    async def begin(self, server: str, user_id: int, conversation_id: str) -> Invitation:
        """Find out where to log in and write the login down. Raises `NotDone`, and `StorageUnavailable`."""
        config = self._configs.get(server)
        if config is None:
            raise NotDone(f"there is no server {server} any more")
        flow, requests = await self._parts(config)
        begun = await flow.find_way(config, requests)
        now_ms, code = self._clock.now_ms(), begun.code
        lasts_ms = min(code.lasts_s * 1000, LASTS_MS) if code else LASTS_MS
        kept = {"origin": config.origin, "way": begun.way.as_json()}
        by_code = {"code": code.device_code, "interval_s": code.interval_s} if code else {}
        values = {
            "state": begun.state,
            "server": server,
            "user_id": user_id,
            "conversation_id": conversation_id,
            "sealed": self._seal.seal(kept | by_code),
            "expires_at_ms": now_ms + lasts_ms,
            "polls_at_ms": now_ms + code.interval_s * 1000 if code else None,
        }
        old = Statement("logins_begun_purge", {"before_ms": now_ms - DAY_MS})
        await self._db.write(old, Statement("login_begin", values))
        return Invitation(begun.address, URL(begun.address).host or "", code.user_code if code else "", lasts_ms)

    async def came_back(self, found: Pasted, user_id: int | None, conversation_id: str) -> Back | None:
        """Return the login of an address that came back, None for one of no login. `StorageUnavailable`."""
        row = await self._db.read_one("login_begun", state=found.state)
        if row is None:
            return None
        server, config = row["server"], self._configs.get(row["server"])
        kept = self._seal.open(row["sealed"])
        if row["user_id"] != user_id or row["conversation_id"] != conversation_id:
            return Back(server, "else")
        is_over = row["used"] or row["expires_at_ms"] < self._clock.now_ms()
        if is_over or config is None or kept is None or kept["origin"] != config.origin:
            return Back(server, "over")
        way = Way(**kept["way"])
        unnamed = found.issuer is None and way.names_issuer
        if found.at != way.redirect or unnamed or found.issuer not in {None, way.issuer} or not found.code:
            return Back(server, "refused")
        return Back(server, "", way)

    async def use(self, found: Pasted) -> None:
        """Write down that the address came back, before its code goes out. Raises `Conflict` when it did before."""
        await self._db.write(Statement("login_use", {"state": found.state}, expect=1))

    async def finish(self, found: Pasted, way: Way, user_id: int, conversation_id: str) -> Statement:
        """Exchange the code for tokens and return the statement that stores them. Raises `NotDone`."""
        config = self._configs[way.server]
        flow, requests = await self._parts(config)
        tokens = await flow.exchange(way, found.code, requests, self._clock.now_ms())
        return self._keep(way, tokens, user_id, conversation_id)

    def _keep(self, way: Way, tokens: Tokens, user_id: int, conversation_id: str) -> Statement:
        values = {
            "server": way.server,
            "user_id": user_id,
            "conversation_id": conversation_id,
            "origin": self._configs[way.server].origin,
            "sealed": self._sealed(way, tokens),
            "at_ms": self._clock.now_ms(),
        }
        return Statement("login_keep", values)

    # --- by a code --------------------------------------------------------------------------------------------------

    async def polled(self) -> list[Row]:
        """Return the logins by a code that are under way, the next one first. Raises `StorageUnavailable`."""
        return await self._db.read("logins_polled")

    async def poll(self, row: Row, wait_ms: int) -> list[Statement] | device.Outcome:
        """Ask about one login; return statements that store its tokens, or its state. `Conflict`: another process asks.

        A crash before the answer: the next poll asks again. Behind an answer with tokens: these are lost, the code is
        void at its server, and the person begins anew.
        """
        config, kept = self._configs.get(row["server"]), self._seal.open(row["sealed"])
        now_ms = self._clock.now_ms()
        if config is None or kept is None or kept["origin"] != config.origin or row["expires_at_ms"] < now_ms:
            return "over"
        next_at_ms = now_ms + kept["interval_s"] * 1000 + wait_ms
        claim = {"state": row["state"], "was_at_ms": row["polls_at_ms"], "at_ms": next_at_ms}
        await self._db.write(Statement("login_poll", claim, expect=1))
        flow, requests = await self._parts(config)
        try:
            found: Tokens | device.Outcome = await flow.ask(Way(**kept["way"]), kept["code"], requests, now_ms)
        except NotDone as exc:
            log.info("a login is asked about later", server=row["server"], why=str(exc))
            return "waits"
        if isinstance(found, str):
            return found
        keep = self._keep(Way(**kept["way"]), found, row["user_id"], row["conversation_id"])
        return [self.done(row), keep, Statement("logins_else_use", {name: row[name] for name in ("server", "user_id")})]

    @staticmethod
    def done(row: Row) -> Statement:
        """Return the statement that ends a login that was begun; a `Conflict` when it has ended."""
        return Statement("login_use", {"state": row["state"]}, expect=1)

    async def end(self, server: str, user_id: int) -> bool:
        """Log a person out, there too where the server takes it; return whether they were in. `StorageUnavailable`."""
        row = await self._db.read_one("login_find", server=server, user_id=user_id)
        if row is None:
            return False
        await self._forget(row)
        config, login = self._configs.get(server), self._opened(row)
        if config is not None and login is not None:
            flow, requests = await self._parts(config)
            try:
                await flow.revoke(login.way, login.tokens, requests)
            except NotDone as exc:
                log.warning("a login could not be revoked at its server", server=server, why=str(exc))
        return True

    # --- using ------------------------------------------------------------------------------------------------------

    async def is_asked(self, server: str) -> bool:
        """Return whether somebody has logged in at this server as it is set up now. `StorageUnavailable`."""
        config = self._configs[server]
        found = await self._db.read_one("login_anywhere", server=server, origin=config.origin)
        return bool(config.oauth) or found is not None

    async def tools_of(self, server: str, user_id: int | None) -> list[Any] | None:
        """Return the tools offered last to this account; None for who is not logged in. `StorageUnavailable`."""
        login = await self._login(server, user_id)
        found: list[Any] | None = orjson.loads(login.tools_json) if login else None
        return found

    async def keep_tools(self, server: str, user_id: int, tools: Sequence[Mapping[str, Any]]) -> None:
        """Keep the tools offered to an account. Raises `StorageError`."""
        values = {"server": server, "user_id": user_id, "tools_json": orjson.dumps(list(tools)).decode()}
        await self._db.write(Statement("login_tools_keep", values))

    async def token(self, server: str, user_id: int, refused: str = "") -> str | None:
        """Return this person's token, renewed when it runs out or is the one that was `refused`; None without a login.

        Raises `NotDone` when it cannot be renewed just now, and `StorageUnavailable`.
        """
        async with self._renewing[server, user_id]:
            login = await self._login(server, user_id)
            if login is None:
                return None
            now_ms = self._clock.now_ms()
            runs_out = 0 < login.tokens.expires_at_ms < now_ms + EARLY_MS
            if not runs_out and login.tokens.access != refused:
                return login.tokens.access
            return await self._renewed(server, user_id, login, now_ms)

    async def _renewed(self, server: str, user_id: int, login: _Login, now_ms: int) -> str | None:
        flow, requests = await self._parts(self._configs[server])
        fresh: Tokens | None = await flow.renew(login.way, login.tokens, requests, now_ms)
        values = {"server": server, "user_id": user_id, "version": login.version}
        try:
            if fresh is None:
                await self._db.write(Statement("login_end", values, expect=1))
                return None
            renewed = Statement("login_renew", values | {"sealed": self._sealed(login.way, fresh)}, expect=1)
            await self._db.write(renewed)
        except Conflict:  # another process has renewed it: its tokens count
            other = await self._login(server, user_id)
            return other.tokens.access if other else None
        return fresh.access

    async def _login(self, server: str, user_id: int | None) -> _Login | None:
        """Return a login that may be used: this person's, of the server as it is set up now, sealed with our key."""
        row, config = await self._db.read_one("login_find", server=server, user_id=user_id or 0), self._configs[server]
        if row is None or row["origin"] != config.origin:
            return None
        login = self._opened(row)
        return login if login is not None and login.way.url == config.url else None

    def _opened(self, row: Row) -> _Login | None:
        kept = self._seal.open(row["sealed"])
        if kept is None:
            return None
        return _Login(row["version"], row["tools_json"], Way(**kept["way"]), Tokens(**kept["tokens"]))

    async def _forget(self, row: Row) -> None:
        values = {name: row[name] for name in ("server", "user_id", "version")}
        with suppress(Conflict):
            await self._db.write(Statement("login_end", values, expect=1))

    def _sealed(self, way: Way, tokens: Tokens) -> str:
        return self._seal.seal({"way": way.as_json() | {"verifier": ""}, "tokens": asdict(tokens)})

    async def _parts(self, config: ServerConfig) -> tuple[Any, LoginRequests]:
        """Return the flow, whose library takes a second, and who sends its requests."""
        flow = await asyncio.to_thread(_flow)
        from bot.tools.mcp.login.requests import LoginRequests

        addresses = (config.url, config.oauth.get("issuer", ""))
        own = frozenset(str(URL(address).origin()) for address in addresses if address)
        return flow, LoginRequests(own, self._may_reach)


def _flow() -> Any:
    from bot.tools.mcp.login import flow

    return flow
