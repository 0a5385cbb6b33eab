"""/voice on: answers are said aloud, too, each once, whatever dies or fails on the way."""

from __future__ import annotations

import pytest
from loopback.sounds import heard
from story import PERSON, bot_lines, bot_texts, reply, rows, shows, tap

from bot import replies
from bot.delivery.telegram_calls import VOICE_CAPTION

pytestmark = pytest.mark.acceptance


def speaks(sounds):
    """Return the settings of a bot with this server."""
    return {"CONTINUITY_SPEECH": "openai:tts-1@nova", "CONTINUITY_SPEECH_URL": sounds.url}


def voices(api):
    """Return what is said in the voice messages on the screen."""
    return [heard(api.world.files[line.file_id]) for line in bot_lines(api) if line.text == VOICE_CAPTION]


async def test_answers_are_said_for_who_wants_it(api, model, sounds, bot_here):
    """Off until somebody turns it on; then each answer comes in writing and aloud, and its sound is not kept."""
    bot = await bot_here(**speaks(sounds))
    await reply(api, "hello")
    assert sounds.spoken == []
    offer = await reply(api, "/voice")
    await tap(api, replies.say("voice_turn_on"), on=offer)
    await reply(api, "hello **again**")
    await api.until(lambda: voices(api))
    await bot.settled()

    assert voices(api) == ["You said: hello again"]
    assert (sounds.spoken[0]["voice"], sounds.spoken[0]["response_format"]) == ("nova", "opus")
    assert rows(bot, "SELECT text, state FROM outbox WHERE kind = 'voice'") == [("", "sent")]
    assert rows(bot, "SELECT COUNT(*) FROM speeches") == [(0,)]


async def test_what_leaves_the_machine_is_said(api, model, sounds, bot_here):
    """/privacy names who hears and who speaks, where that is somewhere else."""
    await bot_here(**speaks(sounds), CONTINUITY_TRANSCRIBE="openai:whisper-1", CONTINUITY_TRANSCRIBE_URL=sounds.url)
    text = (await reply(api, "/privacy")).text

    assert replies.say("privacy_listening") in text
    assert replies.say("privacy_speaking") in text


async def test_a_voice_on_this_machine_is_no_service_and_is_missed_in_words(api, model, bot_here, tmp_path):
    """/privacy names nobody else; a folder without a voice: the answer stands in writing, and one sentence says so."""
    bot = await bot_here(CONTINUITY_SPEECH=f"local:{tmp_path}")
    assert replies.say("privacy_speaking") not in (await reply(api, "/privacy")).text
    await reply(api, "/voice on")
    await reply(api, "hello")
    await shows(api, replies.say("speech_failed"))
    await bot.settled()

    assert "You said: hello" in bot_texts(api)
    assert bot_texts(api).count(replies.say("speech_failed")) == 1


async def test_nobody_who_speaks_is_said_so(api, model, bot_here):
    """Without a server the command says what is missing."""
    await bot_here()

    assert (await reply(api, "/voice on")).text == replies.say("voice_none")


@pytest.mark.parametrize("faults", [[500, 500], [b"no sound", b"no sound"], [401]])
async def test_a_voice_that_fails_is_said_once(api, model, sounds, bot_here, faults):
    """The answer stands in writing; one sentence says that it was not said."""
    bot = await bot_here(**speaks(sounds))
    await reply(api, "/voice on")
    sounds.faults = list(faults)
    await reply(api, "hello")
    await shows(api, replies.say("speech_failed"))
    await bot.restart()
    await reply(api, "and now?")
    await api.until(lambda: voices(api))

    assert bot_texts(api).count(replies.say("speech_failed")) == 1
    assert voices(api) == ["You said: and now?"]


async def test_a_voice_message_whose_answer_was_lost_is_not_sent_again(api, model, sounds, bot_here):
    """Telegram took it, and the line broke: it is found by its caption."""
    await bot_here(**speaks(sounds))
    await reply(api, "/voice on")
    api.faults.plant("sendVoice", "lost_answer")
    await reply(api, "hello")
    await api.until(lambda: api.calls_of("editMessageCaption"))
    await reply(api, "and now?")
    await api.until(lambda: len(voices(api)) > 1)

    assert voices(api) == ["You said: hello", "You said: and now?"]


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.parametrize("step", ["after_commit", "speech_made", "speech_queued"])
async def test_a_voice_that_dies_is_heard_once(api, model, sounds, bot_process, step):
    """Dead at this step, started again: one answer in writing, one aloud."""
    bot = await bot_process(**speaks(sounds))
    await reply(api, "/voice on")
    await bot.terminate()
    api.people.says(PERSON, "hello")
    await bot.launch(CONTINUITY_FAULT=step)
    assert await bot.wait() == -9
    await bot.start()
    await api.until(lambda: voices(api))
    await bot.terminate()

    assert voices(api) == ["You said: hello"]
    assert bot_texts(api).count("You said: hello") == 1
    assert rows(bot, "SELECT COUNT(*) FROM speeches") == [(0,)]
