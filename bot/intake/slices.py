"""Going through many things without holding up the event loop: others have it in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

FEW: Final = 8
"""So many full messages of hidden letters, the slowest to read, take 10 ms (`benchmarks/floods.py`, November 2026)."""

_T = TypeVar("_T")


async def in_slices(items: Iterable[_T]) -> AsyncIterator[_T]:
    """Yield each in order; after every few, other tasks have their turn."""
    for number, item in enumerate(items):
        if number and number % FEW == 0:
            await asyncio.sleep(0)
        yield item
