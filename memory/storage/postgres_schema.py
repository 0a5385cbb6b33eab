"""What changes the schema of a PostgreSQL database, and what keeps a second process out of one."""

from __future__ import annotations

from typing import Any, Self

import psycopg

from memory.errors import Locked
from memory.faults import point
from memory.storage.place import shown
from memory.storage.postgres_connection import connect_string, options, placeholders, translate


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


class ServerLock:
    """What keeps a second process out of a database that one process has to itself; it goes with its connection."""

    def __init__(self, address: str) -> None:
        try:
            self._connection = psycopg.connect(connect_string(address), autocommit=True)
            row = self._connection.execute(
                "SELECT pg_try_advisory_lock(hashtext(current_schema() || ' alone'))"
            ).fetchone()
        except psycopg.Error as exc:
            raise translate(exc, shown(address), "lock") from exc
        if not row or not row[0]:
            self._connection.close()
            raise Locked(f"another process works on {shown(address)} (its lock is held); stop that one first")

    def release(self) -> None:
        """Let others in."""
        self._connection.close()
