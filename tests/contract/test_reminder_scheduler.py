"""The scheduler of reminders looks again whatever happened, and not at once."""

from __future__ import annotations

import asyncio

import pytest

from bot.reminders.scheduler import Around, ReminderScheduler
from memory.errors import StorageUnavailable
from memory.testing import ManualClock


class Table:
    """A table of reminders that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.looks = 0
        self._looked = asyncio.Event()

    async def read(self, *_: object, **__: object) -> list[dict]:
        self.looks += 1
        self._looked.set()
        await asyncio.sleep(0)
        raise self.error

    async def looked_at(self, times: int) -> None:
        async with asyncio.timeout(20):
            while self.looks < times:
                self._looked.clear()
                await self._looked.wait()


@pytest.mark.parametrize("error", [ZeroDivisionError("a defect"), StorageUnavailable("no room")], ids=repr)
async def test_a_look_that_fails_ends_nothing_and_is_not_repeated_without_a_pause(error):
    """After a failure the scheduler rests; a new reminder makes it look again, and so on until the stop."""
    table = Table(error)
    scheduler = ReminderScheduler(
        table, ManualClock(), committer=None, ledgers=None, tasks=None, people=None, bot_id=1, around=Around()
    )
    scheduler.start()
    try:
        for times in (1, 2, 3):
            await table.looked_at(times)
            for _ in range(20):
                await asyncio.sleep(0)
            assert table.looks == times
            scheduler.look()
    finally:
        await scheduler.stop()
