"""`migrate`: the pending migrations of the database, applied while no bot works on it."""

from __future__ import annotations

import asyncio

from bot.ops.workspace import Told, open_exclusive, untold
from bot.settings import Settings
from bot.tables import DIGESTS, MIGRATIONS
from memory.storage import migrate


async def pending(settings: Settings) -> tuple[str, ...]:
    """Return the migrations that the database needs. Raises `SchemaMismatch` when it is newer than the program."""
    found = await asyncio.to_thread(migrate.status, settings.database, MIGRATIONS)
    migrate.require_known(found, settings.database)
    return tuple(str(step) for step in found.pending)


async def upgrade(settings: Settings, told: Told = untold) -> tuple[str, ...]:
    """Apply the pending migrations and return them. Raises OpsError while the bot runs, and `StorageError`."""
    with open_exclusive(settings):
        return await asyncio.to_thread(migrate.migrate, settings.database, MIGRATIONS, DIGESTS, told=told)
