"""One transaction on PostgreSQL whose end is always known, also when the answer to its COMMIT is lost."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg import AsyncCursor

from memory.errors import Conflict, Fenced, StorageError, StorageUnavailable
from memory.ports import Result, Statement
from memory.process.faults import point, without
from memory.storage.named_queries import named
from memory.storage.postgres.connection import FOREIGN, is_gone, translate
from memory.storage.postgres.pool import LOOK_AGAIN_S, Connection, Pool, Severed

MARKS_KEPT_MS: Final = 24 * 3600 * 1000

_Cursor = AsyncCursor[dict[str, Any]]


class Transactions:
    """Writes over a pool: each is sent as one packet, and its COMMIT as another.

    Each transaction leaves its number in the connection's row of `commit_marks`: when the connection breaks during
    COMMIT, that row tells whether it was stored.
    """

    def __init__(self, pool: Pool, queries: Mapping[str, str], *, told: Callable[[float], None]) -> None:
        """`told` is called with the seconds of each COMMIT."""
        self._pool = pool
        self._queries = queries
        self._told = told
        self.refused = False
        """True once a fence has failed: others do the work of this process."""

    async def commit(self, name: str, fence: Statement | None, statements: Sequence[Statement]) -> list[Result]:
        """Run the statements as one transaction, behind a fence that has to find one row.

        Raises `Conflict`, `Fenced`, `StorageError` with nothing stored.
        """
        return await self._pool.done(name, lambda connection: self._commit(connection, fence, statements))

    async def _commit(
        self, connection: Connection, fence: Statement | None, statements: Sequence[Statement]
    ) -> list[Result]:
        """Run one transaction on a connection. Raises `Severed` while it is sure that nothing was stored."""
        cursors: list[tuple[Statement, _Cursor]] = []
        guard: _Cursor | None = None
        mark = connection.mark + 1
        connection.mark = mark
        try:
            async with connection.pipeline() as pipeline:
                await connection.execute("BEGIN")
                guard = await connection.execute(named(self._queries, fence.name), fence.params) if fence else None
                for statement in statements:
                    cursors.append((statement, connection.cursor()))
                    await cursors[-1][1].execute(named(self._queries, statement.name), statement.params)
                left = {"connection_id": connection.key, "mark": mark, "at_ms": now_ms()}
                await connection.execute(named(self._queries, "leave_commit_mark"), left)
                point("db_before_sync")
                await pipeline.sync()
                await self._look_at(guard)
                results = [await _result(statement, cursor) for statement, cursor in cursors]
            point("db_before_commit")
        except BaseException as exc:
            await _undo(connection, exc)
            if is_gone(exc):
                raise Severed from exc
            if isinstance(exc, FOREIGN):
                lost = _found_nothing(guard)
                raise (self._fenced() if lost else translate(exc, self._pool.where, _failed(cursors))) from exc
            raise
        asked_s = time.perf_counter()
        try:
            await connection.execute("COMMIT")
        except FOREIGN as exc:
            if not is_gone(exc):
                raise translate(exc, self._pool.where, "COMMIT") from exc
            if not await self._was_stored(connection.key, mark):
                raise Severed from exc
        self._told(time.perf_counter() - asked_s)
        point("db_after_commit")
        return results

    async def _look_at(self, guard: _Cursor | None) -> None:
        """Raise `Fenced` when the fence has not found its row."""
        if guard is not None and not await guard.fetchall() and not without("fence"):
            raise self._fenced()

    def _fenced(self) -> Fenced:
        self.refused = True
        return Fenced(f"database {self._pool.where}: others have declared this process dead and do its work; it ends")

    async def _was_stored(self, key: str, mark: int) -> bool:
        """Return whether the transaction with this mark was committed, once the server says; waits for its answer.

        The row is locked by the transaction as long as it has not ended, so the answer is final.
        """

        async def ask(connection: Connection) -> bool:
            async with connection.transaction():
                params = {"connection_id": key, "mark": 0, "at_ms": now_ms()}
                await connection.execute(named(self._queries, "touch_commit_mark"), params)
                found = await (await connection.execute(named(self._queries, "read_commit_mark"), params)).fetchone()
                return found is not None and found["mark"] >= mark

        while not self._pool.closed:
            try:
                return await self._pool.once(ask)
            except FOREIGN as exc:
                self._pool.does_not_answer(translate(exc, self._pool.where, "COMMIT"))
            await asyncio.sleep(LOOK_AGAIN_S)
        raise StorageUnavailable(f"database {self._pool.where} was closed while COMMIT was under way")


def _found_nothing(guard: _Cursor | None) -> bool:
    """Return whether a fence has not found its row, as far as its answer is there."""
    return guard is not None and guard.statusmessage is not None and guard.rowcount == 0 and not without("fence")


async def _undo(connection: Connection, why: BaseException) -> None:
    """Roll back; after an error of the server within the packet the connection is given up.

    Statements behind the error were not prepared, which psycopg does not learn: the next use would fail.
    """
    with contextlib.suppress(psycopg.Error):
        if isinstance(why, StorageError):
            await connection.execute("ROLLBACK")
        else:
            await connection.close()


async def _result(statement: Statement, cursor: _Cursor) -> Result:
    """Return the result of one statement of the transaction. Raises `Conflict` when it is not the expected one."""
    rows = list(await cursor.fetchall()) if cursor.description else []
    changed = 0 if (cursor.statusmessage or "").startswith("SELECT") else max(cursor.rowcount, 0)
    count = len(rows) if cursor.description else changed
    if statement.expect is not None and count != statement.expect:
        raise Conflict(
            f"'{statement.name}' met {count} rows, expected {statement.expect}: another writer was first; "
            "nothing of this transaction was stored"
        )
    return Result(rows, changed)


def _failed(cursors: Sequence[tuple[Statement, _Cursor]]) -> str:
    """Return the name of the first statement without a result."""
    return next((statement.name for statement, cursor in cursors if cursor.statusmessage is None), cursors[-1][0].name)


def now_ms() -> int:
    """Return the time of this machine, for rows that are only ever swept by it."""
    return time.time_ns() // 1_000_000
