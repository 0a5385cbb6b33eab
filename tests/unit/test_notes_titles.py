"""A session is named by the things that both sides speak of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory.language.languages import Languages
from memory.notes.requests import request_of
from memory.notes.rules import read_by_rules
from memory.notes.types import SessionNotes
from memory.types import ConversationTurn

LANGUAGES = Languages.load()
MONDAY_MS = 1_772_438_400_000  # Monday 2 March 2026, 08:00 UTC


def read(language: str, exchanges: Sequence[tuple[str, str]]) -> SessionNotes:
    """Return what is read in a session of these exchanges, one a minute."""
    turns = [
        ConversationTurn(
            turn_id=f"t_{number}", session_id="s", conversation_id="c", seq=number, user_text=user,
            assistant_text=answer, created_at_ms=MONDAY_MS + number * 60_000, language=language,
        )
        for number, (user, answer) in enumerate(exchanges, 1)
    ]  # fmt: skip
    return read_by_rules(
        request_of(turns, [], None, [], LANGUAGES, zone="UTC", now_ms=MONDAY_MS + 3_600_000), LANGUAGES
    )


@pytest.mark.parametrize(
    ("language", "exchanges", "topics"),
    [
        (
            "en",
            [
                (
                    "Morning! I have to glaze the greenhouse before the frost",
                    "Which panes of the greenhouse are broken?",
                ),
                ("the two at the back. the glazier wants forty quid a pane", "Ask the glazier for toughened glass."),
                ("ok i'll ring the glazier on friday about the greenhouse", "Good plan."),
            ],
            {"greenhouse", "glazier"},
        ),
        (
            "de",
            [
                ("Moin, ich muss den Kachelofen abdichten lassen", "Seit wann raucht der Kachelofen?"),
                ("seit sonntag. der ofensetzer kommt am freitag", "Frag den Ofensetzer nach dem Schamott."),
                ("mach ich. der kachelofen ist von 1962", "Dann lohnt sich ein neuer Rost."),
            ],
            {"kachelofen", "ofensetzer"},
        ),
        (
            "it",
            [
                ("devo sistemare la stufa prima dell'inverno", "Che problema ha la stufa?"),
                ("fuma. lo spazzacamino viene venerdì", "Chiedi allo spazzacamino di guardare la canna."),
                ("va bene, venerdì lo spazzacamino guarda la stufa", "Perfetto."),
            ],
            {"stufa", "spazzacamino"},
        ),
    ],
)
def test_a_title_names_what_both_sides_speak_of(language, exchanges, topics):
    """It is made of the things that most turns are about, not of a stretch cut out of one sentence."""
    title = read(language, exchanges).title.lower()

    assert topics <= set(title.split(", "))


def test_a_title_has_no_word_that_only_began_a_sentence_or_was_shouted():
    """What is written large at the beginning of a sentence is no name, and a word in capitals is no louder topic."""
    exchanges = [
        (
            "I need to move the PIANO on Saturday, the piano is heavy",
            "Behind it there may be a socket. Mind the piano.",
        ),
        ("Behind the piano there's a socket, two men must carry it", "Ask the two men about the stairs."),
    ]

    title = read("en", exchanges).title

    assert title.split(", ")[0] == "Piano"
    assert not {"PIANO", "Behind", "two"} & set(title.split(", "))


def test_the_turns_that_speak_of_the_topics_are_those_that_the_title_rests_on():
    """Forgetting one of them has the session read again (P13)."""
    notes = read("en", [("i have to clean the chimney", "Is the chimney tall?"), ("thanks", "Mind the chimney.")])

    assert {"t_1", "t_2"} <= set(notes.standing_turn_ids)


def test_a_session_without_notes_has_no_title():
    """A greeting names nothing."""
    assert read("en", [("hi", "Hello!")]).title == ""


@pytest.mark.parametrize(
    ("language", "exchanges", "name"),
    [
        (
            "en",
            [
                ("i have to get the hall key for the club dinner before friday", "Who has the hall key?"),
                ("the caretaker. the hall key is with him on friday", "Then ask him for it."),
            ],
            "hall key",
        ),
        (
            "pt",
            [
                ("tenho que pagar o curso de cerâmica até sexta", "Quanto custa o curso de cerâmica?"),
                ("450. o curso de cerâmica é em braga", "Boa escolha."),
            ],
            "curso de cerâmica",
        ),
        (
            "de",
            [
                ("ich muss die Garantie für den Herd noch suchen", "Wo liegt die Garantie für den Herd?"),
                ("die Garantie für den Herd liegt im Keller", "Dann nimm sie mit."),
            ],
            "Garantie",
        ),
    ],
)
def test_a_title_names_a_thing_by_the_words_that_stand_together(language, exchanges, name):
    """Two words that name one thing are one part of the title, with what joins them."""
    parts = read(language, exchanges).title.split(", ")

    assert name.lower() in [part.lower() for part in parts]
