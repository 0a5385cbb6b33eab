"""What somebody puts right: the answer says how the matter reads now, and the correction is no note of its own."""

from __future__ import annotations

import re

import pytest
from test_notes_denied_day import MOVED, VALUE
from test_offline import Talk

from bot.answers.offline.words import words_of

OTHER_MIND = {
    "en": ("We decided to paint the living room blue", "We changed our minds, the living room will be green",
           "what did we decide?", "green"),
    "de": ("Wir haben beschlossen, das Wohnzimmer blau zu streichen",
           "Wir haben es uns anders überlegt, das Wohnzimmer wird grün", "Was haben wir beschlossen?", "grün"),
    "es": ("Decidimos pintar el salón de azul", "Hemos cambiado de idea, el salón será verde",
           "¿Qué decidimos?", "verde"),
    "fr": ("On a décidé de peindre le salon en bleu", "On a changé d'avis, le salon sera vert",
           "Qu'est-ce qu'on a décidé ?", "vert"),
    "it": ("Abbiamo deciso di dipingere il salotto di blu", "Abbiamo cambiato idea, il salotto sarà verde",
           "Che cosa abbiamo deciso?", "verde"),
    "pt": ("Decidimos pintar a sala de azul", "Mudamos de ideia, a sala vai ser verde",
           "O que decidimos?", "verde"),
    "ru": ("Мы решили покрасить гостиную в синий", "Мы передумали, гостиная будет зелёная",
           "Что мы решили?", "зелён"),
}  # fmt: skip


@pytest.fixture
def talk() -> Talk:
    """Return an empty conversation."""
    return Talk()


@pytest.mark.parametrize("code", MOVED)
async def test_another_day_is_said_with_the_matter_it_is_of(talk: Talk, code: str):
    """The answer names the errand with its new day, and /loops lists it once."""
    told, corrected = MOVED[code]
    await talk.say(told)
    answer = await talk.say(corrected)

    assert answer.startswith(words_of(code).answers["corrected"].partition("{")[0])
    assert "Tom" in answer or "Тому" in answer
    assert len(talk.open_texts) == 1


@pytest.mark.parametrize("code", VALUE)
async def test_another_sum_is_said_with_the_errand_it_is_of(talk: Talk, code: str):
    """Day and recipient are still there."""
    told, corrected = VALUE[code]
    await talk.say(told)
    answer = await talk.say(corrected)

    assert answer.startswith(words_of(code).answers["corrected"].partition("{")[0])
    assert "1950" in answer
    assert "Petit" in answer or "Петит" in answer


@pytest.mark.parametrize("code", OTHER_MIND)
async def test_who_changes_their_mind_decides_anew(talk: Talk, code: str):
    """The new decision takes the place of the old one that speaks of the same thing."""
    told, changed, asked, new = OTHER_MIND[code]
    await talk.say(told)
    await talk.say(changed)
    answer = await talk.say(asked)

    assert new in answer
    assert answer.count("•") == 1


async def test_the_new_decision_may_stand_in_the_next_sentence(talk: Talk):
    """That minds were changed says nothing yet."""
    await talk.say("We decided to paint the living room blue")
    answer = await talk.say("We changed our minds. The living room will be green.")

    assert answer.startswith("That's decided, then: the living room will be green.")


async def test_a_value_of_nothing_is_no_note(talk: Talk):
    """Whoever only says what they meant has told nothing about themselves."""
    await talk.say("sorry i meant fri not thursday")

    assert talk.answer is not None
    assert not talk.answer.buttons
    assert talk.open_texts == []


@pytest.mark.parametrize("talked_before", [0, 1, 2, 4])
async def test_what_was_said_to_be_changed_is_changed(talk: Talk, talked_before: int):
    """Wherever in a session a task is put right, the list says what the answer to the correction said."""
    for _ in range(talked_before):
        await talk.say("hello")
    await talk.say("i need to pay the band by monday")

    assert await talk.say("sorry i meant tuesday") == "Okay, changed: pay the band, due Tue 21 Nov."
    assert await talk.say("whats left") == "One thing's open: pay the band, due Tue 21 Nov."


@pytest.mark.parametrize("talked_between", range(5))
async def test_nothing_is_said_to_be_changed_that_stays_as_it_was(talk: Talk, talked_between: int):
    """A day that comes too late to tell what it is of changes nothing, and then the answer does not say that it did."""
    await talk.say("hello")
    await talk.say("i need to pay the band by monday")
    for _ in range(talked_between):
        await talk.say("thanks")
    answer = await talk.say("sorry i meant tuesday")

    assert ("changed" in answer) == ("Tue 21 Nov" in await talk.say("whats left"))


async def test_a_value_that_puts_nothing_right_is_not_said_to_be_noted(talk: Talk):
    """Nobody is told "noted" when nothing is; who says that they are fine corrects nothing."""
    await talk.say("the exam is on the 3rd")
    for text in ("hello", "what a day", "nice weather", "thanks"):
        await talk.say(text)

    for text in ("actually it's the 4th", "sorry i meant max"):
        assert "stays as it was" in await talk.say(text)
    assert "stays as it was" not in await talk.say("actually i'm fine")


async def test_words_that_were_put_right_are_not_quoted_any_more(talk: Talk):
    """What is known of a matter is what holds now."""
    await talk.say("Our meeting is on friday at 3")
    await talk.say("no wait, it's on thursday")
    known = await talk.say("what did I say about the meeting")

    assert "Our meeting is on thursday at 3" in known
    assert "friday" not in known


async def test_a_weekday_denied_of_nothing_is_no_matter(talk: Talk):
    """What is said to stay as it was is not on the list either."""
    await talk.say("our meeting is on saturday at 3")
    for text in ("hello", "what a day", "nice weather", "thanks"):
        await talk.say(text)

    assert "stays as it was" in await talk.say("no, its friday not thursday")
    assert "Fri" not in await talk.say("whats open")


async def test_a_weekday_that_is_denied_tells_what_is_meant(talk: Talk):
    """Also long after it was said, and beside something that was said since: it was noted as a matter of its own."""
    await talk.say("our meeting is on thursday at 3")
    for text in ("my dance lesson is on saturday", "hello", "what a day", "nice weather", "thanks"):
        await talk.say(text)

    assert await talk.say("no, its friday not thursday") == "Okay, changed: our meeting, due Fri 17 Nov 15:00."


@pytest.mark.parametrize(
    ("said", "due", "quoted"),
    [
        ("no its on friday", "Fri 17 Nov 15:00", "our meeting is on friday at 3"),
        ("no thats on fri", "Fri 17 Nov 15:00", "our meeting is on fri at 3"),
        ("sorry its tmrw", "tomorrow 15:00", "our meeting is tomorrow at 3"),
    ],
)
async def test_a_correction_may_be_misspelled(talk: Talk, said: str, due: str, quoted: str):
    """It had stood on the list itself: "its (Fri 17 Nov)"."""
    await talk.say("our meeting is on thursday at 3")

    assert await talk.say(said) == f"Okay, changed: our meeting, due {due}."
    assert quoted in await talk.say("when is the meeting?")


@pytest.mark.parametrize("moved", ["i moved our meeting to friday", "our meeting got pushed to friday"])
async def test_what_is_told_to_be_moved_is_not_said_to_be_done(talk: Talk, moved: str):
    """It keeps its hour, and is quoted on its new day."""
    await talk.say("our meeting is on thursday at 3")

    assert await talk.say(moved) == "Okay, changed: our meeting, due Fri 17 Nov 15:00. It was Thu 16 Nov 15:00."
    assert "our meeting is on friday at 3" in await talk.say("when is the meeting?")


async def test_a_matter_of_the_session_before_is_changed_as_said(talk: Talk):
    """The first message of a session may put right what was said in the last one."""
    await talk.say("i need to pay the band by monday")
    talk.begin("s_2")

    assert await talk.say("sorry i meant tuesday") == "Okay, changed: pay the band, due Tue 21 Nov."
    assert await talk.say("whats left") == "One thing's open: pay the band, due Tue 21 Nov."


async def test_what_was_taken_back_is_not_said_to_be_changed(talk: Talk):
    """A day given to what is on no list any longer changes nothing that is told."""
    await talk.say("i need to pay the band by monday")
    await talk.say("that's wrong")

    assert "changed" not in await talk.say("sorry i meant tuesday")
    assert "band" not in await talk.say("whats left")


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("my landlord wants the keys back by 5 December", "snooze the keys till thursday", "until Thu 16 Nov"),
        ("my landlord wants the keys back by 5 December", "put the keys off till thursday", "until Thu 16 Nov"),
        (
            "der Vermieter will die Schlüssel bis 5. Dezember",
            "snooze die Schlüssel bis Donnerstag",
            "bis Do 16. Nov.",
        ),
        (
            "el casero quiere las llaves antes del 5 de diciembre",
            "aplaza las llaves hasta el jueves",
            "el jue 16 de nov",
        ),
        ("le propriétaire veut les clés avant le 5 décembre", "reporte les clés à jeudi", "jusqu'à jeu. 16 nov."),
        ("o senhorio quer as chaves até 5 de dezembro", "adia as chaves até quinta", "até qui 16 de nov"),
        ("il padrone vuole le chiavi entro il 5 dicembre", "rimanda le chiavi a giovedì", "fino a gio 16 nov"),
        ("хозяин хочет ключи до 5 декабря", "отложи ключи до четверга", "до чт 16 нояб."),
    ],
)
async def test_what_is_put_off_to_before_its_day_rests_and_keeps_it(talk: Talk, told: str, asked: str, answer: str):
    """A landlord's deadline does not come earlier since somebody does not want to hear of it before."""
    await talk.say(told)
    said = await talk.say(asked)

    assert answer in said
    assert re.search(r"\b5\b", said.partition(":")[2])


async def test_what_tells_more_than_another_value_is_not_said_to_change_nothing(talk: Talk):
    """The notes take it in: "it all stays as it was" was not true."""
    await talk.say("form needs to be in by monday")

    assert "stays as it was" not in await talk.say("schools called about the form, its friday now not monday")
