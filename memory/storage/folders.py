"""Private folders, and the sync without which a new name in a folder does not survive a power cut."""

from __future__ import annotations

import os
from pathlib import Path

from memory.errors import StorageUnavailable


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: what was made, renamed or removed there. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
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
    except OSError as exc:
        raise StorageUnavailable(f"{exc.filename}: {exc.strerror}; choose another path or mend this one") from exc
