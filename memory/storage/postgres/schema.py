"""The schema of a PostgreSQL database and its migrations, and the lock that keeps a second process out."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any, Final, Self

import psycopg

from memory.errors import Locked
from memory.process.faults import point
from memory.storage.place import shown
from memory.storage.postgres.connection import connect_string, options, placeholders, translate

TABLES = """SELECT t.table_name, array_agg(CAST(c.column_name AS TEXT) ORDER BY c.ordinal_position), (
        SELECT array_agg(CAST(a.attname AS TEXT) ORDER BY array_position(i.indkey, a.attnum))
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indisprimary AND i.indrelid = CAST(quote_ident(t.table_name) AS REGCLASS))
    FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)
    WHERE t.table_schema = current_schema() GROUP BY t.table_name"""
SEARCH_TERMS = ("user_terms", "assistant_terms")


class SchemaServer:
    """One connection as `memory.storage.migrate` needs it: whole scripts, each in one transaction."""

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self.where = shown(address)
        try:
            self._connection = psycopg.connect(
                connect_string(address), autocommit=True, options=options(address, read_only=read_only)
            )
        except psycopg.Error as exc:
            raise translate(exc, self.where, "open") from exc

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, query: str, params: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of one query; [] when its table does not exist yet. Raises `StorageUnavailable`."""
        try:
            return self._connection.execute(placeholders(query).encode(), params or {}).fetchall()
        except psycopg.errors.UndefinedTable:
            return []
        except psycopg.Error as exc:
            raise translate(exc, self.where, "schema") from exc

    def tables(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the tables with rows of their own: name → its columns and, of these, the primary key.

        Columns come as a file has them: the index of the search is told by its terms.
        """
        found = {}
        for name, columns, key in self._connection.execute(TABLES).fetchall():
            split = [each for column in columns for each in (SEARCH_TERMS if column == "terms" else (column,))]
            found[name] = tuple(split), tuple(key)
        return found

    def write(self, *work: tuple[str, Sequence[dict[str, Any]]]) -> None:
        """Run each statement with each of its sets of parameters, all as one transaction."""
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                for statement, sets in work:
                    cursor.executemany(placeholders(statement).encode(), sets)
                point("copy_before_commit")
        except (psycopg.Error, ValueError) as exc:
            raise translate(exc, self.where, "copy") from exc

    def run(self, script: str, record: str, params: dict[str, Any], unless: str) -> bool:
        """Run the script and then `record` as one transaction; False when `unless` returns a row already."""
        try:
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(hashtext(current_schema() || ' migrations'))")
                there = self._connection.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").fetchone()
                if there and there[0] and self._connection.execute(placeholders(unless).encode(), params).fetchall():
                    return False
                self._connection.execute(script.encode())
                self._connection.execute(placeholders(record).encode(), params)
                point("migration_before_commit")
        except psycopg.Error as exc:
            raise translate(exc, self.where, "migration") from exc
        return True


PATIENCE_S: Final = 1.5
"""The server needs a moment to see that a process was killed: its lock is not believed at the first look."""
LOOK_AGAIN_S: Final = 0.05
TAKE = "SELECT pg_try_advisory_lock(hashtext(current_schema()), 1)"
TAKE_SHARED = "SELECT pg_try_advisory_lock_shared(hashtext(current_schema()), 1)"
HELD = """SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid = 1 AND granted
    AND classid = CAST(hashtext(current_schema()) AS OID)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


class ServerLock:
    """The lock on a database that one process has to itself; it goes with its connection.

    A `shared` one keeps out only those that want to be alone.
    """

    def __init__(self, address: str, *, shared: bool = False) -> None:
        self._address = address
        self._take = TAKE_SHARED if shared else TAKE
        until_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._connection = self._taken()
            except Locked:
                if time.monotonic() > until_s:
                    raise
                time.sleep(LOOK_AGAIN_S)
            else:
                return

    def _taken(self) -> psycopg.Connection[Any]:
        try:
            connection = psycopg.connect(connect_string(self._address), autocommit=True)
            row = connection.execute(self._take).fetchone()
        except psycopg.Error as exc:
            raise translate(exc, shown(self._address), "lock") from exc
        if not row or not row[0]:
            connection.close()
            raise Locked(f"another process works on {shown(self._address)} (its lock is held); stop that one first")
        return connection

    def keep(self) -> None:
        """Take the lock again when its connection broke. Raises `Locked`, `StorageUnavailable`."""
        try:
            self._connection.execute("SELECT 1")
        except psycopg.Error:
            self._connection = self._taken()

    def release(self) -> None:
        """Let others in at once: the server sees a closed connection a moment later."""
        with contextlib.suppress(psycopg.Error):
            self._connection.execute("SELECT pg_advisory_unlock_all()")
        self._connection.close()


def is_held(address: str) -> bool:
    """Return whether a process works on a database. Raises `StorageUnavailable`."""
    try:
        with psycopg.connect(connect_string(address), autocommit=True) as connection:
            return bool(connection.execute(HELD).fetchone())
    except psycopg.Error as exc:
        raise translate(exc, shown(address), "lock") from exc
