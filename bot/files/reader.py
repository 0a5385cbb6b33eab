"""The child that reads a file: started, listened to, and ended even where it hangs. Pages read until then are kept."""

from __future__ import annotations

import asyncio
import base64
import binascii
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
import structlog

from bot.process import children
from bot.tools.tool import NotDone

READ_S: Final = 60.0
"""So long a file may take to be read; a book of a thousand pages takes half of it."""
PICTURE_S: Final = 20.0
LONGEST_SIDE: Final = 1568
"""The size that providers look at; a larger picture costs more and shows no more."""
LINE_BYTES: Final = 16 * 1024 * 1024
AT_ONCE: Final = 2
"""So many files are read side by side: each may take a gigabyte."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Reading:
    """Text read from a file."""

    pages: list[tuple[int, str]] = field(default_factory=list)
    """Number and text of each page, as far as it was read."""
    total: int = 0
    """Number of pages, as far as it is known."""
    ended: str = ""
    """whole, long (the rest is too much), time or memory (the rest could not be read); "" when nothing was read."""
    error: str = ""
    """The reason why nothing was read: locked, damaged, bomb, empty, memory, time."""


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A copy of a picture for a model, without data beside the picture itself."""

    data: bytes
    width: int
    height: int
    has_place: bool
    """True when the original said where it was taken."""


class Reader:
    """Reads files in children, a few at a time."""

    def __init__(self, *, read_s: float = READ_S, command: tuple[str, ...] = ("-m", "bot.files.reading")) -> None:
        self._read_s = read_s
        self._command = command
        self._places = asyncio.Semaphore(AT_ONCE)

    async def read(self, reader: str, path: Path) -> Reading:
        """Return the pages of a document. Never raises for its content."""
        reading = Reading()
        async with self._places:
            try:
                async with asyncio.timeout(self._read_s):
                    async for line in self._lines(reader, path, self._read_s):
                        _take(line, reading)
            except TimeoutError:
                _stop(reading, "time")
        if not (reading.ended or reading.error):
            _stop(reading, "memory")  # it died: the limits of the system take a process that wants too much
        return reading

    async def picture(self, path: Path, side: int = LONGEST_SIDE) -> SmallPicture | str:
        """Return a small copy of a picture, or why there is none: damaged, bomb, memory, time."""
        found: dict[str, Any] = {}
        async with self._places:
            try:
                async with asyncio.timeout(PICTURE_S):
                    async for line in self._lines("picture", path, PICTURE_S, str(side)):
                        found = line
            except TimeoutError:
                return "time"
        try:
            data = base64.b64decode(found["data"], validate=True)
            return SmallPicture(data, int(found["width"]), int(found["height"]), bool(found["place"]))
        except (KeyError, TypeError, ValueError, binascii.Error):
            return str(found.get("error") or "memory")

    async def page_pictures(self, path: Path, numbers: Sequence[int]) -> list[bytes]:
        """Return pages of a PDF as JPEGs, as many as could be drawn. Never raises for its content."""
        found: list[bytes] = []
        async with self._places:
            with suppress(TimeoutError, ValueError, TypeError, binascii.Error):
                async with asyncio.timeout(PICTURE_S):
                    async for line in self._lines("scan", path, PICTURE_S, ",".join(map(str, numbers))):
                        found += [base64.b64decode(line[name], validate=True) for name in line if name == "data"]
        return found

    async def _lines(self, reader: str, path: Path, most_s: float, *more: str) -> AsyncIterator[dict[str, Any]]:
        """Lines of the child, which is gone when this ends, however it ends."""
        asked = (reader, str(path), str(int(most_s) + 1), *more)
        child = await children.start(*self._command, *asked, env={"PYTHONSAFEPATH": "1"}, limit=LINE_BYTES)
        out = child.stdout
        try:
            while out is not None and (line := await out.readline()):
                with suppress(orjson.JSONDecodeError):
                    said = orjson.loads(line)
                    if isinstance(said, dict):
                        yield said
        except ValueError:  # a line without end
            log.warning("a file's reader said too much at once", reader=reader)
        finally:
            children.kill(child)
            await child.wait()


def _take(said: dict[str, Any], reading: Reading) -> None:
    """Take one line of the child; one of another shape is left out."""
    pages = said.get("pages")
    reading.total = max(reading.total, pages if isinstance(pages, int) else 0)
    if isinstance(said.get("page"), int) and isinstance(said.get("text"), str):
        reading.pages.append((said["page"], said["text"]))
    elif said.get("error"):
        _stop(reading, str(said["error"]))
    elif said.get("end") in ("whole", "long"):
        reading.ended = said["end"]


def _stop(reading: Reading, why: str) -> None:
    """Note why it went no further: with pages read before, that the rest is missing; else that nothing was read."""
    if reading.pages:
        reading.ended = why if why in ("time", "memory") else "damaged"
    else:
        reading.error = why


_WHY_NOT: Final = {"locked": "it's locked with a password", "empty": "there's no text in it: it may be a scan"}


async def read_pdf(body: bytes) -> str:
    """Return the text of a PDF that was found at an address, each page behind its number. Raises `NotDone`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.pdf"
        await asyncio.to_thread(path.write_bytes, body)
        reading = await Reader().read("pdf", path)
    if not reading.pages:
        raise NotDone(f"that is a PDF that can't be read: {_WHY_NOT.get(reading.error, 'it is damaged, or too much')}")
    pages = "\n\n".join(f"[page {number} of {reading.total}]\n{text}" for number, text in reading.pages)
    return pages if reading.ended == "whole" else f"{pages}\n\n[The rest was not read.]"
