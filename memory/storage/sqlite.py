"""SQLite behind the `Database` port: one writing thread with group commit, one read-only connection beside it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self

import aiosqlite

from memory.errors import Conflict, StorageDamaged, StorageError, StorageUnavailable, UnsafeSettings
from memory.faults import point
from memory.ports import Result, Row, Statement
from memory.storage.condition import Condition
from memory.storage.folders import make_folder
from memory.storage.named_queries import load_queries

READER_CACHE_KIB = 32_000
READER_MMAP_BYTES = 1_000_000_000
"""Searches of a large database read many pages: mapped, they cost no copy each."""
BUSY_TIMEOUT_MS = 2000
GROUP_LIMIT = 512
"""At most so many calls share one commit, so that the first of them does not wait for ever."""
JOURNAL_LIMIT_BYTES = 64 * 1024 * 1024
SYNCHRONOUS_FULL = 2

UNIQUE_CODES = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; make room, work goes on by itself",
    sqlite3.SQLITE_READONLY_ROLLBACK: "a crash left a change of it half-done; start the bot, which undoes it",
    sqlite3.SQLITE_READONLY: "it is read-only; check the mount and the owner of the file and its folder",
    sqlite3.SQLITE_IOERR: "the disk reports an I/O error; check it and keep a copy of the file",
    sqlite3.SQLITE_BUSY: "another process holds its lock; stop that process",
    sqlite3.SQLITE_LOCKED: "another connection holds its lock; try again",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that it exists and that its folder can be written",
    sqlite3.SQLITE_PERM: "access is denied; check the owner of the file and its folder",
    sqlite3.SQLITE_NOMEM: "there is no memory left; try again",
    sqlite3.SQLITE_CORRUPT: "it is damaged; stop, keep a copy and restore a backup",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; restore a backup or name another file",
}
"""Primary SQLite result code, or an extended one → what to do about a database that cannot be used just now."""
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
CLOSE_PATIENCE_S = 2.0
"""How long closing waits for work that another process's lock holds up; what is not stored then is not stored."""

_Work = Callable[[sqlite3.Connection], Any]
_Foreign = (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError)
"""What the driver may throw for a statement, e.g. UnicodeEncodeError for a lone surrogate."""


def as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row with its column names."""
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def translate(exc: BaseException, path: Path, name: str) -> StorageError:
    """Return our error for a driver's: what happened, to which file, what to do now. Never raises."""
    code = getattr(exc, "sqlite_errorcode", 0)
    if code in UNIQUE_CODES:
        return Conflict(f"'{name}' met a row that exists already ({exc}); nothing of this transaction was stored")
    advice = ADVICE.get(code) or ADVICE.get(code & 0xFF)
    if advice:
        kind = StorageDamaged if code & 0xFF in DAMAGE else StorageUnavailable
        return kind(f"database {path}: {advice} ({exc}, in '{name}')")
    hint = "; its schema may be older than the program: migrate it" if "no such" in str(exc) else ""
    return StorageError(f"database {path}: query '{name}' failed: {exc}{hint}")


def create_private(path: Path) -> None:
    """Make sure that the database file exists and is readable by its owner alone; -wal and -shm inherit its mode.

    An existing file is never opened here: closing it would drop SQLite's locks in this process.
    """
    _require_file(path)
    try:
        make_folder(path.parent)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as exc:
        raise StorageUnavailable(f"database {path}: it cannot be created ({exc}); check the folder") from exc


def _require_file(path: Path) -> None:
    """Raise `StorageUnavailable` when something else than a file has the database's name."""
    try:
        other = path.exists() and not path.is_file()
    except (OSError, ValueError) as exc:
        raise StorageUnavailable(f"database {path}: it cannot be looked at ({exc}); name another file") from exc
    if other:
        what = "a folder" if path.is_dir() else "no regular file"
        raise StorageUnavailable(f"database {path}: this is {what}; name a file, e.g. {path / 'continuity.db'}")


def secure(connection: sqlite3.Connection, path: Path) -> None:
    """Switch a writing connection to what a commit's promise needs and read it back. Raises `UnsafeSettings`."""
    connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA journal_size_limit={JOURNAL_LIMIT_BYTES}")
    journal = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    connection.execute("PRAGMA synchronous=FULL")
    synchronous = connection.execute("PRAGMA synchronous").fetchone()[0]
    if journal != "wal" or synchronous != SYNCHRONOUS_FULL:
        raise UnsafeSettings(
            f"database {path} runs with journal_mode={journal}, synchronous={synchronous}; expected wal and "
            f"{SYNCHRONOUS_FULL} (FULL): move it to a local disk"
        )


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open for writing with WAL and synchronous=FULL, both read back; creates the file 0600.

    Raises `UnsafeSettings` when the file system cannot do WAL, `StorageUnavailable` when it cannot be opened.
    """
    create_private(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, cached_statements=256, check_same_thread=False)
        secure(connection, path)
    except BaseException as exc:
        if connection:
            connection.close()
        if isinstance(exc, sqlite3.Error):
            raise translate(exc, path, "open") from exc
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open for reading; rows come as dicts, and bytes that are no text are shown as such instead of raising.

    Raises `StorageUnavailable` when there is no such file or it is no database.
    """
    _require_file(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, cached_statements=256, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA query_only=ON")
        connection.execute(f"PRAGMA cache_size=-{READER_CACHE_KIB}")
        connection.execute(f"PRAGMA mmap_size={READER_MMAP_BYTES}")
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as exc:
        if connection:
            connection.close()
        raise translate(exc, path, "open") from exc
    connection.row_factory = as_dict
    connection.text_factory = _as_text
    return connection


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Call:
    """One `write()` that waits for its group."""

    __slots__ = ("future", "outcome", "statements")

    def __init__(self, statements: Sequence[Statement], future: asyncio.Future[list[Result]]) -> None:
        self.statements = statements
        self.future = future
        self.outcome: list[Result] | StorageError | None = None

    @property
    def name(self) -> str:
        """The names of its statements, each once: what the same call has the next time."""
        return " ".join(dict.fromkeys(statement.name for statement in self.statements))


class _Thread:
    """A thread that owns the writing connection and runs one piece of work after another."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.path = path
        self._loop = loop
        self._work: SimpleQueue[tuple[_Work, Callable[[Any], None]] | None] = SimpleQueue()
        self.connection = connect_writer(path)
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
        self.connection = connect_writer(self.path)
        return self.connection


class SqliteDatabase:
    """`memory.ports.Database` on one SQLite file.

    Writes: the calls that wait while a commit runs are gathered and stored by the next one: one BEGIN IMMEDIATE, a
    savepoint per call (so that each succeeds or fails alone), one COMMIT with its one fsync, and one hop to the
    writing thread for the whole group. (aiosqlite takes a hop of 0.1-0.2 ms per statement; a turn has six.)
    Reads: a second connection, read-only, through aiosqlite; it sees committed data only, also while a commit runs.
    """

    def __init__(
        self, path: Path, queries: dict[str, str], reader: aiosqlite.Connection, writer: _Thread | None
    ) -> None:
        self.path = path
        self._queries = queries
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Call] = []
        self._group: list[_Call] = []
        self._busy = False
        self._closed = False
        self._place = _identity(path)
        self._log_place: tuple[int, int] | None = None
        self.condition = Condition(self._loop.time)
        self.on_commit: Callable[[float], None] = _unobserved
        """Told the seconds of each transaction from BEGIN to the end of its COMMIT, in the writing thread."""
        self.on_fsync: Callable[[float], None] = _unobserved
        """Told the seconds of the COMMIT alone: SQLite writes to its log then and waits for the disk."""

    @classmethod
    async def open(cls, path: Path | str, queries: Sequence[Path], *, read_only: bool = False) -> Self:
        """Open the database; the schema is `memory.storage.migrate`'s matter.

        `read_only` is for tools beside a running bot: no lock is taken and `write` raises `StorageUnavailable`.
        Raises `UnsafeSettings`, `StorageUnavailable`, and `ValueError` for a fault in the query files.
        """
        path, texts = _absolute(path), load_queries(queries)
        writer = None if read_only else _Thread(path, asyncio.get_running_loop())
        try:
            connection = connect_reader(path)
            reader = aiosqlite.Connection(lambda: connection, iter_chunk_size=64)
            reader._thread.daemon = True  # noqa: SLF001 - or a start that fails would wait for it for ever
            await reader
        except BaseException:
            if writer:
                writer.stop()
            raise
        return cls(path, texts, reader, writer)

    async def read(self, name: str, /, **params: Any) -> list[Row]:
        """Return all rows of the named query over committed data. Raises `StorageUnavailable`."""
        try:
            rows: list[Any] = list(await self._reader.execute_fetchall(self._sql(name), params))
        except _Foreign as exc:
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

    async def write(self, *statements: Statement) -> list[Result]:
        """Run the statements as one transaction; when this returns they survive a power cut.

        Raises `Conflict` or `StorageUnavailable` with nothing stored. A caller that is cancelled while its group is
        at work does not learn whether it was stored.
        """
        if self._writer is None or self._closed:
            state = "closed" if self._closed else "open for reading only"
            raise StorageUnavailable(f"database {self.path} is {state}; nothing was stored")
        if self.condition.beyond_repair is not None:
            raise StorageDamaged(self.condition.beyond_repair)
        call = _Call(statements, self._loop.create_future())
        self._waiting.append(call)
        if not self._busy:
            self._busy = True
            self._start_group()
        return await call.future

    def _start_group(self) -> None:
        """Hand everything that waits to the writing thread as one group."""
        self._group = [call for call in self._waiting[:GROUP_LIMIT] if not call.future.cancelled()]
        del self._waiting[:GROUP_LIMIT]
        if self._group and self._writer:
            self._writer.submit(self._commit_group, self._settle_group)
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
                self.condition.failed(call.name, refused)
                call.future.set_exception(refused)
            else:
                self.condition.worked(call.name)
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
                self.on_fsync(time.perf_counter() - done_s)
                self.on_commit(time.perf_counter() - began_s)
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
                cursor = connection.execute(self._sql(statement.name), statement.params)
                if cursor.description is None:
                    result = Result((), cursor.rowcount)
                    count = cursor.rowcount
                else:
                    rows = [as_dict(cursor, row) for row in cursor.fetchall()]
                    result = Result(rows, max(cursor.rowcount, 0))
                    count = len(rows)
            except _Foreign as exc:
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
            if self._writer:
                self._writer.reopen()

    def _sql(self, name: str) -> str:
        try:
            return self._queries[name]
        except KeyError:
            raise StorageError(f"there is no query named '{name}'; add it to a queries.sql file") from None

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
        """Finish what was accepted and let go of the files. A second call does nothing.

        Work that cannot be finished within two seconds (another process holds the lock) is not waited for.
        """
        if self._closed:
            return
        self._closed = True
        accepted = [call.future for call in (*self._group, *self._waiting) if not call.future.done()]
        if accepted:
            await asyncio.wait(accepted, timeout=CLOSE_PATIENCE_S)
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

    async def backup_to(self, target: Path) -> None:
        """Write a consistent copy to `target` (0600) while work goes on; it is complete or it does not exist.

        Raises `StorageError` when `target` exists, `StorageUnavailable` when it cannot be written.
        """
        try:
            await asyncio.to_thread(_copy, self.path, target)
        except (sqlite3.Error, OSError) as exc:
            raise StorageUnavailable(f"backup {target} could not be written ({exc}); check the folder") from exc

    async def integrity(self) -> tuple[str, ...]:
        """Return what SQLite's own check finds; () when the file is sound. It does not see altered text: digests do."""
        try:
            rows = await self._reader.execute_fetchall("PRAGMA integrity_check")
        except sqlite3.Error as exc:
            return (str(translate(exc, self.path, "integrity_check")),)
        found = tuple(str(next(iter(dict(row).values()))) for row in rows)
        return () if found == ("ok",) else found

    async def settings(self) -> dict[str, Any]:
        """Return what the writing connection really runs with, for `doctor`; the reader's when opened read-only."""
        names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "page_count", "freelist_count")
        found: dict[str, Any] = {"sqlite_version": sqlite3.sqlite_version}
        for name in names:
            if self._writer:
                found[name] = await self._writer.call(lambda c, n=name: c.execute(f"PRAGMA {n}").fetchone()[0])  # type: ignore[misc]
            else:
                rows = list(await self._reader.execute_fetchall(f"PRAGMA {name}"))
                found[name] = next(iter(dict(rows[0]).values()))
        return found


def _unobserved(_: float) -> None:
    """Measure nothing."""


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file has this name, None when there is none. Raises `OSError` when that cannot be told."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _absolute(path: Path | str) -> Path:
    return Path(path).absolute()


def _copy(source: Path, target: Path) -> None:
    if target.exists():
        raise StorageError(f"backup {target} exists already; name another file")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with (
        contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as origin,
        contextlib.closing(sqlite3.connect(partial)) as copy,
    ):
        origin.backup(copy)
    descriptor = os.open(partial, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    partial.replace(target)


class SchemaFile:
    """The writing connection as `memory.storage.migrate` needs it: whole scripts, each in one transaction."""

    def __init__(self, path: Path | str, *, read_only: bool = False) -> None:
        self.path = Path(path).absolute()
        self._read_only = read_only
        if not read_only:
            self._connection = connect_writer(self.path)
            return
        _require_file(self.path)
        try:
            self._connection = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        except sqlite3.Error as exc:
            raise translate(exc, self.path, "open") from exc

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, sql: str, params: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of one query; [] when its table does not exist yet. Raises `StorageUnavailable`."""
        try:
            return self._connection.execute(sql, params or {}).fetchall()
        except sqlite3.Error as exc:
            if "no such table" in str(exc):
                return []
            raise translate(exc, self.path, "schema") from exc

    def run(self, script: str, record: str, params: dict[str, Any], unless: str) -> bool:
        """Run the script and then `record` as one transaction; False when `unless` returns a row already."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            done = bool(self.rows(unless, params))
            if not done:
                for statement in split_script(script):
                    self._connection.execute(statement)
                self._connection.execute(record, params)
            point("migration_before_commit")
            self._connection.execute("COMMIT")
        except (sqlite3.Error, ValueError) as exc:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise translate(exc, self.path, "migration") from exc
        return not done


def split_script(script: str) -> list[str]:
    """Return the single statements of a script; a trigger's inner semicolons do not part it. Raises `ValueError`."""
    statements: list[str] = []
    current = ""
    for piece in re.split(r"(?<=;)", script):
        current += piece
        if sqlite3.complete_statement(current):
            statements.append(current)
            current = ""
    if re.sub(r"/\*.*?\*/|--[^\n]*", "", current, flags=re.DOTALL).strip():
        raise ValueError(f"the last statement does not end with a semicolon: {current.strip()[:60]!r}")
    return statements
