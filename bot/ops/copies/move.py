"""`move`: everything into another database, a file or a server, while no bot works on either."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from bot.ops.copies.files import move_files
from bot.ops.workspace import OpsError, Told, open_exclusive, require_database, untold
from bot.settings import Settings
from bot.tables import DIGESTS, MIGRATIONS
from memory.errors import Locked
from memory.storage.copying import copy
from memory.storage.engine import lock_alone
from memory.storage.place import is_server, places, shown


def where_to(address: str) -> Path | str:
    """Return the database that an address means. Raises OpsError for one of another kind."""
    if not is_server(address) and not address.startswith("sqlite:///"):
        raise OpsError(f"name where to: postgresql://host/name or sqlite:///path/to/file.db, not {address[:40]!r}")
    try:
        return places(address)[0]
    except ValueError as exc:
        raise OpsError(str(exc)) from None


async def move(settings: Settings, address: str, told: Told = untold) -> int:
    """Copy everything to the address, prove it, and return how many rows that is; the source stays as it is.

    Raises OpsError while a bot runs on either end or they are the same, and as `memory.storage.copying.copy` does.
    """
    target = where_to(address)
    require_database(settings)
    if target == settings.database:
        raise OpsError(f"{shown(target)} is the database that is used now; name another one")
    with open_exclusive(settings):
        try:
            lock = lock_alone(target)
        except Locked as exc:
            raise OpsError(str(exc)) from None
        try:
            files = partial(move_files, settings, target)
            return await asyncio.to_thread(copy, settings.database, target, MIGRATIONS, DIGESTS, told, files)
        finally:
            lock.release()
