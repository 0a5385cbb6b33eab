"""A ZIP archive that may be a bomb: refused by the sizes in its own list, before any of it is unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

from bot.files.reading.errors import Unreadable

MOST_ENTRIES: Final = 10_000
MOST_BYTES: Final = 300 * 1024**2
MOST_RATIO: Final = 1000
"""XML of a wide empty sheet packs a few hundred times; a bomb a thousand times."""
RATIO_FROM_BYTES: Final = 10 * 1024**2


def checked(path: Path) -> None:
    """Return when the archive may be opened; an entry is never read further than it says. Raises `Unreadable`."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError) as exc:
        raise Unreadable("damaged") from exc
    size = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if len(entries) > MOST_ENTRIES or size > MOST_BYTES:
        raise Unreadable("bomb")
    if size > RATIO_FROM_BYTES and size > MOST_RATIO * max(1, packed):
        raise Unreadable("bomb")
    if any(entry.flag_bits & 1 for entry in entries):
        raise Unreadable("locked")
