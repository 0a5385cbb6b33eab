"""What sounds like an end and is none of what was noted: a part of it, another thing, a day that is over."""

from __future__ import annotations

import pytest
from test_notes_endings import LANGUAGES, MONDAY_MS, alive, notes_of

from memory.language.due_dates import find_due
from memory.notes.clauses import read_turns
from memory.notes.reports import ended
from memory.types import ConversationTurn


@pytest.mark.parametrize(
    ("language", "earlier", "later"),
    [
        ("en", "Hanneke owes me 900 for the bikes", "hanneke paid 400 this morning"),
        ("en", "i have to collect the four chairs from Hanneke", "got only two chairs from hanneke"),
        ("de", "Hanneke schuldet mir noch 900 für die Räder", "hanneke hat 400 bezahlt"),
        ("es", "Hanneke me debe 900 de las bicis", "hanneke me pagó 400"),
        ("fr", "Hanneke me doit 900 pour les vélos", "hanneke m'a payé 400"),
        ("it", "Hanneke mi deve 900 per le bici", "hanneke ha pagato 400"),
        ("pt", "Hanneke me deve 900 das bicicletas", "hanneke pagou 400"),
        ("ru", "Ханнеке должна мне 900 за велосипеды", "ханнеке заплатила 400"),
    ],
)
def test_a_part_of_what_is_owed_ends_nothing(language, earlier, later):
    """Another number than the one that is owed is not all of it."""
    assert earlier in alive(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "earlier", "later", "word"),
    [
        ("en", "my nephew Joost plays the cello in the harbour orchestra", "i went to the orchestra", "cello"),
        (
            "en",
            "the ferry to Skye is on the 21st of March",
            "ha, leave it there. i'll have to think about the ferry",
            "21st",
        ),
        ("en", "my mother's golden wedding is on the 19th of June, 50 years", "i did that job eleven years", "golden"),
        (
            "en",
            "the joiner Priit comes on thursday, the shed door does not close",
            "we decided to close on mondays",
            "Priit",
        ),
        ("it", "devo mandare il modulo al comune", "il modulo nn l'ho mandato", "modulo"),
        ("pt", "tenho que mandar o formulário para a escola", "o formulário da escola n mandei, esqueci", "formulário"),
    ],
)
def test_a_report_of_something_else_ends_nothing(language, earlier, later, word):
    """One word in common, a denied report, or "leave it" with a day ahead beside it: none speaks of the matter."""
    assert word in alive(language, earlier, later)


@pytest.mark.parametrize(
    ("language", "told", "ahead"),
    [
        ("en", "Ines brought the ladder round on thursday", "Ines brings the ladder on thursday"),
        ("de", "Ines hat die Leiter am Donnerstag abgeholt", "Ines holt die Leiter am Donnerstag ab"),
        ("fr", "la lettre est partie jeudi", "j'envoie la lettre jeudi"),
        ("es", "pagué la cuota el jueves", "pago la cuota el jueves"),
        ("it", "ho pagato la rata giovedì", "pago la rata giovedì"),
        ("pt", "paguei a prestação na quinta", "pago a prestação na quinta"),
        ("ru", "отправил письмо в четверг", "отправлю письмо в четверг"),
    ],
)
def test_a_weekday_in_the_past_is_the_last_one(language, told, ahead):
    """What happened on Thursday is not due next Thursday; what will happen is."""
    due = [_due(language, said) for said in (told, ahead)]

    assert [each is None for each in due] == [True, False]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "the price is 2710 now, they put it up on the 20th of February"),
        ("en", "in 2024 i was in Leeds on 3 July, not in York"),
        ("de", "und 2024 war ich am 3. Juli in Glauchau"),
        ("fr", "le prix c'est 2710, ils ont augmenté au premier février"),
        ("es", "el 20 de febrero me retuvieron 50 euros"),
        ("it", "il 20 febbraio hanno aumentato il prezzo"),
        ("pt", "no dia 20 de fevereiro aumentaram o preço"),
        ("ru", "20 февраля подняли цену"),
    ],
)
def test_a_date_that_has_just_been_is_not_the_one_of_a_year_later(language, said):
    """Nor is one of a year that is over."""
    assert _due(language, said) is None


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "die bohrung ist 5,25, also 8 bis 10. wegen der markstrahlen"),
        ("pt", "falta a segunda estrofe da música"),
    ],
)
def test_a_number_that_only_looks_like_a_day_is_none(language, said):
    """A range, and an ordinal that is also the name of a weekday."""
    assert find_due(said, MONDAY_MS, "UTC", LANGUAGES.get(language)) is None


def _due(language: str, said: str) -> int | None:
    turn = ConversationTurn(
        turn_id="t", session_id="s", conversation_id="c", seq=1, user_text=said, assistant_text="Ok.",
        created_at_ms=MONDAY_MS, language=language,
    )  # fmt: skip
    assert find_due(said.lower(), MONDAY_MS, "UTC", LANGUAGES.get(language)) is not None
    clause = read_turns([turn], LANGUAGES, "UTC", language, frozenset())[0].user[0]
    return clause.due.due_at_ms if clause.due else None


@pytest.mark.parametrize(
    ("language", "said", "lines"),
    [
        ("en", "I have to sing with the choir on the 29. I still have to pay the bus for the children.", 2),
        ("de", "Ich muss am 29. April mit dem Chor singen. Ich muss noch den Bus für die Kinder bezahlen.", 2),
    ],
)
def test_a_full_stop_behind_a_number_ends_a_sentence_where_ordinals_have_none(language, said, lines):
    """Two matters in one message are two notes; "29. April" is one day."""
    notes = notes_of(language, (said, "Ok."))

    assert len({each.text for each in notes.matters}) == lines


@pytest.mark.parametrize(
    ("language", "denied", "said"),
    [
        ("pt", "o cartaz n paguei", "o cartaz paguei"),
        ("pt", "a conta num paguei", "a conta paguei"),
    ],
)
def test_a_verb_behind_a_not_reports_no_end(language, denied, said):
    """The same words without the "not" do."""
    assert [bool(ended(each, LANGUAGES.get(language))) for each in (denied, said)] == [False, True]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "thanks, got to run"), ("en", "i have to go, see you"), ("de", "so ich muss los"),
        ("es", "me tengo que ir, luego hablamos"), ("fr", "bon je dois y aller"), ("it", "devo scappare, ciao"),
        ("pt", "tenho que ir, depois falamos"), ("ru", "мне надо бежать"),
    ],
)  # fmt: skip
def test_leaving_the_chat_is_no_task(language, said):
    """Somebody who has to go has nothing to do that one could remind them of."""
    assert not [each for each in notes_of(language, (said, "Ok.")).matters if each.kind == "task"]


@pytest.mark.parametrize(
    ("language", "owed", "paid"),
    [
        ("en", "Tom owes me 50 euros for dinner", "Tom gave me back 20 euros"),
        ("de", "der Karli schuldet mir 120 Euro fürs Radl", "der Karli hat mir 50 Euro zurückgegeben"),
        ("es", "Javi me debe 40 euros del partido", "Javi me ha devuelto 20 euros"),
        ("fr", "Thomas me doit 50 euros pour le resto", "Thomas m'a rendu 20 euros"),
        ("pt", "o Beto me deve 80 reais do futebol", "o Beto devolveu 30 reais"),
        ("ru", "Витя должен мне 5000 за велик", "Витя вернул 2000"),
    ],
)
def test_a_part_of_what_is_owed_ends_no_debt(language, owed, paid):
    """What is still to come was off the list."""
    notes = notes_of(language, (owed, "Ok."), (paid, "Ok."))

    assert [m.status for m in notes.matters if m.text == owed] == ["open"]
