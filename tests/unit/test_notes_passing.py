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
        ("en", "Want the bulbs side by side: price, month, depth?", "yeah. not tonight tho", "It'll be here tomorrow."),
        (
            "en",
            "Want me to draw up a plan of the bulbs?",
            "Yes. No tulips. Do it next time",
            "Next time, without tulips.",
        ),
        ("de", "Soll ich die Zwiebeln nach Monat ordnen?", "unbedingt! keine tulpen, ein andermal", "Mache ich."),
        ("es", "¿Querés que te arme una tabla de los bulbos?", "quiero!! pero hoy no", "Dale."),
        ("fr", "Vous voulez que je range les bulbes par mois ?", "je veux bien, pas ce soir", "D'accord."),
        ("it", "Vuole che ordini i bulbi per mese?", "magari! ma non stasera", "Va bene."),
        ("pt", "Quer que eu te mande umas opções de bulbos?", "quero!! mas nao agora", "Vou te mandar três amanhã."),
        ("ru", "Хотите, составлю таблицу луковиц?", "хочу! но не сегодня", "Хорошо."),
    ],
)
def test_an_offer_that_is_accepted_and_not_done_at_once_is_promised(language, offer, answer, promise):
    """It is the assistant's, and told in the words of the offer: the answer alone does not say what."""
    notes = notes_of(language, ("ich/i/io", offer), (answer, promise))

    assert [each.text[: len(offer)] for each in notes.matters if each.owner == "assistant"] == [offer]
    assert len(notes.matters) == 1


@pytest.mark.parametrize(
    ("language", "asked", "promise"),
    [
        ("en", "i'm scared of that appeal", "We'll go through the appeal together on Friday."),
        ("en", "the tax office hasn't answered", "If nothing comes by 1 July, I'll draft the objection for you."),
        ("de", "und der Bericht?", "Den Bericht bekommen Sie von mir, sobald Sie wieder lesen dürfen."),
        ("es", "el depósito vence a fin de mes", "El viernes lo vemos juntos: tasa, plazo, letra chica."),
        ("fr", "la caf toujours rien", "Si tu n'as rien le 1er juillet, je te rédige la contestation."),
        ("it", "il deposito scade a fine mese", "Venerdì lo guardiamo insieme: tasso, durata, clausole."),
        ("pt", "o depósito vence no fim do mês", "Na sexta a gente vê isso: taxa, prazo, letras miúdas."),
        ("ru", "вклад кончается в конце месяца", "В пятницу разберём с вами вклады: ставка, срок, страховка."),
    ],
)
def test_what_is_to_be_done_together_or_if_nothing_comes_by_a_day_is_promised(language, asked, promise):
    """It has a day, so somebody has to remember it; the same without a day is a courtesy."""
    assert [each.kind for each in notes_of(language, (asked, promise)).matters if each.owner == "assistant"] == [
        "promise"
    ]


@pytest.mark.parametrize("courtesy", ["We'll look at it together.", "If you want, I'll draft the objection for you."])
def test_a_courtesy_promises_nothing(courtesy):
    """Nothing is due, and nobody waits."""
    assert not [m for m in notes_of("en", ("the tax office hasn't answered", courtesy)).matters if m.owner != "user"]


def test_a_promise_that_says_it_is_told_with_what_has_to_be_done():
    """What "I'll put it into shape" is about stands in the message that it answers."""
    said = "now I have to write the minutes of the meeting. I've four pages of scribble."
    notes = notes_of("en", (said, "Send it piece by piece as it comes, I'll put it into shape for you later."))

    [promise] = [each for each in notes.matters if each.owner == "assistant"]
    assert "minutes" in promise.text


def test_what_has_to_be_done_is_told_with_the_sentence_before_it_that_says_of_what():
    """What "collect them and pay the rest" is about stands in the sentence before, in the same message."""
    said = "the curtains for the choir room are finally ready. have to collect them from the tailor and pay the rest."
    [matter] = notes_of("en", (said, "Lovely.")).matters[-1:]

    assert ("curtains" in matter.text, "collect" in matter.text) == (True, True)


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
