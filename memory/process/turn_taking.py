"""One at a time per key, many side by side; a lock nobody waits for is gone."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from weakref import WeakValueDictionary


class TurnTaking:
    """Locks by name, made when they are first needed."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: str | None) -> asyncio.Lock | nullcontext[None]:
        """Return a lock that keeps everybody else from this key while it is entered; a free one for None."""
        if key is None:
            return nullcontext()
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock
