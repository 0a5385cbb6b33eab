"""Several processes on one PostgreSQL: each works on chats that it holds; a dead one's work is finished by the others."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from loopback.model import Gate
from story import PERSON, answered, answers_to, rows

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres]


@pytest.fixture
async def two(bot_process, postgres):
    """Return two workers on one database, with folders of their own; the first polls."""
    made = []
    for name in ("one", "other"):
        bot = await bot_process(start=False, folder=name, CONTINUITY_DATABASE_URL=postgres)
        bot.database = postgres
        await (bot.start() if not made else bot.launch())
        made.append(bot)
    await joined(made[0], 2)
    return made


async def joined(bot, count):
    """Wait until so many workers are there."""
    async with asyncio.timeout(30):
        while len(rows(bot, "SELECT worker FROM workers")) < count:
            await asyncio.sleep(0.05)


async def test_the_work_of_a_killed_worker_is_finished_by_the_other(api, model, two):
    """A message whose answer was being made is answered by the other process, once, with what was said before known."""
    one, other = two
    api.people.says(PERSON, "My boat is called Albatross")
    await answered(api, PERSON, "My boat is called Albatross")
    model.gate = Gate()
    api.people.says(PERSON, "What is my boat called?")
    await api.until(lambda: len(model.requests) == 2)
    model.gate = None
    await one.kill()
    await answered(api, PERSON, "What is my boat called?")

    assert len(answers_to(api, PERSON, "What is my boat called?")) == 1
    assert "Albatross" in model.requests[-1].text
    assert [n for (n,) in rows(other, "SELECT COUNT(*) FROM conversation_turns")] == [2]


async def test_a_stopped_worker_that_wakes_neither_stores_nor_sends(api, model, two):
    """Stopped in the middle of an answer it is taken for dead; when it wakes, its answer is refused and it ends."""
    one, other = two
    model.gate = gate = Gate()
    api.people.says(PERSON, "hello")
    await api.until(lambda: len(model.requests) == 1)
    os.kill(one.pid, signal.SIGSTOP)
    model.gate = None
    gate.open()
    await answered(api, PERSON, "hello")
    os.kill(one.pid, signal.SIGCONT)

    assert await one.wait() == 1
    assert "others have declared this process dead" in one.log
    assert len(answers_to(api, PERSON, "hello")) == 1
    assert rows(other, "SELECT user_text FROM conversation_turns") == [("hello",)]
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")
