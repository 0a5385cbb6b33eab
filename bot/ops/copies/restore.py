"""`restore`: a checked backup in place of the present data, which is moved aside and never deleted."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.ops.copies import tampered
from bot.ops.copies.files import put_files_in_place, stage_files
from bot.ops.copies.folder import CHECKPOINTS, DATABASE, SIDE_FILES, Backup, check, copy_checkpoints, file_of
from bot.ops.runs.status import Backlog, unfinished_in_words
from bot.ops.workspace import OpsError
from bot.settings import Settings
from bot.tables import DIGESTS, QUERY_FILES
from memory.errors import StorageError, reason
from memory.process.faults import point
from memory.storage.checkpoint import BEFORE_RESTORE
from memory.storage.folders import make_folder, sync_folder
from memory.storage.sqlite.database import SqliteDatabase


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore, and the place of the earlier data."""

    backup: Backup
    set_aside: tuple[Path, ...]
    unfinished: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    """Objects of the backup's schema that ours does not have: triggers, views, tables that somebody put there."""


def stamp(at_ms: int) -> str:
    """Return a point in time for a file name: `20261121T222340123Z`."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y%m%dT%H%M%S}{at_ms % 1000:03d}Z"


async def restore(settings: Settings, source: Path, now_ms: int) -> Restored:
    """Put a checked backup in place of the present data, which is moved aside and never deleted.

    The caller holds the bot's lock. A crash leaves behind, after each step:
    1. the copy lies beside the database as `.restoring`: nothing has changed; the next restore starts over;
    2. the checkpoints are aside: the present database alone, which has everything;
    3. the files that people sent are aside, the backup's in their place: the present database without them;
    4. the WAL is emptied into the present database and it has a second name aside: still the present data;
    5. the copy has taken the database's name: the backup without checkpoints, which are rebuilt when needed;
    6. the backup's checkpoints are in place: done.
    Raises OpsError, `StorageError`.
    """
    database, mark = file_of(settings), f"{BEFORE_RESTORE}{stamp(now_ms)}"
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
        copy_checkpoints(source / CHECKPOINTS, settings.checkpoint_dir)
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
        present = await SqliteDatabase.open(database, QUERY_FILES, DIGESTS)
        try:
            await present.wal_truncate()
        finally:
            await present.close()
    except StorageError:
        return  # damaged (which may be why there is a restore) or being read: the WAL is kept beside it


async def _unfinished(database: Path, now_ms: int) -> tuple[str, ...]:
    """Return the unfinished work in a backup, since the next start takes it up."""
    db = await SqliteDatabase.open(database, QUERY_FILES, DIGESTS, read_only=True)
    try:
        inbox = {row["state"]: Backlog(row["n"], row["oldest_at_ms"]) for row in await db.read("ops_inbox")}
        outbox = {row["state"]: Backlog(row["n"], row["oldest_at_ms"]) for row in await db.read("ops_outbox")}
    finally:
        await db.close()
    return unfinished_in_words(inbox, outbox, now_ms, runs=False)
