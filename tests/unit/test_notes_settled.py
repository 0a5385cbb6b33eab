"""What ends without being named: somebody answers, what was lacking is there, a thing is called off."""

from __future__ import annotations

import pytest
from test_notes_endings import LANGUAGES, alive, notes_of, shown

from memory.notes.noted import stems_of_text


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "i have to ask Dilys about the spare room", "dilys said yes, second week of may"),
        ("de", "ich muss Dilys noch wegen dem Zimmer fragen", "Dilys ist einverstanden, zweite Maiwoche"),
        ("fr", "je dois demander à Dilys pour la chambre", "dilys a dit oui, la deuxième semaine de mai"),
        ("es", "tengo que preguntarle a Dilys por el cuarto", "Dilys dijo que sí, la segunda semana"),
        ("it", "devo chiedere a Dilys per la stanza", "Dilys ha detto di sì, la seconda settimana"),
        ("pt", "tenho que perguntar à Dilys pelo quarto", "Dilys disse que sim, na segunda semana"),
    ],
)  # fmt: skip
def test_the_answer_of_whom_one_had_to_ask_ends_the_asking(language, earlier, later):
    """A yes or a no: it was asked, whatever comes of it."""
    assert earlier not in alive(language, earlier, later)


def test_one_word_ends_what_was_spoken_of_just_before():
    """What is said to be ordered was to be ordered, also where much else stood beside it."""
    many = "hoops yes, manual no, the cover sheet with the long zip still to order"
    notes = notes_of("en", (many, "Order it soon."), ("fine. ordered! 40 pounds", "Good."))

    assert [each.status for each in notes.matters if "cover sheet" in each.text] == ["settled"]


@pytest.mark.parametrize("done", ["done", "all done"])
def test_a_bare_report_ends_nothing_that_somebody_else_promised(done):
    """What the person has to do is meant, also where another's promise came up later."""
    mine, theirs = "I have to call the vet about the cat", "Tom will send me the contract by Friday"
    notes = notes_of("en", (mine, "Okay."), (theirs, "Good."), (done, "Great."))

    assert {each.text: each.status for each in notes.matters} == {mine: "settled", theirs: "open"}


LINES = (
    "Dear Ms Otieno, my son Kofi will miss school from the third to the fifth since he goes to his aunt. Kind regards."
)


NOTICE = "Notice: assembly on 30 June, 7 pm, in the hall. Agenda: 1 accounts, 2 lift, 3 garage gate. Bring keys."
GLAD = "Good to hear that she is fine and rang you; sisters who ring are worth a lot, I should think."


@pytest.mark.parametrize(
    ("handed", "given", "status"),
    [
        ("the agenda: 1 accounts 2 lift 3 gate", NOTICE, "settled"),
        ("my sister rang, she is fine", GLAD, "open"),
    ],
)
def test_what_was_promised_for_a_thing_is_delivered_once_it_is_handed_over(handed, given, status):
    """A promise "once you send me the agenda" is kept by a short answer to the agenda, and not by small talk."""
    notes = notes_of(
        "en", ("ok", "Once you send me the agenda, I'll write the notice."), ("bye", "Bye!"), (handed, given)
    )

    assert [m.status for m in notes.matters if m.owner == "assistant"] == [status]


def test_what_was_promised_and_asked_for_is_delivered_by_a_short_answer():
    """The lines for the school are written when they are asked for; nothing of the promise is left."""
    asked = "can you do me the lines for the school? i ask Baba first"
    promise = "As soon as Baba agrees, I'll write the lines for the school."
    notes = notes_of("en", (asked, promise), ("please write me the lines for the school now", LINES))

    assert [each.status for each in notes.matters if each.owner == "assistant"] == ["settled"]


def test_sent_ends_the_task_that_the_answer_before_was_written_for():
    """Whoever says "sent" names nothing; what was just asked for and written names it."""
    said = [("i have to write to the school", "When?"), *[("rain again", "Oh.")] * 4]
    asked = ("please write me the letter to the school now", LINES)
    sent, other = notes_of("en", *said, asked, ("sent", "Good.")), notes_of("en", *said, ("sent", "Good."))

    assert [each.status for each in sent.matters if "write to the school" in each.text] == ["settled"]
    assert [each.status for each in other.matters if "write to the school" in each.text] == ["open"]


def test_what_nobody_waits_for_is_offered_last():
    """Somebody who was named in an earlier talk stays behind what has a day, but is better than an empty offer."""
    dated = "my interview at the harbour office is on thursday 12 march at 10, i'm nervous."
    among = shown("en", "my sister Ines lives in Bath.", f"{dated} i have to send the form to Ms Otieno by friday")
    alone = shown("en", "my sister Ines lives in Bath.", "hi, back again")

    assert any("interview" in line for line in among[:-1])
    assert [n for n, line in enumerate(among) if "Ines" in line] in ([], [len(among) - 1])
    assert alone == ["my sister Ines lives in Bath."]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "i won't do the pottery class after all, cancelled it"),
        ("de", "den Töpferkurs mach ich doch nicht, hab abgesagt"),
        ("fr", "le cours de poterie finalement non, j'ai annulé"),
        ("es", "pensaba hacer el curso de cerámica pero al final no"),
        ("it", "il corso di ceramica alla fine no, ho disdetto"),
        ("pt", "tinha pensado no curso de cerâmica mas desisti"),
    ],
)  # fmt: skip
def test_what_is_called_off_as_it_is_named_is_no_matter(language, said):
    """Nobody wants to be offered what they have just said will not be."""
    assert alive(language, said, "ok") == ""


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "Otieno still owes me 240 for the bike", "he finally paid me back, all of it"),
        ("de", "Otieno schuldet mir noch 240 fürs Rad", "er hat endlich alles bezahlt"),
        ("fr", "Otieno me doit toujours 240 pour le vélo", "il a enfin tout remboursé"),
        ("es", "Otieno todavía me debe 240 por la bici", "por fin pagó todo"),
        ("it", "Otieno mi deve ancora 240 per la bici", "mi ha finalmente pagato tutto, ha rimborsato pure il casco"),
        ("pt", "o Otieno ainda me deve 240 da bicicleta", "finalmente pagou tudo"),
        ("en", "i still have no room here, the hostel is loud", "i've got a room, near the canal"),
        ("de", "ich hab immer noch kein Zimmer in Graz", "hab jetzt ein zimmer, direkt am kanal"),
        ("fr", "je cherche toujours une chambre à Graz", "j'ai enfin une chambre, au bord du canal"),
        ("es", "sigo buscando habitación en Graz", "ya tengo habitación, al lado del canal"),
        ("it", "cerco ancora una stanza a Graz", "ho trovato una stanza vicino al canale"),
        ("pt", "ainda procuro um quarto em Graz", "arranjei um quarto ao pé do canal"),
    ],
)  # fmt: skip
def test_what_was_lacking_and_is_there_is_over(language, earlier, later):
    """A debt that is paid, a room that is found: said without the words of the lack."""
    assert earlier not in alive(language, earlier, later)


def test_a_form_of_a_verb_that_shares_no_stem_speaks_of_the_task():
    """What was bought is what was to buy, in each language that has such forms."""
    assert "stamps" not in alive("en", "need to buy stamps", "stamps bought, the green ones")
    assert stems_of_text("rang the dentist", LANGUAGES.get("en")) == stems_of_text("ring dentist", LANGUAGES.get("en"))
    assert stems_of_text("Brief geschrieben", LANGUAGES.get("de")) == stems_of_text(
        "Brief schreiben", LANGUAGES.get("de")
    )


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("pt", "tenho que pagar o cartão", "o cartao paguei"),
        ("es", "tengo que recoger el jamón", "el jamon recogido"),
        ("fr", "je dois récupérer le vélo", "velo récupéré"),
    ],
)
def test_whoever_leaves_the_accents_out_speaks_of_the_same_thing(language, earlier, later):
    """What was to be done ends although it is written otherwise."""
    assert earlier not in alive(language, earlier, later)
