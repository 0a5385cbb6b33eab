"""Work behind the replies of a memory that is closed as soon as it is opened."""

from __future__ import annotations

import asyncio

from memory.start import log_failure


async def test_work_that_is_let_go_before_it_begins_is_never_made():
    """A coroutine that nobody awaited printed a warning into the library page's example, under load."""
    made: list[str] = []

    async def work() -> None:
        """Stand for a keeper's."""

    def begin():
        made.append("work")
        return work()

    task = asyncio.create_task(log_failure("keeper", begin))
    task.cancel()
    await asyncio.wait([task])
    assert made == []

    await log_failure("keeper", begin)
    assert made == ["work"]
