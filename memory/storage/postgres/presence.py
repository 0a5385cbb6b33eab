"""This process among those that work on one PostgreSQL: the row that fences its writes, and news of the others."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from psycopg import AsyncConnection, sql

from memory.errors import StorageError
from memory.ports import Lock, Result, Statement
from memory.process.faults import without
from memory.storage.named_queries import named
from memory.storage.postgres.commit import now_ms
from memory.storage.postgres.connection import FOREIGN, connect_string, options, place
from memory.storage.postgres.pool import Connection, Pool, ended

RENEW_S: Final = 0.5
CERTAIN_S: Final = 1.0
"""Within this time after it renewed its row nobody can have declared a process dead: they wait `GONE_S` at least."""
GONE_S: Final = 2.0
"""A process of which the server sees no connection is taken for dead after so long a silence."""
SILENT_S: Final = 3.0
"""Any process is taken for dead after so long a silence."""
LISTEN_AGAIN_S: Final = 0.2
LEAVE_S: Final = 2.0
RENEW: Final = "worker_renew"
TAKE_WORKER: Final = """SELECT current_schema() FROM (
    SELECT pg_advisory_lock_shared(hashtext(current_schema() || ' workers'), CAST(%s AS INTEGER))) taken"""

Write = Callable[..., Awaitable[list[Result]]]


class Presence:
    """The row of this process in `workers`: renewed while it lives, and checked by every write."""

    def __init__(
        self,
        pool: Pool,
        queries: Mapping[str, str],
        write: Write,
        *,
        excused_json: Callable[[], str],
        on_news: Callable[[str], None],
    ) -> None:
        """`write` and the callables as `SharedDatabase` has them."""
        self._pool = pool
        self._queries = queries
        self._write = write
        self._excused_json = excused_json
        self._on_news = on_news
        self.worker: int | None = None
        """Its number; None as long as it has not joined."""
        self._tasks: list[asyncio.Task[None]] = []
        self._renewed_s = 0.0
        """The start of the last transaction that renewed its row, by the monotonic clock."""
        self._renewing_s = 0.0
        """The start of the last one that tried to."""
        self._steady_s = float("-inf")
        """The end of the last time in which it could not renew its row."""

    async def join(self, lock: Lock, *, boot_id: str, alone: bool) -> None:
        """Be there from now on; with `alone`, all others that are noted are processes that died."""
        me = {"boot_id": boot_id, "place": place(), "at_ms": now_ms()}
        began_s = time.monotonic()
        clear = [Statement("workers_clear")] if alone else []
        *_, joined = await self._write(*clear, Statement("worker_join", me, expect=1))
        self.worker = joined.rows[0]["worker"]
        self._renewed_s = self._renewing_s = began_s
        self._tasks = [
            asyncio.create_task(self._stay_alive(lock), name="alive"),
            asyncio.create_task(self._listen(), name="listens"),
        ]

    async def leave(self) -> None:
        """Take the row away and say so; when that fails the others find out by themselves."""

        async def leave(connection: Connection) -> None:
            await connection.execute(named(self._queries, "worker_leave"), {"worker": self.worker})
            await connection.execute(named(self._queries, "tell_workers"), {"text": ""})

        with contextlib.suppress(TimeoutError, *FOREIGN):
            async with asyncio.timeout(LEAVE_S):
                await self._pool.once(leave)

    async def rest(self) -> None:
        """Neither renew the row nor listen any more."""
        await ended(self._tasks)

    def owned(self) -> bool:
        """Return whether it is certain that nobody has declared this process dead just now."""
        return self.worker is None or without("fence") or time.monotonic() - self._renewed_s < CERTAIN_S

    def look(self) -> Statement:
        """Return the query for the processes there, and those taken for dead: none when this one was just cut off."""
        judges = time.monotonic() - self._steady_s >= GONE_S
        params = {"worker": (self.worker or 0) if judges else 0, "silent_s": SILENT_S, "gone_s": GONE_S}
        return Statement("workers_seen", params)

    def fence(self) -> Statement | None:
        """Return the check of every write; twice a second it is also the word that this process is alive."""
        if self.worker is None:
            return None
        now_s = time.monotonic()
        if now_s - self._renewing_s < RENEW_S:
            return Statement("worker_check", {"worker": self.worker})
        self._renewing_s = now_s
        return Statement(RENEW, {"worker": self.worker, "excused_json": self._excused_json()})

    def held(self, fence: Statement | None, began_s: float) -> None:
        """Take note of a fence that held in a write begun at that time: perhaps a renewal."""
        if fence is None or fence.name != RENEW:
            return
        if (now_s := time.monotonic()) - self._renewed_s > CERTAIN_S:  # it was cut off until now
            self._steady_s = now_s
        self._renewed_s = max(self._renewed_s, began_s)

    async def _stay_alive(self, lock: Lock) -> None:
        while self._pool.condition.beyond_repair is None:
            with contextlib.suppress(StorageError):
                if time.monotonic() - self._renewing_s >= RENEW_S:
                    await self._write()
                await asyncio.to_thread(lock.keep)
            await asyncio.sleep(RENEW_S)

    async def _listen(self) -> None:
        """Hear news of others, over a connection whose lock shows that this process is there."""
        while True:
            with contextlib.suppress(*FOREIGN):
                await self._hear()
            await asyncio.sleep(LISTEN_AGAIN_S)

    async def _hear(self) -> None:
        address = self._pool.address
        connection = await AsyncConnection.connect(
            connect_string(address), autocommit=True, options=options(address, read_only=True)
        )
        async with connection:
            taken = await connection.execute(TAKE_WORKER, (self.worker,))
            (schema,) = await taken.fetchone() or ("",)
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(f"continuity_{schema}")))
            self._on_news("")
            async for news in connection.notifies():
                self._on_news(news.payload)
