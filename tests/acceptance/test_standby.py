"""Two processes on one PostgreSQL: one works, the other stands by; what was stopped and wakes can do nothing more."""

from __future__ import annotations

import os
import signal

import pytest
from loopback.model import Gate
from story import PERSON, answered, answers_to, rows

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres]


@pytest.fixture
async def pair(bot_process, postgres, api):
    """Return a bot that works and one that stands by, with folders of their own."""
    working = await bot_process(folder="one", CONTINUITY_DATABASE_URL=postgres)
    standing_by = await bot_process(
        start=False, folder="other", CONTINUITY_DATABASE_URL=postgres, CONTINUITY_STANDBY="true"
    )
    await standing_by.launch()
    await api.until(lambda: "standing by" in standing_by.log)
    for bot in (working, standing_by):
        bot.database = postgres
    return working, standing_by


async def test_the_one_that_stands_by_finishes_what_a_killed_one_had_begun(api, model, pair):
    """A message whose answer was being made is answered by the other process, once, with what was said before known."""
    working, standing_by = pair
    api.people.says(PERSON, "My boat is called Albatross")
    await answered(api, PERSON, "My boat is called Albatross")
    model.gate = Gate()
    api.people.says(PERSON, "What is my boat called?")
    await api.until(lambda: len(model.requests) == 2)
    model.gate = None
    await working.kill()
    await answered(api, PERSON, "What is my boat called?")

    assert len(answers_to(api, PERSON, "What is my boat called?")) == 1
    assert "Albatross" in model.requests[-1].text
    assert [n for (n,) in rows(standing_by, "SELECT COUNT(*) FROM conversation_turns")] == [2]


async def test_a_stopped_process_that_wakes_neither_stores_nor_sends(api, model, pair):
    """Stopped in the middle of an answer it is taken for dead; when it wakes, its answer is refused and it ends."""
    working, standing_by = pair
    model.gate = gate = Gate()
    api.people.says(PERSON, "hello")
    await api.until(lambda: len(model.requests) == 1)
    os.kill(working.pid, signal.SIGSTOP)
    model.gate = None
    gate.open()
    await answered(api, PERSON, "hello")
    os.kill(working.pid, signal.SIGCONT)

    assert await working.wait() == 1
    assert "another process has taken it over" in working.log
    assert len(answers_to(api, PERSON, "hello")) == 1
    assert rows(standing_by, "SELECT user_text FROM conversation_turns") == [("hello",)]
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")


async def test_a_second_process_that_does_not_stand_by_is_refused(api, bot_process, pair, postgres):
    """It says that another one works there, and ends; the one that works goes on."""
    second = await bot_process(start=False, folder="third", CONTINUITY_DATABASE_URL=postgres)
    await second.launch()

    assert await second.wait() == 1
    assert "another process works on" in second.log
    api.people.says(PERSON, "hi")
    await answered(api, PERSON, "hi")
