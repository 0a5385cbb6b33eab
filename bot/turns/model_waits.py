"""Which turns wait for a model just now, in a small file that outlives kill -9.

A process that dies while a turn merely waits for its model was most likely killed from outside; one that dies while it
works on a turn was most likely killed by it. All of them count together; how the last one ended decides whether the
turn is put aside after ten or after three (P3). The file is a hint: it is not synced; without it every death counts
fully.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import orjson

MAX_DEATHS_AT_WORK = 3
MAX_DEATHS_WAITING = 10


def limit(*, excused: bool) -> int:
    """Return after how many begun attempts a turn is put aside, given how the last one ended."""
    return MAX_DEATHS_WAITING if excused else MAX_DEATHS_AT_WORK


class ModelWaits:
    """The turns that wait for a model in this process, and those that did when the one before died."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turns: set[str] = set()
        self._length = 0
        self._file: int | None = None
        self.before: frozenset[str] = frozenset()
        """Turns that were waiting when the previous process died; empty after an orderly stop."""

    def open(self) -> None:
        """Read what the previous process left, then start with an empty list. Never raises."""
        with contextlib.suppress(OSError):
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            with contextlib.suppress(orjson.JSONDecodeError, TypeError):
                self.before = frozenset(orjson.loads(os.pread(self._file, 1_000_000, 0)))
            os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Let go of the file; what it says stays."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @contextlib.contextmanager
    def on(self, turn_id: str) -> Iterator[None]:
        """Note that a turn waits for its model for as long as this is entered."""
        self._turns.add(turn_id)
        self._write()
        try:
            yield
        finally:
            self._turns.discard(turn_id)
            self._write()

    def _write(self) -> None:
        """Write the list over the old one in one call, padded so that nothing of the old one is left."""
        text = orjson.dumps(sorted(self._turns))
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, text.ljust(self._length), 0)
                self._length = max(self._length, len(text))
