"""PostgreSQL behind the `Database` port."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from memory.errors import Fenced, StorageDamaged, StorageError, StorageUnavailable
from memory.ports import NOBODY, Lock, Observers, Reads, Result, Row, Statement, unobserved
from memory.storage.ahead import handed, let_go
from memory.storage.chain import answered_in_turn
from memory.storage.named_queries import load_queries, named
from memory.storage.postgres.commit import MARKS_KEPT_MS, Transactions, now_ms
from memory.storage.postgres.connection import FOREIGN, look_at, placeholders
from memory.storage.postgres.pool import Connection, Pool
from memory.storage.postgres.presence import SILENT_S, Presence

_T = TypeVar("_T")


class PostgresDatabase:
    """`memory.ports.Database` on one PostgreSQL database.

    Writes: one transaction each, whose end is always known; transactions of concurrent calls share the server's fsyncs.
    A deadlock or a severed connection is tried again.
    Reads: any connection of the pool; they see committed data only.
    """

    shared: Final = True
    """Other processes may work on it at the same time."""
    files: Final[tuple[Path, ...]] = ()
    """No file of it lies on this machine."""

    def __init__(self, pool: Pool, queries: dict[str, str], *, read_only: bool, observers: Observers) -> None:
        self._read_only = read_only
        self.address = pool.address
        self.where = pool.where
        self.condition = pool.condition
        self._pool = pool
        self._queries = queries
        self._transactions = Transactions(pool, queries, told=observers.commit)
        self._presence = Presence(
            pool, queries, self.write, excused_json=observers.excused_json, on_news=observers.news
        )
        self.fence: Callable[[], Statement | None] = self._presence.fence
        """The query that begins each write's transaction: unless it finds one row, `Fenced` is raised."""

    @classmethod
    async def open(
        cls,
        address: str,
        queries: Sequence[Path],
        *,
        worker: str = "",
        read_only: bool = False,
        observers: Observers = NOBODY,
    ) -> Self:
        """Open the database; the schema is `memory.storage.migrate`'s matter. No fsync is told of.

        Raises `UnsafeSettings` when the server may forget a confirmed commit, `StorageUnavailable`, and `ValueError`
        for a fault in the query files.
        """
        texts = {name: placeholders(text) for name, text in load_queries(queries, "postgres").items()}
        await asyncio.to_thread(look_at, address)
        pool = Pool(address, worker=worker, read_only=read_only)
        await pool.open()
        db = cls(pool, texts, read_only=read_only, observers=observers)
        if not read_only:
            with contextlib.suppress(StorageError):  # they do no harm
                await db.write(Statement("sweep_commit_marks", {"before_ms": now_ms() - MARKS_KEPT_MS}))
        return db

    # --- read -------------------------------------------------------------------------------------------------------

    async def read(self, name: str, /, **params: Any) -> list[Row]:
        """Return all rows of the named query over committed data. Raises `StorageUnavailable`."""
        if (known := handed(self, name, params)) is not None:
            return known
        query = named(self._queries, name)

        async def ask(connection: Connection) -> list[Row]:
            return list(await (await connection.execute(query, params)).fetchall())

        return await self._pool.done(name, ask)

    async def read_one(self, name: str, /, **params: Any) -> Row | None:
        """Return the first row of the named query, or None. Raises `StorageUnavailable`."""
        rows = await self.read(name, **params)
        return rows[0] if rows else None

    async def read_chain(self, reads: Reads[_T], /) -> _T:
        """Run the reads one after another, as `memory.ports.Database.read_chain` promises."""
        return await answered_in_turn(reads, lambda asked: self.read(asked.name, **asked.params))

    async def read_all(self, *statements: Statement) -> list[list[Row]]:
        """Return the rows of several queries, for one way to the server and back. Raises `StorageUnavailable`."""
        names = " ".join(dict.fromkeys(statement.name for statement in statements))
        queries = [(named(self._queries, statement.name), statement.params) for statement in statements]

        async def ask(connection: Connection) -> list[list[Row]]:
            try:
                async with connection.pipeline():
                    cursors = [await connection.execute(*query) for query in queries]
            except FOREIGN:
                await connection.close()  # psycopg does not learn that what stood behind the error was not prepared
                raise
            return [list(await cursor.fetchall()) for cursor in cursors]

        return await self._pool.done(names, ask)

    # --- write ------------------------------------------------------------------------------------------------------

    async def write(self, *statements: Statement) -> list[Result]:
        """Run the statements as one transaction; when this returns they survive a power cut.

        Raises `Conflict`, `Fenced` or `StorageUnavailable` with nothing stored. When the connection breaks in the
        middle of COMMIT, the call waits until the server answers and tells whether it was done. A caller that is
        cancelled does not learn whether it was stored.
        """
        let_go()
        if self._pool.closed or self._read_only:
            state = "closed" if self._pool.closed else "open for reading only"
            raise StorageUnavailable(f"database {self.where} is {state}; nothing was stored")
        if self.condition.beyond_repair is not None:
            raise (Fenced if self.taken_over else StorageDamaged)(self.condition.beyond_repair)
        began_s, fence = time.monotonic(), self.fence()
        names = " ".join(dict.fromkeys(statement.name for statement in statements))
        results = await self._transactions.commit(names, fence, statements)
        self._presence.held(fence, began_s)
        return results

    # --- other processes --------------------------------------------------------------------------------------------

    @property
    def worker(self) -> int | None:
        """Its number among those that work here; None as long as it has not joined."""
        return self._presence.worker

    @property
    def taken_over(self) -> bool:
        """True when others have declared this process dead: it neither stores nor says anything any more."""
        return self._transactions.refused

    async def join(self, lock: Lock, *, boot_id: str = "", alone: bool = True) -> bool:
        """Work on the database: from now on every write checks that nobody has declared this process dead.

        Return whether no other process works on it. `lock` keeps out processes that want it alone (or, with `alone`,
        all); when its connection breaks it is taken again, if it is free. Raises `StorageUnavailable`.
        """
        others = not alone and any(row["silent_ms"] < SILENT_S * 1000 for row in await self.workers())
        await self._presence.join(lock, boot_id=boot_id, alone=alone)
        return not others

    def owned(self) -> bool:
        """Return whether it is certain that nobody has declared this process dead just now."""
        return self._presence.owned()

    async def workers(self) -> list[Row]:
        """Return the processes that work on the database, and whether each is taken for dead. `StorageUnavailable`.

        A process that was just cut off takes nobody for dead: the others may be about to come back.
        """
        look = self._presence.look()
        return await self.read(look.name, **look.params)

    async def tell(self, text: str) -> None:
        """Tell every process that listens. Raises `StorageUnavailable`."""
        await self.read("tell_workers", text=text)

    # --- condition --------------------------------------------------------------------------------------------------

    def trouble(self, *, besides: Collection[str] = ()) -> str | None:
        """Return why nothing should be confirmed just now, None when all is well."""
        return self.condition.trouble(besides=besides)

    async def close(self) -> None:
        """Finish accepted work and let go of the connections. A second call does nothing."""
        if self._pool.closed:
            return
        await self._pool.finish()
        await self._presence.rest()
        if self.worker is not None and not self.taken_over:
            await self._presence.leave()
        await self._pool.close()

    async def wal_truncate(self) -> None:
        """Do nothing: deleted rows go from the server's files by its own vacuum and recycled log (P13)."""

    async def backup_to(self, target: Path, told: Callable[[int, int], None] = unobserved) -> None:  # noqa: ARG002 - the port has it
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
        """Return the size of this schema's tables on the server, with their indexes."""
        row = await self.read_one("schema_size")
        return int(row["bytes"]) if row else 0

    async def settings(self) -> dict[str, Any]:
        """Return the settings that the server really runs with, for `doctor`."""
        return await asyncio.to_thread(look_at, self.address)
