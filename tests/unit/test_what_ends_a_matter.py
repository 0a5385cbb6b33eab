"""What ends a matter, and what only shares a person or a word with it."""

from __future__ import annotations

import pytest
from test_notes_endings import alive
from test_offline import Talk

from bot.answers.offline.words import words_of

PEOPLE = [
    (
        "en", "mum's birthday is on saturday", "I have to order a present for mum",
        ["called mum", "mum rang", "talked to mum"], "ordered the present for mum", "what's open?",
    ),
    (
        "de", "am samstag hat mama geburtstag", "Ich muss noch einen Mixer für Mama bestellen",
        ["mama angerufen", "hab mit mama telefoniert"], "den mixer für mama bestellt", "was ist offen?",
    ),
    (
        "fr", "samedi c'est l'anniversaire de maman", "je dois acheter un cadeau pour maman",
        ["j'ai appelé maman", "maman a appelé"], "cadeau pour maman acheté", "qu'est-ce qui est en cours ?",
    ),
    (
        "es", "el sábado es el cumpleaños de mamá", "tengo que comprar un regalo para mamá",
        ["llamé a mamá", "hablé con mamá"], "ya compré el regalo de mamá", "¿qué queda pendiente?",
    ),
    (
        "pt", "sábado é o aniversário da mãe", "preciso comprar um presente pra mãe",
        ["liguei pra mãe", "falei com a mãe"], "comprei o presente da mãe", "o que está pendente?",
    ),
    (
        "ru", "В субботу у мамы день рождения", "надо заказать подарок маме",
        ["маме позвонила", "говорила с мамой"], "подарок маме заказала", "что открыто?",
    ),
]  # fmt: skip


@pytest.mark.parametrize("story", PEOPLE)
async def test_a_person_in_common_ends_nothing(story):
    """The birthday and the present stay through a call; the present ends once it is told of, the birthday does not."""
    (language, event, errand, others, done, asked), talk = story, Talk()
    await talk.say(event)
    await talk.say(errand)

    for other in others:
        await talk.say(other)
        listed = await talk.say(asked)
        assert "1." in listed
        assert "2." in listed
        assert event in alive(language, event, other)
        assert errand in alive(language, errand, other)
    await talk.say(done)
    listed = await talk.say(asked)
    assert "2." not in listed
    assert event.split()[0].lower() in listed.lower() or event.split()[-1] in listed


@pytest.mark.parametrize(
    ("language", "errand", "done"),
    [
        ("en", "I have to call mum", "called mum"),
        ("en", "I need to ring my sister", "rang my sister"),
        ("de", "ich muss mama anrufen", "mama angerufen"),
        ("fr", "je dois appeler maman", "j'ai appelé maman"),
        ("es", "tengo que llamar a mamá", "llamé a mamá"),
        ("pt", "preciso ligar pra mãe", "liguei pra mãe"),
        ("ru", "надо позвонить маме", "маме позвонила"),
    ],
)
async def test_what_was_to_be_done_with_a_person_is_done(language, errand, done):
    """The same words end the errand that they report."""
    talk = Talk()
    await talk.say(errand)
    await talk.say(done)

    assert [loop.status for loop in talk.state.open_loops][:1] == ["done"]
    assert errand not in alive(language, errand, done)


async def test_a_name_in_common_ends_nothing():
    """A name with a capital is somebody, too."""
    talk = Talk()
    await talk.say("I have to buy a present for Anna")
    await talk.say("called Anna")

    assert talk.open_texts == ["I have to buy a present for Anna"]


@pytest.mark.parametrize(
    ("listed", "done", "asked", "left", "gone"),
    [
        ("we need milk, nappies, wipes and stamps", "got the wipes", "what's left?", "nappies", "wipes"),
        ("need wipes. also milk. and the parcel has to go back", "wipes done", "what's left?", "milk", "wipes"),
        ("wir brauchen Milch, Windeln und Briefmarken", "Windeln gekauft", "was ist offen?", "Milch", "Windeln"),
        (
            "il faut acheter du lait, des couches et du pain", "pain acheté", "qu'est-ce qui est en cours ?",
            "couches", "pain",
        ),
        ("tengo que comprar leche, pan y sellos", "ya compré el pan", "¿qué queda pendiente?", "sellos", "pan"),
        ("preciso comprar leite, pão e selos", "comprei o pão", "o que está pendente?", "selos", "pão"),
        ("нужно купить молоко, хлеб и марки", "хлеб купила", "что открыто?", "марки", "хлеб"),
    ],
)  # fmt: skip
async def test_what_is_left_of_a_list_is_listed(listed, done, asked, left, gone):
    """Each thing is remembered one by one; the answer says what is left."""
    talk = Talk()
    await talk.say(listed)

    answer = await talk.say(done)
    assert left in answer
    assert gone not in answer
    assert talk.answer.buttons
    listing = await talk.say(asked)
    assert left in listing
    assert gone not in listing


DEBTS = [
    ("en", "steve still has my drill", "steve gave the drill back"),
    ("en", "I lent Steve my drill", "got the drill back from Steve"),
    ("en", "I owe marco 40", "paid marco"),
    ("en", "I owe Marco 40 euros", "gave Marco the money"),
    ("en", "Lena owes me 50", "lena gave me the money back"),
    ("en", "Lena owes me 50", "lena paid"),
    ("de", "Lena schuldet mir noch 50 euro", "Lena hat mir das Geld zurückgegeben"),
    ("de", "Ich schulde Marco noch 40 Euro", "hab Marco das Geld gegeben"),
    ("de", "Ich schulde Marco noch 40 Euro", "Marco bezahlt"),
    ("de", "Steve hat noch meine Bohrmaschine", "Steve hat die Bohrmaschine zurückgebracht"),
    ("fr", "Steve a toujours ma perceuse", "Steve m'a rendu la perceuse"),
    ("fr", "je dois 40 euros à Marco", "j'ai remboursé Marco"),
    ("fr", "Léna me doit 50 euros", "Léna m'a rendu l'argent"),
    ("es", "Steve todavía tiene mi taladro", "Steve me devolvió el taladro"),
    ("es", "le debo 40 a Marco", "le pagué a Marco"),
    ("es", "Lena me debe 50 euros", "Lena me devolvió el dinero"),
    ("pt", "o Steve ainda está com a minha furadeira", "o Steve devolveu a furadeira"),
    ("pt", "devo 40 pro Marco", "paguei o Marco"),
    ("pt", "a Lena ainda me deve 50 reais", "a Lena já me devolveu o dinheiro"),
    ("ru", "у Стива всё ещё моя дрель", "Стив вернул дрель"),
    ("ru", "я должна Марку 40", "вернула Марку деньги"),
    ("ru", "Лена должна мне 50", "Лена вернула деньги"),
]


@pytest.mark.parametrize(("language", "owed", "settled"), DEBTS)
async def test_what_is_owed_is_open_until_it_is_given_back(language, owed, settled):
    """Money and things, one's own debts and those of others: it is listed, and over once it is told."""
    talk = Talk()
    await talk.say(owed)
    assert owed in alive(language, owed, "ok")

    answer = await talk.say(settled)
    assert owed not in alive(language, owed, settled)
    assert words_of(language).answers["closed"].partition("{")[0] in answer


@pytest.mark.parametrize(
    ("language", "owed", "other"),
    [
        ("en", "I owe marco 40", "paid anna"),
        ("en", "I owe marco 40", "paid the rent"),
        ("en", "Lena owes me 50", "Tom paid me back"),
        ("de", "Ich schulde Marco noch 40 Euro", "Miete bezahlt"),
        ("fr", "je dois 40 euros à Marco", "j'ai payé le loyer"),
        ("es", "Lena me debe 50 euros", "pagué el alquiler"),
        ("pt", "a Lena me deve 50", "paguei o aluguel"),
        ("ru", "Лена должна мне 50", "заплатила за квартиру"),
    ],
)
def test_what_somebody_else_is_paid_ends_no_debt(language, owed, other):
    """Of debts there may be several: what names another is another's."""
    assert owed in alive(language, owed, other)


@pytest.mark.parametrize(
    ("language", "kept", "said"),
    [
        ("en", "gotta return the library books by friday", "dentist's booked"),
        ("de", "ich muss das Fahrrad reparieren", "die Heizung ist repariert"),
    ],
)
def test_the_verb_of_a_report_is_nothing_in_common(language, kept, said):
    """What it names is another thing; "booked" is in no "books"."""
    assert kept in alive(language, kept, said)


@pytest.mark.parametrize(
    ("shopping", "errand", "said", "left"),
    [
        ("I need to buy milk and eggs", "I have to call Bob", "called Bob and got the milk", "buy eggs."),
        ("ich muss Milch und Brot kaufen", "ich muss Bob anrufen", "Bob angerufen und Milch gekauft", "Brot kaufen"),
    ],
)
async def test_two_things_told_with_an_and_are_both_done(shopping, errand, said, left):
    """And the answer names both, also where one is only a part of a list."""
    talk = Talk()
    await talk.say(shopping)
    await talk.say(errand)

    first, second = (await talk.say(said)).split("\n")
    assert left in first
    assert "Bob" in second


@pytest.mark.parametrize(
    ("language", "task", "report"),
    [
        ("de", "ich muss den Pass verlängern", "pass ist beantragt"),
        ("de", "ich muss die Miete überweisen", "die Miete ist überwiesen"),
        ("de", "wir brauchen Briefmarken", "Briefmarken brauchen wir nicht mehr"),
        ("fr", "je dois prendre rdv chez le dentiste", "rdv dentiste pris"),
        ("pt", "preciso comprar selos", "não preciso mais de selos"),
        ("es", "tengo que comprar sellos", "ya no necesito sellos"),
        ("ru", "нужно купить марки", "марки уже не нужны"),
        ("en", "I need to ring my sister", "rang my sister"),
    ],
)
def test_an_everyday_report_ends_its_task(language, task, report):
    """Participles without a "ge", verbs that stand alone."""
    assert task not in alive(language, task, report)
