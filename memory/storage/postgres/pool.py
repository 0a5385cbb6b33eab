"""The connections to one PostgreSQL server: work over them is tried again when they break, and brought to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from memory.errors import StorageError, StorageUnavailable
from memory.process.shielded import Shielded
from memory.storage.condition import Condition
from memory.storage.place import shown
from memory.storage.postgres.connection import (
    FOREIGN,
    LOCK_TIMEOUT_MS,
    ROLLED_BACK,
    adapted,
    connect_string,
    is_gone,
    options,
    place,
    translate,
)

MAX_CONNECTIONS: Final = 10
"""The most connections of one process; with several, `max_connections` of the server has to hold them all."""
WAIT_FOR_CONNECTION_S: Final = 5.0
TRIES: Final = 5
"""Work that ends by no fault of its own (a deadlock, a severed connection) is begun so often."""
TRY_AGAIN_S: Final = 0.05
LOOK_AGAIN_S: Final = 0.25
"""A server that does not answer is asked again after so long."""
CANCEL_AGAIN_S: Final = 0.1
SERVER: Final = "the server"
"""The name under which a server that does not answer is noted: one answer clears it."""

_T = TypeVar("_T")


class Severed(Exception):
    """The connection broke before COMMIT was sent: nothing was stored."""


class Connection(AsyncConnection[dict[str, Any]]):
    """A connection that knows its row of `commit_marks`, and the number of transactions it has begun."""

    key = ""
    mark = 0


class Pool:
    """Connections to one server, and its condition.

    The driver is never cancelled: it may lose the cancel, and its caller would wait for ever.
    """

    def __init__(self, address: str, *, worker: str, read_only: bool) -> None:
        self.address = address
        self.where = shown(address)
        self.condition = Condition(asyncio.get_running_loop().time)
        self.closed = False
        self._connections: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            connect_string(address, name=f"continuity {worker} {place()}"),  # by it `worker_cut_off` finds them
            connection_class=Connection,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "context": adapted(),
                "options": options(address, read_only=read_only, waits_ms=LOCK_TIMEOUT_MS),
            },
            min_size=1,
            max_size=MAX_CONNECTIONS,
            timeout=WAIT_FOR_CONNECTION_S,
            reconnect_timeout=WAIT_FOR_CONNECTION_S,
            configure=_configure,
            open=False,
        )
        self._working = Shielded()
        self._looking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the first connection. Raises `StorageUnavailable`; then all is closed."""
        try:
            await self._connections.open(wait=True, timeout=WAIT_FOR_CONNECTION_S)
        except BaseException as exc:
            await self.close()
            if isinstance(exc, (psycopg.Error, PoolTimeout)):
                raise translate(exc, self.where, "open") from exc
            raise

    async def done(self, name: str, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Return the result of the work, begun again when the connection broke or others were in the way.

        When the caller is cancelled the work goes on. Raises `StorageError`: the work's own, and the driver's errors as
        ours. A driver's error, or `Severed`, out of the work means that nothing was stored.
        """
        return await self._working.run(self._retried(name, work))

    async def once(self, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Do the work over any connection. Raises the driver's errors."""
        async with self._connections.connection() as connection:
            return await work(connection)

    async def finish(self) -> None:
        """Take nothing more, and wait a while for accepted work."""
        self.closed = True
        if self._working.tasks:
            await asyncio.wait(set(self._working.tasks), timeout=WAIT_FOR_CONNECTION_S)

    async def close(self) -> None:
        """Let go of the connections."""
        self.closed = True
        await ended([self._looking] if self._looking else [])
        await self._connections.close()

    def does_not_answer(self, error: StorageError) -> None:
        """Note that the server does not answer, and ask it until it does."""
        self.condition.failed(SERVER, error)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._until_it_answers(), name="until PostgreSQL answers")

    async def _retried(self, name: str, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        for left in range(TRIES, 0, -1):
            try:
                done = await self.once(work)
            except StorageError as exc:
                again = isinstance(exc.__cause__, psycopg.Error) and exc.__cause__.sqlstate in ROLLED_BACK
                if not again or left == 1:
                    self.condition.failed(name, exc)
                    raise
            except (Severed, *FOREIGN) as exc:
                cause = exc.__cause__ if isinstance(exc, Severed) and exc.__cause__ else exc
                if self.closed or isinstance(cause, PoolClosed):
                    raise StorageUnavailable(f"database {self.where} is closed; '{name}' came too late") from exc
                error = translate(cause, self.where, name)
                if not is_gone(cause) and getattr(cause, "sqlstate", None) not in ROLLED_BACK:
                    self.condition.failed(name, error)
                    raise error from cause
                if left == 1 or isinstance(cause, PoolTimeout):
                    self.does_not_answer(error)
                    raise error from cause
            else:
                self.condition.worked(SERVER)
                self.condition.worked(name)
                return done
            await asyncio.sleep(TRY_AGAIN_S)
        raise AssertionError  # the loop returns or raises

    async def _until_it_answers(self) -> None:
        async def ask(connection: Connection) -> None:
            await connection.execute("SELECT 1")

        while not self.closed:
            try:
                await self.once(ask)
            except FOREIGN as exc:
                self.condition.failed(SERVER, translate(exc, self.where, "SELECT 1"))
                await asyncio.sleep(LOOK_AGAIN_S)
            else:
                self.condition.worked(SERVER)
                return


async def ended(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for their end; again and again, since the driver may lose a cancel."""
    for task in tasks:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=CANCEL_AGAIN_S)


async def _configure(connection: Connection) -> None:
    connection.key = uuid4().hex
    connection.prepare_threshold = 3
