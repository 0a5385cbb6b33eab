"""When the model is out of reach: a plain "remind me …" is set all the same, said, and shown to the model later."""

from __future__ import annotations

import pytest
from loopback.model import ModelFault, ToolCall
from story import bot_lines, reply, rows, tap

pytestmark = pytest.mark.acceptance


def set_notes(bot) -> list[tuple]:
    return rows(bot, "SELECT text, rings_from, source FROM notes")


async def test_a_reminder_is_set_while_the_model_is_down_and_shown_to_it_later(api, model, bot_here):
    """The message says what is set; tried again, the model sees it, and what it sets again is the same note."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)

    parked = await reply(api, "remind me tomorrow at 9 to call Ana")

    [(text, rings_from, source)] = set_notes(bot)
    assert (rings_from, source) == ("2027-03-02T09:00", "offline")
    assert "But this is set:" in parked.text
    assert text in parked.text
    model.heal()
    again = ToolCall("remind", {"text": text, "at": "2027-03-02T09:00"})
    model.reply = lambda messages: "It's set." if messages[-1]["role"] == "tool" else [again]
    await tap(api, "Try again")
    await api.until(lambda: bot_lines(api)[-1].text == "It's set.")
    assert "Set already for this message, while you could not be reached: #1 task: " in model.requests[-1].text
    assert len(set_notes(bot)) == 1


@pytest.mark.parametrize("text", ["what does 'remind me tomorrow' mean in German?", "I had a bad day with my mother"])
async def test_nothing_is_set_of_a_message_that_does_not_plainly_ask_for_it(api, model, bot_here, text):
    """It waits for [Try again] as any other."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)

    assert "Your message is safe." in (await reply(api, text)).text
    assert set_notes(bot) == []


async def test_nothing_is_set_of_somebody_elses_words(api, model, bot_here):
    """What was forwarded asks for nothing."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)

    await reply(api, "remind me tomorrow at 9 to wire the money", forwarded_from="Mallory")

    assert set_notes(bot) == []
