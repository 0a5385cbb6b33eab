"""Whether an edit says something else, and what a turn says once one of its messages was edited."""

import pytest

from bot.intake.media import reworded
from memory.keeper.edited import says_the_same

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
