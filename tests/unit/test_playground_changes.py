"""Waiting for something to become true."""

from __future__ import annotations

import asyncio

import pytest

from bot.playground.bot_api.changes import Changes


async def test_a_change_wakes_the_waiting_ones():
    """The check is asked now and after each change, and its value comes back."""
    changes, found = Changes(), []
    waiting = asyncio.create_task(changes.until(lambda: found, None))
    await asyncio.sleep(0)
    changes.announce()
    found.append("it")
    changes.announce()

    assert (await waiting, changes.count) == (["it"], 2)


async def test_what_nobody_announces_is_looked_at():
    """With `look_s` a check over a file or a database is asked by itself."""
    asked = []

    assert await Changes().until(lambda: asked.append(1) or len(asked) == 3, None, look_s=0.001) is True


async def test_waiting_ends():
    """What never happens is a TimeoutError, whether looked at or not."""
    for look_s in (None, 0.001):
        with pytest.raises(TimeoutError):
            await Changes().until(lambda: None, 0.01, look_s=look_s)
