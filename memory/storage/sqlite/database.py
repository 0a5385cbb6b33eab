"""SQLite behind the `Database` port: one writing thread with group commit, one read-only connection beside it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import aiosqlite

from memory.errors import StorageDamaged, StorageError, StorageUnavailable, reason
from memory.ports import NOBODY, Lock, Observers, Reads, Result, Row, Statement, unobserved
from memory.storage.ahead import handed, let_go
from memory.storage.chain import answered, batch
from memory.storage.condition import Condition
from memory.storage.named_queries import load_queries, named
from memory.storage.place import FolderLock, database_files
from memory.storage.sqlite.commit import GroupCommit
from memory.storage.sqlite.connection import DAMAGE, FOREIGN, connect_reader, translate
from memory.storage.sqlite.digests import Digests
from memory.storage.sqlite.rows import accept, look

BACKUP_PAGES = 2_000
"""A backup reports its progress after this many pages (8 MB)."""


_T = TypeVar("_T")

OF_ERASURE = "erased_"
"""Queries whose names begin so see rows that were altered on the disk too: they are forgotten like the others (P13)."""


class SqliteDatabase:
    """`memory.ports.Database` on one SQLite file.

    Writes go through the one writing thread (`commit`). Reads: a second connection, read-only, through
    aiosqlite; it sees committed data only, also while a commit runs.
    """

    def __init__(
        self,
        path: Path,
        queries: dict[str, str],
        digests: Digests,
        *,
        reader: aiosqlite.Connection,
        writer: GroupCommit | None,
        condition: Condition,
    ) -> None:
        self.path = path
        self.condition = condition
        self._queries = queries
        self._digests = digests
        self._reader = reader
        self._writer = writer
        self._closed = False
        self._place = _identity(path)
        self._log_place: tuple[int, int] | None = None

    @property
    def taken_over(self) -> bool:
        """False: the lock of a file is not lost while its process lives."""
        return False

    @property
    def shared(self) -> bool:
        """False: one process works on it at a time."""
        return False

    @property
    def files(self) -> tuple[Path, ...]:
        """Its files."""
        return database_files(self.path)

    @property
    def where(self) -> str:
        """Its path, for people."""
        return str(self.path)

    @classmethod
    async def open(
        cls,
        path: Path | str,
        queries: Sequence[Path],
        digests: Digests,
        *,
        read_only: bool = False,
        observers: Observers = NOBODY,
    ) -> Self:
        """Open the database; the schema is `memory.storage.migrate`'s matter.

        `read_only` is for tools beside a running bot: no lock is taken and `write` raises `StorageUnavailable`.
        Raises `UnsafeSettings`, `StorageUnavailable`, and `ValueError` for a fault in the query files.
        """
        path, texts = _absolute(path), load_queries(queries)
        condition = Condition(asyncio.get_running_loop().time)
        writer = None if read_only else GroupCommit(path, texts, digests, condition, observers)
        try:
            connection = connect_reader(path, digests)
            reader = aiosqlite.Connection(lambda: connection, iter_chunk_size=64)
            reader._thread.daemon = True  # noqa: SLF001 - or a start that fails would wait for it for ever
            await reader
        except BaseException:
            if writer:
                writer.stop()
            raise
        return cls(path, texts, digests, reader=reader, writer=writer, condition=condition)

    async def read(self, name: str, /, **params: Any) -> list[Row]:
        """Return all rows of the named query over committed data. Raises `StorageUnavailable`."""
        if (known := handed(self, name, params)) is not None:
            return known
        try:
            text = named(self._queries, name)
            if name.startswith(OF_ERASURE):
                rows: list[Any] = await asyncio.to_thread(_all_rows, self.path, self._digests, text, params)
            else:
                rows = list(await self._reader.execute_fetchall(text, params))
        except FOREIGN as exc:
            if self._closed:
                raise StorageUnavailable(f"database {self.path} is closed; '{name}' came too late") from exc
            error = translate(exc, self.path, name)
            self.condition.failed(name, error)
            raise error from exc
        self.condition.worked(name)
        return rows

    async def read_one(self, name: str, /, **params: Any) -> Row | None:
        """Return the first row of the named query, or None. Raises `StorageUnavailable`."""
        rows = await self.read(name, **params)
        return rows[0] if rows else None

    async def read_chain(self, reads: Reads[_T], /) -> _T:
        """Run the reads in one visit to the reading thread, as `memory.ports.Database.read_chain` promises.

        A visit costs more than most queries: two threads have to wake.
        """
        asked: list[str] = []
        try:
            execute: Callable[..., Awaitable[_T]] = self._reader._execute  # noqa: SLF001 - what its own methods call
            found = await execute(self._all_of, reads, asked)
        except StorageError as error:
            self.condition.failed(asked[-1], error)
            raise
        except ValueError as exc:
            if self._closed:
                raise StorageUnavailable(f"database {self.path} is closed; a chain of reads came too late") from exc
            raise
        for name in asked:
            self.condition.worked(name)
        return found

    async def read_all(self, *statements: Statement) -> list[list[Row]]:
        """Return the rows of several queries in one visit to the reading thread. Raises `StorageUnavailable`."""
        return await self.read_chain(batch(statements))

    def _all_of(self, reads: Reads[_T], asked: list[str]) -> _T:
        """Run the reads, in the reading thread; note the name of each query."""
        connection = self._reader._conn  # noqa: SLF001 - what its own thread works with

        def ask(statement: Statement) -> list[Row]:
            asked.append(statement.name)
            text = named(self._queries, statement.name)
            try:
                return connection.execute(text, statement.params).fetchall()
            except FOREIGN as exc:
                raise translate(exc, self.path, statement.name) from exc

        return answered(reads, ask)

    async def write(self, *statements: Statement) -> list[Result]:
        """Run the statements as one transaction; when this returns they survive a power cut.

        Raises `Conflict` or `StorageUnavailable` with nothing stored. A caller that is cancelled while its group is
        at work does not learn whether it was stored.
        """
        let_go()
        if self._writer is None or self._closed:
            state = "closed" if self._closed else "open for reading only"
            raise StorageUnavailable(f"database {self.path} is {state}; nothing was stored")
        if self.condition.beyond_repair is not None:
            raise StorageDamaged(self.condition.beyond_repair)
        return await self._writer.write(statements)

    async def join(self, lock: Lock, *, boot_id: str = "", alone: bool = True) -> bool:  # noqa: ARG002 - the port has it
        """Return True: a file has one process. Its lock holds the file itself from here on. Raises `Locked`."""
        if isinstance(lock, FolderLock):
            lock.hold(self.path)
        return True

    def owned(self) -> bool:
        """Return True: see `join`."""
        return True

    def trouble(self, *, besides: Collection[str] = ()) -> str | None:
        """Return why nothing should be confirmed just now, None when all is well. Cheap: two looks at a folder entry.

        A file that was moved, replaced or deleted under us still takes our writes, and they are lost with it: that is
        noticed here, without opening it, and stays so.
        """
        self._look_where_it_is()
        return self.condition.trouble(besides=besides)

    def _look_where_it_is(self) -> None:
        if self._closed or self._writer is None or self.condition.beyond_repair:
            return
        log = self.path.with_name(self.path.name + "-wal")
        try:
            here, log_here = _identity(self.path), _identity(log)
        except OSError:
            return  # no verdict: reads and writes will tell
        gone = self.path if here != self._place else log if self._log_place not in (None, log_here) else None
        self._log_place = self._log_place or log_here
        if gone is not None:
            self.condition.beyond_repair = (
                f"database {gone} was moved, replaced or deleted while it was in use; what is written now would be "
                "lost: put it back, or restore a backup, and start again"
            )

    async def close(self) -> None:
        """Finish accepted work and let go of the files. A second call does nothing.

        Work that cannot be finished within two seconds (another process holds the lock) is not waited for.
        """
        if self._closed:
            return
        self._closed = True
        if self._writer:
            await self._writer.finish()
        await self._reader.close()
        if self._writer:
            self._writer.stop()

    async def wal_truncate(self) -> None:
        """Move everything from the WAL into the database and empty the WAL, so that deleted text is gone (P13).

        Raises `StorageUnavailable` when a reader of another process holds on to it.
        """
        if self._writer is None:
            raise StorageUnavailable(f"database {self.path} is open for reading only")
        try:
            busy = await self._writer.call(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        except sqlite3.Error as exc:
            raise translate(exc, self.path, "wal_truncate") from exc
        if busy:
            raise StorageUnavailable(f"database {self.path}: another process is reading it; the WAL was not emptied")

    async def backup_to(self, target: Path, told: Callable[[int, int], None] = unobserved) -> None:
        """Write a consistent copy to `target` (0600) while work goes on; it is complete or it does not exist.

        `told` hears, in another thread, how many of how many pages are copied.
        Raises `StorageError` when `target` exists, `StorageUnavailable` when it cannot be written.
        """
        try:
            await asyncio.to_thread(_copy, self.path, target, told)
        except OSError as exc:
            raise StorageUnavailable(f"backup {target} could not be written ({reason(exc)})") from exc
        except sqlite3.Error as exc:
            code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
            raise translate(exc, self.path if code in DAMAGE else target, "backup") from exc

    async def integrity(self) -> tuple[str, ...]:
        """Return the findings of SQLite's own check; () for a sound file. It does not see altered text: digests do."""
        try:
            rows = await self._reader.execute_fetchall("PRAGMA integrity_check")
        except sqlite3.Error as exc:
            return (str(translate(exc, self.path, "integrity_check")),)
        found = tuple(str(next(iter(dict(row).values()))) for row in rows)
        return () if found == ("ok",) else found

    async def altered_rows(self) -> tuple[str, ...]:
        """Return every row that is still read and does not match its digest, in words. Turns have their own check."""
        return await asyncio.to_thread(_altered_rows, self.path, self._digests)

    async def accept_altered_rows(self) -> None:
        """Give each of these rows a digest as it is now. Raises `StorageUnavailable`."""
        if self._writer is None:
            raise StorageUnavailable(f"database {self.path} is open for reading only")
        try:
            await self._writer.call(lambda connection: accept(connection, self._digests))
        except sqlite3.Error as exc:
            raise translate(exc, self.path, "accept_altered_rows") from exc

    async def size_bytes(self) -> int:
        """Return the size of the file."""
        return self.path.stat().st_size

    async def settings(self) -> dict[str, Any]:
        """Return the settings of the writing connection, for `doctor`; the reader's when opened read-only."""
        names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "page_count", "freelist_count")
        found: dict[str, Any] = {"sqlite_version": sqlite3.sqlite_version}
        for name in names:
            if self._writer:
                found[name] = await self._writer.call(lambda c, n=name: c.execute(f"PRAGMA {n}").fetchone()[0])  # type: ignore[misc]
            else:
                rows = list(await self._reader.execute_fetchall(f"PRAGMA {name}"))
                found[name] = next(iter(dict(rows[0]).values()))
        return found


def _all_rows(path: Path, digests: Digests, text: str, params: dict[str, Any]) -> list[Any]:
    with contextlib.closing(connect_reader(path, digests, trusting=True)) as connection:
        return connection.execute(text, params).fetchall()


def _altered_rows(path: Path, digests: Digests) -> tuple[str, ...]:
    with contextlib.closing(connect_reader(path, digests)) as connection:
        try:
            return tuple(look(connection, digests))
        except sqlite3.Error as exc:
            return (str(translate(exc, path, "look")),)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file of this name, None when there is none. Raises `OSError` in doubt."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _absolute(path: Path | str) -> Path:
    return Path(path).absolute()


def _copy(source: Path, target: Path, told: Callable[[int, int], None]) -> None:
    """Copy page by page within one read transaction: a commit meanwhile neither shows nor starts it again."""
    if target.exists():
        raise StorageError(f"backup {target} exists already; name another file")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with (
        contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as origin,
        contextlib.closing(sqlite3.connect(partial)) as copy,
    ):
        origin.execute("BEGIN")
        origin.execute("SELECT 1 FROM sqlite_schema").fetchone()
        origin.backup(copy, pages=BACKUP_PAGES, progress=lambda _, left, pages: told(pages - left, pages))
    descriptor = os.open(partial, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    partial.replace(target)
