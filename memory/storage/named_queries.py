"""Named queries, and one file per database that runs them behind `memory.ports.Database`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from memory.errors import StorageError

QUERY_FILES = tuple(sorted(Path(__file__).parents[1].glob("*/*.sql")))
"""The files of named queries of every package of `memory`."""

NAME_MARK = "-- name: "


def of_dialect(file: Path, dialect: str) -> bool:
    """Return whether a file is for this database: `x.sql` is for every one, `x.postgres.sql` for that alone."""
    return file.suffixes[:-1] in ([], [f".{dialect}"])


def load_queries(files: Sequence[Path], dialect: str = "sqlite") -> dict[str, str]:
    """Return query name → SQL text of all files for this database; a text for it alone replaces the portable one.

    A block begins with `-- name: insert_turn`, its next line is a comment that says why the query exists, the rest
    is SQL with `:name` parameters. Raises `ValueError` for a name that comes twice or a query without a reason.
    """
    portable = _load([file for file in files if not file.suffixes[:-1]])
    return portable | _load([file for file in files if file.suffixes[:-1] and of_dialect(file, dialect)])


def _load(files: Sequence[Path]) -> dict[str, str]:
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
