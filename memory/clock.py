"""The real clock and the real ids."""

from __future__ import annotations

import time
import uuid


class SystemClock:
    """The machine's time of day."""

    def now_ms(self) -> int:
        """Return UTC epoch milliseconds."""
        return time.time_ns() // 1_000_000


class RandomIds:
    """Unguessable ids."""

    def new(self, prefix: str) -> str:
        """Return `<prefix>_<32 hex digits>`."""
        return f"{prefix}_{uuid.uuid4().hex}"
