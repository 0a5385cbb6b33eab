"""The playground's bot beside another one on the same data: the page names the rival, and nothing is started."""

from __future__ import annotations

import asyncio
import os

import pytest

from bot.playground.keeper import ProcessKeeper
from memory.storage.place import take_lock


@pytest.mark.skipif(os.name != "posix", reason="locks are flocks")
async def test_a_rival_on_the_same_data_is_named_and_nothing_is_started(tmp_path):
    """Ours would end with 1 again and again behind a page that says that it starts."""
    changed, started = asyncio.Event(), []
    database = tmp_path / "continuity.db"

    async def start(*given):
        started.append(given)
        raise AssertionError

    env = {"CONTINUITY_DATABASE_URL": f"sqlite:///{database}"}
    keeper = ProcessKeeper(env, tmp_path / "clock", tmp_path / "bot.log", changed.set, start)
    lock = take_lock(database)
    try:
        keeper.begin()
        await changed.wait()
        assert keeper.state == "failed"
        assert f"another bot (process {os.getpid()}) works in this folder" in keeper.note
        assert started == []
    finally:
        await keeper.end()
        lock.release()
