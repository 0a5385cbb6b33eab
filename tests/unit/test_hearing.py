"""What a recogniser says is judged, and long voice messages are cut without a decoder."""

from __future__ import annotations

import pytest
from loopback.sounds import heard, ogg, voice

from bot.files.hearing.ogg import _checksum, cut, pages, seconds_of
from bot.files.hearing.transcript import Stretch, by_minute, judged, read_answer, without_repeats


def test_silence_is_told_from_speech():
    """What the recogniser makes up over silence goes, by its own two bounds; one of them alone is no silence."""
    made_up = Stretch(0.0, "Thank you for watching!", -1.3, 0.9)
    mumbled = Stretch(3.0, "the grey tiles", -1.3, 0.2)
    clear = Stretch(6.0, "and the oak floor", -0.2, 0.9)

    assert judged([made_up, mumbled, clear]).text == "the grey tiles and the oak floor"


@pytest.mark.parametrize("text", ["", " . ", "[BLANK_AUDIO]", "(applause)", "♪ la la ♪", "*coughs*"])
def test_a_sound_is_no_speech(text):
    """What names a sound, and what holds no letter, is not what somebody said."""
    assert judged([Stretch(0.0, text)]).segments == ()


def test_a_phrase_that_comes_again_and_again_stands_once():
    """A recogniser that hears nothing repeats itself, in one stretch or in many: once is left, and it is doubtful."""
    many = judged([Stretch(float(n), "Thank you.") for n in range(7)])
    inside = judged([Stretch(0.0, "So. " + "I'll be there soon. " * 30)])

    assert (many.text, many.unsure) == ("Thank you.", True)
    assert (inside.text, inside.unsure) == ("So. I'll be there soon.", True)


def test_people_may_repeat_themselves():
    """Three times is how people speak."""
    assert without_repeats("no no no, really really sorry") == "no no no, really really sorry"
    assert not judged([Stretch(0.0, "no no no", -0.3)]).unsure


def test_doubt_is_that_of_most_of_the_words():
    """One unclear stretch among clear ones is no doubt about all of it."""
    clear, unclear = Stretch(0.0, "the tiles come on Tuesday", -0.2), Stretch(2.0, "hm", -1.5)

    assert not judged([clear, unclear]).unsure
    assert judged([unclear]).unsure


@pytest.mark.parametrize(
    "answer",
    [None, [], "text", {}, {"text": 3}, {"text": "a", "segments": 7}, {"text": "a", "segments": [{"text": 1}]}],
)
def test_any_answer_is_read_or_refused(answer):
    """A server may send anything: a text alone is taken, another shape is none."""
    found = read_answer(answer, 60.0)

    assert found is None or found[0] == [Stretch(60.0, "a")]


def test_times_are_those_of_the_whole_recording():
    """A piece that begins behind ten minutes: its words stand in their own minute."""
    found = read_answer({"text": "x", "language": "german", "segments": [{"start": 61.0, "text": "Hallo"}]}, 600.0)

    assert found is not None
    assert (by_minute(found[0]), found[1]) == ([(12, "Hallo")], "de")


def test_a_long_voice_message_is_cut_between_its_pages():
    """Three pieces of it, each a whole file from zero, and nothing said twice or lost."""
    whole = ogg(*((30.0 * n, f"say:part {n}".encode()) for n in range(1, 8)))
    pieces = cut(whole, 80.0)

    assert seconds_of(whole) == 210.0
    assert [(piece.start_s, piece.seconds) for piece in pieces] == [(0.0, 90.0), (90.0, 90.0), (180.0, 30.0)]
    assert [heard(piece.data) for piece in pieces] == ["part 1 part 2 part 3", "part 4 part 5 part 6", "part 7"]
    assert [seconds_of(piece.data) for piece in pieces] == [90.0, 90.0, 30.0]
    assert pages(pieces[2].data)[-1].flags & 4


@pytest.mark.parametrize("data", [b"", b"ID3 an mp3", b"OggS", voice("hello")[:-3], voice("hello") + b"rest"])
def test_another_file_is_not_cut(data):
    """What is no Opus, or is damaged, goes as it is."""
    assert cut(data, 60.0) is None


def test_the_checksum_is_that_of_the_format():
    """CRC-32 as Ogg has it, by its published check value."""
    assert _checksum(b"123456789") == 0x89A1897F
