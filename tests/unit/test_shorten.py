"""Where a title is cut that has no room."""

from __future__ import annotations

import pytest

from memory.text import shorten


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Call Ana", 8, "Call Ana"),
        ("Slip for the class trip: leaving at 8:30, back at four", 46, "Slip for the class trip: leaving at 8:30…"),
        ("Planning the wedding cake for Mrs Keller and the tiers", 50, "Planning the wedding cake for Mrs Keller…"),
        ("Die Küche machen, Fliesen aussuchen und mit Ben reden", 47, "Die Küche machen, Fliesen aussuchen…"),
        ("Una tarta de la boda de la señora Abara", 28, "Una tarta de la boda…"),
        ("说一件关于面包的真事说一件关于面包的真事", 12, "说一件关于面包的真事说…"),
    ],
)  # fmt: skip
def test_a_text_is_cut_at_a_clause_and_never_behind_a_little_word(text, limit, expected):
    """The end of a clause where one is near, else of a word; in mid-word where there is none."""
    assert shorten(text, limit) == expected


@pytest.mark.parametrize("limit", range(2, 70))
def test_a_cut_text_keeps_to_its_limit(limit):
    """Whatever it is made of."""
    for text in ("a " * 60, "word, " * 30, "x" * 99, ", , , and the of", "Ana (the baker) – cakes; bread. More!"):
        assert len(shorten(text, limit)) <= limit
