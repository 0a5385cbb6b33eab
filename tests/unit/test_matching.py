"""Patterns over people's words are tried for a bounded time, and say so when that was not enough."""

from __future__ import annotations

import pytest

from bot import matching


@pytest.fixture(autouse=True)
def _nothing_before(monkeypatch):
    monkeypatch.setattr(matching, "timed_out", [])


def test_a_pattern_that_would_hang_finds_nothing_and_is_counted():
    """The worst of patterns on the worst of texts costs fifty milliseconds, and tells which pattern it was."""
    worst = matching.compiled(r"(?:a+)+b(?<=c)")

    assert matching.find(worst, "a" * 1_999) is None
    assert matching.timed_out == [worst.pattern]


def test_what_stands_behind_two_thousand_characters_is_not_read():
    """The beginning of a text is enough for every reader."""
    end = matching.any_of(["the end"])

    assert matching.find(end, "x" * 1_996 + " the end") is None
    assert matching.find(end, "x" * 1_980 + " the end") is not None


def test_phrases_are_found_at_the_borders_of_words_alone():
    """`art` is not found in `start`, and of two phrases the longer one wins."""
    pattern = matching.any_of(["art", "art {of}"], {"of": "(?:of|for)"})

    assert [match.group() for match in matching.every(pattern, "Start the art of ART")] == ["art of", "ART"]
    assert matching.without(pattern, "state of the art", "…") == "state of the …"
