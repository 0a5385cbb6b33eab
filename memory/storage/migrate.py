"""Bring a database to the schema of this program: numbered files, each applied and recorded in one transaction."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.errors import SchemaMismatch, StorageError
from memory.storage.named_queries import load_queries
from memory.storage.sqlite import SchemaFile

FOLDER = Path(__file__).parent / "migrations"
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
    """Where a database stands: the newest migration that it has (0 = none) and those that it still needs."""

    current: int
    newest: int
    pending: tuple[Migration, ...]


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


def status(path: Path | str, *, folder: Path = FOLDER) -> SchemaStatus:
    """Return where the database stands without changing it; a file that does not exist has everything pending.

    Raises `StorageUnavailable` when it cannot be read.
    """
    known = available(folder)
    newest = known[-1].number if known else 0
    if not Path(path).exists():
        return SchemaStatus(0, newest, tuple(known))
    with SchemaFile(path, read_only=True) as schema:
        applied = {row[0] for row in schema.rows(_QUERIES["applied_migrations"])}
    return SchemaStatus(max(applied, default=0), newest, tuple(m for m in known if m.number not in applied))


def pending(path: Path | str, *, folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the names of the migrations that the database still needs."""
    return tuple(str(migration) for migration in status(path, folder=folder).pending)


def require_known(found: SchemaStatus, path: Path | str) -> None:
    """Raise `SchemaMismatch` when the database is newer than the program."""
    if found.current > found.newest:
        raise SchemaMismatch(
            f"database {path} has schema {found.current:04d}, this program knows up to {found.newest:04d}; "
            "upgrade the program or restore a backup"
        )


def migrate(path: Path | str, *, folder: Path = FOLDER, now_ms: int | None = None) -> tuple[str, ...]:
    """Apply what is pending, creating the database (0600) if need be; return the names of what was applied.

    A crash leaves each migration either whole and recorded or absent. Two processes may call it at once. Raises
    `SchemaMismatch` for a newer database (nothing is changed), `UnsafeSettings`, `StorageUnavailable`, and
    `StorageError` when a migration fails (it is rolled back, the ones before it stay).
    """
    found = status(path, folder=folder)
    require_known(found, path)
    if not found.pending:
        return ()
    applied_at_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    applied = []
    with SchemaFile(path) as schema:
        for step in found.pending:
            params = {"number": step.number, "name": step.name, "applied_at_ms": applied_at_ms}
            script = f"{_QUERIES['create_schema_migrations']};\n{step.script}"
            if schema.run(script, _QUERIES["record_migration"], params, unless=_QUERIES["find_migration"]):
                applied.append(str(step))
    return tuple(applied)
