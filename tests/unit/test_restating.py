"""What tells again what is forgotten: the value, or the name with the thing; a twin or a neighbour does not (P13)."""

from dataclasses import replace

import pytest

from memory.context.restating import SENTENCE, Known, Matter, Said, known_by, told_beside
from memory.ledger.types import Note
from memory.search.same_words import forms_of
from memory.testing import START_MS

KEY = "The spare key for the allotment is with Priya, at number 34"
SIZE = "Priya wears size 5 wellies (for her birthday)"
TWINS = ("The spare key for the boat shed is with Marek", "Her brother Tom wears size 9 wellies (for his birthday)")
GERMAN_TWIN = "Der Ersatzschlüssel für den Laden liegt bei Marek"
SAID_OF_PRIYA = "our Priya wears size 5 wellies"


def note(number, text, **fields):
    return Note.model_validate(
        {"note_id": f"n_{number}", "conversation_id": "c", "number": number, "kind": "fact", "text": text}
        | {"said_at_ms": START_MS}
        | fields
    )


def tells(gone, text, *, around=(), known=()):
    stay = known_by(note(n, each) for n, each in enumerate(known, 1))
    return bool(Matter([gone], (SAID_OF_PRIYA, *around)).told_by(Said.of(text), stay))


@pytest.mark.parametrize(
    ("gone", "text"),
    [
        ("The gate's code is 4421", "Your gate opens with 4421."),
        ("The rent is 2,400 a month", "That leaves you with 2.4k to pay."),
        ("The dog is called Zebrafish", "Fine! And how is Zebrafish?"),
        (KEY, "Allotment key: Priya's"),
        (KEY, "It's at 34, with Priya"),
        (SIZE, "Priya: size 5s, noted for her birthday"),
        ("Likes tea with honey", "You like honey in your tea."),
        ("La clave es Zanahoria", "Tu clave: zanahoria, con Zanahoria abres."),
        ("Der Code der Haustür ist 4711", "Die Haustür geht mit 4711 auf."),
        ("门的密码是4711", "密码4711"),
    ],
)
def test_what_really_says_it_again_is_found(gone, text):
    """Numbers however they are written, a name that only it says, a name with the thing."""
    assert tells(gone, text)


@pytest.mark.parametrize(
    ("gone", "text"),
    [
        (KEY, TWINS[0]),
        (SIZE, TWINS[1]),
        (SIZE, "Priya's story: a fox at the end of the lane"),
        (SIZE, "Birthday list: still need Priya's wellies"),
        (KEY, "Settled at £265 then. Saturday's ping is off."),
        ("Der Ersatzschlüssel fürs Haus liegt bei Priya", GERMAN_TWIN),
        ("Priya took the boat on 26 November 2026", "Ask Priya for the boat on 26 December"),
        ("The VAT return is due on 30 November", "Boots on 30 November, 2026"),
    ],
)
def test_a_twin_or_a_neighbour_is_not(gone, text):
    """It shares the thing, or only a name that others say, too, or a day."""
    assert not tells(gone, text, known=(*TWINS, GERMAN_TWIN, "Priya is your granddaughter", "The VAT return is done"))


def test_notes_of_the_same_message_share_their_people():
    """A name alone takes no note along, whoever else says it; a number that is hardly said by chance does."""
    asked = [note(1, "Tom's school has the code 4711")]
    others = [note(2, "Tom's dentist is on the 20th"), note(3, "4711 opens the gym, too")]

    assert told_beside([*asked, *others], asked, ["our Tom's school has 4711"]) == {"n_2"}


def test_what_was_forgotten_before_stays_nowhere():
    """It has no words to keep."""
    gone = note(2, "Likes tea", status="dropped", confidence=0.0)

    assert told_beside([gone], [note(1, "The code is 4711")]) == frozenset()


def test_a_number_that_stays_noted_is_no_echo():
    """What a note says that stays can be read there anyway."""
    gone = Matter(["Ring the shop about the £318"])

    assert gone.told_by(Said.of("£318 is settled"), Known())
    assert not gone.told_by(Said.of("£318 is settled"), known_by([note(1, "The refund was £318")]))


def test_a_short_word_before_a_number_ends_no_sentence():
    """“cap. 2 até sexta” was cut in its middle, and its deadline went with what was to be forgotten."""
    said = "Entregas o cap. 2 até sexta. Dia 8 é feriado! 3 vezes chega."

    assert SENTENCE.split(said) == ["Entregas o cap. 2 até sexta.", "Dia 8 é feriado!", "3 vezes chega."]
    assert SENTENCE.split("The oven is paid. 3 people come.") == ["The oven is paid. 3 people come."]
    assert SENTENCE.split("The oven costs money. 3 people come.") == ["The oven costs money.", "3 people come."]


@pytest.mark.parametrize(
    "text",
    [
        "petra am 5.12.",
        "Petra's is 5 Dec",
        "Petra: December 5th",
        "petra el 5 de diciembre",
        "Petra 2026-12-05",
        "petra 5/12",
    ],
)
def test_a_word_with_the_day_of_a_matter_tells_it_again(text):
    """Of two birthdays of a Petra that of the colleague is the one of the 5th; another day tells the other."""
    gone = Matter(["Deine Kollegin Petra hat Geburtstag\n2026-12-05"])
    known = Known(set(forms_of("Deine Schwester Petra hat Geburtstag")), days=frozenset({(15, 12)}))

    assert gone.told_by(Said.of(text), known)
    assert not gone.told_by(Said.of("petra hat am 15.12. geburtstag"), known)
    assert not gone.told_by(Said.of(text), replace(known, days=frozenset({(5, 12), (12, 5)})))
