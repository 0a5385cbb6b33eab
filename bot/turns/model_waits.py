"""The turns that are not to blame if the process dies now, in a small file that outlives kill -9.

A process that dies while a turn merely waits for its model was most likely killed from outside, and of several turns at
work nobody knows which one killed it. Such a death is counted by itself, and ten of them put a turn aside; a death
while it was alone at work is an attempt that failed, of which there are three (P3). So is a death of an event loop that
stood still: then it is known whose step hung, and to wait for a model is no excuse. The files are hints: they are not
synced; without them every death is held against the turns that were begun.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import orjson

from bot.intake.updates import Envelope
from bot.process.steps import Steps, step_by_step
from bot.process.threads import AT_WORK

_T = TypeVar("_T")

MAX_ATTEMPTS = 3
MAX_WAITS = 10
MAX_BYTES = 1_000_000


def is_given_up(attempts: int, waits: int) -> bool:
    """Return whether a turn is put aside: `attempts` it failed by itself, in `waits` it died without blame."""
    return attempts >= MAX_ATTEMPTS or waits >= MAX_WAITS


class ModelWaits:
    """The turns that are not to blame in this process, and those that were not when the one before died."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._steps = Steps(path.with_name(path.name + ".steps"))
        self._waiting: set[str] = set()
        self._at_work: set[str] = set()
        self._length = 0
        self._file: int | None = None
        self.before: frozenset[str] = frozenset()
        """Turns that were not to blame when the previous process died; empty after an orderly stop."""
        self.hung: frozenset[str] = frozenset()
        """Turns in whose midst the event loop of the previous process stood still until it died."""
        self.hung_update_ids: frozenset[int] = frozenset()
        """The first update of each of them."""

    def open(self) -> None:
        """Read the files of the previous process; they stay until the first turn begins. Never raises."""
        with contextlib.suppress(OSError):
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            left = os.pread(self._file, MAX_BYTES, 0)
            self._length = len(left)
            with contextlib.suppress(orjson.JSONDecodeError, TypeError):
                self.before = frozenset(orjson.loads(left))
        self._steps.open()
        with contextlib.suppress(ValueError):
            hung = [name.split() for name in self._steps.hung]
            self.hung = frozenset(turn_id for turn_id, _ in hung)
            self.hung_update_ids = frozenset(int(update_id) for _, update_id in hung)
        self.before -= self.hung

    def close(self) -> None:
        """Close the files; their content stays."""
        self._steps.close()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def blamed(self) -> None:
        """Forget the standstill: its turns are counted as tried."""
        self._steps.forget()

    async def in_steps(self, turn_id: str, first: Envelope, work: Coroutine[Any, Any, _T]) -> _T:
        """Do the work, and let it be seen in each of its steps, in threads too, whose it is."""
        mark = self._steps.mark(f"{turn_id} {first.update_id}")
        before = AT_WORK.set(mark)
        try:
            return await step_by_step(work, mark)
        finally:
            AT_WORK.reset(before)

    def on(self, turn_id: str) -> contextlib.AbstractContextManager[None]:
        """Note that a turn waits for its model for as long as this is entered."""
        return self._noted(self._waiting, turn_id)

    def at_work(self, turn_id: str) -> contextlib.AbstractContextManager[None]:
        """Note that a turn is worked on for as long as this is entered, from before its claim."""
        return self._noted(self._at_work, turn_id)

    @contextlib.contextmanager
    def _noted(self, turns: set[str], turn_id: str) -> Iterator[None]:
        turns.add(turn_id)
        self._write()
        try:
            yield
        finally:
            turns.discard(turn_id)
            self._write()

    def noted(self) -> str:
        """Return the turns that are not to blame just now, as JSON."""
        together = self._at_work if len(self._at_work) > 1 else set()
        return orjson.dumps(sorted(self._waiting | together)).decode()

    def _write(self) -> None:
        """Write the list over the old one in one call, padded so that nothing of the old one is left."""
        text = self.noted().encode()
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, text.ljust(self._length), 0)
                self._length = max(self._length, len(text))
