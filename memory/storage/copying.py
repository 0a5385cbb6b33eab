"""Copy one database into another, whichever kinds they are: table by table, to be gone on with, proven by digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.errors import StorageError
from memory.ports import unobserved
from memory.storage import migrate
from memory.storage.engine import Schema, dialect_of, open_schema
from memory.storage.named_queries import QUERY_FILES, load_queries
from memory.storage.place import shown
from memory.storage.sqlite.digests import Digests

BATCH: Final = 1000
LEFT_OUT: Final = frozenset({"schema_migrations", "commit_marks", "workers", "leases", "copy_progress"})
"""Tables about a database itself, not about people's words."""
PROGRESS: Final = "CREATE TABLE IF NOT EXISTS copy_progress (table_name TEXT PRIMARY KEY, after_json TEXT NOT NULL)"
MARK: Final = "INSERT INTO schema_migrations (number, name, applied_at_ms) VALUES (:number, 'copying', 0)"
UNMARK: Final = "DELETE FROM schema_migrations WHERE number = :number"
NOTE: Final = (
    "INSERT INTO copy_progress (table_name, after_json) VALUES (:table, :after) "
    "ON CONFLICT (table_name) DO UPDATE SET after_json = excluded.after_json"
)
DIGEST_BYTES: Final = 16
ROW_DIGEST: Final = "row_digest"
"""A column that each database fills in its own way: it is made anew for a copied row."""

Report = Callable[[int, int], None]
Last = Callable[[Schema], None]
"""Brings data that the rows need and that is kept elsewhere, into the target's schema or beside it."""


class CopyChanged(StorageError):
    """The source and its copy differ: the copy was emptied; run the same command again, it begins again."""


@dataclass(frozen=True, slots=True)
class _Table:
    """One table, the same at both ends."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class _End:
    """One end of a copy with the SQL for its tables: made of their columns, but where a named query stands for it."""

    def __init__(self, schema: Schema, dialect: str) -> None:
        self.schema = schema
        self._queries = load_queries(QUERY_FILES, dialect)

    def page(self, table: _Table, after: Sequence[Any] | None) -> list[tuple[Any, ...]]:
        """Return the next rows behind a key, in its order; None = from the beginning."""
        params = {f"k{n}": value for n, value in enumerate(after or ())} | {"limit": BATCH}
        own = self._queries.get(f"copy_out_{table.name}")
        if own:
            return self.schema.rows(own, {"k0": 0} | params)
        key, known = ", ".join(table.key), ", ".join(f":k{n}" for n in range(len(table.key)))
        where = f" WHERE ({key}) > ({known})" if after else ""
        return self.schema.rows(
            f"SELECT {', '.join(table.columns)} FROM {table.name}{where} ORDER BY {key} LIMIT :limit",  # noqa: S608 - ours
            params,
        )

    def pages(self, table: _Table, after: Sequence[Any] | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """Yield all rows behind a key."""
        at = [table.columns.index(name) for name in table.key]
        while rows := self.page(table, after):
            yield rows
            after = [rows[-1][n] for n in at]

    def put(self, table: _Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Store rows and how far this is, as one transaction."""
        own = self._queries.get(f"copy_in_{table.name}")
        values = ", ".join(f":{name}" for name in table.columns)
        insert = own or f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({values})"  # noqa: S608 - ours
        after = json.dumps([rows[-1][table.columns.index(name)] for name in table.key])
        named = [dict(zip(table.columns, row, strict=True)) for row in rows]
        self.schema.write((insert, named), (NOTE, [{"table": table.name, "after": after}]))

    def count(self, table: _Table) -> int:
        """Return the number of a table's rows."""
        return int(self.schema.rows(f"SELECT COUNT(*) FROM {table.name}")[0][0])  # noqa: S608 - ours

    def progress(self) -> dict[str, list[Any]]:
        """Return how far each table is, by the key of its last row."""
        found = self.schema.rows("SELECT table_name, after_json FROM copy_progress")
        return {name: json.loads(after) for name, after in found}

    def digest(self, table: _Table, seen: Callable[[int], None]) -> int:
        """Return a digest of all rows, the same in any order: databases sort texts in their own ways."""
        total: int = 0
        for rows in self.pages(table):
            for row in rows:
                body = json.dumps(row, default=bytes.hex, ensure_ascii=False).encode("utf-8", "surrogatepass")
                total += int.from_bytes(hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest(), "big")
            seen(len(rows))
        return total % (1 << 8 * DIGEST_BYTES)

    def empty(self, tables: Sequence[_Table], *, progress: bool = True) -> None:
        """Delete everything that was copied into these tables, and how far it is."""
        names = [*(table.name for table in reversed(tables)), *(["copy_progress"] if progress else [])]
        self.schema.write(*((f"DELETE FROM {name}", [{}]) for name in names))  # noqa: S608 - ours

    def finish(self) -> None:
        """Let bots start on it."""
        own = self._queries.get("copy_done")
        last: list[tuple[str, list[dict[str, Any]]]] = [(own, [{}])] if own else []
        self.schema.write(*last, ("DROP TABLE copy_progress", [{}]), (UNMARK, [{"number": migrate.COPYING}]))


def copy(  # noqa: PLR0917 - both ends, their shape, and two that hear of it
    source: Path | str,
    target: Path | str,
    folders: Sequence[Path],
    digests: Digests,
    told: Report = unobserved,
    last: Last | None = None,
) -> int:
    """Copy everything and return the number of rows. Both ends have to be at rest: hold their locks.

    An interrupted copy is gone on with. A crash leaves behind a target with a mark in its ledger, with which no bot
    starts on it; each batch of rows is committed with the place it ends at. The mark goes when every table has the same
    digest at both ends and `last` is done, which a crash makes begin anew. `told` hears how many of how many rows are
    done: each is copied, then read at both ends. Raises `CopyChanged`, `SchemaMismatch`, and `StorageError` when the
    target holds something else.
    """
    found = migrate.status(source, folders)
    migrate.require_known(found, source)
    if found.pending or not found.newest_applied:
        raise StorageError(f"{shown(source)} has an older schema; run `continuity-bot migrate` first")
    begun = migrate.COPYING in migrate.status(target, folders).ahead
    if not begun:
        migrate.migrate(target, folders, digests)
    with open_schema(source, {}, read_only=True) as here, open_schema(target, digests) as there:
        rows = _copy(_End(here, dialect_of(source)), _End(there, dialect_of(target)), target, told, begun=begun)
        if last is not None:
            last(there)
        _End(there, dialect_of(target)).finish()
        return rows


def _copy(here: _End, there: _End, target: Path | str, told: Report, *, begun: bool) -> int:
    tables = _tables(here.schema)
    if not begun:
        if any(there.count(table) for table in tables):
            raise StorageError(f"{shown(target)} is not empty; name a database without turns of its own")
        there.schema.write((PROGRESS, [{}]), (MARK, [{"number": migrate.COPYING}]))
    total = sum(here.count(table) for table in tables)
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows
        told(min(done, 3 * total), 3 * total)

    progress = there.progress()
    there.empty([table for table in tables if table.name not in progress], progress=False)  # what `last` had added
    for table in tables:
        seen(there.count(table))
        for rows in here.pages(table, progress.get(table.name)):
            there.put(table, rows)
            seen(len(rows))
    wrong = [table.name for table in tables if here.digest(table, seen) != there.digest(table, seen)]
    if wrong:
        there.empty(tables)
        raise CopyChanged(f"{', '.join(wrong)}: {CopyChanged.about()}")
    told(3 * total, 3 * total)
    return total


def _tables(schema: Schema) -> list[_Table]:
    """Return the tables that are copied, those first that others hang on."""
    shapes = {name: shape for name, shape in schema.tables().items() if name not in LEFT_OUT}
    found = [
        _Table(name, tuple(column for column in columns if column != ROW_DIGEST), key)
        for name, (columns, key) in shapes.items()
    ]
    return sorted(found, key=lambda table: (table.name != "search_docs", table.name))
