"""What somebody does no longer: the note of it, the order for a reminder, and what only sounds like it."""

from __future__ import annotations

import pytest
from test_notes_endings import LANGUAGES, alive, notes_of
from test_offline import Talk

from memory.language.sentences import lowered
from memory.notes.habits import given_up_in, is_given_up

GIVEN_UP = [
    ("en", "i no longer take the statin", "take the statin", "I live in Leeds and i take a statin"),
    ("en", "I stopped taking the statin", "take the statin", "I live in Leeds and i take a statin"),
    ("en", "I don't go to yoga any more", "go to yoga", "I only do yoga on mondays"),
    ("en", "quit the gym", "gym at 7", "I only go to the gym in the evening"),
    ("de", "ich nehme das Statin nicht mehr", "das Statin zu nehmen", "ich bin Lehrer, nehme Statin Tabletten"),
    ("de", "hab das Statin abgesetzt", "Statin nehmen", "ich arbeite nachts, nehme Statin Tabletten"),
    ("fr", "je ne prends plus la statine", "prendre la statine", "je prends une statine le soir"),
    ("fr", "j'ai arrêté la statine", "prendre la statine", "je prends une statine le soir"),
    ("es", "ya no tomo la estatina", "tomar la estatina", "tomo una estatina cada noche"),
    ("es", "dejé la estatina", "tomar la estatina", "tomo una estatina cada noche"),
    ("pt", "não tomo mais a estatina", "tomar a estatina", "tomo uma estatina toda noite"),
    ("pt", "parei de tomar a estatina", "tomar a estatina", "tomo uma estatina toda noite"),
    ("ru", "больше не принимаю статин", "принимать статин", "я принимаю статин по вечерам"),
    ("ru", "перестала принимать статин", "принимать статин", "я принимаю статин по вечерам"),
]


def _stopped(language: str, said: str, title: str) -> bool:
    lower = LANGUAGES.get(language).mended(lowered(said))
    given_up = given_up_in(lower, LANGUAGES.get(language))
    return given_up is not None and is_given_up(given_up, title, LANGUAGES.get(language))


@pytest.mark.parametrize(("language", "said", "title", "_told"), GIVEN_UP)
def test_a_reminder_of_what_is_given_up_is_meant(language, said, title, _told):
    """In whatever form the verb stands, and whatever else is said to be done with the thing."""
    assert _stopped(language, said, title)


@pytest.mark.parametrize(
    ("language", "said", "title"),
    [
        ("en", "I don't drink coffee any more", "drink water"),
        ("en", "I no longer take the bus", "take the statin"),
        ("en", "should I no longer take the statin?", "take the statin"),
        ("en", "I take the statin", "take the statin"),
        ("en", "I don't have the statin", "take the statin"),
        ("en", "we don't need milk any more", "call mum"),
        ("de", "ich trinke keinen Kaffee mehr", "Wasser trinken"),
        ("de", "ich kann das Statin nicht finden", "das Statin nehmen"),
        ("fr", "je ne bois plus de café", "boire de l'eau"),
        ("fr", "je ne prends plus le bus", "je prends une statine le soir"),
        ("ru", "больше не принимаю ванну", "принимать статин"),
        ("de", "ich trinke keinen Kaffee mehr", "ich trinke jeden Tag Wasser"),
        ("es", "ya no tomo café", "tomar la estatina"),
        ("pt", "não tomo mais café", "tomar a estatina"),
        ("ru", "больше не пью кофе", "пить воду"),
    ],
)
def test_another_thing_of_the_same_verb_goes_on(language, said, title):
    """Nor does a question stop anything, or what is only missing."""
    assert not _stopped(language, said, title)


@pytest.mark.parametrize(
    ("language", "told", "said"),
    [
        ("en", "i only take the statin at night", "i no longer take the statin"),
        ("fr", "je prends une statine", "je ne prends plus la statine"),
        ("es", "tomo una estatina todos los años", "ya no tomo la estatina"),
        ("pt", "tomo uma estatina", "não tomo mais a estatina"),
        ("ru", "я принимаю статин", "больше не принимаю статин"),
    ],
)
def test_what_is_given_up_stands_in_the_place_of_the_note(language, told, said):
    """Both stood side by side."""
    before = [each.text for each in notes_of(language, ("ok", "Ok."), (told, "Ok.")).lasting]
    notes = notes_of(language, ("ok", "Ok."), (told, "Ok."), (said, "Ok."))

    assert before == [told]
    assert [each.text for each in notes.lasting] == [said]
    assert told not in alive(language, told, said)


async def test_what_the_concierge_knows_of_it_is_replaced():
    """Whoever asks what is known is told what holds now, and what was before."""
    talk = Talk()
    await talk.say("ich nehme ein Statin")
    answer = await talk.say("ich nehme das Statin nicht mehr")

    assert "„ich nehme das Statin nicht mehr“" in answer
    listed = await talk.say("was weißt du über mich?")
    assert listed.count("•") == 1
    assert "nicht mehr" in listed
