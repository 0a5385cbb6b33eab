"""Work that runs to its end, also when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class Shielded:
    """Tasks that go on when their waiting caller is cancelled."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()
        """The tasks under way, awaited or not."""

    async def run(self, work: Coroutine[Any, Any, _T], *, name: str | None = None) -> _T:
        """Return the result of the work. When the caller is cancelled the work goes on, and its error is dropped."""
        task = asyncio.create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen, else asyncio reports it as never retrieved
