"""Files that people sent, for operators: taken along by `backup`, `restore` and `move`."""

from __future__ import annotations

from pathlib import Path

from bot.files.store import copy_files, pieces_at
from bot.settings import Settings
from bot.tables import QUERY_FILES
from memory.storage.engine import Schema
from memory.storage.folders import make_folder, sync_folder
from memory.storage.named_queries import load_queries
from memory.storage.place import is_server

FILES = "files"
"""The name of their folder in a backup."""


def back_up_files(settings: Settings, target: Path) -> None:
    """Copy the bytes into a backup, without those that were deleted meanwhile. Raises `OSError`."""
    if not settings.files_dir.is_dir() or not any(settings.files_dir.iterdir()):
        return
    folder = target / FILES
    folder.mkdir(mode=0o700)
    copy_files(settings.files_dir, folder)
    for path in folder.iterdir():
        if not (settings.files_dir / path.name).exists():
            path.unlink()


def stage_files(settings: Settings, source: Path) -> Path:
    """Copy a backup's bytes beside the place where they are going to lie. Raises `OSError`."""
    staged = settings.files_dir.with_name(f"{settings.files_dir.name}.restoring")
    if staged.is_dir():
        for path in staged.iterdir():
            path.unlink()
    make_folder(staged)
    copy_files(source / FILES, staged)
    return staged


def put_files_in_place(settings: Settings, staged: Path, mark: str) -> list[Path]:
    """Move the present bytes aside and the staged ones in; return where the present ones are. Raises `OSError`."""
    folder, aside = settings.files_dir, list[Path]()
    if folder.is_dir() and any(folder.iterdir()):
        aside.append(folder.rename(folder.with_name(f"{folder.name}.{mark}")))
    elif folder.is_dir():
        folder.rmdir()
    staged.rename(folder)
    sync_folder(folder.parent)
    return aside


def move_files(settings: Settings, target: Path | str, there: Schema) -> None:
    """Bring the bytes where the copy of a database looks for them; again is the same. Raises `OSError`, `StorageError`.

    It blocks.
    """
    if settings.database_file is None:
        return  # they lie in rows, which were copied; a bot on a file takes them out when it needs them
    if is_server(target):
        queries = load_queries(QUERY_FILES, "postgres")
        for (digest,) in there.rows(queries["file_digests"]):
            for piece in pieces_at(settings.files_dir, digest):
                there.write((queries["file_chunk_put"], [piece]))
    elif settings.continuity_files_dir is None:
        folder = Path(target).with_name(f"{Path(target).name}.files")
        make_folder(folder)
        copy_files(settings.files_dir, folder)
