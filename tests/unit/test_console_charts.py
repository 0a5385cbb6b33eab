"""Pictures that tell the truth: bars as long as their figures, from zero, with round marks."""

from __future__ import annotations

import re
from datetime import date

import pytest

from bot.http.console.charts import (
    FOOT,
    HEIGHT,
    TOP,
    Series,
    last_days,
    nested,
    seconds,
    segments,
    stacked,
    ticks,
    whole_number,
)

DAYS = last_days(date(2026, 11, 25), 3)
ROOM = HEIGHT - TOP - FOOT


def heights(svg: str) -> list[float]:
    """How long each drawn piece is, over the whole height of the picture."""
    return [float(found) / ROOM for found in re.findall(r'<rect [^>]*height="([\d.]+)"', svg)]


def test_a_bar_of_few_tokens_is_nearly_empty():
    """98 of 6,150 tokens take 1.6 % of the bar; a prompt above its cap takes all of it and no more."""
    small, big = segments({"history": 98, "summary": 0}, 6150), segments({"history": 9000, "message": 1000}, 6150)

    assert [(each.name, round(each.share, 3)) for each in small] == [("history", 0.016)]
    assert sum(each.share for each in big) == pytest.approx(1)
    assert big[1].begin == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("top", "whole", "expected"),
    [(0, True, [0, 1]), (1, True, [0, 1]), (7, True, [0, 2, 4, 6, 8]), (0.09, False, [0, 0.025, 0.05, 0.075, 0.1])],
)
def test_marks_are_round_and_begin_at_zero(top, whole, expected):
    """A count has no half marks, a picture without figures still has an axis."""
    assert ticks(top, whole=whole) == expected


def test_what_adds_up_stands_on_one_another():
    """Of marks up to 4,000 a day of 3,000 and 1,000 fills all; the figures are there for whoever reads."""
    found = stacked(
        "Tokens", "tokens", [Series("in", {DAYS[2]: 3000}), Series("out", {DAYS[2]: 1000})], DAYS, whole_number
    )

    assert heights(found.svg) == pytest.approx([0.75, 0.25], abs=0.01)
    assert found.rows == ((DAYS[2], "3,000", "1,000"),)
    assert "in 3,000, out 1,000" in found.svg


def test_what_holds_the_other_stands_behind_it():
    """Half of the answers within 1 s, nearly all within 4 s: both bars begin at zero."""
    found = nested("Time", "seconds", [Series("most", {DAYS[1]: 4}), Series("half", {DAYS[1]: 1})], DAYS, seconds)

    assert heights(found.svg) == pytest.approx([1, 0.25], abs=0.01)
