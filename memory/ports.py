"""The outside needs of `memory`, as small Protocols: time, ids, token counts, a database."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Row = Mapping[str, Any]
_T = TypeVar("_T")


def unobserved(*_: object) -> None:
    """Do nothing: the observer while nobody measures."""


@dataclass(frozen=True, slots=True)
class Observers:
    """Callables that are told of events in a memory; by default they do nothing."""

    commit: Callable[[float], None] = unobserved
    """Told the seconds of each transaction, from BEGIN to the end of its COMMIT; from any thread."""
    fsync: Callable[[str, float], None] = unobserved
    """Told the place (`"database"` or `"checkpoint"`) and the seconds of each wait for the disk; from any thread."""
    reading: Callable[[str, Any], None] = unobserved
    """Told of each reading of the keeper: the model's name, and its `ReadingOutcome`."""
    news: Callable[[str], None] = unobserved
    """Told the news of other processes on a shared database; "" when some may have been missed."""
    excused_json: Callable[[], str] = lambda: "[]"
    """Asked for the turns that are not to blame if this process dies now, as JSON; noted as long as it lives."""


NOBODY = Observers()


class Clock(Protocol):
    """The time of day. Order never depends on it (P12)."""

    def now_ms(self) -> int:
        """Return UTC epoch milliseconds."""
        ...


class Ids(Protocol):
    """Fresh, unguessable identifiers."""

    def new(self, prefix: str) -> str:
        """Return `<prefix>_<hex>`; never the same twice."""
        ...


class TokenCounter(Protocol):
    """The tokens that a text costs the model."""

    def count(self, text: str) -> int:
        """Return the number of tokens, 0 for an empty text; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Statement:
    """One named query with its arguments, to be run inside a transaction.

    `expect` is the number of rows to be changed or returned; any other number rolls the whole transaction back with
    `Conflict`. `None` accepts any number.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    expect: int | None = None


Reads = Generator[Statement, list[Row], _T]
"""Reads that follow from each other: yields each query, is sent its rows, and returns the result. Pure."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one statement: the rows that it returned (RETURNING) and how many rows it changed."""

    rows: Sequence[Row]
    changed: int


class Lock(Protocol):
    """The lock that keeps other processes out of a database."""

    def keep(self) -> None:
        """Take it again when it was lost without our doing. Raises `Locked`, `StorageUnavailable`."""
        ...

    def release(self) -> object:
        """Let others in."""
        ...


class Database(Protocol):
    """Named queries over one database; the same names on every backend."""

    async def read(self, name: str, /, **params: Any) -> list[Row]:
        """Return all rows of the named query over committed data. Raises `StorageUnavailable`."""
        ...

    async def read_one(self, name: str, /, **params: Any) -> Row | None:
        """Return the first row of the named query, or None."""
        ...

    async def read_chain(self, reads: Reads[_T], /) -> _T:
        """Run reads that follow from each other without a way back to the event loop in between, where there is one.

        Each sees the data committed when it runs. The generator may run in another thread. Raises as the generator
        does, and `StorageUnavailable`.
        """
        ...

    async def read_all(self, *statements: Statement) -> list[list[Row]]:
        """Return the rows of several queries that do not follow from each other, in one visit; else as `read` does."""
        ...

    async def write(self, *statements: Statement) -> list[Result]:
        """Run the statements as one transaction; when this returns they survive a power cut.

        Concurrent calls may share one commit (group commit); each still succeeds or fails alone.
        Raises `Conflict` when an `expect` is not met or a unique key exists, `StorageUnavailable` when the disk
        refuses; in both cases nothing of this call is stored.
        """
        ...

    async def close(self) -> None:
        """Finish accepted work and let go of the files. A second call does nothing."""
        ...
