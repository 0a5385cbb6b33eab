"""Pauses before a failed call is tried again: in one place, so that tests of other things can wait less."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypedDict


class Retries(TypedDict):
    """Waits of `stamina` between two tries, in seconds."""

    wait_initial: float
    wait_max: float
    wait_jitter: float


@dataclass(frozen=True, slots=True)
class Pauses:
    """Every pause is as long as it is asked for, times `factor`."""

    factor: float = 1.0

    async def rest(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds * self.factor)

    def retries(self, first_s: float, longest_s: float) -> Retries:
        """Return how long to wait between two tries, for `stamina.retry_context`."""
        return {
            "wait_initial": first_s * self.factor,
            "wait_max": longest_s * self.factor,
            "wait_jitter": self.factor,
        }


FULL = Pauses()
