"""Which part of a long message is shown: the sentences of the passage that matches, marked where they were cut."""

from memory.search.passages import excerpt, passage_starts
from memory.search.retriever import PASSAGE_TERMS
from memory.search.terms import MAX_TERMS


def sentences(count):
    return " ".join(f"Harbour{n} pilots board ferry{n} vessels." for n in range(count))


def test_short_text_is_one_passage():
    """A message of a usual length is shown whole."""
    starts = passage_starts("We bought the boat.", "en")

    assert starts == [0]
    assert excerpt("We bought the boat.", lambda: "en", 0, 120) == "We bought the boat."


def test_passage_begins_where_its_first_term_stands():
    """Passages are counted in the terms that the index holds: stop words do not count."""
    text = sentences(40)
    starts = passage_starts(text, "en")

    assert len(starts) == 40 * 5 // PASSAGE_TERMS
    assert text[starts[1] :].startswith("Harbour8 ")


def test_excerpt_is_whole_sentences_around_the_passage():
    """The passage is shown with the sentences in which it begins and ends, and marks where something is left out."""
    text = sentences(40)

    shown = excerpt(text, lambda: "en", 2, 60)

    assert shown.startswith("… Harbour16 ")
    assert shown.endswith("vessels. …")
    assert len(shown.split()) <= 62


def test_last_passage_has_no_mark_behind_it():
    """What ends the message is not marked as cut."""
    text = sentences(40)
    starts = passage_starts(text, "en")

    assert excerpt(text, lambda: "en", len(starts) - 1, 60).endswith("ferry39 vessels.")


def test_excerpt_of_signs_without_blanks_is_bounded():
    """A passage without spaces or sentences is cut all the same."""
    text = "a-b_" * 20_000

    assert len(excerpt(text, lambda: "en", 0, 30)) < 300


def test_book_has_no_more_passages_than_are_indexed():
    """What is not indexed is no passage."""
    assert len(passage_starts("word " * 100_000, "en")) == MAX_TERMS // PASSAGE_TERMS
