"""Named queries, and one file per database that runs them behind `memory.ports.Database`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memory.errors import StorageError

PACKAGE = Path(__file__).parents[1]
QUERY_FILES = tuple(sorted(PACKAGE.glob("*/*.sql")))
"""The files of named queries of every package of `memory`."""

NAME_MARK = "-- name: "


def load_queries(files: Sequence[Path]) -> dict[str, str]:
    """Return query name → SQL text of all files.

    A block begins with `-- name: insert_turn`, its next line is a comment that says why the query exists, the rest
    is SQL with `:name` parameters. Raises `ValueError` for a name that comes twice or a query without a reason.
    """
    queries: dict[str, str] = {}
    for file in files:
        for block in file.read_text(encoding="utf-8").split(NAME_MARK)[1:]:
            name, _, body = (part.strip() for part in block.partition("\n"))
            why, _, sql = body.partition("\n")
            if not why.startswith("-- ") or not sql.strip():
                raise ValueError(f"query '{name}' in {file} needs a comment line that says why, and SQL below it")
            if name in queries:
                raise ValueError(f"query '{name}' in {file} exists already; every name is used once")
            queries[name] = sql.strip().rstrip(";")
    return queries


def named(queries: Mapping[str, str], name: str) -> str:
    """Return the text of a query. Raises `StorageError` when there is none of this name."""
    try:
        return queries[name]
    except KeyError:
        raise StorageError(f"there is no query named '{name}'; add it to a queries.sql file") from None
