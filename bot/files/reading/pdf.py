"""Pages of a PDF, each by its number, by pypdf."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from bot.files.reading.errors import Unreadable


def pages(path: Path) -> Iterator[tuple[int, int, str]]:
    """Each page with its text; one that cannot be read has none. Raises `Unreadable`."""
    logging.disable(logging.CRITICAL)  # pypdf warns of every fault of a file
    try:
        reader = PdfReader(path, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("locked")
        total = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, NotImplementedError, ImportError) as exc:
        raise Unreadable("locked" if "ncrypt" in str(exc) or isinstance(exc, ImportError) else "damaged") from exc
    if not total:
        raise Unreadable("empty")
    for number in range(1, total + 1):
        yield number, total, _text(reader, number)


def _text(reader: PdfReader, number: int) -> str:
    try:
        return reader.pages[number - 1].extract_text()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - one broken page does not take the others with it; it is named as without text
        return ""
