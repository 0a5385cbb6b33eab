"""The folder of a backup: its files, its manifest, and the checks before it is trusted."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bot.ops.copies import tampered
from bot.ops.workspace import OpsError
from bot.settings import Settings
from bot.tables import DIGESTS, MIGRATIONS, QUERY_FILES
from memory.errors import reason
from memory.storage import migrate
from memory.storage.place import shown
from memory.storage.sqlite.database import SqliteDatabase
from memory.storage.store import Store

DATABASE = "continuity.db"


CHECKPOINTS = "checkpoints"


MANIFEST = "backup.json"


UNFINISHED = "backup.unfinished"
"""Lies in the folder until the backup is whole."""


LAST_MS = 253_402_300_799_999
"""The end of the year 9999."""


FORMAT = "continuity-backup"


SIDE_FILES = ("-wal", "-shm")


MANIFEST_MAX_BYTES = 1_000_000


CHECKPOINT_MAX_BYTES = 64 * 1024 * 1024


SQLITE_HEAD = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Backup:
    """The content of a backup; `database_digest` proves that the copy is the one written."""

    folder: Path
    created_at_ms: int
    schema: tuple[int, ...]
    """The newest migration of the memory and the newest of the bot."""
    sessions: int
    turns: int
    checkpoints: int
    database_digest: str

    @property
    def database(self) -> Path:
        """The copy."""
        return self.folder / DATABASE


FIELDS = tuple(name for name in Backup.__dataclass_fields__ if name != "folder")


def read_manifest(data: bytes, folder: Path) -> Backup:
    """Return the manifest of a backup. Raises OpsError when it is not one of ours."""
    try:
        fields: dict[str, Any] = orjson.loads(data)
        found = {name: _sound(name, fields[name]) for name in FIELDS}
        return Backup(folder=folder, **found)
    except (ValueError, KeyError, TypeError) as exc:
        raise OpsError(f"{folder / MANIFEST} does not describe a backup; name a folder made by `backup`") from exc


def _sound(name: str, value: Any) -> Any:
    """Return a value of the manifest: the digest is a text, the schema numbers, the rest a number. Raises TypeError."""
    if name == "schema":  # one number, before the bot counted its own
        return tuple(_number(name, each) for each in (value if isinstance(value, list) and value else [value]))
    if name != "database_digest":
        return _number(name, value)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {str(value)[:40]!r}")
    return value


def _number(name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LAST_MS:
        raise TypeError(f"{name} is {str(value)[:40]!r}")
    return value


def _require_regular(*paths: Path) -> None:
    """Raise OpsError for anything but a file: a pipe would be read for ever, a link leads out of the backup."""
    for path in paths:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OpsError(f"{path} is no regular file; name a folder made by `backup`")


def file_digest(path: Path) -> str:
    """Return the digest of a file at rest. Never use it on the live database: closing it would drop SQLite's locks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_of(settings: Settings) -> Path:
    """Return the SQLite file. Raises OpsError when the database is on a server, which has tools of its own."""
    if settings.database_file is None:
        raise OpsError(
            f"{shown(settings.database)} is copied by PostgreSQL's own tools: pg_dump --format=custom, and pg_restore; "
            "see docs/how-to/postgres.md"
        )
    return settings.database_file


def copy_checkpoints(source: Path, target: Path) -> list[str]:
    """Copy every checkpoint of a folder into another; their names, without those that went meanwhile."""
    names = sorted(path.name for path in source.glob("*.json") if _is_checkpoint(path)) if source.is_dir() else []
    copied = []
    for name in names:
        try:
            data = (source / name).read_bytes()
        except FileNotFoundError:
            continue  # deleted since we looked
        write_private(target / name, data)
        copied.append(name)
    return copied


def _is_checkpoint(path: Path) -> bool:
    """Say whether this may be a checkpoint: a file of its own and of a size that a checkpoint can have."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= CHECKPOINT_MAX_BYTES


def drop_side_files(folder: Path) -> None:
    """Delete the two empty files that SQLite leaves behind a reader of a backup's database."""
    for side in SIDE_FILES:
        (folder / f"{DATABASE}{side}").unlink(missing_ok=True)


def write_private(path: Path, data: bytes) -> None:
    """Write a new file that its owner alone may read, through to the disk. Raises `OSError`, also when it is there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def check(source: Path, room_bytes: int = 2**62) -> Backup:
    """Return the backup in a folder, its database proven to be the one written, and to fit into the free room.

    Raises OpsError, `SchemaMismatch`.
    """
    _require_regular(source / MANIFEST, source / DATABASE)
    if (source / CHECKPOINTS).is_symlink():
        raise OpsError(f"{source / CHECKPOINTS} is a link; name a folder made by `backup`")
    for side in ("-wal", "-journal"):
        beside = source / f"{DATABASE}{side}"
        if beside.is_symlink() or (beside.exists() and beside.stat().st_size):
            raise OpsError(f"{beside} is none of the backup's files, and its pages would be read; delete it")
    if (source / UNFINISHED).exists():
        raise OpsError(f"{source} is no whole backup: it was interrupted; make it again, or use another one")
    try:
        _require_bounded(source / MANIFEST, MANIFEST_MAX_BYTES)
        _require_bounded(source / DATABASE, room_bytes)
        backup = read_manifest((source / MANIFEST).read_bytes(), source)
        found = file_digest(source / DATABASE)
    except OSError as exc:
        raise OpsError(f"{source} is not a whole backup ({reason(exc)}); name a folder made by `backup`") from exc
    if found != backup.database_digest:
        raise OpsError(
            f"{source / DATABASE} has digest '{found[:12]}', its manifest says '{backup.database_digest[:12]}'; "
            "the copy is damaged or was changed: use another backup"
        )
    with (source / DATABASE).open("rb") as file:
        if file.read(len(SQLITE_HEAD)) != SQLITE_HEAD:
            raise OpsError(f"{source / DATABASE} is no database; use another backup")
    known = [step for folder in MIGRATIONS for step in migrate.available(folder)]
    ahead = migrate.compare(known, backup.schema).ahead
    if ahead:
        raise OpsError(f"{source} has schema {ahead[-1]:04d}, which this program does not know yet; upgrade it")
    return backup


@asynccontextmanager
async def open_copy(backup: Path | None) -> AsyncIterator[Store | None]:
    """Open the database of a checked backup for reading; None for none. Raises OpsError, `StorageError`."""
    if backup is None:
        yield None
        return
    checked = check(backup)
    tampered.look(checked.database)
    copy = await SqliteDatabase.open(checked.database, QUERY_FILES, DIGESTS, read_only=True)
    try:
        yield Store(copy)
    finally:
        await copy.close()
        drop_side_files(backup)


def _require_bounded(path: Path, most_bytes: int) -> None:
    """Raise OpsError for a file that is larger than it can be, before it is read. Raises `OSError`."""
    size = path.stat().st_size
    if size > most_bytes:
        raise OpsError(f"{path} has {size:,} bytes, {most_bytes:,} at most are taken; use another backup or make room")
