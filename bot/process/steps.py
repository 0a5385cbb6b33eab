"""The names of the work under way, one place per thread, in a file that outlives any death of the process.

When the event loop stands still for too long (`bot.process.watch`), nothing of Python runs any more that could say
whose work hangs. So it is said before each step, in pages of the file that stand in memory: a call to the system would
let go of the interpreter's lock, and wait until the other threads give it back. The signal that comes with the
standstill adds where every thread stands (files, lines and names of functions) behind these places; a file that is
longer than them tells the next start that the process died of it, and the places tell in whose work.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import mmap
import os
import signal
import threading
from collections.abc import Coroutine, Generator
from pathlib import Path
from types import TracebackType, coroutine
from typing import Any, Final, TypeVar

PLACES: Final = 64
WIDTH: Final = 128
LENGTH: Final = PLACES * WIDTH
BESIDE: Final = 16
"""The most processes with their data beside each other, with a database on a server."""

_T = TypeVar("_T")


class Steps:
    """The places of this process, and the names that the process before left in its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._trace: int | None = None
        self._pages: mmap.mmap | None = None
        self._places: dict[int, int] = {}
        self.hung: tuple[str, ...] = ()
        """The names of the work in whose midst the process before stood still until it died."""

    def open(self) -> None:
        """Read the names that the process before left, which stay until `forget`. Never raises."""
        with contextlib.suppress(OSError):
            path = self._take()
            left = os.pread(self._held, LENGTH, 0)
            is_longer = os.fstat(self._held).st_size > LENGTH
            if is_longer:
                places = (left[at : at + WIDTH].rstrip(b"\0") for at in range(0, LENGTH, WIDTH))
                self.hung = tuple(sorted({place.decode("utf-8", "replace") for place in places if place}))
            with contextlib.suppress(OSError, ValueError):
                if os.pwrite(self._held, left.ljust(LENGTH, b"\0"), 0) == LENGTH:  # a page without room would kill us
                    self._pages = mmap.mmap(self._held, LENGTH)
            if not is_longer:
                self.forget()
            self._trace = os.open(path, os.O_WRONLY | os.O_APPEND)
            faulthandler.register(signal.SIGALRM, file=self._trace, all_threads=True)

    @property
    def _held(self) -> int:
        if self._file is None:
            raise OSError("there is no file")
        return self._file

    def _take(self) -> Path:
        """Take the file that no other process beside this one has. Raises OSError."""
        for number in range(BESIDE):
            path = self._path.with_name(f"{self._path.name}.{number}") if number else self._path
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                continue
            self._file = file
            return path
        raise OSError("too many processes in one folder")

    def close(self) -> None:
        """Close the file."""
        if self._trace is not None:
            faulthandler.unregister(signal.SIGALRM)
        if self._pages is not None:
            self._pages.close()
        self._pages = None
        files, self._file, self._trace = (self._file, self._trace), None, None
        for each in files:
            if each is not None:
                os.close(each)

    def forget(self) -> None:
        """Empty the places: the blame is stored, or the standstill has passed. Never raises."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._held, LENGTH)
            os.pwrite(self._held, bytes(LENGTH), 0)

    def mark(self, name: str) -> StepOf:
        """Return the context of a step of this work, for any thread."""
        return StepOf(self, name.encode()[:WIDTH].ljust(WIDTH, b"\0"))

    def put(self, text: bytes) -> None:
        """Write into this thread's place. Never raises."""
        thread = threading.get_ident()
        place = self._places.get(thread)
        if place is None:
            place = self._places.setdefault(thread, len(self._places))
        if self._pages is not None and place < PLACES:
            self._pages[place * WIDTH : (place + 1) * WIDTH] = text


class StepOf:
    """The mark of one work: entered while one of its steps runs, never for as long as it waits."""

    def __init__(self, steps: Steps, text: bytes) -> None:
        self._steps = steps
        self._text = text

    def __enter__(self) -> None:
        """Say whose step begins."""
        self._steps.put(self._text)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say that it is done."""
        self._steps.put(bytes(WIDTH))


async def step_by_step(work: Coroutine[Any, Any, _T], mark: StepOf) -> _T:
    """Do the work, with its mark set while the event loop runs a step of it."""
    return await _stepped(work, mark)


@coroutine
def _stepped(work: Coroutine[Any, Any, _T], mark: StepOf) -> Generator[Any, Any, _T]:
    value, error = None, None
    while True:
        try:
            with mark:
                awaited = work.send(value) if error is None else work.throw(error)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        value, error = None, None
        try:
            value = yield awaited
        except GeneratorExit:
            work.close()
            raise
        except BaseException as exc:  # noqa: BLE001 - it is the work's: a cancel, most of all
            error = exc
