"""One writing thread with group commit: calls that wait while a commit runs share the next one, and its fsync."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from memory.errors import Conflict, StorageError, StorageUnavailable
from memory.ports import NOBODY, Observers, Result, Statement
from memory.process.faults import point
from memory.storage.condition import Condition
from memory.storage.named_queries import named
from memory.storage.sqlite.connection import FOREIGN, as_dict, connect_writer, translate
from memory.storage.sqlite.digests import Digests

GROUP_LIMIT = 512
"""At most this many calls share one commit, so that the first of them does not wait for ever."""
CLOSE_PATIENCE_S = 2.0
"""Closing waits so long for work that another process's lock holds up."""

_Work = Callable[[sqlite3.Connection], Any]


@dataclass(slots=True, eq=False)
class _Call:
    """One `write()` that waits for its group."""

    statements: Sequence[Statement]
    future: asyncio.Future[list[Result]]
    outcome: list[Result] | StorageError | None = None

    @property
    def name(self) -> str:
        """The names of its statements, each once: the same call has the same next time."""
        return " ".join(dict.fromkeys(statement.name for statement in self.statements))


class _Thread:
    """A thread that owns the writing connection and runs one piece of work after another."""

    def __init__(self, path: Path, digests: Digests, loop: asyncio.AbstractEventLoop) -> None:
        self.path = path
        self._digests = digests
        self._loop = loop
        self._work: SimpleQueue[tuple[_Work, Callable[[Any], None]] | None] = SimpleQueue()
        self.connection = connect_writer(path, digests)
        self._thread = Thread(target=self._serve, name=f"writer of {path.name}", daemon=True)
        self._thread.start()

    def submit(self, work: _Work, done: Callable[[Any], None]) -> None:
        """Run `work` in the thread, then `done` with its result (or its exception) in the event loop."""
        self._work.put((work, done))

    async def call(self, work: _Work) -> Any:
        """Run `work` in the thread and return its result."""
        future = self._loop.create_future()

        def settle(result: Any) -> None:
            if future.cancelled():
                return
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

        self.submit(work, settle)
        return await future

    def stop(self) -> None:
        """Close the connection after the work that was submitted; blocks until the thread has ended, at most a while.

        A thread that still waits for a lock is left to the end of the process: a commit that is not done is undone.
        """
        self._work.put(None)
        self._thread.join(CLOSE_PATIENCE_S)

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            work, done = item
            result: Any
            try:
                result = work(self.connection)
            except Exception as exc:  # noqa: BLE001 - handed to the caller, who waits in the event loop
                result = exc
            with contextlib.suppress(RuntimeError):  # the loop was closed under us: nobody waits any more
                self._loop.call_soon_threadsafe(done, result)
        self.connection.close()

    def reopen(self) -> sqlite3.Connection:
        """Replace a connection that could not even roll back."""
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()
        self.connection = connect_writer(self.path, self._digests)
        return self.connection


class GroupCommit:
    """Stores calls in the order they came: one BEGIN IMMEDIATE, a savepoint per call, one COMMIT for all that wait.

    Each call succeeds or fails alone, and the whole group costs one hop to the writing thread. (aiosqlite takes a hop
    of 0.1-0.2 ms per statement; a turn has six.) Opening raises `UnsafeSettings` and `StorageUnavailable`.
    """

    def __init__(
        self,
        path: Path,
        queries: Mapping[str, str],
        digests: Digests,
        condition: Condition,
        observers: Observers = NOBODY,
    ) -> None:
        """`observers` are told in the writing thread; SQLite waits for the disk in its COMMIT."""
        self.path = path
        self._queries = queries
        self._condition = condition
        self._loop = asyncio.get_running_loop()
        self._thread = _Thread(path, digests, self._loop)
        self._waiting: list[_Call] = []
        self._group: list[_Call] = []
        self._busy = False
        self._observers = observers

    async def write(self, statements: Sequence[Statement]) -> list[Result]:
        """Store the statements with the next group, as `memory.ports.Database.write` promises."""
        call = _Call(statements, self._loop.create_future())
        self._waiting.append(call)
        if not self._busy:
            self._busy = True
            self._start_group()
        return await call.future

    async def call(self, work: _Work) -> Any:
        """Run `work` on the writing connection, between two groups, and return its result."""
        return await self._thread.call(work)

    async def finish(self) -> None:
        """Wait until accepted calls are stored, at most two seconds."""
        accepted = [call.future for call in (*self._group, *self._waiting) if not call.future.done()]
        if accepted:
            await asyncio.wait(accepted, timeout=CLOSE_PATIENCE_S)

    def stop(self) -> None:
        """Close the connection and end the thread; a call that is not stored then is lost."""
        self._thread.stop()

    def _start_group(self) -> None:
        """Hand everything that waits to the writing thread as one group."""
        self._group = [call for call in self._waiting[:GROUP_LIMIT] if not call.future.cancelled()]
        del self._waiting[:GROUP_LIMIT]
        if self._group:
            self._thread.submit(self._commit_group, self._settle_group)
        else:
            self._busy = bool(self._waiting)
            if self._busy:
                self._loop.call_soon(self._start_group)

    def _settle_group(self, failure: BaseException | None) -> None:
        """Tell each caller of the group; then, behind those who write again at once, start the next group."""
        for call in self._group:
            if call.future.done():
                continue
            refused = failure or (call.outcome if isinstance(call.outcome, StorageError) else None)
            if refused is not None:
                self._condition.failed(call.name, refused)
                call.future.set_exception(refused)
            else:
                self._condition.worked(call.name)
                call.future.set_result(call.outcome or [])  # type: ignore[arg-type]
        self._group = []
        self._loop.call_soon(self._start_group)

    def _commit_group(self, connection: sqlite3.Connection) -> None:
        """Store the group in one transaction (in the writing thread); each call's outcome is set on it.

        Raises when BEGIN or COMMIT failed: then nothing of the whole group is stored. The connection is usable
        again afterwards, so that work goes on when, say, the disk has space again.
        """
        step, began_s = "BEGIN", time.perf_counter()
        try:
            connection.execute("BEGIN IMMEDIATE")
            alone = len(self._group) == 1
            for call in self._group:
                call.outcome = self._run_alone(connection, call) if alone else self._run_in_savepoint(connection, call)
            step = "COMMIT"
            point("db_before_commit")
            if connection.in_transaction:
                done_s = time.perf_counter()
                connection.execute("COMMIT")
                ended_s = time.perf_counter()
                self._observers.fsync("database", ended_s - done_s)
                self._observers.commit(ended_s - began_s)
            point("db_after_commit")
        except sqlite3.Error as exc:
            self._roll_back(connection)
            raise translate(exc, self.path, step) from exc
        except BaseException:
            self._roll_back(connection)
            raise

    def _run_alone(self, connection: sqlite3.Connection, call: _Call) -> list[Result] | StorageError:
        try:
            return self._run(connection, call.statements)
        except StorageUnavailable:
            raise
        except StorageError as exc:
            connection.execute("ROLLBACK")
            return exc

    def _run_in_savepoint(self, connection: sqlite3.Connection, call: _Call) -> list[Result] | StorageError:
        connection.execute("SAVEPOINT one")
        try:
            results = self._run(connection, call.statements)
        except StorageUnavailable:
            raise
        except StorageError as exc:
            connection.execute("ROLLBACK TO one")
            connection.execute("RELEASE one")
            return exc
        connection.execute("RELEASE one")
        return results

    def _run(self, connection: sqlite3.Connection, statements: Sequence[Statement]) -> list[Result]:
        results = []
        for statement in statements:
            try:
                cursor = connection.execute(named(self._queries, statement.name), statement.params)
                if cursor.description is None:
                    result = Result((), cursor.rowcount)
                    count = cursor.rowcount
                else:
                    rows = [as_dict(cursor, row) for row in cursor.fetchall()]
                    result = Result(rows, max(cursor.rowcount, 0))
                    count = len(rows)
            except FOREIGN as exc:
                raise translate(exc, self.path, statement.name) from exc
            if statement.expect is not None and count != statement.expect:
                raise Conflict(
                    f"'{statement.name}' met {count} rows, expected {statement.expect}: another writer was first; "
                    "nothing of this transaction was stored"
                )
            results.append(result)
        return results

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._thread.reopen()
