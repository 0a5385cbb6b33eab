"""A clock that can be moved forward, by the number in a small file, so that parent and child agree."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable
from pathlib import Path

LOOK_EVERY_S = 0.3
_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SKIP = re.compile(r"/skip\s+(\d{1,4})\s*([mhd])", re.IGNORECASE)


def skipped_ms(typed: str) -> int | None:
    """Return the milliseconds that `/skip 8h` (30m, 2d) moves the clock on; None for anything else."""
    found = _SKIP.fullmatch(typed.strip())
    return int(found[1]) * _UNITS_MS[found[2].lower()] if found else None


class MovedClock:
    """The machine's time of day plus the number of the file, in milliseconds; without the file, the time of day."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen_ns = -1
        self._ahead_ms = 0

    def now_ms(self) -> int:
        """Return UTC epoch milliseconds."""
        return time.time_ns() // 1_000_000 + self.ahead_ms()

    def ahead_ms(self) -> int:
        """Return the milliseconds that the clock is ahead; the file is read again only when it changed."""
        with contextlib.suppress(OSError, ValueError):
            seen_ns = self._path.stat().st_mtime_ns
            if seen_ns != self._seen_ns:
                self._ahead_ms = int(self._path.read_text(encoding="ascii"))
                self._seen_ns = seen_ns
        return self._ahead_ms

    def forget(self) -> None:
        """Go with the time of day again, when the file is gone."""
        self._seen_ns, self._ahead_ms = -1, 0

    def move(self, ms: int) -> None:
        """Move on, for everybody who reads the file."""
        ahead_ms = self.ahead_ms() + ms
        fresh = self._path.with_suffix(".new")
        fresh.write_text(str(ahead_ms), encoding="ascii")
        fresh.replace(self._path)


async def follow(clock: MovedClock, look: Callable[[], None]) -> None:
    """Call `look` whenever the clock was moved, until cancelled."""
    ahead_ms = clock.ahead_ms()
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if clock.ahead_ms() != ahead_ms:
            ahead_ms = clock.ahead_ms()
            look()
