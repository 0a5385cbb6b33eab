"""A summary says nothing that the notes of the prompt say."""

from typing import Any

import pytest

from memory.context.earlier import EarlierSessions
from memory.context.repeats import NoteWords, says_more, speak_of, word_keys

NOTES = [
    "#9 task: Finir la déclaration de TVA (faite aux deux tiers) (due Thu 24 Dec)",
    "#8 promise: Maud, sa sœur, doit lui rendre 150 € prêtés la semaine du 16 novembre (owner Maud)",
    "#2 event: Mr Okafor pays the deposit of 650 back (due Mon 30 Nov)",
]


@pytest.mark.parametrize(
    "line",
    [
        "- Person: et la déclaration de tva c pour le 24, deux tiers faits",
        "- Person: jai prété 150€ à ma soeur maud",
        "- Person: okafor should pay back the deposit, 650 (2026-11-25)",
        "- Person: déclaration de tva à finir le 24.12.",
    ],
)
def test_what_a_note_tells_is_not_told_again(line):
    assert NoteWords.of(NOTES).untold([line]) == []


@pytest.mark.parametrize(
    "line",
    [
        "- Person: okafor should pay back the deposit, 850",
        "- Person: déclaration de tva à finir le 9",
        "- Person: maud a un nouveau chien, un teckel",
        "- Assistant: 160 baguettes fewer a day; renting pays from 0.60 each",
        "- Person: oui maud.",
    ],
)
def test_what_differs_or_is_short_stays(line):
    """Another number is another fact; of two words nobody can tell."""
    assert NoteWords.of(NOTES).untold([line]) == [line]


BOAT = ["#1 task: You sell the boat to Karl (due Mon 30 Nov)", "#2 fact: You live in Bergen", *NOTES]


@pytest.mark.parametrize(
    "sentence",
    [
        "You never sell the boat to Karl.",
        "Karl sold you his boat in Bergen.",
        "You sell the boat to Karl for 400.",
    ],
)
def test_a_sentence_of_which_no_note_has_each_word_is_told(sentence):
    """A “never” makes another of it, and so does a word that stands in another note."""
    assert NoteWords.of(BOAT).unsaid([sentence, "On 30.11. this year you sell Karl the boat."]) == [sentence]


def test_a_line_is_told_by_one_note_or_clause_by_clause():
    """Words that stand in several notes make another thing together."""
    assert NoteWords.of(BOAT).tell("- Person: i sell karl the boat, and i live in bergen")
    assert not NoteWords.of(BOAT).tell("- Person: karl sold me his boat in bergen")


def test_a_message_that_a_note_speaks_of():
    assert speak_of(NOTES[:1], "et la déclaration de tva ?")
    assert not speak_of(NOTES[2:], "did the carpenter call about the stool legs")


DUMP = (
    "User: lia is 6, no nuts, scared of storms. mum has her eye done on thursday the 3rd at 14h. "
    "remind me of the sourdough tonight at 20h\nAssistant: Noted, the sourdough at 20h. All the best to your mum!"
)
DUMPED = [
    "#2 task: Feed the sourdough (rings Thu 26 Nov 20:00)",
    "#4 person: Your daughter Lia is 6, eats no nuts, and is scared of storms",
    "#6 event: Your mother's eye is operated on (due Thu 3 Dec 14:00)",
]


@pytest.mark.parametrize(
    "message", ["the sourdough every evening at 20h please", "is mum's eye on the 3rd?", "ok thanks"]
)
def test_a_message_of_many_matters_says_no_more_than_their_notes(message):
    assert not says_more(DUMP, DUMPED, message)


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        (DUMP.replace("6", "7"), "how old is lia?"),  # a number that no note has
        (DUMP.replace("nuts,", "nuts but almonds,"), "what of almonds?"),  # a word
        (
            "User: how do I feed sourdough?\nAssistant: With rye.",
            "the sourdough?",
        ),  # they asked: an answer stands there
        ("User: the sourdough\nAssistant: A drop of vinegar helps.", "vinegar in the sourdough?"),
        ("User: the sourdough\nAssistant: Noted.\nUser, to that: 30 g of it", "the sourdough?"),
        ("User: the sourdough\nAssistant: " + "word " * 80, "the sourdough?"),
    ],
)
def test_a_turn_that_says_more_than_its_notes(passage, message):
    assert says_more(passage, DUMPED, message)


def test_the_keys_of_texts_are_let_go_of_with_everything_in_memory():
    """A note that was forgotten is not held by the comparisons that were made with it (P13)."""
    nobody: Any = None
    word_keys("The code of the gate is zebrafish")
    EarlierSessions(nobody, nobody).clear_cache()

    assert word_keys.cache_info().currsize == 0
