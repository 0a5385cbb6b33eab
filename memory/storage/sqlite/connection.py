"""Connections to an SQLite file, with the settings that a commit's promise needs; the driver's errors in our words."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Any

from memory.errors import (
    Conflict,
    StorageDamaged,
    StorageError,
    StorageUnavailable,
    UnsafeSettings,
    Unstorable,
    reason,
)
from memory.storage.folders import make_folder
from memory.storage.sqlite.digests import Digests
from memory.storage.sqlite.rows import keep, watch

READER_CACHE_KIB = 32_000
BUSY_TIMEOUT_MS = 2000
JOURNAL_LIMIT_BYTES = 64 * 1024 * 1024
SYNCHRONOUS_FULL = 2

UNIQUE_CODES = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; make room, work goes on by itself",
    sqlite3.SQLITE_IOERR_SHMSIZE: "the disk is full, not even its -shm can grow; make room, work goes on by itself",
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
"""Primary SQLite result code, or an extended one → advice about a database that cannot be used just now."""
DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
OF_VALUES = {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT}
"""Primary result codes that are about the values to be stored."""

FOREIGN = (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError)
"""Errors that the driver may throw for a statement, e.g. UnicodeEncodeError for a lone surrogate."""


def as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row with its column names."""
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def translate(exc: BaseException, path: Path, name: str) -> StorageError:
    """Return our error for a driver's: event, file, advice. Never raises."""
    code = getattr(exc, "sqlite_errorcode", 0)
    if code in UNIQUE_CODES:
        return Conflict(f"'{name}' met a row that exists already ({exc}); nothing of this transaction was stored")
    advice = ADVICE.get(code) or ADVICE.get(code & 0xFF)
    if advice:
        kind = StorageDamaged if code & 0xFF in DAMAGE else StorageUnavailable
        code_name = getattr(exc, "sqlite_errorname", "")
        return kind(f"database {path}: {advice} ({code_name or code}, in '{name}')")
    if code & 0xFF in OF_VALUES or _is_about_a_value(exc):
        return Unstorable(f"database {path}: '{name}' was given a value that it does not take ({exc})")
    hint = "; its schema may be older than the program: migrate it" if "no such" in str(exc) else ""
    return StorageError(f"database {path}: query '{name}' failed: {exc}{hint}")


def _is_about_a_value(exc: BaseException) -> bool:
    """Return whether the driver refused a value before SQLite saw it: one too large, half a character, another type."""
    if isinstance(exc, (sqlite3.DataError, sqlite3.InterfaceError, OverflowError, UnicodeError)):
        return True
    return isinstance(exc, sqlite3.ProgrammingError) and str(exc).startswith("Error binding parameter")


def create_private(path: Path) -> None:
    """Make sure that the database file exists and is readable by its owner alone; -wal and -shm inherit its mode.

    An existing file is never opened here: closing it would drop SQLite's locks in this process.
    """
    require_file(path)
    try:
        make_folder(path.parent)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as exc:
        raise StorageUnavailable(f"database {path}: it cannot be created ({reason(exc)}); check the folder") from exc


def require_file(path: Path) -> None:
    """Raise `StorageUnavailable` when something else than a file has the database's name."""
    try:
        other = path.exists() and not path.is_file()
    except (OSError, ValueError) as exc:
        why = reason(exc) if isinstance(exc, OSError) else "no path has such characters"
        raise StorageUnavailable(f"database {path}: it cannot be looked at ({why}); name another file") from exc
    if other:
        what = "a folder" if path.is_dir() else "no regular file"
        raise StorageUnavailable(f"database {path}: this is {what}; name a file, e.g. {path / 'continuity.db'}")


def secure(connection: sqlite3.Connection, path: Path) -> None:
    """Switch a writing connection to the settings of a commit's promise and read them back. Raises `UnsafeSettings`."""
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


def connect_writer(path: Path, digests: Digests) -> sqlite3.Connection:
    """Open for writing with WAL and synchronous=FULL, both read back; creates the file 0600.

    Each change of a row in a table that `digests` names renews the row's digest.

    Raises `UnsafeSettings` when the file system cannot do WAL, `StorageUnavailable` when it cannot be opened.
    """
    create_private(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, cached_statements=256, check_same_thread=False)
        secure(connection, path)
        if digests:
            keep(connection, digests)
    except BaseException as exc:
        if connection:
            connection.close()
        if isinstance(exc, sqlite3.Error):
            raise translate(exc, path, "open") from exc
        raise
    return connection


def connect_reader(path: Path, digests: Digests, *, trusting: bool = False) -> sqlite3.Connection:
    """Open for reading; rows come as dicts, and bytes that are no text are shown as such instead of raising.

    Rows that were altered on the disk are left out (`rows`) unless it is `trusting`.

    Raises `StorageUnavailable` when there is no such file or it is no database.
    """
    require_file(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, cached_statements=256, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        watch(connection, digests, trusting=trusting)
        connection.execute("PRAGMA query_only=ON")
        connection.execute(f"PRAGMA cache_size=-{READER_CACHE_KIB}")
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
