"""What is said in passing: an offer that is accepted, how somebody works, what they would rather have."""

from __future__ import annotations

import pytest
from test_notes_endings import notes_of


@pytest.mark.parametrize(
    ("language", "offer", "answer", "promise"),
    [
        (
            "en",
            "Shall I make you a table of the bulbs by month?",
            "yes please, with the depths",
            "With the depths, then.",
        ),
        ("de", "Soll ich dir eine Tabelle der Zwiebeln nach Monat machen?", "ja gern, aber nicht heute", "Abgemacht."),
        ("es", "¿Quieres que te haga una tabla de los bulbos por mes?", "sí, pero otro día", "Hecho, otro día."),
        ("fr", "Voulez-vous que je vous fasse un tableau des bulbes ?", "oui, volontiers, pas ce soir", "C'est noté."),
        ("it", "Vuoi che ti faccia una tabella dei bulbi per mese?", "sì, ma non oggi", "D'accordo."),
        ("pt", "Quer que eu faça uma tabela dos bulbos por mês?", "sim, mas não hoje", "Combinado."),
        ("ru", "Хотите, я сделаю таблицу луковиц по месяцам?", "да, но не сегодня", "Договорились."),
    ],
)
def test_an_offer_that_is_accepted_and_not_done_at_once_is_promised(language, offer, answer, promise):
    """It is the assistant's, and told in the words of the offer: the answer alone does not say what."""
    notes = notes_of(language, ("ich/i/io", offer), (answer, promise))

    assert [each.text[: len(offer)] for each in notes.matters if each.owner == "assistant"] == [offer]


@pytest.mark.parametrize("answer", ["no, leave it", "hm"])
def test_an_offer_that_is_not_accepted_is_no_promise(answer):
    """Nor is one that is done in the answer to it."""
    offer = "Shall I make you a table of the bulbs by month?"
    table = "March:\n- snowdrops\n- crocus\nApril:\n- tulips"

    assert not [m for m in notes_of("en", ("hi", offer), (answer, "Fine.")).matters if m.owner == "assistant"]
    assert not [m for m in notes_of("en", ("hi", offer), ("yes please", table)).matters if m.owner == "assistant"]


@pytest.mark.parametrize(
    ("language", "said", "kind"),
    [
        ("en", "i work only until 14:00, the nursery shuts then", "constraint"),
        ("pt", "eu sou padeiro então domingo fechado e nada de bolo com álcool", "constraint"),
        ("en", "I'd prefer that you not use exclamation marks or call my questions good", "preference"),
        ("en", "ok. short ones pls when im on shift, i read them walking", "preference"),
        ("de", "Eberhard hier, Bäckermeister, also bitte kurze Antworten", "preference"),
        ("de", "komm mir nicht mit Kuchen und solchem Zeug", "preference"),
        ("fr", "le médecin m'a dit attention avec le cœur, pas de sel et les comprimés le matin", "constraint"),
        ("es", "no me vengas con frases hechas ni con refranes", "preference"),
        ("it", "non venirmi con le frasi fatte o i proverbi", "preference"),
        ("de", "mir wäre lieber, du schreibst ohne Ausrufezeichen und ohne Lob", "preference"),
        ("fr", "je préfère que vous écriviez sans points d'exclamation ni compliments", "preference"),
        ("pt", "prefiro que escreva sem pontos de exclamação nem elogios", "preference"),
    ],
)
def test_how_it_always_is_stays_true_although_an_hour_is_named(language, said, kind):
    """It is no matter that is over when the hour is."""
    notes = notes_of(language, (said, "Good to know."))

    assert [(each.kind, each.text) for each in notes.lasting] == [(kind, said)]


def test_who_a_pronoun_stands_for_comes_along_past_a_second_pronoun():
    """Both sentences of the message begin with "he": the one that names him is quoted before them."""
    told = "my brother Osric never answers my letters about the boathouse"
    notes = notes_of(
        "en", (told, "That hurts."), ("he has always been like that. he has to sign the lease by friday", "Good luck.")
    )

    assert any(each.text.startswith(told) and "lease" in each.text for each in notes.matters)


def test_an_old_number_is_not_quoted_beside_the_one_that_corrects_it():
    """What the assistant reckoned with the old value does not come along."""
    reckoned = "With the van that makes 632, so 268 are left of your 900."
    notes = notes_of(
        "en", ("two vans cost 632", reckoned), ("it's 1100 now actually, the trust pays 200 of the move", "Good.")
    )

    assert not [each.text for each in notes.matters if "900" in each.text and "1100" in each.text]
