"""Waiting for something to become true, woken by changes instead of by the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Announces changes to everybody who waits for one."""

    def __init__(self) -> None:
        self._next = asyncio.Event()
        self.count = 0

    def announce(self) -> None:
        """Wake everybody who waits."""
        self.count += 1
        self._next.set()
        self._next = asyncio.Event()

    async def until(self, check: Callable[[], T], timeout_s: float | None, *, look_s: float | None = None) -> T:
        """Return the first true value of `check`, asked now and after each change. Raises TimeoutError.

        With `look_s` it is also asked every so many seconds, for changes that nobody announces here.
        """
        async with asyncio.timeout(timeout_s):
            while True:
                following = self._next
                if found := check():
                    return found
                await _wait(following, look_s)


async def _wait(event: asyncio.Event, at_most_s: float | None) -> None:
    try:
        async with asyncio.timeout(at_most_s):
            await event.wait()
    except TimeoutError:
        return
