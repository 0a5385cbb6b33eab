"""A scene between real talk: its story stays its persona's, and plain talk knows that it was played."""

from __future__ import annotations

import re

import pytest
from loopback.model import ToolCall
from story import asked, reply, rows, shows

from bot.turns.steps.notices import PLAYED

pytestmark = pytest.mark.acceptance
OATH = "I swear to bring you the silver key at dawn, my lord"
STORY = {"op": "add", "kind": "story", "text": "You swore to bring Maddox the silver key at dawn in 1882"}


def reads_a_story(messages):
    """A keeper that notes the oath of the scene, once; talk is answered."""
    text = str(messages)
    if "New turns:" not in text:
        return "I see."
    is_noted = f"story: {STORY['text']}" in text
    turn = next(iter(re.findall(r"(\d+)\. \[[^\]]*\] person: I swear", text)), None)
    story = STORY | {"turns": [int(turn or 0)], "said": "bring you the silver key at dawn"}
    return [ToolCall("keep", {"changes": [story] if turn and not is_noted else []})]


async def plays(api, model, whom: str) -> str:
    """Swear the oath of a scene to somebody who is played, come back to plain talk; return the scene's prompt."""
    await reply(api, f"/persona {whom}")
    await reply(api, OATH)
    prompt = asked(model)[-1].text
    await reply(api, "/persona off")
    return prompt


async def test_a_scene_that_is_read_in_plain_talk_stays_with_its_persona(api, model, bot_here):
    """It was noted for the assistant, hidden from the next reading of it, and noted once more (a trial).

    Its persona's name and year stand in the person's own words for it alone.
    """
    bot = await bot_here()
    model.reply = reads_a_story
    await reply(api, "the boiler man comes on Thursday, i said yes to that")
    assert PLAYED not in await plays(api, model, "Maddox, a grumpy old lighthouse keeper in 1882")
    await reply(api, "so, what is left to do with the boiler?")
    assert PLAYED in asked(model)[-1].text
    await reply(api, "/memory")
    await shows(api, STORY["text"])
    await reply(api, "and the harbour tower, is it open on Sunday as well?")
    await reply(api, "/memory")
    await bot.settled()

    assert rows(bot, "SELECT persona, status FROM notes WHERE kind = 'story'") == [("own", "open")]


async def test_a_scene_is_told_nothing_of_earlier_real_talk(api, model, bot_here):
    """Two paragraphs on a boiler and a cardiologist stood in the prompt of every line of a play."""
    bot = await bot_here()
    told = "the boiler man comes on Thursday between eight and ten"
    await reply(api, told)
    await bot.passes(hours=7)
    assert told not in await plays(api, model, "a grumpy old lighthouse keeper")
    await reply(api, "hello again")

    assert told in asked(model)[-1].text
