"""A person and the bot: what is on the screen, what is stored, what the model is given."""

from __future__ import annotations

from story import PERSON, answered, stored_turns


async def test_a_message_is_answered_and_stored_once(api, bot_process):
    """A message is answered on the screen, is one row in the turn log, and its session has a checkpoint."""
    bot = await bot_process()

    api.people.says(PERSON, "hello there")
    await answered(api, PERSON, "hello there")
    await bot.terminate()

    assert stored_turns(bot) == [("hello there", "You said: hello there")]
    assert len(list(bot.checkpoints.glob("s_*.json"))) == 1
