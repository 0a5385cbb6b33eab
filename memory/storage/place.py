"""Where a memory lies: its database, its checkpoints, and the lock of the one process that works there (P9)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from memory.errors import Locked, StorageUnavailable, reason
from memory.storage.folders import make_folder

DATABASE: Final = "continuity.db"
CHECKPOINTS: Final = "checkpoints"


def places(where: str | os.PathLike[str], checkpoints: Path | None = None) -> tuple[Path, Path]:
    """Return the database file and the folder of checkpoints for a folder or an address.

    Raises `ValueError` for an address of another kind than `sqlite:///path`.
    """
    text = os.fspath(where)
    scheme, found, rest = text.partition("://")
    if not found:
        folder = Path(text).absolute()
        return folder / DATABASE, checkpoints or folder / CHECKPOINTS
    if scheme != "sqlite" or len(rest) < 2 or not rest.startswith("/"):  # noqa: PLR2004 - a slash and a name
        raise ValueError(f"a memory opens in a folder or at sqlite:///path/to/file.db, not at {scheme}://…")
    path = Path(rest[1:]).absolute()
    return path, checkpoints or path.with_name(CHECKPOINTS)


def lock_path(database: Path) -> Path:
    """Return the file that the one process that works on a database holds locked (P9)."""
    return database.with_name(database.name + ".lock")


def take_lock(database: Path) -> FileLock:
    """Return the lock, taken; the folder is made if need be.

    Raises `Locked` when another process has it, `StorageUnavailable` when it cannot be made.
    """
    lock = FileLock(lock_path(database), timeout=0, mode=0o600)
    make_folder(database.parent)
    try:
        lock.acquire()
    except Timeout:
        raise Locked(f"another process works on {database} (its lock is held); stop that one first") from None
    except OSError as exc:  # after Timeout, which is one
        raise StorageUnavailable(f"{reason(exc)}; choose another path or mend this one") from exc
    return lock
