"""The bot in `examples/aiogram_bot.py`, as a process on the loopback Bot API."""

from __future__ import annotations

import pytest

from tests.examples import quick_aiogram

pytestmark = [pytest.mark.acceptance, pytest.mark.crash]


@pytest.fixture
def bot(bot_process, api):
    """Return the example, not started yet."""

    async def prepared():
        made = await bot_process(start=False, BOT_TOKEN=api.token)
        made.work = quick_aiogram.run
        return made

    return prepared


async def test_the_bot_goes_on_after_a_kill_and_forgets(api, bot):
    """Killed and started again it knows the first message; /forget lets everything go."""
    bot = await (await bot()).start()
    api.people.says(1, "My order is 7781.")
    await api.until(lambda: api.texts(1) == ["Noted."])

    await bot.kill()
    await bot.start()
    api.people.says(1, "Where is it?")
    await api.until(lambda: api.texts(1)[-1] == "Order 7781 is on its way.")
    api.people.says(1, "/forget")
    await api.until(lambda: api.texts(1)[-1] == "2 turns are gone for good.")


async def test_a_kill_while_the_model_thinks_loses_no_message(api, bot):
    """Neither the one that it was asked nor the one behind it: both are answered by the next start, in order."""
    bot = await bot()
    api.people.says(1, "My order is 7781.")
    api.people.says(1, "Where is it?")
    await bot.start(ready=lambda: "asked: My order" in bot.log, HELD="7781")
    await bot.kill()
    assert api.texts(1) == []

    await bot.start()
    await api.until(lambda: api.texts(1) == ["Noted.", "Order 7781 is on its way."])


async def test_a_kill_behind_the_first_answer_asks_the_model_once(api, bot):
    """What was stored and not acknowledged is sent again from the memory; the model hears of it no second time."""
    bot = await bot()
    api.people.says(1, "My order is 7781.")
    api.people.says(1, "Where is it?")
    await bot.start(ready=lambda: "asked: Where" in bot.log, HELD="Where")
    await bot.kill()
    await bot.start()
    await api.until(lambda: api.texts(1)[-1] == "Order 7781 is on its way.")

    assert bot.log.count("asked: My order") == 1
    assert set(api.texts(1)[:-1]) == {"Noted."}


async def test_one_chat_is_answered_in_order_and_another_does_not_wait(api, bot):
    """While the model thinks about a message, the next of that chat waits, and somebody else is answered."""
    bot = await bot()
    api.people.says(1, "My order is 7781.")
    api.people.says(1, "Where is it?")
    api.people.says(2, "Hello")
    await bot.start(ready=lambda: api.texts(2) == ["Noted."], HELD="7781")

    assert "asked: My order" in bot.log
    assert "asked: Where" not in bot.log
