"""One item of a list that is done does not end the others."""

from __future__ import annotations

import pytest
from test_notes_endings import LANGUAGES, alive, notes_of

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
