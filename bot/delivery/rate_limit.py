"""The pace that Telegram allows: to one person a short burst, then one a second; 20 a minute per group; 30 in all."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

PRIVATE_GAP_S = 1.0
PRIVATE_BURST = 3
"""Telegram asks for one a second in a chat and lets short bursts pass: the parts of one answer need not wait."""
GROUP_PER_MINUTE = 20
TOTAL_PER_SECOND = 30


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits in force; tests of other things may loosen them."""

    private_gap_s: float = PRIVATE_GAP_S
    private_burst: int = PRIVATE_BURST
    group_per_minute: int = GROUP_PER_MINUTE
    total_per_second: int = TOTAL_PER_SECOND


class RateLimiter:
    """Counts sent messages; times are seconds of one monotonic clock, handed in."""

    def __init__(self, limits: RateLimits | None = None) -> None:
        self._limits = limits or RateLimits()
        self.workers = 1
        """Number of processes that share the messages of a second, in equal parts."""
        self._total: deque[float] = deque()
        self._chats: dict[int, deque[float]] = {}
        self._rested_at: dict[int, float] = {}
        """The moments at which private chats may get a whole burst again."""
        self._stalled_until: dict[int, float] = {}

    def wait_s(self, chat_id: int, now_s: float) -> float:
        """Return how long to wait before the next call to this chat, in seconds; 0 = now."""
        ready = self._stalled_until.get(chat_id, 0.0)
        sent = self._chats.get(chat_id, ())
        if chat_id in self._rested_at:
            burst_s = (self._limits.private_burst - 1) * self._limits.private_gap_s
            ready = max(ready, self._rested_at[chat_id] - burst_s)
        if chat_id < 0 and len(sent) >= self._limits.group_per_minute:
            ready = max(ready, sent[-self._limits.group_per_minute] + 60.0)
        total = max(1, self._limits.total_per_second // self.workers)
        if len(self._total) >= total:
            ready = max(ready, self._total[-total] + 1.0)
        return max(0.0, ready - now_s)

    def sent(self, chat_id: int, now_s: float) -> None:
        """Count one call to this chat."""
        sent = self._chats.setdefault(chat_id, deque(maxlen=self._limits.group_per_minute))
        sent.append(now_s)
        if chat_id > 0:
            self._rested_at[chat_id] = max(now_s, self._rested_at.get(chat_id, 0.0)) + self._limits.private_gap_s
        self._total.append(now_s)
        while len(self._total) > self._limits.total_per_second:
            self._total.popleft()
        if len(self._chats) > 10_000:  # noqa: PLR2004 - forget chats that were quiet for more than a minute
            self._chats = {key: times for key, times in self._chats.items() if times[-1] > now_s - 60.0}
            self._rested_at = {key: at for key, at in self._rested_at.items() if at > now_s}

    def stall(self, chat_id: int, until_s: float) -> None:
        """Let only this chat wait, since Telegram said so (429)."""
        self._stalled_until[chat_id] = max(until_s, self._stalled_until.get(chat_id, 0.0))
