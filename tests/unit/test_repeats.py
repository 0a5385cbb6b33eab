"""A summary says nothing that the notes of the prompt say."""

import pytest

from memory.context.repeats import NoteWords, speak_of

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
    ],
)
def test_what_a_note_tells_is_not_told_again(line):
    assert NoteWords.of(NOTES).untold([line]) == []


@pytest.mark.parametrize(
    "line",
    [
        "- Person: okafor should pay back the deposit, 850",
        "- Person: maud a un nouveau chien, un teckel",
        "- Assistant: 160 baguettes fewer a day; renting pays from 0.60 each",
        "- Person: oui maud.",
    ],
)
def test_what_differs_or_is_short_stays(line):
    """Another number is another fact; of two words nobody can tell."""
    assert NoteWords.of(NOTES).untold([line]) == [line]


def test_a_message_that_a_note_speaks_of():
    assert speak_of(NOTES[:1], "et la déclaration de tva ?")
    assert not speak_of(NOTES[2:], "did the carpenter call about the stool legs")
