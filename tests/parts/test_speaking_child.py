"""The voice in a child: one answer after another, gone when it idles, and whatever it does, nobody hangs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from loopback.speaking import make_voice, seconds
from loopback.whisper import the_extra

from bot.files.hearing.errors import NotHeard
from bot.files.speech.child import SpeakingChild

STAND_IN = """
import base64, json, os, sys, time
for line in sys.stdin:
    text = json.loads(line)["text"]
    print(json.dumps({"spoken": 0.5}), flush=True)
    if text == "hang": time.sleep(600)
    if text == "die": os._exit(3)
    if text == "garbage": print("<<<", flush=True)
    if text == "noise": print(json.dumps({"data": "no base64", "end": True}), flush=True); continue
    if text == "damaged": print(json.dumps({"error": "damaged"}), flush=True); continue
    print(json.dumps({"data": base64.b64encode(b"OggS " + text.encode()).decode(), "end": True}), flush=True)
"""


@pytest.fixture
async def voice():
    """Offer a voice with a stand-in for the one that speaks."""
    made = SpeakingChild(Path("/"), 60.0, command=("-c", STAND_IN))
    yield made
    await made.close()


async def test_one_child_says_one_answer_after_another(voice):
    """Two at once: both by the same process, each whole."""
    assert await asyncio.gather(voice.speak("one"), voice.speak("other")) == [b"OggS one", b"OggS other"]
    pid = voice.pid
    with pytest.raises(NotHeard):
        await voice.speak("damaged")

    assert (await voice.speak("third"), voice.pid) == (b"OggS third", pid)


@pytest.mark.parametrize(("text", "why"), [("die", "away"), ("garbage", "garbage"), ("noise", "garbage")])
async def test_a_voice_in_trouble_is_replaced(voice, text, why):
    """It dies, or says something else: the answer is not said, and the next one is."""
    with pytest.raises(NotHeard) as failed:
        await voice.speak(text)

    assert failed.value.why == why
    assert await voice.speak("next") == b"OggS next"


async def test_a_voice_that_stops_in_the_middle_is_ended(monkeypatch):
    """Behind a sentence it says nothing any more: the process is gone, and the next answer has a new one."""
    monkeypatch.setattr("bot.files.speech.child.SENTENCE_S", 0.2)
    voice = SpeakingChild(Path("/"), 0.0, command=("-c", STAND_IN))
    with pytest.raises(NotHeard) as failed:
        await voice.speak("hang")

    assert (failed.value.why, voice.pid) == ("slow", None)
    assert await voice.speak("next") == b"OggS next"
    await voice.close()


@pytest.mark.voice
async def test_the_real_library_speaks(tmp_path):
    """sherpa-onnx with a voice made for this: it is loaded, hums as long as the text is, and comes as Ogg and Opus.

    Real voices are tried by nobody here: no registry has them, and they take 20 MB and more.
    """
    the_extra()
    make_voice(tmp_path / "voice")
    voice = SpeakingChild(tmp_path / "voice", 60.0)
    short, long = await voice.speak("hello there."), await voice.speak("hello there. how are you? fine, thanks.")
    with pytest.raises(NotHeard) as mute:  # not a sign of it is in the voice's alphabet
        await voice.speak("日本")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "voice.onnx").write_bytes(b"no voice")
    broken = SpeakingChild(tmp_path / "broken", 60.0)
    with pytest.raises(NotHeard) as failed:
        await broken.speak("hello")
    await asyncio.gather(voice.close(), broken.close())

    assert 0.4 < seconds(short) < seconds(long) < 3
    assert (mute.value.why, failed.value.why) == ("garbage", "missing")
