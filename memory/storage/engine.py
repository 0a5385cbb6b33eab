"""The database of an address: SQLite in a file, or PostgreSQL on a server, whose driver is an extra."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from memory.errors import StorageError
from memory.ports import NOBODY, Database, Lock, Observers, Row, unobserved
from memory.storage.condition import Condition
from memory.storage.place import is_server, take_lock
from memory.storage.sqlite.database import SqliteDatabase
from memory.storage.sqlite.digests import Digests
from memory.storage.sqlite.schema import SchemaFile

NO_DRIVER = (
    "PostgreSQL needs its driver: install the extra, pip install 'continuity-bot[postgres]' "
    "(or 'continuity-memory[postgres]')"
)


class OpenDatabase(Database, Protocol):
    """A database of a memory: the port's promises, and the questions of its operators."""

    condition: Condition

    @property
    def taken_over(self) -> bool:
        """Whether others have declared this process dead: it neither stores nor says anything any more."""
        ...

    @property
    def shared(self) -> bool:
        """Whether other processes may work on it at the same time."""
        ...

    @property
    def files(self) -> Sequence[Path]:
        """Its files on this machine; () on a server."""
        ...

    @property
    def where(self) -> str:
        """Its path or address for people, without the password."""
        ...

    async def join(self, lock: Lock, *, boot_id: str = "", alone: bool = True) -> bool:
        """Work on it, with the lock held; return whether no other process does. Raises `StorageUnavailable`."""
        ...

    def owned(self) -> bool:
        """Return whether it is certain that nobody has declared this process dead just now."""
        ...

    def trouble(self, *, besides: Collection[str] = ()) -> str | None:
        """Return why nothing should be confirmed just now, None when all is well; `besides` leaves calls out."""
        ...

    async def wal_truncate(self) -> None:
        """Let deleted text go from the files, as far as it is ours to do (P13). Raises `StorageUnavailable`."""
        ...

    async def backup_to(self, target: Path, told: Callable[[int, int], None] = unobserved) -> None:
        """Write a consistent copy to a file while work goes on. Raises `StorageError` where another tool does this."""
        ...

    async def integrity(self) -> tuple[str, ...]:
        """Return the findings of the database's own check; () when it is sound."""
        ...

    async def altered_rows(self) -> tuple[str, ...]:
        """Return the rows that were altered on the disk, in words, beside turns; () where the server looks at that."""
        ...

    async def accept_altered_rows(self) -> None:
        """Take these rows as they are from now on. Raises `StorageUnavailable`."""
        ...

    async def size_bytes(self) -> int:
        """Return the size of its tables and indexes."""
        ...

    async def settings(self) -> dict[str, Any]:
        """Return the settings that it really runs with, for `doctor`."""
        ...


class SharedDatabase(OpenDatabase, Protocol):
    """A database on which several processes work."""

    @property
    def worker(self) -> int | None:
        """The number of this process among them; None as long as it has not joined."""
        ...

    async def workers(self) -> list[Row]:
        """Return the processes that work on it, and whether each is taken for dead. Raises `StorageUnavailable`."""
        ...

    async def tell(self, text: str) -> None:
        """Tell every process that listens. Raises `StorageUnavailable`."""
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


async def open_database(
    where: Path | str,
    queries: Sequence[Path],
    digests: Digests,
    *,
    worker: str = "",
    read_only: bool = False,
    observers: Observers = NOBODY,
) -> OpenDatabase:
    """Open the database at a path, whose rows have digests, or at an address, where connections name this worker.

    Raises as the adapters do, and `StorageError` without the driver.
    """
    if not is_server(where):
        return await SqliteDatabase.open(where, queries, digests, read_only=read_only, observers=observers)
    with _driver():
        from memory.storage.postgres.database import PostgresDatabase
    return await PostgresDatabase.open(str(where), queries, worker=worker, read_only=read_only, observers=observers)


def open_schema(where: Path | str, digests: Digests, *, read_only: bool = False) -> Schema:
    """Return the schema's connection of a path or an address. Raises `StorageUnavailable`, `UnsafeSettings`."""
    if not is_server(where):
        return SchemaFile(where, digests, read_only=read_only)
    with _driver():
        from memory.storage.postgres.schema import SchemaServer
    return SchemaServer(str(where), read_only=read_only)


def lock_alone(where: Path | str, *, shared: bool = False) -> Lock:
    """Keep other processes out of a database. Raises `Locked` when one is there, `StorageUnavailable`.

    With `shared`, where several can work, only those that want it alone.
    """
    if not is_server(where):
        return take_lock(Path(where))
    with _driver():
        from memory.storage.postgres.schema import ServerLock
    return ServerLock(str(where), shared=shared)


def is_held(where: str) -> bool:
    """Return whether a process works on a database on a server. Raises `StorageUnavailable`."""
    with _driver():
        from memory.storage.postgres import schema as postgres_schema
    return postgres_schema.is_held(where)


def shared_database(db: OpenDatabase) -> SharedDatabase | None:
    """Return the same database where several processes may work on it, None for a file."""
    if not db.shared:
        return None
    with _driver():
        from memory.storage.postgres.database import PostgresDatabase
    if not isinstance(db, PostgresDatabase):
        raise TypeError(f"{type(db).__name__} says that it is shared, but does not know its workers")
    return db


@contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ImportError as exc:
        raise StorageError(NO_DRIVER) from exc
