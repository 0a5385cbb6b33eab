"""Private folders, and the sync without which a new name in a folder does not survive a power cut."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from memory.errors import StorageUnavailable, reason


def synced(descriptor: int) -> float:
    """Make an open file last; return the seconds that took. Raises `OSError`."""
    began_s = time.perf_counter()
    os.fsync(descriptor)
    return time.perf_counter() - began_s


def sync_folder(folder: Path) -> float:
    """Make the names in a folder last (made, renamed, removed); return the seconds that took. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return synced(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder that its owner alone can look into, and those above it that are missing, likewise; they last.

    A folder that is there stays as it is. Raises `StorageUnavailable`.
    """
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir(mode=0o700, exist_ok=True)
            sync_folder(each.parent)
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(folder))
    except OSError as exc:
        raise StorageUnavailable(f"{reason(exc)}; choose another path or mend this one") from exc
