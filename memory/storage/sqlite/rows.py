"""A digest in each row that is not a turn, kept and asked by SQLite itself: a byte that flips on the disk is noticed.

The writing connection has triggers that give a row its digest whenever it is written. The reading connection sees each
such table through a view of the same name that asks for the digest: a row that was altered is named in the log, and
left out or, where it can be made again from the turns, shown as one that cannot be read. Triggers, views and the
function belong to our connections alone: the queries know nothing of it, and neither does the file. Which columns count
in which rows the tables tell (`memory.storage.sqlite.digests`).
"""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from memory.storage.sqlite.digests import Digested, Digests

COLUMN: Final = "row_digest"
DIGEST_BYTES: Final = 8
NAMED: Final = (
    "row '%s' of %s does not match its digest: it was altered on the disk and is %s; "
    "compare it with a backup (`doctor --deep` names all)"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Guarded:
    """One table with digests."""

    name: str
    columns: tuple[str, ...]
    """All but the digest, in the order of the table."""
    covered: tuple[str, ...]
    real: frozenset[str]
    key: tuple[str, ...]
    digested: Digested

    def digest(self, row: str = "") -> str:
        """Return SQL for the digest of a row; texts go in as bytes, since a flipped one may be no text any more."""
        values = (f"CAST({row}{c} AS {'REAL' if c in self.real else 'BLOB'})" for c in self.covered)
        return f"digest_of_row('{self.name}', {', '.join(values)})"

    def sound(self, row: str = "") -> str:
        """Return SQL that is true for a row as it was written; one that was never given a digest counts as sound."""
        return f"({row}{COLUMN} IS NULL OR {row}{COLUMN} = {self.digest(row)})"

    def counts(self, row: str = "") -> str:
        """Return SQL that is true for a row that is still read."""
        return self.digested.still_read.format(row=row)

    @property
    def where_it_is(self) -> str:
        """SQL for the name of a row."""
        return " || '/' || ".join(f"COALESCE({each}, '')" for each in self.key)


def digest_of_row(*values: Any) -> str:
    """Return the digest of a table's name and values: bytes, floats or None."""
    pieces: list[bytes] = []
    for value in values:
        if value is None:
            pieces.append(b"-")
            continue
        data = value if isinstance(value, bytes) else repr(value).encode()
        pieces += (b"%d:" % len(data), data)
    return blake2b(b"".join(pieces), digest_size=DIGEST_BYTES).hexdigest()


def guarded(connection: sqlite3.Connection, digests: Digests) -> list[Guarded]:
    """Return the tables of these that have digests; none before the migration that brings them."""
    found = []
    rows = connection.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'table'").fetchall()
    for name, sql in map(_values, rows):
        digested = digests.get(name)
        if digested is None or COLUMN not in sql:
            continue
        columns = [_values(row) for row in connection.execute(f"PRAGMA main.table_info({name})").fetchall()]
        key = sorted((each[5], each[1]) for each in columns if each[5])
        names = tuple(each[1] for each in columns if each[1] != COLUMN)
        real = frozenset(each[1] for each in columns if each[2].startswith("DOUBLE"))
        covered = tuple(each for each in names if each not in digested.progress)
        found.append(Guarded(name, names, covered, real, tuple(column for _, column in key), digested))
    return found


def _values(row: Any) -> tuple[Any, ...]:
    return tuple(row.values()) if isinstance(row, dict) else tuple(row)


def keep(connection: sqlite3.Connection, digests: Digests) -> None:
    """Let a writing connection give each row its digest. A change of a row that was altered makes it no better."""
    connection.create_function("digest_of_row", -1, digest_of_row, deterministic=True)
    for table in guarded(connection, digests):
        name, whole = table.name, table.digested.written_whole
        here = "WHERE rowid = new.rowid AND"
        anew = f"UPDATE {name} SET {COLUMN} = {table.digest('new.')} {here} {table.counts()}"  # noqa: S608 - names of ours, here and below
        moved = (
            f"UPDATE {name} SET {COLUMN} = CASE WHEN NOT {table.counts('new.')} THEN NULL "  # noqa: S608 - names of our own schema
            f"WHEN NOT {table.counts('old.')} OR {table.sound('old.')} THEN {table.digest('new.')} ELSE {COLUMN} END "
            f"{here} ({COLUMN} IS NOT NULL OR {table.counts()})"
        )
        parts = [column for column in table.covered if column not in whole]
        kept_whole = " AND ".join(f"old.{column} IS new.{column}" for column in whole) or "1"
        triggers = [("INSERT", "1", anew), (f"UPDATE OF {', '.join(parts)}", kept_whole, moved)]
        if whole:
            triggers.append((f"UPDATE OF {', '.join(whole)}", "1", anew))
        for number, (event, when, work) in enumerate(triggers):
            connection.execute(f"DROP TRIGGER IF EXISTS temp.{name}_digest_{number}")
            connection.execute(
                f"CREATE TEMP TRIGGER {name}_digest_{number} AFTER {event} ON main.{name} WHEN {when} BEGIN {work}; END"
            )


def kept(connection: sqlite3.Connection) -> int:
    """Return the number of triggers that keep digests; they go with a dropped table, even if it is made again."""
    row = connection.execute("SELECT COUNT(*) AS triggers FROM sqlite_temp_master WHERE type = 'trigger'").fetchone()
    return int(_values(row)[0])


def seal(connection: sqlite3.Connection, digests: Digests, before: list[Guarded]) -> None:
    """Give digests to rows that have none or, after a migration, one of other columns. Altered rows stay altered."""
    shapes = {table.name: table for table in before}
    for table in guarded(connection, digests):
        old = shapes.get(table.name)
        where = f"{COLUMN} IS NULL"
        if old and old.covered != table.covered and set(old.covered) <= set(table.columns):
            where += f" OR {COLUMN} = {old.digest()}"
        connection.execute(f"UPDATE {table.name} SET {COLUMN} = {table.digest()} WHERE {where}")  # noqa: S608 - names of ours


def accept(connection: sqlite3.Connection, digests: Digests) -> None:
    """Take every altered row as it is, as one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for table in guarded(connection, digests):
        where = f"{table.counts()} AND NOT {table.sound()}"
        connection.execute(f"UPDATE {table.name} SET {COLUMN} = {table.digest()} WHERE {where}")  # noqa: S608 - names of ours
    connection.execute("COMMIT")


def watch(connection: sqlite3.Connection, digests: Digests, *, trusting: bool = False) -> None:
    """Let a reader see sound rows alone; each altered one is named in the log, once. A `trusting` one sees all.

    SQLite takes `action = 'x'` of a query for granted in the rest of it: of a row with another action it would ask for
    the digest with 'x' in it. As a subquery the digest is asked for last, of rows that meet all the rest.
    """
    known: set[tuple[str, str]] = set()

    def is_sound(name: str, key: bytes, digest: str | None, *values: Any) -> bool:
        if trusting or digest is None or digest == digest_of_row(name, *values):
            return True
        row = bytes(key or b"?").decode("utf-8", "replace")
        if (name, row) not in known:
            known.add((name, row))
            log.warning(
                NAMED, row, name, "made again from what else is known" if digests[name].made_again else "left out"
            )
        return False

    connection.execute("PRAGMA temp_store=MEMORY")
    connection.create_function("row_is_sound", -1, is_sound)
    for table in guarded(connection, digests):
        again = table.digested.made_again
        sound = _asked(table)
        columns = (f"CASE WHEN {sound} THEN {c} ELSE {again[c]} END AS {c}" if c in again else c for c in table.columns)
        where = "" if again else f" WHERE NOT ({table.counts()}) OR (SELECT {sound})"
        connection.execute(
            f"CREATE TEMP VIEW {table.name} AS SELECT {', '.join(columns)} FROM main.{table.name}{where}"  # noqa: S608 - names of our own schema
        )


def look(connection: sqlite3.Connection, digests: Digests) -> list[str]:
    """Return the names of altered rows that are still read; the connection is one that watches."""
    found = []
    for table in guarded(connection, digests):
        rows = connection.execute(
            f"SELECT {table.where_it_is} FROM main.{table.name} WHERE {table.counts()} AND NOT {_asked(table)}"  # noqa: S608 - names of our own schema
        ).fetchall()
        found += [f"row '{_values(row)[0]}' of {table.name} does not match its digest" for row in rows]
    return found


def _asked(table: Guarded) -> str:
    _, _, values = table.digest().partition(", ")
    return f"row_is_sound('{table.name}', CAST({table.where_it_is} AS BLOB), CAST({COLUMN} AS TEXT), {values}"
