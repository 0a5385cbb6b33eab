"""Rows that are sure to be asked for: read in one visit to the database, and handed to the first reader.

A visit costs more than most queries: two threads have to wake, or a server has to answer. Readers do not notice:
`Database.read` looks here first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from memory.errors import StorageError
from memory.ports import Database, Row, Statement


class Ahead:
    """Rows by query, each handed out once; none any more once something was written."""

    def __init__(self, rows: dict[Hashable, list[Row]]) -> None:
        self._rows = rows

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Hand the rows to reads of this task and of the tasks that it starts; forget the rest at the end."""
        token = _at_hand.set(self)
        try:
            yield
        finally:
            _at_hand.reset(token)
            self.let_go()

    def take(self, key: Hashable) -> list[Row] | None:
        """Return the rows of a query the first time, None if it has to be asked."""
        return self._rows.pop(key, None)

    def let_go(self) -> None:
        """Forget all rows."""
        self._rows.clear()


_at_hand: ContextVar[Ahead | None] = ContextVar("rows read ahead", default=None)


async def read_ahead(db: Database, *statements: Statement) -> Ahead:
    """Return the rows of these queries; none when they cannot be read now: the read itself tells. Never raises."""
    try:
        found = await db.read_all(*statements)
    except StorageError:
        return Ahead({})
    return Ahead({_key(db, each.name, each.params): rows for each, rows in zip(statements, found, strict=True)})


def handed(db: Database, name: str, params: Mapping[str, Any]) -> list[Row] | None:
    """Return the rows that are at hand for a query, None if it has to be asked."""
    ahead = _at_hand.get()
    return ahead.take(_key(db, name, params)) if ahead else None


def let_go() -> None:
    """Drop the rows at hand: something is written."""
    if ahead := _at_hand.get():
        ahead.let_go()


@contextmanager
def apart() -> Iterator[None]:
    """Write something that changes none of the rows at hand: they stay."""
    token = _at_hand.set(None)
    try:
        yield
    finally:
        _at_hand.reset(token)


def _key(db: Database, name: str, params: Mapping[str, Any]) -> Hashable:
    return id(db), name, tuple(sorted(params.items()))
