"""What says that something is otherwise, and of what, corrects nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.language.languages import Languages
from memory.notes.requests import request_of
from memory.notes.rules import read_by_rules
from memory.notes.types import DAY_MS
from memory.notes.view import loops, merge
from memory.types import ConversationTurn

LANGUAGES = Languages.load()
TUESDAY_MS = int(datetime(2026, 11, 24, 9, 30, tzinfo=UTC).timestamp() * 1000)
TOLD = {
    "en": ("Dr Patel wants to see me on Thursday at 10", "Gerald next door is feeding the cat",
           "Gerald can't feed the cat after all", "I must ask Betty instead"),
    "de": ("Dr. Patel will mich am Donnerstag um 10 sehen", "Gerald von nebenan füttert die Katze",
           "Gerald kann die Katze doch nicht füttern", "Ich muss stattdessen Betty fragen"),
    "es": ("La doctora Patel me quiere ver el jueves a las 10", "Gerardo, el vecino, da de comer al gato",
           "Al final Gerardo no puede dar de comer al gato", "Tengo que preguntar a Berta en su lugar"),
    "fr": ("Le docteur Patel veut me voir jeudi à 10h", "Gérald, le voisin, nourrit le chat",
           "Finalement Gérald ne peut pas nourrir le chat", "Je dois demander à Betty à la place"),
    "pt": ("A doutora Patel quer me ver na quinta às 10", "O Geraldo, meu vizinho, alimenta o gato",
           "No fim o Geraldo não pode alimentar o gato", "Preciso perguntar à Betty em vez disso"),
    "ru": ("Доктор Патель ждёт меня в четверг в 10", "Геральд, сосед, кормит кота",
           "Геральд всё-таки не сможет кормить кота", "Вместо этого мне надо спросить Бетти"),
}  # fmt: skip


def turn(seq, text, language, at_ms, session="s_1"):
    """Return a turn of the concierge's."""
    return ConversationTurn(
        turn_id=f"{session}_{seq}", session_id=session, conversation_id="c", seq=seq, user_text=text, authored="ok",
        assistant_text="ok", language=language, created_at_ms=at_ms,
    )  # fmt: skip


def on_the_next_day(language, first, then):
    """Return the notes of two days, each message read as it comes."""
    told = [turn(seq, text, language, TUESDAY_MS + seq) for seq, text in enumerate(first, 1)]
    before = read_by_rules(request_of(told, (), None, [], LANGUAGES, zone="UTC", now_ms=TUESDAY_MS), LANGUAGES)
    notes, earlier = None, ()
    for seq, text in enumerate(then, 1):
        new = turn(seq, text, language, TUESDAY_MS + DAY_MS + seq, "s_2")
        request = request_of((new,), earlier, notes, [before], LANGUAGES, zone="UTC", now_ms=new.created_at_ms)
        notes, earlier = read_by_rules(request, LANGUAGES), (*earlier, new)
    return [before, notes]


@pytest.mark.parametrize("language", TOLD)
def test_what_names_another_matter_leaves_the_appointment_alone(language):
    """The visit at the doctor's had become "ask Betty instead", on Thursday at ten."""
    doctor, cat, not_after_all, betty = TOLD[language]

    notes = on_the_next_day(language, (doctor, cat), (not_after_all, betty))

    alive = merge(notes, TUESDAY_MS + DAY_MS, LANGUAGES)
    assert doctor in {each.note.text for each in alive.standings}
    assert any(each.note.text == betty for each in alive.standings)


@pytest.mark.parametrize(
    ("language", "told", "corrected"),
    [
        ("en", "Dr Patel wants to see me on Thursday at 10", "it's Wednesday not Thursday"),
        ("de", "Der Termin bei Dr. Patel ist am Donnerstag um 10", "nein, Mittwoch, nicht Donnerstag"),
        ("es", "La cita con Patel es el jueves a las 10", "no, es el miércoles, no el jueves"),
        ("fr", "Le rendez-vous avec Patel est jeudi à 10h", "non, c'est mercredi, pas jeudi"),
        ("pt", "A consulta com o Patel é na quinta às 10", "não, é quarta, não quinta"),
        ("ru", "Приём у Патель в четверг в 10", "нет, в среду, а не в четверг"),
    ],
)
def test_the_weekday_that_holds_is_that_of_the_same_week(language, told, corrected):
    """Said on a Wednesday morning, it is today at ten and not a week later."""
    notes = on_the_next_day(language, (told,), (corrected,))

    [moved] = [each for each in notes[1].matters if each.replaces]
    assert datetime.fromtimestamp(moved.due_at_ms / 1000, UTC).isoformat()[:13] == "2026-11-25T10"


def test_what_has_to_be_done_for_an_event_is_listed_beside_it():
    """The line of the event says nothing of the cake, though both quote the same words."""
    said = ("Sophie has her piano recital on 12 December", "I need to bake a cake for that")
    notes = on_the_next_day("en", said, ("Betty said yes", "Max is 9 and Sophie is 12"))

    assert any("cake" in each.note.text for each in loops(merge(notes, TUESDAY_MS + DAY_MS, LANGUAGES)))


@pytest.mark.parametrize(
    ("language", "told", "corrected", "reads"),
    [
        ("en", "the wedding is on 20 February", "no, the 21st", "on 21 February"),
        ("en", "Carla marries on the 20th of February at 3pm", "sorry, it's the 21st", "the 21st of February at 3pm"),
        ("de", "Carla heiratet am 20. Februar", "nein, am 21.", "am 21. Februar"),
        ("es", "Carla se casa el 20 de febrero", "no, el 21", "el 21 de febrero"),
        ("fr", "Carla se marie le 20 février", "non, le 21", "le 21 février"),
        ("it", "Carla si sposa il 20 febbraio", "no, il 21", "il 21 febbraio"),
        ("pt", "a Carla casa dia 20 de fevereiro", "não, é dia 21", "dia 21 de fevereiro"),
        ("ru", "Карла выходит замуж 20 февраля", "нет, 21-го", "21 февраля"),
    ],
)
def test_the_number_of_a_day_alone_is_in_the_month_that_was_said(language, told, corrected, reads):
    """The wedding was on the 21st of December."""
    turns = [turn(seq, text, language, TUESDAY_MS + seq) for seq, text in enumerate((told, corrected), 1)]

    notes = read_by_rules(request_of(turns, (), None, [], LANGUAGES, zone="UTC", now_ms=TUESDAY_MS), LANGUAGES)

    [wedding] = notes.matters
    assert reads in wedding.text
    assert datetime.fromtimestamp(wedding.due_at_ms / 1000, UTC).date().isoformat() == "2027-02-21"


@pytest.mark.parametrize(
    ("language", "flight", "caterer", "corrected"),
    [
        ("en", "my flight is on 18 February at 7", "call the caterer on Thursday",
         "the caterer is on Friday, not Thursday"),
        ("de", "mein Flug geht am 18. Februar um 7 Uhr", "am Donnerstag kommt der Partyservice",
         "der Partyservice kommt Freitag, nicht Donnerstag"),
        ("pt", "o meu voo é dia 18 de fevereiro às 7h", "ligar pro buffet na quinta",
         "o buffet é na sexta, não na quinta"),
    ],
)  # fmt: skip
def test_a_weekday_that_is_denied_by_name_is_that_of_what_is_named(language, flight, caterer, corrected):
    """The flight is on a Thursday, too."""
    said = (caterer, flight, corrected)
    turns = [turn(seq, text, language, TUESDAY_MS + seq) for seq, text in enumerate(said, 1)]

    notes = read_by_rules(request_of(turns, (), None, [], LANGUAGES, zone="UTC", now_ms=TUESDAY_MS), LANGUAGES)

    due = {datetime.fromtimestamp(each.due_at_ms / 1000, UTC).date().isoformat() for each in notes.matters}
    assert due == {"2027-02-18", "2026-11-27"}
    assert flight in {each.text for each in notes.matters}


@pytest.mark.parametrize(
    ("language", "told", "corrected"),
    [
        ("en", "my son arrives on the 28th by train", "my son comes not on the 28th but on the 29th"),
        ("de", "mein Sohn kommt am 28. mit dem Zug", "mein Sohn kommt nicht am 28., sondern am 29."),
        ("es", "mi hijo llega el 28 en tren", "mi hijo no llega el 28 sino el 29"),
        ("fr", "mon fils arrive le 28 en train", "mon fils arrive pas le 28 mais le 29"),
        ("it", "mio figlio arriva il 28 in treno", "mio figlio non arriva il 28 ma il 29"),
        ("pt", "meu filho chega dia 28 de trem", "meu filho não chega dia 28, chega dia 29"),
        ("ru", "сын приезжает 28-го на поезде", "сын приедет не 28-го, а 29-го"),
    ],
)
def test_a_date_that_is_denied_is_not_when_it_is(language, told, corrected):
    """It stood on the list twice, and on the 28th both times."""
    notes = on_the_next_day(language, (told,), (corrected,))

    alive = merge(notes, TUESDAY_MS + DAY_MS, LANGUAGES).matters
    assert [datetime.fromtimestamp(each.due_at_ms / 1000, UTC).day for each in alive] == [29]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "the parcel comes not before the 28th"),
        ("de", "das Paket kommt nicht vor dem 28."),
        ("fr", "le colis arrive pas avant le 28"),
        ("ru", "посылка придёт не до 28-го"),
    ],
)
def test_a_limit_that_is_denied_is_still_a_day(language, said):
    """Nothing else is said of when it comes."""
    notes = on_the_next_day(language, (said,), ("ok",))

    assert [datetime.fromtimestamp(each.due_at_ms / 1000, UTC).day for each in notes[0].matters] == [28]


def test_another_date_that_is_denied_moves_nothing_of_that_day():
    """It says of what, and that is another matter."""
    said = ("my son arrives on the 28th by train", "the school party is not on the 28th but on the 29th")
    notes = on_the_next_day("en", said[:1], said[1:])

    assert said[0] in {each.text for each in merge(notes, TUESDAY_MS + DAY_MS, LANGUAGES).matters}
