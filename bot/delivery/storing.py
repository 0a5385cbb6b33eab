"""A database that refuses is asked again until it takes it: one way for all who store (P10)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina

from bot.pauses import Pauses
from memory.errors import StorageUnavailable

_T = TypeVar("_T")

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0


def is_refusal(error: Exception) -> bool:
    """Return True for every error with which a database refuses."""
    return isinstance(error, StorageUnavailable)


async def until_stored(
    work: Callable[[], Awaitable[_T]],
    pauses: Pauses,
    *,
    passes: Callable[[Exception], bool] = is_refusal,
    patience_s: float | None = None,
) -> _T:
    """Return the result of `work`, as soon as it isn't refused with an error that `passes`; None = endless patience.

    Raises the last refusal when patience is at its end, and at once an error that doesn't pass.
    """
    try:
        return await work()  # mostly it does, and the bookkeeping of tries costs as much as a statement
    except StorageUnavailable as exc:
        if not passes(exc):
            raise
    await pauses.rest(FIRST_PAUSE_S)
    async for attempt in stamina.retry_context(
        on=passes, attempts=None, timeout=patience_s, **pauses.retries(FIRST_PAUSE_S, LONGEST_PAUSE_S)
    ):
        with attempt:
            return await work()
    raise AssertionError("stamina either returns or raises")
