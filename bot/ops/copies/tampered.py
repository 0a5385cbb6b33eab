"""The schema of a backup against the program's own: foreign objects are dropped, changed ones refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bot.ops.format import joined
from bot.ops.workspace import OpsError
from bot.tables import MIGRATIONS
from memory.errors import StorageError
from memory.storage import migrate
from memory.storage.sqlite.schema import drop_objects, objects_in, objects_of

_ORDER: Final = ("trigger", "view", "index", "table")
"""Rows that hang on others go first."""
MOST_NAMED: Final = 5


def look(database: Path) -> tuple[tuple[str, str], ...]:
    """Return kind and name of the objects that a backup's database has and our schema does not.

    Raises OpsError when something of ours is missing in it or was made in another way: a table that checks its rows by
    somebody else's rule cannot be dropped. Raises `StorageError`.
    """
    found, ours = objects_in(database), objects_of(migrate.applied(database, MIGRATIONS))
    changed = sorted(name for (kind, name), made in ours.items() if found.get((kind, name)) != made)
    if changed:
        raise OpsError(
            f"{database} has another schema than the program made ({_named(changed)}); "
            "somebody changed it: use another backup"
        )
    return tuple(sorted(found.keys() - ours.keys(), key=lambda each: (_ORDER.index(each[0]), each[1])))


def drop(database: Path, foreign: Sequence[tuple[str, str]]) -> None:
    """Take these out of a copy that nobody works on yet. Raises OpsError when one cannot be."""
    if not foreign:
        return
    try:
        drop_objects(database, foreign)
    except StorageError as exc:
        names = _named([f"{kind} {name}" for kind, name in foreign])
        raise OpsError(
            f"what somebody put into the backup cannot be dropped ({names}: {exc}); use another one"
        ) from exc


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{joined(names[:MOST_NAMED])}{more}"
