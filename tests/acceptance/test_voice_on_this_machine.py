"""The extra `voice` from end to end: the real library with a model made for the test, in its child, for a real bot.

What it hears is rubbish, and what it says a hum. Real weights are tried by nobody here: no registry has them, and they
take 20 MB and more.
"""

from __future__ import annotations

import pytest
from loopback.speaking import make_voice, seconds
from loopback.whisper import make_model, make_sound, the_extra
from story import PERSON, bot_lines, bot_texts, reply, rows, stored_turns

from bot import replies
from bot.delivery.telegram_calls import VOICE_CAPTION

pytestmark = [pytest.mark.acceptance, pytest.mark.voice]


async def test_a_voice_message_is_written_down_on_this_machine(api, model, bot_here, tmp_path):
    """What the library hears is the message, answered and shown, with the doubt that it has about it."""
    the_extra()
    make_model(tmp_path / "model")
    make_sound(tmp_path / "sound.wav")
    bot = await bot_here(CONTINUITY_TRANSCRIBE=f"local:{tmp_path / 'model'}")
    api.people.sends_file(
        PERSON, (tmp_path / "sound.wav").read_bytes(), kind="voice", claims={"duration": 2, "mime_type": "audio/wav"}
    )
    await api.until(lambda: len(bot_texts(api)) >= 2, 120)

    [(said, _)] = stored_turns(bot)
    assert "word" in said
    assert bot_texts(api)[1].startswith(replies.say("heard_unsure", text="…").partition("…")[0])
    assert rows(bot, "SELECT state, reason FROM files") == [("read", "unsure")]


async def test_an_answer_is_said_on_this_machine(api, model, bot_here, tmp_path):
    """/voice on: the library says the answer, and it comes as a voice message, once, also behind a restart."""
    the_extra()
    make_voice(tmp_path / "voice")
    bot = await bot_here(CONTINUITY_SPEECH=f"local:{tmp_path / 'voice'}")
    await reply(api, "/voice on")
    await reply(api, "hello there, how are you?")
    await api.until(lambda: [line for line in bot_lines(api) if line.text == VOICE_CAPTION], 120)
    await bot.restart()
    await bot.settled()
    [said] = [line for line in bot_lines(api) if line.text == VOICE_CAPTION]

    assert 1 < seconds(api.world.files[said.file_id]) < 4
    assert rows(bot, "SELECT text, state FROM outbox WHERE kind = 'voice'") == [("", "sent")]
