"""The condition of a database: calls it refuses, damage that no waiting mends. Asked before anything is confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from memory.errors import Conflict, StorageDamaged, StorageError, Unstorable

FRESH_S: Final = 30.0
"""A refusal counts until the same call works, at most so long: a caller in need has tried again by then."""


class Condition:
    """Refusals by the name of the call, and the first damage. Reads no file and no clock of its own."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._refused: dict[str, tuple[float, str]] = {}
        self.beyond_repair: str | None = None
        """Why this database cannot be worked with any more; None while it can."""
        self._recovered = asyncio.Event()

    def worked(self, call: str) -> None:
        """Note that a call was done."""
        if self._refused.pop(call, None) and not self._refused:
            self._recovered.set()

    async def recovered(self) -> None:
        """Return the next time that the last of the refused calls is done."""
        self._recovered.clear()
        await self._recovered.wait()

    def failed(self, call: str, error: BaseException) -> None:
        """Note that a call was refused; a `Conflict` is an answer, and `Unstorable` says nothing of the database."""
        if isinstance(error, StorageDamaged):
            self.beyond_repair = self.beyond_repair or str(error)
        if isinstance(error, StorageError) and not isinstance(error, (Conflict, Unstorable)):
            self._refused[call] = (self._now_s(), str(error))

    def trouble(self, *, besides: Collection[str] = ()) -> str | None:
        """Return why the database cannot be relied on just now, None when it can; `besides` leaves calls out."""
        if self.beyond_repair:
            return self.beyond_repair
        since_s = self._now_s() - FRESH_S
        self._refused = {call: refused for call, refused in self._refused.items() if refused[0] > since_s}
        return next((why for call, (_, why) in self._refused.items() if call not in besides), None)
