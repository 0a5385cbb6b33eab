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
    """It is taken out, and what is left stays until it was spoken of."""
    soon = notes_of(language, (listed, "Ok."), (one, "Good."))
    items, left = items_of(listed, LANGUAGES.get(language)), alive(language, listed, one)

    assert [each.status for each in soon.matters if each.replaces] == ["open"]
    assert left
    assert left != listed
    assert len(items_of(left, LANGUAGES.get(language))) in {0, len(items) - 1}
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


LISTS = [
    ("es", "tengo que llamar a Ana y a Luis", [("llamé a Ana", "tengo que llamar a Luis")]),
    (
        "en", "we need milk, nappies, wipes and stamps",
        [
            ("got the wipes", "we need milk, nappies and stamps"),
            ("milk and stamps bought", "we need nappies"),
            ("got the nappies", ""),
        ],
    ),
    (
        "en", "need wipes. also milk. and the parcel has to go back",
        [("wipes done", "need milk.\nand the parcel has to go back"), ("sent the parcel back", "need milk.")],
    ),
    (
        "en", "we need milk, nappies and stamps",
        [("got the milk but not the stamps", "we need nappies and stamps"), ("forget the stamps", "we need nappies")],
    ),
    (
        "en", "I have to buy milk, eggs and bread by friday",
        [("got the milk", "I have to buy eggs and bread by friday"), ("eggs bought", "I have to buy bread by friday")],
    ),
    (
        "en", "we need milk and stamps",
        [("got the milk. also need bread", "we need stamps\nalso need bread"), ("bread done", "we need stamps")],
    ),
    (
        "en", "we need milk and stamps",
        [("got the milk, need bread too", "we need stamps\nneed bread too"), ("bread done", "we need stamps")],
    ),
    (
        "de", "ich muss noch Milch, Eier und Brot kaufen",
        [("Brot ist gekauft", "ich muss noch Milch und Eier kaufen"), ("Milch geholt", "ich muss noch Eier kaufen")],
    ),
    (
        "de", "wir brauchen Milch, Windeln und Briefmarken",
        [("Windeln gekauft", "wir brauchen Milch und Briefmarken"), ("Milch ist da", "wir brauchen Briefmarken")],
    ),
    (
        "es", "tengo que comprar leche, pañales y sellos",
        [
            ("ya compré los sellos", "tengo que comprar leche y pañales"),
            ("leche comprada", "tengo que comprar pañales"),
        ],
    ),
    (
        "fr", "il faut acheter du lait, des couches et du pain",
        [
            ("j'ai pris le lait", "il faut acheter des couches et du pain"),
            ("pain acheté", "il faut acheter des couches"),
        ],
    ),
    (
        "pt", "preciso comprar leite, fraldas e selos",
        [("comprei as fraldas", "preciso comprar leite e selos"), ("leite comprado", "preciso comprar selos")],
    ),
    (
        "ru", "нужно купить молоко, подгузники и марки",
        [("молоко купила", "нужно купить подгузники и марки"), ("марки купила", "нужно купить подгузники")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("language", "listed", "steps"), LISTS)
def test_what_is_left_of_a_list_stands_in_its_place(language, listed, steps):
    """Also where it stretches over sentences, and where what is left is told in the same breath."""
    said = [(listed, "Ok.")]
    for report, left in steps:
        said.append((report, "Good."))
        open_ones = [each.text for each in notes_of(language, *said).matters if each.status == "open"]
        assert sorted(open_ones) == sorted(filter(None, left.split("\n")))


@pytest.mark.parametrize(
    ("language", "listed", "added", "whole"),
    [
        ("en", "need wipes", "also milk", "need wipes and milk"),
        ("de", "ich muss noch Milch kaufen", "und Brot", "ich muss noch Milch und Brot kaufen"),
        ("en", "I have to call Bob", "and Ann", "I have to call Bob and Ann"),
        ("en", "need wipes and stamps", "and some milk too", "need wipes, stamps and some milk"),
        ("de", "ich muss noch Milch und Brot kaufen", "und auch Eier", "ich muss noch Milch, Brot und Eier kaufen"),
        ("fr", "il faut acheter du lait et du pain", "et aussi des couches",
         "il faut acheter du lait, du pain et des couches"),
        ("es", "tengo que comprar leche y pan", "y también sellos", "tengo que comprar leche, pan y sellos"),
        ("pt", "preciso comprar leite e pão", "e fraldas também", "preciso comprar leite, pão e fraldas"),
        ("ru", "нужно купить молоко и хлеб", "и ещё марки", "нужно купить молоко, хлеб и марки"),
    ],
)  # fmt: skip
def test_what_is_only_added_goes_on_the_list_before(language, listed, added, whole):
    """In the next message, too; what says more than a thing is a message of its own."""
    assert [each.text for each in notes_of(language, (listed, "Ok."), (added, "Ok.")).matters] == [whole]
    assert whole not in alive(language, listed, added)


@pytest.mark.parametrize(
    ("language", "told", "one", "left"),
    [
        (
            "en", "i have to pick up the parcel from the post office and buy food for the dog",
            "picked up the parcel", "i have to buy food for the dog",
        ),
        (
            "de", "ich muss den Papa im Spital besuchen und den Wagen in die Werkstatt bringen",
            "den Wagen hab ich in die Werkstatt gebracht", "ich muss den Papa im Spital besuchen",
        ),
        (
            "es", "tengo que sacar la basura y regar las plantas de mi hermana",
            "ya he sacado la basura", "tengo que regar las plantas de mi hermana",
        ),
        (
            "fr", "faut que je passe à la pharmacie et que je récupère le colis chez le voisin",
            "c'est bon pour la pharmacie, j'y suis passée", "faut que je récupère le colis chez le voisin",
        ),
        (
            "it", "devo ritirare il pacco alla posta e comprare il cibo per il gatto",
            "ho ritirato il pacco", "devo comprare il cibo per il gatto",
        ),
        (
            "pt", "preciso pegar a encomenda no correio e comprar ração pro gato",
            "já peguei a encomenda", "preciso comprar ração pro gato",
        ),
        (
            "ru", "надо забрать посылку на почте и купить корм коту",
            "посылку уже забрала", "надо купить корм коту",
        ),
    ],
)  # fmt: skip
def test_of_two_errands_the_other_is_left(language, told, one, left):
    """In however many words it is told: the food was off the list with the parcel."""
    assert alive(language, told, one) == left


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "ich muss mit Anna und Peter am Abend ins Kino gehen"),
        ("es", "tengo que llamar al seguro y preguntar por la póliza del coche"),
    ],
)
def test_one_errand_with_an_and_is_no_list(language, text):
    """With two people, or a call in which to ask something."""
    assert items_of(text, LANGUAGES.get(language)) == ()
