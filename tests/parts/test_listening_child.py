"""The recogniser in a child: one recording after another, gone when it idles, and whatever it does, nobody hangs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from loopback.whisper import make_model, make_sound, the_extra

from bot.files.hearing.child import ListeningChild
from bot.files.hearing.errors import NoSpeech, NotHeard
from bot.files.hearing.listener import Recording

STAND_IN = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    what = os.path.basename(asked["path"])
    if what == "hang": time.sleep(600)
    if what == "die": os._exit(3)
    if what == "garbage": print("<<<", flush=True)
    if what == "half":
        print(json.dumps({"start_s": 0.0, "text": "half", "sureness": -0.1}), flush=True)
        time.sleep(600)
    if what == "damaged": print(json.dumps({"error": "damaged"}), flush=True); continue
    for start in (0.0, 61.0):
        print(json.dumps({"start_s": start, "text": f"{what} {asked['language']}", "sureness": -0.1}), flush=True)
    print(json.dumps({"end": True, "language": "de"}), flush=True)
"""


async def heard(listener, what):
    return [piece async for piece in listener.pieces(Recording(Path("/") / what, "audio/ogg", 3, "de"))]


@pytest.fixture
async def listener():
    """Offer a listener with a stand-in for the recogniser."""
    made = ListeningChild(Path("/"), 60.0, command=("-c", STAND_IN))
    yield made
    await made.close()


async def test_one_child_hears_one_recording_after_another(listener):
    """Two at once: both by the same process, each whole, in pieces of a minute."""
    one, other = await asyncio.gather(heard(listener, "one"), heard(listener, "other"))
    pid = listener.pid
    await heard(listener, "third")

    assert [piece.transcript.text for piece in (*one, *other)] == ["one de one de", "", "other de other de", ""]
    assert one[0].until_s == 61.0
    assert listener.pid == pid


@pytest.mark.parametrize(("what", "why"), [("die", "away"), ("garbage", "garbage")])
async def test_a_child_in_trouble_is_replaced(listener, what, why):
    """It dies, or says something else: whoever waits is told, and the next recording has a new one."""
    with pytest.raises(NotHeard) as failed:
        await heard(listener, what)

    assert failed.value.why == why
    assert (await heard(listener, "next"))[0].transcript.text == "next de next de"


async def test_a_child_that_says_nothing_is_ended(listener, monkeypatch):
    """Patience ends: the process is gone, and the next recording has a new one."""
    monkeypatch.setattr("bot.files.hearing.sound_child.START_S", 0.2)
    with pytest.raises(NotHeard) as failed:
        await heard(listener, "hang")

    assert (failed.value.why, listener.pid) == ("slow", None)


async def test_a_child_that_stops_in_the_middle_is_ended(monkeypatch):
    """It heard something and then nothing for as long as a server may be silent: the same."""
    monkeypatch.setattr("bot.files.hearing.child.PIECE_S", 0.2)
    listener = ListeningChild(Path("/"), 0.0, command=("-c", STAND_IN))
    with pytest.raises(NotHeard) as failed:
        await heard(listener, "half")

    assert (failed.value.why, listener.pid) == ("slow", None)
    await listener.close()


async def test_a_broken_file_costs_no_child(listener):
    """What cannot be decoded is said, and the model stays where it is."""
    await heard(listener, "one")
    pid = listener.pid
    with pytest.raises(NoSpeech):
        await heard(listener, "damaged")

    assert listener.pid == pid


async def test_it_is_gone_when_nobody_needs_it():
    """Behind the last recording its memory is given back."""
    listener = ListeningChild(Path("/"), 60.0, idle_s=0.01, command=("-c", STAND_IN))
    await heard(listener, "one")
    while listener.pid is not None:  # noqa: ASYNC110 - the end of a process tells nobody here
        await asyncio.sleep(0.01)
    await listener.close()


async def test_without_the_model_it_says_that_it_is_missing(tmp_path):
    """No extra, or no folder with a model: the sentence is about the model, whoever runs the bot can mend it."""
    listener = ListeningChild(tmp_path / "nothing", 60.0)
    with pytest.raises(NotHeard) as failed:
        await heard(listener, "one")
    await listener.close()

    assert failed.value.why == "missing"


@pytest.mark.voice
async def test_the_real_library_listens(tmp_path):
    """faster-whisper with a model made for this: it is loaded, decodes, detects speech, and answers in our lines.

    What it hears is rubbish. Real weights are tried by nobody here: they are 75 MB and more.
    """
    the_extra()
    make_model(tmp_path / "model")
    make_sound(tmp_path / "sound.wav")
    (tmp_path / "broken.ogg").write_bytes(b"OggS" + os.urandom(500))
    listener = ListeningChild(tmp_path / "model", 60.0)
    pieces = [piece async for piece in listener.pieces(Recording(tmp_path / "sound.wav", "audio/wav"))]
    with pytest.raises(NoSpeech):
        async for _ in listener.pieces(Recording(tmp_path / "broken.ogg", "audio/ogg")):
            pass
    await listener.close()

    assert "word" in " ".join(piece.transcript.text for piece in pieces)
    assert any(piece.transcript.unsure for piece in pieces)
    assert {piece.transcript.language for piece in pieces} == {"en"}
