"""PostgreSQL behind the `Database` port: each write is one transaction whose end is always known."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from memory.errors import (
    Conflict,
    Fenced,
    StorageDamaged,
    StorageError,
    StorageUnavailable,
)
from memory.faults import point, without
from memory.ports import Lock, Reads, Result, Row, Statement, unobserved
from memory.storage.chain import answered_in_turn
from memory.storage.condition import Condition
from memory.storage.named_queries import load_queries, named
from memory.storage.place import shown
from memory.storage.postgres_connection import (
    FOREIGN,
    ROLLED_BACK,
    adapted,
    connect_string,
    is_gone,
    look_at,
    options,
    placeholders,
    translate,
)

MAX_CONNECTIONS: Final = 10
"""Of one process; with several, `max_connections` of the server has to hold them all."""
WAIT_FOR_CONNECTION_S: Final = 5.0
TRIES: Final = 5
"""So often a transaction is begun that ends by no fault of its own: a deadlock, a severed connection."""
TRY_AGAIN_S: Final = 0.05
RENEW_S: Final = 0.5
CERTAIN_S: Final = 1.0
"""So long after it renewed its row nobody can have declared a process dead: they wait for `GONE_S` at least."""
GONE_S: Final = 2.0
"""A process of which the server sees no connection is taken for dead after so long a silence."""
SILENT_S: Final = 3.0
"""Any process is, after so long a one."""
LISTEN_AGAIN_S: Final = 0.2
LOOK_AGAIN_S: Final = 0.25
"""How often a server that does not answer is asked again."""
MARKS_KEPT_MS: Final = 24 * 3600 * 1000
LEAVE_S: Final = 2.0
CANCEL_AGAIN_S: Final = 0.1
RENEW: Final = "worker_renew"
TAKE_WORKER: Final = """SELECT current_schema() FROM (
    SELECT pg_advisory_lock_shared(hashtext(current_schema() || ' workers'), CAST(%s AS INTEGER))) taken"""
SERVER: Final = "the server"
"""The name under which a server that does not answer is noted: one answer clears it."""

_T = TypeVar("_T")


class Severed(Exception):
    """The connection broke before COMMIT was sent: nothing was stored."""


class _Connection(AsyncConnection[dict[str, Any]]):
    """A connection that knows its row of `commit_marks`, and how many transactions it has ended."""

    key = ""
    mark = 0


class PostgresDatabase:
    """`memory.ports.Database` on one PostgreSQL database.

    Writes: one transaction each, sent as one packet and its COMMIT as another; transactions of concurrent calls share
    the server's fsyncs. Each leaves its number in the connection's row of `commit_marks`: when the connection breaks
    while COMMIT is under way, that row tells whether it was stored. A deadlock or a severed connection is tried again.
    Reads: any connection of the pool; they see committed data only.
    """

    shared: Final = True
    """Other processes may work on it at the same time."""
    files: Final[tuple[Path, ...]] = ()
    """No file of it lies on this machine."""

    def __init__(
        self, address: str, queries: dict[str, str], pool: AsyncConnectionPool[_Connection], *, read_only: bool
    ) -> None:
        self._read_only = read_only
        self.address = address
        self.where = shown(address)
        self._queries = queries
        self._pool = pool
        self._closed = False
        self._working: set[asyncio.Task[Any]] = set()
        """What is under way on the server, whoever still waits for it."""
        self._looking: asyncio.Task[None] | None = None
        self._present: list[asyncio.Task[None]] = []
        """What keeps this process among those that work here."""
        self.taken_over = False
        """True when others have declared this process dead: it neither stores nor says anything any more."""
        self.worker: int | None = None
        """Its number among those that work here; None as long as it has not joined."""
        self._renewed_s = 0.0
        """When the last transaction began that renewed its row, by the monotonic clock."""
        self._renewing_s = 0.0
        """When the last one began that was to do so."""
        self._steady_s = float("-inf")
        """When it was last back after a time in which it could not renew its row."""
        self.excused_json: Callable[[], str] = lambda: "[]"
        """Which turns are not to blame if this process dies now; noted with each renewal."""
        self.on_news: Callable[[str], None] = unobserved
        """Told what others tell; "" when something may have been missed."""
        self.condition = Condition(asyncio.get_running_loop().time)
        self.on_commit: Callable[[float], None] = unobserved
        """Told the seconds of each COMMIT."""
        self.on_fsync: Callable[[float], None] = unobserved
        """Never told anything: the disk is the server's."""
        self.fence: Callable[[], Statement | None] = _no_fence
        """What every write checks first, in its own transaction: it must find one row, else `Fenced` is raised."""

    @classmethod
    async def open(cls, address: str, queries: Sequence[Path], *, read_only: bool = False) -> Self:
        """Open the database; the schema is `memory.storage.migrate`'s matter.

        Raises `UnsafeSettings` when the server may forget what it has confirmed, `StorageUnavailable`, and
        `ValueError` for a fault in the query files.
        """
        texts = {name: placeholders(text) for name, text in load_queries(queries, "postgres").items()}
        pool: AsyncConnectionPool[_Connection] = AsyncConnectionPool(
            connect_string(address),
            connection_class=_Connection,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "context": adapted(),
                "options": options(address, read_only=read_only),
            },
            min_size=1,
            max_size=MAX_CONNECTIONS,
            timeout=WAIT_FOR_CONNECTION_S,
            reconnect_timeout=WAIT_FOR_CONNECTION_S,
            configure=_configure,
            open=False,
        )
        db = cls(address, texts, pool, read_only=read_only)
        try:
            await asyncio.to_thread(look_at, address)
            await pool.open(wait=True, timeout=WAIT_FOR_CONNECTION_S)
        except BaseException as exc:
            await pool.close()
            if isinstance(exc, (psycopg.Error, PoolTimeout)):
                raise translate(exc, db.where, "open") from exc
            raise
        if not read_only:
            with contextlib.suppress(StorageError):  # they do no harm
                await db.write(Statement("sweep_commit_marks", {"before_ms": _now_ms() - MARKS_KEPT_MS}))
        return db

    # --- read -------------------------------------------------------------------------------------------------------

    async def read(self, name: str, /, **params: Any) -> list[Row]:
        """Return all rows of the named query over committed data. Raises `StorageUnavailable`."""
        query = named(self._queries, name)

        async def ask(connection: _Connection) -> list[Row]:
            return list(await (await connection.execute(query, params)).fetchall())

        rows = await self._to_its_end(self._retried(name, lambda: self._with_connection(ask)))
        self.condition.worked(name)
        return rows

    async def read_one(self, name: str, /, **params: Any) -> Row | None:
        """Return the first row of the named query, or None. Raises `StorageUnavailable`."""
        rows = await self.read(name, **params)
        return rows[0] if rows else None

    async def read_chain(self, reads: Reads[_T], /) -> _T:
        """Run the reads one after another, as `memory.ports.Database.read_chain` promises."""
        return await answered_in_turn(reads, lambda asked: self.read(asked.name, **asked.params))

    # --- write ------------------------------------------------------------------------------------------------------

    async def write(self, *statements: Statement) -> list[Result]:
        """Run the statements as one transaction; when this returns they survive a power cut.

        Raises `Conflict`, `Fenced` or `StorageUnavailable` with nothing stored. When the connection breaks in the
        middle of COMMIT, it waits until the server answers and says what became of it. A caller that is cancelled
        does not learn whether it was stored.
        """
        if self._closed or self._read_only:
            state = "closed" if self._closed else "open for reading only"
            raise StorageUnavailable(f"database {self.where} is {state}; nothing was stored")
        if self.condition.beyond_repair is not None:
            raise (Fenced if self.taken_over else StorageDamaged)(self.condition.beyond_repair)
        fence, began_s = self.fence(), time.monotonic()
        names = " ".join(dict.fromkeys(statement.name for statement in statements))
        results = await self._to_its_end(
            self._retried(names, lambda: self._with_connection(lambda to: self._commit(to, fence, statements)))
        )
        if fence is not None and fence.name == RENEW:
            self._renewed(began_s)
        self.condition.worked(names)
        return results

    async def join(self, lock: Lock, *, boot_id: str = "", alone: bool = True) -> bool:
        """Work on the database: from now on every write checks that nobody has declared this process dead.

        Return whether no other process works on it. `lock` keeps out whoever wants it alone (or, with `alone`,
        everybody); when its connection breaks it is taken again, if it is free. Raises `StorageUnavailable`.
        """
        others = not alone and any(row["silent_ms"] < SILENT_S * 1000 for row in await self.workers())
        me = {"boot_id": boot_id, "place": f"{socket.gethostname()} {os.getpid()}", "at_ms": _now_ms()}
        began_s = time.monotonic()
        clear = [Statement("workers_clear")] if alone else []
        *_, joined = await self.write(*clear, Statement("worker_join", me, expect=1))
        self.worker = joined.rows[0]["worker"]
        self._renewed_s = self._renewing_s = began_s
        self.fence = self._check
        self._present = [
            asyncio.create_task(self._stay_alive(lock), name="alive"),
            asyncio.create_task(self._listen(), name="listens"),
        ]
        return not others

    def owned(self) -> bool:
        """Return whether it is certain that nobody has declared this process dead just now."""
        return self.worker is None or without("fence") or time.monotonic() - self._renewed_s < CERTAIN_S

    async def workers(self) -> list[Row]:
        """Return the processes that work on the database, and whether each is taken for dead. `StorageUnavailable`.

        Who has just been cut off itself takes nobody for dead: the others may be about to come back.
        """
        judge = self.worker if time.monotonic() - self._steady_s >= GONE_S else None
        return await self.read("workers_seen", worker=judge or 0, silent_s=SILENT_S, gone_s=GONE_S)

    async def tell(self, text: str) -> None:
        """Tell every process that listens. Raises `StorageUnavailable`."""
        await self.read("tell_workers", text=text)

    def _check(self) -> Statement:
        """Return the fence; twice a second it is also the word that this process is alive."""
        now_s = time.monotonic()
        if now_s - self._renewing_s < RENEW_S:
            return Statement("worker_check", {"worker": self.worker})
        self._renewing_s = now_s
        return Statement(RENEW, {"worker": self.worker, "excused_json": self.excused_json()})

    def _renewed(self, began_s: float) -> None:
        """Note a renewal, and whether this process was cut off before it."""
        if (now_s := time.monotonic()) - self._renewed_s > CERTAIN_S:
            self._steady_s = now_s
        self._renewed_s = max(self._renewed_s, began_s)

    async def _stay_alive(self, lock: Lock) -> None:
        while not self._closed and self.condition.beyond_repair is None:
            with contextlib.suppress(StorageError):
                if time.monotonic() - self._renewing_s >= RENEW_S:
                    await self.write()
                await asyncio.to_thread(lock.keep)
            await asyncio.sleep(RENEW_S)

    async def _listen(self) -> None:
        """Hear what others tell, over a connection whose lock shows that this process is there."""
        while True:
            with contextlib.suppress(*FOREIGN):
                await self._hear()
            await asyncio.sleep(LISTEN_AGAIN_S)

    async def _hear(self) -> None:
        connection = await AsyncConnection.connect(
            connect_string(self.address), autocommit=True, options=options(self.address, read_only=True)
        )
        async with connection:
            taken = await connection.execute(TAKE_WORKER, (self.worker,))
            (schema,) = await taken.fetchone() or ("",)
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(f"continuity_{schema}")))
            self.on_news("")
            async for news in connection.notifies():
                self.on_news(news.payload)

    async def _commit(
        self, connection: _Connection, fence: Statement | None, statements: Sequence[Statement]
    ) -> list[Result]:
        """Run one transaction on a connection. Raises `Severed` while it is sure that nothing was stored."""
        cursors: list[tuple[Statement, AsyncCursor[dict[str, Any]]]] = []
        mark = connection.mark + 1
        connection.mark = mark
        try:
            async with connection.pipeline() as pipeline:
                await connection.execute("BEGIN")
                guard = await connection.execute(named(self._queries, fence.name), fence.params) if fence else None
                for statement in statements:
                    cursors.append((statement, connection.cursor()))
                    await cursors[-1][1].execute(named(self._queries, statement.name), statement.params)
                left = {"connection_id": connection.key, "mark": mark, "at_ms": _now_ms()}
                await connection.execute(named(self._queries, "leave_commit_mark"), left)
                await pipeline.sync()
                held = guard is None or bool(await guard.fetchall()) or without("fence")
                results = [await _result(statement, cursor) for statement, cursor in cursors] if held else None
            point("db_before_commit")
        except BaseException as exc:
            await self._undo(connection, exc)
            if is_gone(exc):
                raise Severed from exc
            if isinstance(exc, StorageError):
                raise
            if isinstance(exc, FOREIGN):
                raise translate(exc, self.where, _failed(cursors)) from exc
            raise
        if results is None:
            await connection.execute("ROLLBACK")
            self.taken_over = True
            raise Fenced(f"database {self.where}: others have declared this process dead and do its work; it ends")
        asked_s = time.perf_counter()
        try:
            await connection.execute("COMMIT")
        except FOREIGN as exc:
            if not is_gone(exc):
                raise translate(exc, self.where, "COMMIT") from exc
            if not await self._was_stored(connection.key, mark):
                raise Severed from exc
        self.on_commit(time.perf_counter() - asked_s)
        point("db_after_commit")
        return results

    async def _undo(self, connection: _Connection, why: BaseException) -> None:
        """Roll back; after an error of the server within the packet the connection is given up.

        Statements behind the error were not prepared, which psycopg does not learn: the next use would fail.
        """
        with contextlib.suppress(psycopg.Error):
            if isinstance(why, StorageError):
                await connection.execute("ROLLBACK")
            else:
                await connection.close()

    async def _was_stored(self, key: str, mark: int) -> bool:
        """Return whether the transaction with this mark was committed, once the server says; waits for its answer.

        The row is locked by the transaction as long as it has not ended, so the answer is final.
        """

        async def ask(connection: _Connection) -> bool:
            async with connection.transaction():
                params = {"connection_id": key, "mark": 0, "at_ms": _now_ms()}
                await connection.execute(named(self._queries, "touch_commit_mark"), params)
                found = await (await connection.execute(named(self._queries, "read_commit_mark"), params)).fetchone()
                return found is not None and found["mark"] >= mark

        while not self._closed:
            try:
                return await self._with_connection(ask)
            except StorageUnavailable as exc:
                self._does_not_answer(exc)
            except FOREIGN as exc:
                self._does_not_answer(translate(exc, self.where, "COMMIT"))
            await asyncio.sleep(LOOK_AGAIN_S)
        raise StorageUnavailable(f"database {self.where} was closed while COMMIT was under way")

    # --- connections ------------------------------------------------------------------------------------------------

    async def _to_its_end(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what comes of the work; a caller that is cancelled leaves it to itself.

        The driver is never cancelled: it may lose that, and who asked for it would go on for ever.
        """
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return await asyncio.shield(task)

    async def _with_connection(self, work: Callable[[_Connection], Awaitable[_T]]) -> _T:
        async with self._pool.connection() as connection:
            return await work(connection)

    async def _retried(self, name: str, work: Callable[[], Awaitable[_T]]) -> _T:
        """Do the work, and again when the connection broke or others were in the way: nothing was stored then."""
        for left in range(TRIES, 0, -1):
            try:
                done = await work()
            except StorageError as exc:
                again = isinstance(exc.__cause__, psycopg.Error) and exc.__cause__.sqlstate in ROLLED_BACK
                if not again or left == 1:
                    self.condition.failed(name, exc)
                    raise
            except (Severed, *FOREIGN) as exc:
                cause = exc.__cause__ if isinstance(exc, Severed) and exc.__cause__ else exc
                if self._closed or isinstance(cause, PoolClosed):
                    raise StorageUnavailable(f"database {self.where} is closed; '{name}' came too late") from exc
                error = translate(cause, self.where, name)
                if not is_gone(cause) and getattr(cause, "sqlstate", None) not in ROLLED_BACK:
                    self.condition.failed(name, error)
                    raise error from cause
                if left == 1 or isinstance(cause, PoolTimeout):
                    self._does_not_answer(error)
                    raise error from cause
            else:
                self.condition.worked(SERVER)
                return done
            await asyncio.sleep(TRY_AGAIN_S)
        raise AssertionError  # the loop returns or raises

    def _does_not_answer(self, error: StorageError) -> None:
        """Note that the server does not answer, and ask it until it does."""
        self.condition.failed(SERVER, error)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._until_it_answers(), name="until PostgreSQL answers")

    async def _until_it_answers(self) -> None:
        async def ask(connection: _Connection) -> None:
            await connection.execute("SELECT 1")

        while not self._closed:
            try:
                await self._with_connection(ask)
            except FOREIGN as exc:
                self.condition.failed(SERVER, translate(exc, self.where, "SELECT 1"))
                await asyncio.sleep(LOOK_AGAIN_S)
            else:
                self.condition.worked(SERVER)
                return

    # --- condition --------------------------------------------------------------------------------------------------

    def trouble(self, *, besides: Collection[str] = ()) -> str | None:
        """Return why nothing should be confirmed just now, None when all is well."""
        return self.condition.trouble(besides=besides)

    async def close(self) -> None:
        """Finish what was accepted and let go of the connections. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._working:
            await asyncio.wait(set(self._working), timeout=WAIT_FOR_CONNECTION_S)
        for task in (self._looking, *self._present):
            while task is not None and not task.done():  # the driver may lose a cancel
                task.cancel()
                await asyncio.wait([task], timeout=CANCEL_AGAIN_S)
        if self.worker is not None and not self.taken_over:
            await self._leave(self.worker)
        await self._pool.close()

    async def _leave(self, worker: int) -> None:
        """Take the row away and say so; when that fails the others find out by themselves."""

        async def leave(connection: _Connection) -> None:
            await connection.execute(named(self._queries, "worker_leave"), {"worker": worker})
            await connection.execute(named(self._queries, "tell_workers"), {"text": ""})

        with contextlib.suppress(TimeoutError, *FOREIGN):
            async with asyncio.timeout(LEAVE_S):
                await self._with_connection(leave)

    async def wal_truncate(self) -> None:
        """Do nothing: what was deleted goes from the server's files by its own vacuum and recycled log (P13)."""

    async def backup_to(self, target: Path, told: Callable[[int, int], None] = unobserved) -> None:  # noqa: ARG002
        """Raise `StorageError`: a server is copied by its own tool."""
        raise StorageError(f"backup {target}: {self.where} is copied with pg_dump; see docs/how-to/postgres.md")

    async def integrity(self) -> tuple[str, ...]:
        """Return (): PostgreSQL checks its pages as it reads them, and `amcheck` is the server's own tool."""
        return ()

    async def altered_rows(self) -> tuple[str, ...]:
        """Return (): a page that does not match its checksum is not given out (`data_checksums`)."""
        return ()

    async def accept_altered_rows(self) -> None:
        """Do nothing: see `altered_rows`."""

    async def size_bytes(self) -> int:
        """Return how much room the tables of this schema take on the server, with their indexes."""
        row = await self.read_one("schema_size")
        return int(row["bytes"]) if row else 0

    async def settings(self) -> dict[str, Any]:
        """Return what the server really runs with, for `doctor`."""
        return await asyncio.to_thread(look_at, self.address)


async def _configure(connection: _Connection) -> None:
    connection.key = uuid4().hex
    connection.prepare_threshold = 3


async def _result(statement: Statement, cursor: AsyncCursor[dict[str, Any]]) -> Result:
    """Return what one statement of the transaction did. Raises `Conflict` when it is not what was expected."""
    rows = list(await cursor.fetchall()) if cursor.description else []
    changed = 0 if (cursor.statusmessage or "").startswith("SELECT") else max(cursor.rowcount, 0)
    count = len(rows) if cursor.description else changed
    if statement.expect is not None and count != statement.expect:
        raise Conflict(
            f"'{statement.name}' met {count} rows, expected {statement.expect}: another writer was first; "
            "nothing of this transaction was stored"
        )
    return Result(rows, changed)


def _failed(cursors: Sequence[tuple[Statement, AsyncCursor[Any]]]) -> str:
    """Return the name of the first statement without a result."""
    return next((statement.name for statement, cursor in cursors if cursor.statusmessage is None), cursors[-1][0].name)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _no_fence() -> None:
    """Check nothing: one process has the database to itself."""
