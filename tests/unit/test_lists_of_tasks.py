"""One item of a list that is done does not end the others."""

from __future__ import annotations

import pytest
from test_notes_endings import LANGUAGES, alive, notes_of

from memory.language.errands import errands_of
from memory.language.listing import items_of


@pytest.mark.parametrize(
    ("language", "listed", "one", "all_of_it"),
    [
        (
            "en",
            "i still have to send out the save the dates, order the rings and find a band",
            "the rings are sorted, joel ordered them",
            "the save the dates went out, rings ordered, band found",
        ),
        (
            "en",
            "I need to: renew the passport, ring the plumber about the tap, and send Margaret a card (on the 24th)",
            "I rang the plumber, he's coming on wednesday",
            "plumber rung, passport renewed, Margaret's card sent",
        ),
        ("en", "i need to buy milk and bread", "got the milk", "got the milk and the bread"),
        ("de", "ich muss noch Milch und Brot", "Milch ist gekauft", "Milch und Brot gekauft"),
        ("es", "tengo que comprar leche y pan", "ya compré la leche", "ya compré la leche y el pan"),
        ("fr", "je dois acheter du lait et du pain", "j'ai acheté le lait", "j'ai acheté le lait et le pain"),
        (
            "de",
            "ich muss noch Milch kaufen, das Fahrrad abholen und den Klempner anrufen",
            "Den Klempner hab ich grad angerufen",
            "Milch gekauft, Fahrrad abgeholt, Klempner angerufen",
        ),
        (
            "fr",
            "je dois payer le loyer, appeler la banque et poster la lettre",
            "Le loyer est payé",
            "loyer payé, banque appelée, lettre postée",
        ),
        (
            "es",
            "tengo que pagar el alquiler, llamar al banco y mandar la carta",
            "ya pagué el alquiler",
            "alquiler pagado, banco llamado, carta mandada",
        ),
    ],
)
def test_one_thing_done_leaves_the_list(language, listed, one, all_of_it):
    """Until each of them was spoken of: two errands lost are worse than one shown too long."""
    soon = notes_of(language, (listed, "Ok."), (one, "Good."))

    assert [each.status for each in soon.matters if each.text == listed] == ["open"]
    assert listed in alive(language, listed, one)
    assert listed not in alive(language, listed, all_of_it)


@pytest.mark.parametrize(
    "text", ["call the plumber, he has the key", "the rings and the band", "I live in Bath, Joel in Leeds"]
)
def test_what_is_no_list_has_no_items(text):
    """It takes three, and a joint before the last."""
    assert items_of(text, LANGUAGES.get("en")) == ()


@pytest.mark.parametrize(
    ("language", "text", "apart"),
    [
        (
            "en",
            "i need to pay the rent by friday and call ann on monday and mum comes on sunday",
            ["i need to pay the rent by friday", "i need to call ann on monday", "mum comes on sunday"],
        ),
        (
            "en",
            "I have to pay the rent by Friday and call Ann on Monday",
            ["I have to pay the rent by Friday", "I have to call Ann on Monday"],
        ),
        (
            "de",
            "ich muss morgen die Miete zahlen und am Donnerstag um 15 Uhr ist Elternabend",
            ["ich muss morgen die Miete zahlen", "am Donnerstag um 15 Uhr ist Elternabend"],
        ),
        (
            "de",
            "ich muss bis Freitag die Miete zahlen und am Montag Ana anrufen",
            ["ich muss bis Freitag die Miete zahlen", "ich muss am Montag Ana anrufen"],
        ),
        (
            "es",
            "tengo que llevar el coche el miercoles y pagar el seguro antes del viernes",
            ["tengo que llevar el coche el miercoles", "tengo que pagar el seguro antes del viernes"],
        ),
        (
            "fr",
            "faut que j'appelle le dentiste demain et que je rende les livres samedi",
            ["faut que j'appelle le dentiste demain", "il faut que je rende les livres samedi"],
        ),
        (
            "it",
            "devo pagare l'affitto venerdì e chiamare la banca lunedì",
            ["devo pagare l'affitto venerdì", "devo chiamare la banca lunedì"],
        ),
        (
            "pt",
            "preciso levar o gato quinta as 15h e pagar o condominio ate sexta",
            ["preciso levar o gato quinta as 15h", "preciso pagar o condominio ate sexta"],
        ),
        (
            "ru",
            "надо завтра оплатить интернет и в пятницу позвонить в садик",
            ["надо завтра оплатить интернет", "надо в пятницу позвонить в садик"],
        ),
        ("en", "I need to water the plants on Monday and on Friday", None),
        ("en", "I need to choose between Monday and Friday", None),
        ("en", "we met Ann on Monday and Tom comes on Friday", None),
        ("es", "hay que comprar pintura y pedirle la furgoneta a Raul el sabado", None),
    ],
)
def test_errands_of_several_days_are_several_errands(language, text, apart):
    """Each with its own day, and one that is done leaves the other."""
    assert errands_of(text, LANGUAGES.get(language)) == (apart or [text])


def test_what_is_done_on_one_day_leaves_what_is_due_on_another():
    """Both had been one line, due on the day of the one at the hour of the other."""
    told = "ich muss morgen die Miete zahlen und am Donnerstag um 15 Uhr den Zahnarzt anrufen"

    assert alive("de", told, "Miete ist gezahlt") == "ich muss am Donnerstag um 15 Uhr den Zahnarzt anrufen"
