"""Whether an edit says something else, and what a turn says once one of its messages was edited."""

import pytest

from bot.intake.media import reworded
from memory.keeper.edited import doubted, says_the_same, settled
from memory.ledger.types import Ledger, Note

SAME = [
    ("call anna", "Call Anna!"),
    ("demain vers 8h le pique nique", "Demain,  vers 8h, le pique-nique."),
    ("see you tomorow", "see you tomorrow"),
    ("le reparateur vient mardi", "le réparateur vient mardi"),
    ("ich komme spaeter vorbie", "ich komme spaeter vorbei"),
]
OTHER = [
    ("at 8 please", "at 9 please"),
    ("it costs 18.40", "it costs 1840"),
    ("it is -5 outside", "it is 5 outside"),
    ("ask Anna about it", "ask Anne about it"),
    ("i can come", "i can't come"),
    ("we meet monday", "we meet sunday"),
    ("you can come", "you can come?"),
    ("il faut vendre la voiture", "il faut rendre la voiture"),
    ("on garde le four", "on loue le four"),
    ("明天三点见面吧", "明天四点见面吧"),
    ("it costs 5 €", "it costs 5 $"),
    ("well done 👍", "well done 👎"),
    ("buy milk", "buy milk and bread"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_other_letters_say_the_same(old, new):
    """Case, spacing, punctuation, one slip of a longer word: nobody would answer otherwise."""
    assert says_the_same(old, new)
    assert says_the_same(new, old)


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_other_words_say_something_else(old, new):
    """Figures, names, short words, a question, another script, a sign: each may change the answer."""
    assert not says_the_same(old, new)
    assert not says_the_same(new, old)


def test_the_edited_one_of_several_messages_reads_anew():
    """What was said beside it stays, and so do files where they stood."""
    assert (
        reworded("buy milk\ncall ana at 3\nthanks", "call ana at 4", is_one=False) == "buy milk\ncall ana at 4\nthanks"
    )
    assert reworded("buy milk", "the cat sleeps", is_one=False) == "buy milk\nthe cat sleeps"
    file = "> document #3 “lease.pdf” (PDF, 12 pages)"
    assert reworded(f"{file}\nwhat is due?", "> document “lease.pdf” [17]\nwhat was due?", is_one=True) == (
        f"{file}\nwhat was due?"
    )


TEXT = "Dentist on thursday at 10, buy milk for Ana. Mum's operation is on the ninth, so feed the hamster."
EDITS = [
    ("thursday", "friday", [1]),
    ("milk", "bread", [2]),
    ("ninth", "third", [3]),
    ("hamster", "parrot", [4]),
    ("operation", "operaiton", []),
    ("milk for Ana", "oat milk, for Ana", [2]),
    (" so feed the hamster.", " so feed the hamster. And call the plumber!", []),
    (" so feed the hamster.", " so feed the hamster. And milk the goat!", [2]),
    ("Dentist on thursday at 10,", "Dentist on thursday, at 10.", [1]),
    ("Mum's operation is on the ninth, so feed the hamster.", "", [3, 4]),
]
NOTES = {1: "You see the dentist", 2: "Buy milk", 3: "Your mother goes to hospital", 4: "Feed the hamster"}
SAID = {"n3": "Mum's operation is on the ninth"}


def a_ledger(texts):
    of = {"conversation_id": "c", "kind": "task", "said_at_ms": 0, "turn_ids": ("t",)}
    notes = {n: Note.model_validate(of | {"note_id": f"n{n}", "number": n, "text": text}) for n, text in texts.items()}
    return Ledger("c", notes=notes)


@pytest.mark.parametrize(("old", "new", "marked"), EDITS)
def test_only_the_notes_whose_words_changed_are_in_doubt(old, new, marked):
    """By the clause that bears them out, or that speaks of the same now; a slip put right doubts none of them."""
    found = doubted(a_ledger(NOTES), "t", TEXT, TEXT.replace(old, new), SAID)

    assert [each.number for each in found] == marked


@pytest.mark.parametrize(
    ("texts", "old", "new", "marked"),
    [
        ({1: "Dentist", 2: "Buy milk"}, "On thursday: dentist. Buy milk", "On friday: dentist. Buy milk", [1, 2]),
        ({1: "Zahnarzt", 2: "Buy milk"}, "dentist at 10. Buy milk", "dentist at 11. Buy milk", [1, 2]),
        ({1: "Ana mag Oliven"}, "明天三点见面吧", "明天四点见面吧", [1]),
    ],
)
def test_a_note_is_in_doubt_where_nobody_can_tell_on_which_words_it_rests(texts, old, new, marked):
    """A day for all that follows, a note in other words than the message: who wrote it may have meant what changed."""
    assert [each.number for each in doubted(a_ledger(texts), "t", old, new, {})] == marked


@pytest.mark.parametrize(("went", "marked"), [("5.30", [2]), ("7", [1, 2]), ("half five", [1, 2])])
def test_a_number_that_went_doubts_no_note_that_has_another(went, marked):
    """“Aye, Monday evening. Viewing on Tuesday at 5.30”: its other hour left a ring on Monday at 19:00 in doubt."""
    ledger = a_ledger({1: "Get the ears", 2: "Flat viewing"})
    rings = {"rings_from": "2026-11-30T19:00", "rings_at_ms": 1_796_000_000_000}
    ears = ledger.notes[1].model_copy(update=rings)
    old = f"aye, that evening. flat viewing tues {went} at dennistoun"

    found = doubted(Ledger("c", notes={1: ears, 2: ledger.notes[2]}), "t", old, old.replace(went, "6pm"), {})
    assert [each.number for each in found] == marked


def test_a_note_in_doubt_is_not_marked_again():
    """An edit after an edit says nothing new of it."""
    ledger = a_ledger({1: "Buy milk"})
    doubtful = ledger.find(1).model_copy(update={"doubtful": True})

    assert doubted(Ledger("c", notes={1: doubtful}), "t", "buy milk", "buy bread", {}) == []


@pytest.mark.parametrize(
    ("note", "now", "holds"),
    [
        ("The tubes came to £21", "the tubes came to £36", False),
        ("The tubes came to £21", "the tubes came to 21.00 pounds", True),
        ("Buy 2 tubes on 27 November", "get two tubes by Friday", True),
        ("Call Ana", "call Ana at 5", True),
    ],
)
def test_a_keeper_that_leaves_another_number_than_the_message_clears_no_doubt(note, now, holds):
    """£21 became £36, and the list went on saying £21 as if it were certain."""
    doubtful = a_ledger({1: note}).find(1).model_copy(update={"doubtful": True})
    ledger = Ledger("c", notes={1: doubtful})

    assert bool(settled(ledger, {"t"}, {1}, {"t": now})) == holds
