"""A weekday that is denied beside one that holds is not when the matter is due, and the rest of the matter stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.language.languages import Languages
from memory.notes.rules import read_by_rules
from memory.notes.types import ReadingRequest
from memory.testing import START_MS, make_turn

LANGUAGES = Languages.load()
FRIDAY = 4
MOVED = {
    "en": ("I need to send Tom the quote by Thursday", "sorry i meant fri not thursday for toms quote"),
    "de": ("Ich muss Tom bis Donnerstag das Angebot schicken", "Sorry, ich meinte Freitag, nicht Donnerstag"),
    "es": ("Tengo que llamar a Tom el jueves", "Perdona, quería decir el viernes, no el jueves"),
    "fr": ("Je dois appeler Tom jeudi", "Pardon, je voulais dire vendredi, pas jeudi"),
    "it": ("Devo chiamare Tom giovedì", "Scusa, volevo dire venerdì, non giovedì"),
    "pt": ("Preciso ligar para o Tom na quinta", "Desculpa, quis dizer sexta, não quinta"),
    "ru": ("Мне нужно позвонить Тому в четверг", "Извини, я имела в виду пятницу, а не четверг"),
}
VALUE = {
    "en": ("I have to pay Mrs Petit the deposit of 1900 euros tomorrow", "oh no, the deposit is 1950 euros"),
    "de": ("Ich muss morgen Frau Petit die Kaution von 1900 Euro überweisen", "Ach nee, die Kaution sind 1950 Euro"),
    "es": ("Tengo que pagar mañana a Petit la fianza de 1900 euros", "Ay no, la fianza son 1950 euros"),
    "fr": ("Je dois virer demain à Mme Petit la caution de 1900 euros", "Ah non, la caution c'est 1950 euros"),
    "it": ("Devo pagare domani a Petit la cauzione di 1900 euro", "Ah no, la cauzione è di 1950 euro"),
    "pt": ("Tenho que pagar amanhã à Petit a caução de 1900 euros", "Ah não, a caução são 1950 euros"),
    "ru": ("Мне нужно завтра отдать Петит залог 1900 евро", "Ой нет, залог 1950 евро"),
}


MERE = {
    "en": ("no, friday", "no, at 7"),
    "de": ("nee, freitag", "nein, um 7"),
    "es": ("no, el viernes", "no, a las 7"),
    "fr": ("non, vendredi", "non, à 7h"),
    "it": ("no, venerdì", "no, alle 7"),
    "pt": ("não, sexta", "não, às 7"),
    "ru": ("нет, в пятницу", "нет, в 7"),
}


ASKED = {
    "en": "snooze Tom's quote till friday",
    "de": "verschiebe das Angebot für Tom auf Freitag",
    "es": "pospón lo de Tom al viernes",
    "fr": "repousse Tom à vendredi",
    "it": "rimanda Tom a venerdì",
    "pt": "adia o Tom para sexta",
    "ru": "перенеси звонок Тому на пятницу",
}


def turns_of(code, *texts):
    return tuple(
        make_turn(seq=seq, user_text=text, assistant_text="Okay.").model_copy(
            update={"language": code, "created_at_ms": START_MS + seq * 60_000}
        )
        for seq, text in enumerate(texts, 1)
    )


def open_matters(code, *texts):
    turns = turns_of(code, *texts)
    request = ReadingRequest(
        session_id=turns[0].session_id, conversation_id=turns[0].conversation_id, turns=turns, language=code,
        now_ms=START_MS + 600_000,
    )  # fmt: skip
    notes = read_by_rules(request, LANGUAGES)
    replaced = {ref for matter in notes.matters for ref in matter.replaces}
    return [m for m in notes.matters if m.status == "open" and m.matter_id not in replaced]


@pytest.mark.parametrize("code", MOVED)
def test_the_day_that_holds_is_the_day(code: str):
    """The words "Friday, not Thursday" move what was due on Thursday; who it is for stays."""
    told, corrected = MOVED[code]
    (matter,) = open_matters(code, told, corrected)

    assert datetime.fromtimestamp((matter.due_at_ms or 0) / 1000, UTC).weekday() == FRIDAY
    assert "Tom" in matter.text or "Тому" in matter.text


@pytest.mark.parametrize("code", MERE)
def test_a_no_with_a_day_or_an_hour_puts_right_what_was_just_said(code: str):
    """The words "no, friday" move what was due on Thursday, and an hour is of that day."""
    told, (day, hour) = MOVED[code][0], MERE[code]
    (matter,) = open_matters(code, told, day, hour)
    at = datetime.fromtimestamp((matter.due_at_ms or 0) / 1000, UTC)

    assert (at.weekday(), at.hour, matter.due_exact) == (FRIDAY, 7, True)
    assert "…" not in matter.text


@pytest.mark.parametrize("code", ASKED)
def test_what_is_to_be_moved_by_its_name_is_moved(code: str):
    """The words "snooze the quote till Friday" are no task: what they name has that day."""
    (matter,) = open_matters(code, MOVED[code][0], ASKED[code])

    assert datetime.fromtimestamp((matter.due_at_ms or 0) / 1000, UTC).weekday() == FRIDAY
    assert "…" not in matter.text


def test_what_had_no_day_is_moved_to_one_and_a_place_is_no_day():
    """A task without a day gets it beside its words; "move the sofa to the garage" moves nothing that was noted."""
    florist, sofa = "I must call the florist", "I have to sell the sofa by Thursday"
    (matter,) = open_matters("en", florist, "move the florist to friday")
    assert (matter.text, matter.due_at_ms is not None) == (florist, True)

    kept = open_matters("en", sofa, "move the sofa to the garage on friday")
    assert any(matter.text == sofa for matter in kept)


@pytest.mark.parametrize("code", MOVED)
def test_it_is_the_day_also_when_each_turn_is_read_by_itself(code: str):
    """What was noted a turn ago is near, whoever read it: as in a talk, where notes follow each message."""
    told, corrected = MOVED[code]
    spoken = turns_of(code, "Okay.", "Okay.", told, corrected)
    notes = None
    for number, turn in enumerate(spoken):
        request = ReadingRequest(
            session_id=turn.session_id, conversation_id=turn.conversation_id, turns=(turn,), language=code,
            before=spoken[max(0, number - 3) : number], notes=notes, now_ms=START_MS + 600_000,
        )  # fmt: skip
        notes = read_by_rules(request, LANGUAGES)

    (matter,) = [m for m in notes.matters if m.status == "open"]
    assert datetime.fromtimestamp((matter.due_at_ms or 0) / 1000, UTC).weekday() == FRIDAY


@pytest.mark.parametrize("code", VALUE)
def test_another_sum_leaves_the_day_and_the_person(code: str):
    """The errand keeps everything that the correction does not speak of."""
    told, corrected = VALUE[code]
    (matter,) = open_matters(code, told, corrected)

    assert "1950" in matter.text
    assert "1900" not in matter.text
    assert "Petit" in matter.text or "Петит" in matter.text
    assert matter.due_at_ms is not None


def test_a_day_that_is_only_denied_stays_a_day():
    """Where no other day holds there is nothing to put in its place."""
    (matter,) = open_matters("en", "I must call Ana, not on Friday")

    assert datetime.fromtimestamp((matter.due_at_ms or 0) / 1000, UTC).weekday() == FRIDAY
