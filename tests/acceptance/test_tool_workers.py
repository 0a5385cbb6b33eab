"""Two workers on one PostgreSQL, one of which dies in a call of a tool: the other asks, or makes it; none is lost."""

from __future__ import annotations

import asyncio

import pytest
from loopback.effects import LoopbackEffects
from loopback.model import ToolCall
from story import PERSON, bot_texts, reply, rows, shows, tap

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.crash, pytest.mark.timeout(240)]


@pytest.fixture
async def effects(tmp_path):
    """Start the service that counts effects, with the tools that call it in a file."""
    async with LoopbackEffects(tmp_path / "my_tools.py") as service:
        yield service


@pytest.fixture
def workers(api, postgres, bot_process, effects):
    """Offer a factory of two workers on one database, with the same variables."""

    async def make(**env):
        made = []
        for number in range(2):
            setup = {"CONTINUITY_DATABASE_URL": postgres, "CONTINUITY_TOOLS": effects.path}
            bot = await bot_process(start=False, folder=f"worker{number}", **setup)
            bot.database = postgres
            await (bot.launch(**env) if made else bot.start(**env))
            made.append(bot)
        await api.until(lambda: len(rows(made[0], "SELECT worker FROM workers")) == len(made))
        return made

    return make


def calling(call: ToolCall):
    """Make a model that calls this tool at a user message that says please, and else speaks."""

    def reply_to(messages):
        last = messages[-1]
        return [call] if last["role"] == "user" and "please" in last["content"] else "All done."

    return reply_to


async def first_death(bots):
    """Return the one that has died, and the one that lives."""
    waits = {asyncio.ensure_future(bot.wait(60)): bot for bot in bots}
    done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    dead = waits[done.pop()]
    for waiting in waits:
        waiting.cancel()
    return dead, next(bot for bot in bots if bot is not dead)


@pytest.mark.parametrize("point", ["tool_running", "tool_ran"])
async def test_the_other_worker_asks_about_a_call_that_may_have_happened(api, model, workers, effects, point):
    """Whichever had it died in it; nothing is made again before the tap."""
    bots = await workers(CONTINUITY_FAULT=point)
    model.reply = calling(ToolCall("add", {"item": "milk"}, "c1"))
    await reply(api, "please add milk")
    api.people.presses(PERSON, "Once", message_id=(await shows(api, "May I use add?")).message_id)
    await first_death(bots)

    doubt = await shows(api, "I was about to use add")
    before = effects.count("/add")
    assert before == (point == "tool_ran")
    assert sum("I was about to use add" in text for text in bot_texts(api)) == 1
    if before:
        await tap(api, "Leave it", on=doubt)
        await shows(api, "Okay, I'm leaving it")
    assert effects.count("/add") == before


async def test_the_other_worker_makes_a_call_that_was_allowed_and_not_begun(api, model, workers, effects):
    """The tap is not lost: whoever takes it over does what it allows, once."""
    bots = await workers(CONTINUITY_FAULT="tool_allowed")
    model.reply = calling(ToolCall("add", {"item": "milk"}, "c1"))
    await reply(api, "please add milk")
    api.people.presses(PERSON, "Once", message_id=(await shows(api, "May I use add?")).message_id)
    await first_death(bots)

    await shows(api, "✓ Done: add")
    assert effects.count("/add") == 1


async def test_the_other_worker_reads_again_what_only_reads(api, model, workers, effects):
    """Nobody is asked; the answer comes once."""
    bots = await workers(CONTINUITY_FAULT="tool_recorded")
    model.reply = calling(ToolCall("look", {"what": "milk"}, "c1"))
    api.people.says(PERSON, "please look")
    await first_death(bots)

    await shows(api, "All done.")
    assert bot_texts(api) == ["All done."]
    assert effects.count("/look") == 1
