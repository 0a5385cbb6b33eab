"""Pages of a PDF are drawn once for a look at them, which asks twice."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path

from bot.files.readings import Readings
from bot.files.rows import StoredFile

_NOTHING = StoredFile(**{each.name: None for each in fields(StoredFile)})
LEASE = replace(_NOTHING, digest="lease", media_type="application/pdf|PDF")


class Drawer:
    """Draws the first three pages of any PDF, and notes for what it was asked."""

    def __init__(self):
        self.asked = []

    async def page_pictures(self, path, numbers):
        self.asked.append((path.name, list(numbers)))
        return [f"{path.name} {number}".encode() for number in numbers if number <= 3]


class Folder:
    """Has the bytes of every digest."""

    @asynccontextmanager
    async def at(self, digest):
        yield Path(digest)


def readings_by(drawer):
    return Readings(None, Folder(), reader=drawer, listener=None, languages=None, sees=True)


async def test_pages_that_all_came_are_drawn_once():
    """The same pages of the same file, asked for twice; other pages, and those of another file, are drawn."""
    drawer = Drawer()
    readings = readings_by(drawer)

    shown = [await readings.pages(LEASE, [1, 2]) for _ in range(2)]
    others = [await readings.pages(LEASE, [2]), await readings.pages(replace(LEASE, digest="bill"), [2])]

    assert shown == [[b"lease 1", b"lease 2"]] * 2
    assert others == [[b"lease 2"], [b"bill 2"]]
    assert drawer.asked == [("lease", [1, 2]), ("lease", [2]), ("bill", [2])]


async def test_pages_of_which_one_is_missing_are_drawn_anew():
    """What could not be drawn may be by the next try."""
    drawer = Drawer()
    readings = readings_by(drawer)

    shown = [await readings.pages(LEASE, [3, 4]) for _ in range(2)]

    assert shown == [[b"lease 3"]] * 2
    assert len(drawer.asked) == 2
