"""What one sentence changes is what it speaks of: another matter of the same person, day or message stays as it was."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from test_notes_settled import notes_of


def said(language: str, *texts: str) -> list[tuple[str, str]]:
    """Return the days and the words of what is open, after messages with something else between them."""
    turns = [turn for text in texts for turn in ((text, "Okay."), ("hm", "Mhm."), ("rain again", "Oh."))]
    matters = [each for each in notes_of(language, *turns).matters if each.status == "open" and not each.faint]
    replaced = {key for each in matters for key in each.replaces}
    return [(_day(each.due_at_ms), each.text) for each in matters if each.matter_id not in replaced]


def _day(due_at_ms: int | None) -> str:
    return datetime.fromtimestamp(due_at_ms / 1000, UTC).strftime("%d %b") if due_at_ms else ""


def test_an_appointment_that_moves_leaves_what_else_is_due_to_the_same_person():
    """A name in common is not enough where the sentence says which thing has moved."""
    sheet = "i have to send the sell sheet to Marijke by 12 march"

    assert ("12 Mar", sheet) in said("en", sheet, "appointment moved! Marijke has saturday 14 march at 11:20 now")


def test_a_part_that_corrects_an_hour_keeps_the_rest_of_what_it_corrects():
    """The mass is at twelve; the communion is still on that day, and what else was said stands beside it."""
    told = "Aoife's communion is on 14 march, mass at 11."
    found = said("en", told, "ok new things. mass is at 12 not 11, Fr Colm does two parishes. hotel after or house?")

    assert ("14 Mar", "Aoife's communion is on 14 march, mass at 12.") in found


@pytest.mark.parametrize(
    ("language", "task", "told"),
    [
        ("en", "the lab has to send the report by 31 march", "told her it is coming"),
        ("en", "i have to fix the gate by 31 march", "let her know"),
        ("de", "ich muss bis 31. März das Tor reparieren", "hab ihr das gesagt"),
        ("es", "tengo que arreglar la puerta antes del 31 de marzo", "se lo dije"),
        ("fr", "je dois réparer la porte avant le 31 mars", "je lui ai dit"),
        ("pt", "tenho que consertar a porta até 31 de março", "contei pra ela"),
        ("ru", "надо починить ворота до 31 марта", "сказала ему"),
    ],
)
def test_who_was_told_something_has_not_done_what_is_due(language, task, told):
    """That ends what was to be told, and nothing else."""
    notes = notes_of(language, (task, "Okay."), (told, "Good."))

    assert [each.status for each in notes.matters if task in each.text] == ["open"]


def test_who_was_to_be_told_is_told():
    """The same words end that."""
    notes = notes_of("en", ("i have to tell mum about the job", "Okay."), ("told her", "Good."))

    assert [each.status for each in notes.matters if "tell mum" in each.text] == ["settled"]


@pytest.mark.parametrize(
    "text",
    [
        "my passport runs out on 31 march",
        "ill tell her when i see her over the wall",
        "we eat out with Ana on 31 march",
    ],
)
def test_over_and_out_are_ends_only_where_they_say_so(text):
    """A passport that runs out, a wall that one talks over: nothing has ended."""
    task = "i have to fix the gate"
    notes = notes_of("en", (task, "Okay."), (text, "Mhm."))

    assert [each.status for each in notes.matters if task in each.text] == ["open"]


@pytest.mark.parametrize(
    ("language", "before", "text"),
    [
        ("en", "also they moved my math test.", "the hall was taken so now it's friday 13 march"),
        ("de", "die Matheprüfung wurde verlegt.", "der Saal war belegt, jetzt ist es der 13. März"),
        ("fr", "ils ont déplacé mon examen de maths.", "la salle était prise alors c'est le 13 mars"),
    ],
)
def test_the_day_of_it_brings_what_it_is(language, before, text):
    """A day that "it" has is told with the sentence before."""
    found = said(language, f"{before} {text}")

    assert [words for day, words in found if day == "13 Mar"] == [f"{before} {text}"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "we are in Leipzig 19 to 21 march"), ("en", "the fair is on 19-21 march"),
        ("en", "the fair, march 19-21"),
        ("de", "Fest am 19./20. März"), ("de", "wir sind vom 19. bis 21. März in Leipzig"),
        ("es", "estamos en Leipzig del 19 al 21 de marzo"), ("fr", "on est à Leipzig du 19 au 21 mars"),
        ("pt", "estamos em Leipzig de 19 a 21 de março"), ("ru", "мы в Лейпциге с 19 по 21 марта"),
        ("it", "siamo a Lipsia dal 19 al 21 marzo"),
    ],
)  # fmt: skip
def test_of_several_days_the_first_is_the_day(language, text):
    """What begins on the 19th is not ahead on the 20th."""
    assert [day for day, _ in said(language, text)] == ["19 Mar"]


def test_what_will_be_ready_next_time_is_promised():
    """What is to be had ready is none of what the assistant only says it will have."""
    offer = ("no gazebo yet", "Want me to write a sign for the table meanwhile? Prices, and the honey.")
    accepted = ("oh yeah do that", "No puns. I'll have it ready for you next time: short, big letters.")
    notes = notes_of("en", offer, accepted, ("hm", "Mhm."))

    assert [each.status for each in notes.matters if each.owner == "assistant"] == ["open"]


@pytest.mark.parametrize(
    ("language", "told", "moved", "first", "second"),
    [
        ("en", "trip is on Thursday, form needs to be in by monday", "the form is friday now not monday",
         "trip is on Thursday", "form"),
        ("de", "Der Ausflug ist am Donnerstag, das Formular muss bis Montag abgegeben werden",
         "Das Formular ist jetzt am Freitag, nicht am Montag", "Der Ausflug ist am Donnerstag", "Formular"),
        ("es", "La excursión es el jueves, el formulario hay que entregarlo antes del lunes",
         "el formulario es el viernes, no el lunes", "La excursión es el jueves", "formulario"),
        ("fr", "La sortie est jeudi, le formulaire est à rendre pour lundi",
         "le formulaire est pour vendredi, pas lundi", "La sortie est jeudi", "formulaire"),
        ("pt", "O passeio é na quinta, o formulário tem que ser entregue até segunda",
         "o formulário é na sexta, não na segunda", "O passeio é na quinta", "formulário"),
        ("ru", "Экскурсия в четверг, анкету нужно сдать до понедельника", "анкета в пятницу, а не в понедельник",
         "Экскурсия в четверг", "анкет"),
    ],
)  # fmt: skip
def test_two_matters_with_a_day_each_are_two_behind_a_comma(language, told, moved, first, second):
    """The one that moves took the other with it."""
    notes = notes_of(language, (told, "Okay."), (moved, "Okay."))
    still = [each.text for each in notes.matters if each.status == "open"]

    assert first in still
    assert any(second in text and first not in text for text in still)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "dinner with Tom on Friday, Saturday at the latest"),
        ("en", "dentist on Monday, moved to Friday at 3"),
        ("en", "the wedding is on Saturday, she arrives on Friday"),
        ("de", "Abendessen mit Tom am Freitag, spätestens am Samstag"),
        ("de", "Zahnarzt am Montag, verschoben auf Freitag"),
        ("fr", "dentiste lundi, déplacé à vendredi"),
    ],
)
def test_a_second_day_of_the_same_matter_is_no_other(language, text):
    """What stands behind the comma names nothing of its own, or says that it moved."""
    assert [each.text for each in notes_of(language, (text, "Okay.")).matters if ", " not in each.text] == []


@pytest.mark.parametrize(
    ("language", "paid", "corrected"),
    [
        ("en", "Halden paid the first half, 900", "No sorry, I paid Rob 150"),
        ("de", "Halden hat die erste Hälfte bezahlt, 900", "Nein, ich habe Rob 150 bezahlt"),
        ("es", "Halden pagó la primera mitad, 900", "No, a Rob le pagué 150"),
        ("fr", "Halden a payé la première moitié, 900", "Non, j'ai payé 150 à Rob"),
        ("pt", "Halden pagou a primeira metade, 900", "Não, paguei 150 ao Rob"),
        ("ru", "Халден заплатил первую половину, 900", "Нет, Робу 150"),
    ],
)
def test_a_number_that_is_said_of_somebody_corrects_nothing_of_somebody_else(language, paid, corrected):
    """What Halden paid became what was paid to Rob."""
    notes = notes_of(language, (paid, "Okay."), ("I saw Rob", "Okay."), (corrected, "Okay."))
    held = [each.text for each in (*notes.matters, *notes.lasting)]

    assert not any("150" in text and ("Halden" in text or "Халден" in text) for text in held)


@pytest.mark.parametrize(
    ("language", "more"),
    [
        ("en", "and book swimming for Leo, call the school"), ("en", "also return the library books"),
        ("de", "und Windeln holen, die Schule anrufen"), ("es", "y comprar pañales, llamar al cole"),
        ("fr", "et acheter des couches, appeler l'école"), ("pt", "e comprar fraldas, ligar pra escola"),
        ("ru", "и купить подгузники, позвонить в школу"),
    ],
)  # fmt: skip
def test_errands_added_with_an_and_are_to_be_done(language, more):
    """The next message goes on with what has to be done."""
    assert [each.kind for each in notes_of(language, (more, "Okay.")).matters] == ["task"]


def test_a_wish_with_an_and_is_no_errand():
    """Nobody has to get well soon for them."""
    assert "task" not in {each.kind for each in notes_of("en", ("and get well soon", "Thanks!")).matters}
