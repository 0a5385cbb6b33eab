"""The schema of a backup against the program's own: what somebody put into it is dropped, what they changed refused."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot.ops.format import joined
from bot.ops.workspace import OpsError
from bot.tables import MIGRATIONS
from memory.storage import migrate
from memory.storage.sqlite_schema import split_script

_SCHEMA: Final = "SELECT type, name, COALESCE(sql, '') FROM main.sqlite_master"
_OF_SQLITE: Final = {("table", "sqlite_sequence"), ("table", "sqlite_stat1"), ("table", "sqlite_stat4")}
_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SPARE: Final = re.compile(r"[\s\"`\[\]]+")
_ORDER: Final = ("trigger", "view", "index", "table")
"""What hangs on others goes first."""
MOST_NAMED: Final = 5

Objects = Mapping[tuple[str, str], str]
"""Kind and name of what a schema has → how it was made, without blanks, quotes and comments."""


def look(database: Path) -> tuple[tuple[str, str], ...]:
    """Return kind and name of what a backup's database has and our schema does not.

    Raises OpsError when something of ours is missing in it or was made in another way: a table that checks its rows by
    somebody else's rule cannot be dropped. Raises `StorageError`.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            found = _objects(connection)
    except sqlite3.Error as exc:
        raise OpsError(f"{database} cannot be read ({exc}); use another backup") from exc
    ours = _ours(database)
    changed = sorted(name for (kind, name), made in ours.items() if found.get((kind, name)) != made)
    if changed:
        more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        raise OpsError(
            f"{database} has another schema than the program made ({joined(changed[:MOST_NAMED])}{more}); "
            "somebody changed it: use another backup"
        )
    return tuple(sorted(found.keys() - ours.keys(), key=lambda each: (_ORDER.index(each[0]), each[1])))


def drop(database: Path, foreign: tuple[tuple[str, str], ...]) -> None:
    """Take these out of a copy that nobody works on yet. Raises OpsError when one cannot be."""
    if not foreign:
        return
    try:
        with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("BEGIN IMMEDIATE")
            for kind, name in foreign:
                quoted = name.replace('"', '""')
                connection.execute(f'DROP {kind} IF EXISTS main."{quoted}"')
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as exc:
        names = joined([f"{kind} {name}" for kind, name in foreign[:MOST_NAMED]])
        raise OpsError(f"what somebody put into the backup cannot be dropped ({names}: {exc}); use another one") from exc


def _ours(database: Path) -> Objects:
    """Return what the migrations make that this database says it has."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for script in migrate.applied(database, MIGRATIONS):
            for statement in split_script(script):
                connection.execute(statement)
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> Objects:
    found = {(kind, name): _plain(sql) for kind, name, sql in connection.execute(_SCHEMA).fetchall()}
    return {key: made for key, made in found.items() if key not in _OF_SQLITE}


def _plain(sql: str) -> str:
    return _SPARE.sub("", _COMMENT.sub(" ", sql)).lower()
