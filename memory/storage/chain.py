"""Reads that follow from each other, run to their end: in one thread, or one after another in the event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from memory.ports import Reads, Row, Statement

_T = TypeVar("_T")


def answered(reads: Reads[_T], ask: Callable[[Statement], list[Row]]) -> _T:
    """Return the result of the reads. Raises as they and `ask` do."""
    try:
        statement = next(reads)
        while True:
            statement = reads.send(ask(statement))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def batch(statements: Sequence[Statement]) -> Reads[list[list[Row]]]:
    """Return reads that do not follow from each other, as a chain."""
    found = []
    for statement in statements:
        rows = yield statement
        found.append(rows)
    return found


async def answered_in_turn(reads: Reads[_T], ask: Callable[[Statement], Awaitable[list[Row]]]) -> _T:
    """Return the result of the reads, asking from the event loop. Raises as they and `ask` do."""
    try:
        statement = next(reads)
        while True:
            statement = reads.send(await ask(statement))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
