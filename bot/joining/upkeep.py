"""Upkeep behind the work: too old rows go, and a database that is damaged or gone ends the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from bot.answers import prompts
from bot.pauses import Pauses
from bot.turns.services import Services
from memory.errors import StorageUnavailable
from memory.ports import Statement
from memory.storage.engine import OpenDatabase

log = structlog.get_logger(__name__)

STORAGE_LOOK_S = 1.0
"""Seconds between two looks for the database file."""
STORAGE_LAST_S = 5.0
"""Time that a bot without its database refuses everything before it ends, so that its watchers see why."""
DAY_MS = 24 * 3600 * 1000
PURGE_DONE_MS = 14 * DAY_MS
FIGURES_KEPT_MS = 400 * DAY_MS
"""Charts go back a year."""
PURGE_EVERY_S = 24 * 3600.0


async def purge_daily(services: Services) -> None:
    """Delete too old rows, now and then once a day."""
    while True:
        with suppress(StorageUnavailable):
            await purge(services)
        await asyncio.sleep(PURGE_EVERY_S)


async def purge(services: Services) -> None:
    """Delete too old rows. Raises `StorageUnavailable`."""
    now_ms = services.clock.now_ms()
    before = {"before_ms": now_ms - PURGE_DONE_MS}
    prompts_before_ms = now_ms - services.settings.continuity_prompts_days * DAY_MS
    await services.db.write(
        Statement("inbox_purge_done", before),
        Statement("buttons_purge", before),
        Statement("tool_calls_purge", {"before_ms": now_ms - FIGURES_KEPT_MS}),
        Statement("polls_purge", {"before_ms": now_ms - FIGURES_KEPT_MS}),
        Statement("task_runs_purge", {"before_ms": now_ms - FIGURES_KEPT_MS}),
        Statement("files_purge", before),
        *prompts.purge(prompts_before_ms, now_ms - FIGURES_KEPT_MS),
    )
    await services.files.shelf.sweep_or_later()


async def watch_storage(db: OpenDatabase, pauses: Pauses, fail: Callable[[str], None]) -> None:
    """End the process when the database is damaged or gone: no update is confirmed from then on, and no try helps."""
    while True:
        db.trouble()
        reason = db.condition.beyond_repair
        if reason is not None:
            log.critical("the database cannot be worked with", reason=reason)
            if not db.taken_over:  # others speak to people now, and hear them
                await pauses.rest(STORAGE_LAST_S)  # the person hears of it, and /health shows it
            fail(reason)
            return
        await pauses.rest(STORAGE_LOOK_S)
