"""What a prompt finds in earlier talk: nothing of the other world, and no new words above an old answer unmarked."""

from __future__ import annotations

import pytest
from story import PERSON, asked, reply, shows

from memory.context.packet_text import FOUND

pytestmark = pytest.mark.acceptance
REAL, PLAYED = "the green lantern hangs in the harbour tower", "the green lantern falls from the harbour tower"
NOW = "the green lantern of the harbour tower is broken"


def finds(model) -> str:
    """What the last prompt found in earlier talk."""
    return asked(model)[-1].messages[-1][1].partition(f"{FOUND}:\n")[2].partition("</data-")[0]


async def test_real_talk_and_a_scene_find_nothing_of_each_other_unasked(api, model, bot_here):
    """They share their words; who asks is told of both."""
    bot = await bot_here()
    await reply(api, REAL)
    for persona, said in (("roleplay", PLAYED), ("off", NOW), ("a grumpy old lighthouse keeper", NOW)):
        await bot.passes(hours=7)
        await reply(api, f"/persona {persona}")
        await reply(api, said)
        assert (REAL in finds(model), PLAYED in finds(model)) == (persona == "off", persona.startswith("a "))

    await bot.passes(hours=7)
    await reply(api, "where is the green lantern of the harbour tower?")
    assert REAL in finds(model)
    assert PLAYED in finds(model)


async def test_a_find_says_that_its_answer_was_to_other_words(api, model, bot_here):
    """The person edited the message and let the old answer stand."""
    bot = await bot_here()
    said = api.people.says(PERSON, "which paint is it for the harbour tower?")
    await shows(api, "which paint")
    api.people.edits(PERSON, said.message_id, "which lamp is it for the harbour tower?")
    await shows(api, "changed that one")
    await bot.passes(hours=7)
    await reply(api, "what was it with the lamp for the harbour tower?")

    assert "(edited since; the answer was to other words): User: which lamp is it" in finds(model)
