"""Tables that packages carry compressed: unpacked once into the user's cache, then mapped, so that nothing is held."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

CACHE_VARIABLE = "CONTINUITY_CACHE_DIR"


def cache_folder() -> Path:
    """Return the folder of tables: `CONTINUITY_CACHE_DIR`, else the user's cache. RuntimeError without a home."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "continuity-bot"


def mapped_file(name: str, write: Callable[[BinaryIO], None], is_whole: Callable[[mmap.mmap], bool]) -> mmap.mmap:
    """Return the table of this name, mapped for reading: pages that nobody reads take no memory.

    A missing or torn table is written; where nothing can be kept it is written for this process alone. Raises as
    `write` does, and OSError when there is not even a temporary folder.
    """
    try:
        path = cache_folder() / name
        if path.exists():
            with path.open("rb") as file:
                found = _map(file)
            if found is not None and is_whole(found):
                return found
        path.parent.mkdir(parents=True, exist_ok=True)
        return _put(path, write)
    except (OSError, RuntimeError):
        with tempfile.TemporaryFile() as file:
            write(file)
            return _must(file)


def _put(path: Path, write: Callable[[BinaryIO], None]) -> mmap.mmap:
    """Write beside the place and move it there whole, so that two processes that start at once do no harm."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            found = _must(file)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return found


def _must(file: BinaryIO) -> mmap.mmap:
    file.flush()
    found = _map(file)
    if found is None:
        raise ValueError("an empty table was written")
    return found


def _map(file: BinaryIO) -> mmap.mmap | None:
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else None
