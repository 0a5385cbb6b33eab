"""The schema of an SQLite file as `memory.storage.migrate` changes it: whole scripts, each in one transaction."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from memory.process.faults import point
from memory.storage.sqlite.connection import connect_writer, require_file, translate
from memory.storage.sqlite.digests import Digests
from memory.storage.sqlite.rows import guarded, keep, kept, seal


class SchemaFile:
    """The writing connection as `memory.storage.migrate` needs it: whole scripts, each in one transaction."""

    def __init__(self, path: Path | str, digests: Digests, *, read_only: bool = False) -> None:
        self.path = Path(path).absolute()
        self._digests = digests
        self._is_keeping = False
        if not read_only:
            self._connection = connect_writer(self.path, {})  # whoever only looks need not wait for digests
            return
        require_file(self.path)
        try:
            self._connection = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        except sqlite3.Error as exc:
            raise translate(exc, self.path, "open") from exc

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, sql: str, params: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of one query; [] when its table does not exist yet. Raises `StorageUnavailable`."""
        try:
            return self._connection.execute(sql, params or {}).fetchall()
        except sqlite3.Error as exc:
            if "no such table" in str(exc):
                return []
            raise translate(exc, self.path, "schema") from exc

    def tables(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the tables with rows of their own: name → its columns and, of these, the primary key."""
        names = self.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' "
            "AND name NOT LIKE 'search~_index%' ESCAPE '~' AND name NOT IN ('search_hits', 'search_counts')"
        )
        found = {}
        for (name,) in names:
            columns = self._connection.execute(f"PRAGMA table_info({name})").fetchall()
            key = sorted((each[5], each[1]) for each in columns if each[5])
            found[name] = tuple(each[1] for each in columns), tuple(column for _, column in key)
        return found

    def write(self, *work: tuple[str, Sequence[dict[str, Any]]]) -> None:
        """Run each statement with each of its sets of parameters, all as one transaction."""
        with self._transaction("copy"):
            for statement, sets in work:
                self._connection.executemany(statement, sets)
            point("copy_before_commit")

    def run(self, script: str, record: str, params: dict[str, Any], unless: str) -> bool:
        """Run the script and then `record` as one transaction; False when `unless` returns a row already."""
        with self._transaction("migration"):
            done = bool(self.rows(unless, params))
            if not done:
                shapes, triggers = guarded(self._connection, self._digests), kept(self._connection)
                for statement in split_script(script):
                    self._connection.execute(statement)
                if guarded(self._connection, self._digests) != shapes or kept(self._connection) != triggers:
                    keep(self._connection, self._digests)
                    seal(self._connection, self._digests, shapes)
                self._connection.execute(record, params)
            point("migration_before_commit")
        return not done

    @contextlib.contextmanager
    def _transaction(self, what: str) -> Iterator[None]:
        """Commit the work inside, or undo it. Raises `StorageError`."""
        try:
            if not self._is_keeping:
                keep(self._connection, self._digests)
                self._is_keeping = True
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except (sqlite3.Error, ValueError) as exc:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise translate(exc, self.path, what) from exc


def split_script(script: str) -> list[str]:
    """Return the single statements of a script; a trigger's inner semicolons do not part it. Raises `ValueError`."""
    statements: list[str] = []
    current = ""
    for piece in re.split(r"(?<=;)", script):
        current += piece
        if sqlite3.complete_statement(current):
            statements.append(current)
            current = ""
    if re.sub(r"/\*.*?\*/|--[^\n]*", "", current, flags=re.DOTALL).strip():
        raise ValueError(f"the last statement does not end with a semicolon: {current.strip()[:60]!r}")
    return statements


_OF_SQLITE: Final = {("table", "sqlite_sequence"), ("table", "sqlite_stat1"), ("table", "sqlite_stat4")}
_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SPARE: Final = re.compile(r"[\s\"`\[\]]+")

Objects = dict[tuple[str, str], str]
"""Kind and name of a schema's object → the SQL that made it, without blanks, quotes and comments."""


def objects_in(path: Path) -> Objects:
    """Return the objects in the schema of a file at rest; nothing beside it is read. Raises `StorageError`."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return _objects(connection)
    except sqlite3.Error as exc:
        raise translate(exc, path, "schema") from exc


def objects_of(scripts: Sequence[str]) -> Objects:
    """Return the objects that these scripts make."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for script in scripts:
            for statement in split_script(script):
                connection.execute(statement)
        return _objects(connection)


def drop_objects(path: Path, objects: Sequence[tuple[str, str]]) -> None:
    """Drop objects, by kind and name, from a file that nobody works on, all or none. Raises `StorageError`."""
    try:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("BEGIN IMMEDIATE")
            for kind, name in objects:
                quoted = name.replace('"', '""')
                connection.execute(f'DROP {kind} IF EXISTS main."{quoted}"')
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as exc:
        raise translate(exc, path, "drop") from exc


def _objects(connection: sqlite3.Connection) -> Objects:
    rows = connection.execute("SELECT type, name, COALESCE(sql, '') FROM main.sqlite_master").fetchall()
    found = {(kind, name): _SPARE.sub("", _COMMENT.sub(" ", sql)).lower() for kind, name, sql in rows}
    return {key: made for key, made in found.items() if key not in _OF_SQLITE}
