"""`backup` and `restore`: database and checkpoints in one folder, checked before they are trusted."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from bot.ops import tampered
from bot.ops.files import FILES, back_up_files, put_files_in_place, stage_files
from bot.ops.status import Backlog, unfinished_in_words
from bot.ops.workspace import OpsError, Told, Workspace, untold
from bot.settings import Settings
from bot.tables import MIGRATIONS, QUERY_FILES
from memory.errors import StorageError, reason
from memory.faults import point
from memory.storage import migrate
from memory.storage.checkpoint import BEFORE_RESTORE
from memory.storage.folders import make_folder, sync_folder
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
    """What a backup holds; `database_digest` proves that the copy is what was written."""

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


_FIELDS = tuple(name for name in Backup.__dataclass_fields__ if name != "folder")


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did and where the data that was there before is now."""

    backup: Backup
    set_aside: tuple[Path, ...]
    unfinished: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    """What the backup's schema had and ours does not: triggers, views, tables that somebody put there."""


def stamp(at_ms: int) -> str:
    """Return a point in time for a file name: `20261121T222340123Z`."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y%m%dT%H%M%S}{at_ms % 1000:03d}Z"


def read_manifest(data: bytes, folder: Path) -> Backup:
    """Return what a backup says of itself. Raises OpsError when it is not one of ours."""
    try:
        fields: dict[str, Any] = orjson.loads(data)
        found = {name: _sound(name, fields[name]) for name in _FIELDS}
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


# --- backup ---------------------------------------------------------------------------------------------------------


async def back_up(workspace: Workspace, target: Path, told: Told = untold) -> Backup:
    """Write a backup to a new folder (0700) while the bot works on; the manifest comes last and makes it whole.

    Checkpoints are copied before the database, so that none is newer than the log beside it; those that were deleted
    meanwhile (/forget) are taken out again. What an interrupted call left is replaced by the next one. `told` hears of
    the database's pages. Raises OpsError, `StorageError`.
    """
    _file_of(workspace.settings)
    checkpoints = workspace.settings.checkpoint_dir
    try:
        _make_folder(target)
        copied = _copy_checkpoints(checkpoints, target / CHECKPOINTS)
        await workspace.memory.db.backup_to(target / DATABASE, told)
        back_up_files(workspace.settings, target)
        for name in copied:
            if not (checkpoints / name).exists():
                (target / CHECKPOINTS / name).unlink()
        backup = await _describe(workspace, target)
        (target / UNFINISHED).unlink()
        sync_folder(target)
    except OSError as exc:
        raise OpsError(
            f"the backup {target} could not be written ({reason(exc)}); check the folder and the disk"
        ) from exc
    return backup


def _file_of(settings: Settings) -> Path:
    """Return the SQLite file. Raises OpsError when the database is on a server, which has tools of its own."""
    if settings.database_file is None:
        raise OpsError(
            f"{shown(settings.database)} is copied by PostgreSQL's own tools: pg_dump --format=custom, and pg_restore; "
            "see docs/how-to/postgres.md"
        )
    return settings.database_file


def _make_folder(target: Path) -> None:
    """Make the folder, with a mark that says whose it is until it is whole."""
    if target.exists() and not target.is_dir():
        raise OpsError(f"{target} is no folder; name a new one")
    if (target / UNFINISHED).exists():
        for name in (DATABASE, f"{DATABASE}.partial", MANIFEST):
            (target / name).unlink(missing_ok=True)
        shutil.rmtree(target / CHECKPOINTS, ignore_errors=True)
        shutil.rmtree(target / FILES, ignore_errors=True)
    elif target.exists() and any(target.iterdir()):
        raise OpsError(f"{target} exists already and is not empty; name a new folder")
    else:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_private(target / UNFINISHED, b"")
    (target / CHECKPOINTS).mkdir(mode=0o700, parents=True, exist_ok=True)
    target.chmod(0o700)


def _copy_checkpoints(source: Path, target: Path) -> list[str]:
    names = sorted(path.name for path in source.glob("*.json") if _is_checkpoint(path)) if source.is_dir() else []
    copied = []
    for name in names:
        try:
            data = (source / name).read_bytes()
        except FileNotFoundError:
            continue  # deleted since we looked
        _write_private(target / name, data)
        copied.append(name)
    return copied


def _is_checkpoint(path: Path) -> bool:
    """Say whether this may be a checkpoint: a file of its own and of a size that a checkpoint can have."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= CHECKPOINT_MAX_BYTES


async def _describe(workspace: Workspace, target: Path) -> Backup:
    digest = file_digest(target / DATABASE)
    copy = await SqliteDatabase.open(target / DATABASE, QUERY_FILES, read_only=True)
    try:
        rows = await copy.read("session_counts")
    finally:
        await copy.close()
    backup = Backup(
        folder=target,
        created_at_ms=workspace.memory.clock.now_ms(),
        schema=migrate.status(target / DATABASE, MIGRATIONS).newest_applied,
        sessions=sum(row["sessions"] for row in rows),
        turns=sum(row["turns"] for row in rows),
        checkpoints=len(list((target / CHECKPOINTS).glob("*.json"))),
        database_digest=digest,
    )
    _drop_side_files(target)
    fields = {name: getattr(backup, name) for name in _FIELDS}
    _write_private(target / MANIFEST, orjson.dumps({"format": FORMAT, **fields}, option=orjson.OPT_INDENT_2))
    return backup


def _drop_side_files(folder: Path) -> None:
    """Delete what SQLite leaves behind a reader of a backup's database, both empty."""
    for side in SIDE_FILES:
        (folder / f"{DATABASE}{side}").unlink(missing_ok=True)


def _write_private(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


# --- restore --------------------------------------------------------------------------------------------------------


def check(source: Path, room_bytes: int = 2**62) -> Backup:
    """Return the backup in a folder, its database proven to be what was written, and to fit into the room there is.

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
    copy = await SqliteDatabase.open(checked.database, QUERY_FILES, read_only=True)
    try:
        yield Store(copy)
    finally:
        await copy.close()
        _drop_side_files(backup)


async def restore(settings: Settings, source: Path, now_ms: int) -> Restored:
    """Put a checked backup in place of the present data, which is moved aside and never deleted.

    The caller holds the bot's lock. What a crash leaves behind after each step:
    1. the copy lies beside the database as `.restoring`: nothing has changed; the next restore starts over;
    2. the checkpoints are aside: the present database alone, which has everything;
    3. the files that people sent are aside, the backup's in their place: the present database without them;
    4. the WAL is emptied into the present database and it has a second name aside: still the present data;
    5. the copy has taken the database's name: the backup without checkpoints, which are rebuilt when needed;
    6. the backup's checkpoints are in place: done.
    Raises OpsError, `StorageError`.
    """
    database, mark = _file_of(settings), f"{BEFORE_RESTORE}{stamp(now_ms)}"
    backup = check(source, _room_beside(database))
    staged = database.with_name(f"{database.name}.restoring")
    try:
        foreign = tampered.look(source / DATABASE)
        _stage(source / DATABASE, staged)
        tampered.drop(staged, foreign)
        files = stage_files(settings, source)
        point("restore_staged")
        aside = _checkpoints_aside(settings.checkpoint_dir, mark)
        point("restore_checkpoints_aside")
        aside += put_files_in_place(settings, files, mark)
        point("restore_files_in_place")
        if database.exists():
            await _empty_wal(database)
            aside.append(_database_aside(database, mark))
        point("restore_database_aside")
        staged.replace(database)
        sync_folder(database.parent)
        point("restore_database_in_place")
        make_folder(settings.checkpoint_dir)
        _copy_checkpoints(source / CHECKPOINTS, settings.checkpoint_dir)
        sync_folder(settings.checkpoint_dir)
    except OpsError:
        _unstage(staged)
        raise
    except OSError as exc:
        _unstage(staged)
        raise OpsError(
            f"the restore stopped ({reason(exc)}); make room or fix the folder's owner and run it again"
        ) from exc
    dropped = tuple(f"{kind} {name}" for kind, name in foreign)
    return Restored(backup, tuple(aside), await _unfinished(database, now_ms), dropped)


def _require_bounded(path: Path, most_bytes: int) -> None:
    """Raise OpsError for a file that is larger than it can be, before it is read. Raises `OSError`."""
    size = path.stat().st_size
    if size > most_bytes:
        raise OpsError(f"{path} has {size:,} bytes, {most_bytes:,} at most are taken; use another backup or make room")


def _room_beside(database: Path) -> int:
    """Return the free bytes where the database is, or will be."""
    folder = next(each for each in database.parents if each.exists())
    return shutil.disk_usage(folder).free


def _unstage(staged: Path) -> None:
    for path in (staged, *(staged.with_name(f"{staged.name}{side}") for side in SIDE_FILES)):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _stage(source: Path, staged: Path) -> None:
    make_folder(staged.parent)
    _unstage(staged)
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with source.open("rb") as origin, os.fdopen(descriptor, "wb") as copy:
        shutil.copyfileobj(origin, copy)
        copy.flush()
        os.fsync(copy.fileno())


def _checkpoints_aside(folder: Path, mark: str) -> list[Path]:
    """Move the checkpoints into a folder of their own inside the folder, which may be a mount point."""
    files = [path for path in folder.iterdir() if path.is_file() and path.name != ".gitkeep"] if folder.is_dir() else []
    if not files:
        return []
    aside = folder / mark
    aside.mkdir(mode=0o700)
    for path in files:
        path.rename(aside / path.name)
    sync_folder(folder)
    return [aside]


def _database_aside(database: Path, mark: str) -> Path:
    """Give the present database a second name, complete without its WAL; a WAL that cannot be emptied goes with it."""
    aside = database.with_name(f"{database.name}.{mark}")
    for side in SIDE_FILES:
        left = database.with_name(f"{database.name}{side}")
        if left.exists():
            left.rename(aside.with_name(f"{aside.name}{side}"))
    try:
        aside.hardlink_to(database)
    except OSError:  # a file system without hard links: for a moment there is no database
        database.rename(aside)
    return aside


async def _empty_wal(database: Path) -> None:
    try:
        present = await SqliteDatabase.open(database, QUERY_FILES)
        try:
            await present.wal_truncate()
        finally:
            await present.close()
    except StorageError:
        return  # damaged (which may be why there is a restore) or being read: the WAL is kept beside it


async def _unfinished(database: Path, now_ms: int) -> tuple[str, ...]:
    """Return what the backup had not finished when it was made, since the next start works on it."""
    db = await SqliteDatabase.open(database, QUERY_FILES, read_only=True)
    try:
        inbox = {row["state"]: Backlog(row["n"], row["oldest_at_ms"]) for row in await db.read("ops_inbox")}
        outbox = {row["state"]: Backlog(row["n"], row["oldest_at_ms"]) for row in await db.read("ops_outbox")}
    finally:
        await db.close()
    return unfinished_in_words(inbox, outbox, now_ms, runs=False)
