"""The extra `voice` from end to end: the real library with a model made for the test, in its child, for a real bot.

What it hears is rubbish. Real weights are tried by nobody here: no registry has them, and they take 75 MB and more.
"""

from __future__ import annotations

import pytest
from loopback.whisper import make_model, make_sound, the_extra
from story import PERSON, bot_texts, rows, stored_turns

from bot import replies

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
