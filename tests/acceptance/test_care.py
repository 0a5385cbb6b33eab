"""Somebody in distress gets a caring answer at once, whoever else would have answered, and nothing of it is filed."""

from __future__ import annotations

import pytest
from story import reply, rows

from bot.care.care import caring_answer

pytestmark = pytest.mark.acceptance


WORDS = "I want to kill myself. Remind me tomorrow at 9 to call Ana, my name is Zebrafish."


@pytest.mark.parametrize("settings", [{"CONTINUITY_MODEL": "offline"}, {}, {"CONTINUITY_PERSONA": "roleplay"}])
async def test_distress_is_answered_with_care_and_not_filed(api, model, bot_here, settings):
    """Without a model, with one, in a persona: the fixed answer; no model call, reminder, memory, loop or title."""
    bot = await bot_here(**settings)

    assert (await reply(api, WORDS)).text == caring_answer("en")
    await bot.app.services.memory.settle()
    assert model.requests == []
    assert rows(bot, "SELECT user_text, action_name FROM conversation_turns") == [(WORDS, "care")]
    assert rows(bot, "SELECT title FROM conversation_sessions") == [("",)]
    for found in ("SELECT 1 FROM jobs", "SELECT 1 FROM memories", "SELECT 1 FROM search_docs"):
        assert rows(bot, found) == []
    assert "Zebrafish" not in (await reply(api, "/memory")).text
    assert "Nothing's open" in (await reply(api, "/loops")).text


async def test_a_reminder_of_it_is_not_set(api, bot_here):
    """/remind with such words is answered with care."""
    bot = await bot_here(CONTINUITY_MODEL="offline")

    assert (await reply(api, "/remind tomorrow at 9 kill myself")).text == caring_answer("en")
    assert rows(bot, "SELECT * FROM jobs") == []
