"""`backup`: database, checkpoints and files in one folder, described by a manifest that comes last."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson

from bot.ops.copies.files import FILES, back_up_files
from bot.ops.copies.folder import (
    CHECKPOINTS,
    DATABASE,
    FIELDS,
    FORMAT,
    MANIFEST,
    UNFINISHED,
    Backup,
    copy_checkpoints,
    drop_side_files,
    file_digest,
    file_of,
    write_private,
)
from bot.ops.workspace import OpsError, Told, Workspace, untold
from bot.tables import DIGESTS, MIGRATIONS, QUERY_FILES
from memory.errors import reason
from memory.storage import migrate
from memory.storage.folders import sync_folder
from memory.storage.sqlite.database import SqliteDatabase


async def back_up(workspace: Workspace, target: Path, told: Told = untold) -> Backup:
    """Write a backup to a new folder (0700) while the bot works on; the manifest comes last and makes it whole.

    Checkpoints are copied before the database, so that none is newer than the log beside it; those that were deleted
    meanwhile (/forget) are taken out again. The next call replaces the files of an interrupted one. `told` hears of
    the database's pages. Raises OpsError, `StorageError`.
    """
    file_of(workspace.settings)
    checkpoints = workspace.settings.checkpoint_dir
    try:
        _make_folder(target)
        copied = copy_checkpoints(checkpoints, target / CHECKPOINTS)
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


def _make_folder(target: Path) -> None:
    """Make the folder, with a mark in it until the backup is whole."""
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
        write_private(target / UNFINISHED, b"")
    (target / CHECKPOINTS).mkdir(mode=0o700, parents=True, exist_ok=True)
    target.chmod(0o700)


async def _describe(workspace: Workspace, target: Path) -> Backup:
    digest = file_digest(target / DATABASE)
    copy = await SqliteDatabase.open(target / DATABASE, QUERY_FILES, DIGESTS, read_only=True)
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
    drop_side_files(target)
    fields = {name: getattr(backup, name) for name in FIELDS}
    write_private(target / MANIFEST, orjson.dumps({"format": FORMAT, **fields}, option=orjson.OPT_INDENT_2))
    return backup
