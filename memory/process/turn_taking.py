"""One at a time per key, many side by side; a lock nobody waits for is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class TurnTaking:
    """Locks by name, made when they are first needed."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, key: str | None) -> AsyncIterator[None]:
        """Keep everybody else from this key meanwhile; None = nothing to keep."""
        if key is None:
            yield
            return
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        async with lock:
            yield
