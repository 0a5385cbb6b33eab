"""Bring a database to the schema of this program: numbered files, each applied and recorded in one transaction.

Numbers 0001 … are the memory's. A program with tables of its own counts in another thousand (1001 …), so that both grow
by themselves and one ledger lists the migrations of a database.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.errors import SchemaMismatch, StorageError
from memory.ports import unobserved
from memory.storage.engine import Schema, dialect_of, open_schema
from memory.storage.named_queries import load_queries
from memory.storage.place import is_server, shown
from memory.storage.sqlite.digests import MEMORY_DIGESTS, Digests

FOLDER = Path(__file__).parent / "migrations"
MEMORY_ONLY = (FOLDER,)
COPYING = 999
"""While a copy into a database is under way its ledger holds this number: no program knows it, so none works there."""
SERIES = 1000
"""The count of numbers for one program."""
_FILE_NAME = re.compile(r"(?P<number>\d{4})_(?P<name>\w+?)(\.(?P<dialect>sqlite|postgres))?\.sql")
_QUERIES = load_queries([Path(__file__).parent / "queries.sql"])


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: `NNNN_name.sql` and, by necessity, `NNNN_name.<dialect>.sql`, which runs after it."""

    number: int
    name: str
    script: str

    def __str__(self) -> str:
        return f"{self.number:04d}_{self.name}"


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """The schema of a database: the newest migration of the memory that it has (0 = none), and those still needed."""

    current: int
    newest: int
    pending: tuple[Migration, ...]
    newest_applied: tuple[int, ...] = ()
    """The newest migration that it has of each series that this program knows."""
    ahead: tuple[int, ...] = ()
    """Migrations that it has and this program does not know, of a series that this program knows."""


def available(folder: Path = FOLDER, dialect: str = "sqlite") -> list[Migration]:
    """Return the migrations of a folder in their order. Raises `StorageError` for a file name it cannot read."""
    parts: dict[int, list[tuple[str, str, str]]] = {}
    for file in folder.glob("*.sql"):
        match = _FILE_NAME.fullmatch(file.name)
        if not match:
            raise StorageError(f"migration {file} is not named NNNN_name.sql or NNNN_name.<dialect>.sql; rename it")
        if match["dialect"] in (None, dialect):
            part = (match["dialect"] or "", match["name"], file.read_text(encoding="utf-8"))
            parts.setdefault(int(match["number"]), []).append(part)
    return [_joined(number, sorted(files)) for number, files in sorted(parts.items())]


def _joined(number: int, files: Sequence[tuple[str, str, str]]) -> Migration:
    names = {name for _, name, _ in files}
    if len(names) > 1 or len(files) > 2:  # noqa: PLR2004 - the portable file and the dialect's
        raise StorageError(f"migration number {number:04d} is used for {sorted(names)}; every number has one name")
    return Migration(number, names.pop(), "\n".join(script for _, _, script in files))


def compare(known: Sequence[Migration], applied: Collection[int]) -> SchemaStatus:
    """Return the status of a database with these migrations; a series that nobody here knows is not our matter."""
    newest = {step.number // SERIES: step.number for step in sorted(known, key=lambda step: step.number)}
    has = {number // SERIES: number for number in sorted(applied)}
    return SchemaStatus(
        current=has.get(0, 0),
        newest=newest.get(0, 0),
        pending=tuple(step for step in known if step.number not in applied),
        newest_applied=tuple(number for series, number in has.items() if series in newest),
        ahead=tuple(sorted(number for number in applied if number > newest.get(number // SERIES, number))),
    )


def status(path: Path | str, folders: Sequence[Path] = MEMORY_ONLY) -> SchemaStatus:
    """Return the database's status without changing it; a file that does not exist has everything pending.

    `folders` of migrations: the memory's, then those of its extensions. Raises `StorageUnavailable` when it cannot be
    read.
    """
    if not is_server(path) and not Path(path).exists():
        return compare(_known(folders, path), ())
    with open_schema(path, {}, read_only=True) as schema:
        return _status(schema, folders, path)


def _known(folders: Sequence[Path], path: Path | str) -> list[Migration]:
    return [step for folder in folders for step in available(folder, dialect_of(path))]


def _status(schema: Schema, folders: Sequence[Path], path: Path | str) -> SchemaStatus:
    return compare(_known(folders, path), {row[0] for row in schema.rows(_QUERIES["applied_migrations"])})


def pending(path: Path | str, folders: Sequence[Path] = MEMORY_ONLY) -> tuple[str, ...]:
    """Return the names of the migrations that the database still needs."""
    return tuple(str(migration) for migration in status(path, folders).pending)


def require_known(found: SchemaStatus, path: Path | str) -> None:
    """Raise `SchemaMismatch` when the database is newer than the program."""
    if COPYING in found.ahead:
        raise SchemaMismatch(
            f"a copy into database {shown(path)} was not finished; run the same `continuity-bot move` again"
        )
    if found.ahead:
        raise SchemaMismatch(
            f"database {shown(path)} has schema {found.ahead[-1]:04d}, which this program does not know yet; "
            "upgrade the program or restore a backup"
        )


def migrate(
    path: Path | str,
    folders: Sequence[Path] = MEMORY_ONLY,
    digests: Digests = MEMORY_DIGESTS,
    *,
    now_ms: int | None = None,
    told: Callable[[int, int], None] = unobserved,
) -> tuple[str, ...]:
    """Apply pending migrations, creating the database (0600) if need be; return their names.

    `folders` and `digests` are the memory's, then those of its extensions. `told` hears before each step how many of
    how many are done. A crash leaves each migration either whole and recorded or absent. Two processes may call it at
    once. Raises `SchemaMismatch` for a newer database (nothing is changed), `UnsafeSettings`, `StorageUnavailable`, and
    `StorageError` when a migration fails (it is rolled back, the ones before it stay).
    """
    applied_at_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    applied = []
    with open_schema(path, digests) as schema:  # to write, also for a look: only so SQLite undoes half-done work
        found = _status(schema, folders, path)
        require_known(found, path)
        for number, step in enumerate(found.pending):
            told(number, len(found.pending))
            params = {"number": step.number, "name": step.name, "applied_at_ms": applied_at_ms}
            script = f"{_QUERIES['create_schema_migrations']};\n{step.script}"
            if schema.run(script, _QUERIES["record_migration"], params, unless=_QUERIES["find_migration"]):
                applied.append(str(step))
    return tuple(applied)


def applied(path: Path, folders: Sequence[Path] = MEMORY_ONLY) -> tuple[str, ...]:
    """Return the scripts that made an SQLite file's schema, in order, as its ledger has them. Raises `StorageError`."""
    with open_schema(path, {}, read_only=True) as schema:
        numbers = {row[0] for row in schema.rows(_QUERIES["applied_migrations"])}
    ledger = f"{_QUERIES['create_schema_migrations']};"
    return (ledger, *(step.script for step in _known(folders, path) if step.number in numbers))
