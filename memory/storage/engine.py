"""Which database an address means: SQLite in a file, or PostgreSQL on a server, whose driver is an extra."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from memory.errors import StorageError
from memory.ports import Database, Lock, unobserved
from memory.storage.condition import Condition
from memory.storage.place import is_server, take_lock
from memory.storage.sqlite import SqliteDatabase
from memory.storage.sqlite_schema import SchemaFile

NO_DRIVER = (
    "PostgreSQL needs its driver: install the extra, pip install 'continuity-bot[postgres]' "
    "(or 'continuity-memory[postgres]')"
)


class OpenDatabase(Database, Protocol):
    """A database of a memory: what the port promises, and what its operators ask."""

    condition: Condition
    on_commit: Callable[[float], None]
    """Told the seconds of each COMMIT."""
    on_fsync: Callable[[float], None]
    """Told the seconds that it waited for the disk, as far as that is known here."""

    @property
    def taken_over(self) -> bool:
        """Whether another process works on it by now: this one neither stores nor says anything any more."""
        ...

    @property
    def shared(self) -> bool:
        """Whether other processes may work on it at the same time."""
        ...

    @property
    def files(self) -> Sequence[Path]:
        """The files on this machine in which it lies; () on a server."""
        ...

    @property
    def where(self) -> str:
        """Where it is, for people: no password."""
        ...

    async def own(self, lock: Lock) -> None:
        """Have the database to itself, with the lock held. Raises `StorageUnavailable`."""
        ...

    def owned(self) -> bool:
        """Return whether it is certain that no other process has taken the database over just now."""
        ...

    def trouble(self, *, besides: Collection[str] = ()) -> str | None:
        """Return why nothing should be confirmed just now, None when all is well; `besides` leaves calls out."""
        ...

    async def wal_truncate(self) -> None:
        """Let what was deleted go from the files, as far as it is ours to do (P13). Raises `StorageUnavailable`."""
        ...

    async def backup_to(self, target: Path, told: Callable[[int, int], None] = unobserved) -> None:
        """Write a consistent copy to a file while work goes on. Raises `StorageError` where another tool does this."""
        ...

    async def integrity(self) -> tuple[str, ...]:
        """Return what the database's own check finds; () when it is sound."""
        ...

    async def size_bytes(self) -> int:
        """Return how much room its tables and indexes take."""
        ...

    async def settings(self) -> dict[str, Any]:
        """Return what it really runs with, for `doctor`."""
        ...


class Schema(Protocol):
    """A connection that changes the schema: whole scripts, each in one transaction."""

    def rows(self, sql: str, params: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of one query; [] when its table does not exist yet. Raises `StorageUnavailable`."""
        ...

    def tables(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the tables with rows of their own: name → its columns and, of these, the primary key."""
        ...

    def write(self, *work: tuple[str, Sequence[dict[str, Any]]]) -> None:
        """Run each statement with each of its sets of parameters, all as one transaction."""
        ...

    def run(self, script: str, record: str, params: dict[str, Any], unless: str) -> bool:
        """Run the script and then `record` as one transaction; False when `unless` returns a row already."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def dialect_of(where: Path | str) -> str:
    """Return the dialect of an address, as it stands in the names of `.sql` files."""
    return "postgres" if is_server(where) else "sqlite"


async def open_database(where: Path | str, queries: Sequence[Path], *, read_only: bool = False) -> OpenDatabase:
    """Open the database at a path or an address. Raises as the adapters do, and `StorageError` without the driver."""
    if not is_server(where):
        return await SqliteDatabase.open(where, queries, read_only=read_only)
    with _driver():
        from memory.storage.postgres import PostgresDatabase  # noqa: PLC0415 - the driver is an extra
    return await PostgresDatabase.open(str(where), queries, read_only=read_only)


def open_schema(where: Path | str, *, read_only: bool = False) -> Schema:
    """Return the schema's connection of a path or an address. Raises `StorageUnavailable`, `UnsafeSettings`."""
    if not is_server(where):
        return SchemaFile(where, read_only=read_only)
    with _driver():
        from memory.storage.postgres_schema import SchemaServer  # noqa: PLC0415 - the driver is an extra
    return SchemaServer(str(where), read_only=read_only)


def lock_alone(where: Path | str) -> Lock:
    """Keep other processes out of a database. Raises `Locked` when one is there, `StorageUnavailable`."""
    if not is_server(where):
        return take_lock(Path(where))
    with _driver():
        from memory.storage.postgres_schema import ServerLock  # noqa: PLC0415 - the driver is an extra
    return ServerLock(str(where))


def is_held(where: str, *, end_silent: bool = False) -> bool:
    """Return whether a process has a database on a server to itself; with `end_silent` a silent one must let go.

    Raises `StorageUnavailable`.
    """
    with _driver():
        from memory.storage import postgres_schema  # noqa: PLC0415 - the driver is an extra
    return postgres_schema.is_held(where, end_silent=end_silent)


@contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ImportError as exc:
        raise StorageError(NO_DRIVER) from exc
