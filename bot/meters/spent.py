"""Tokens and cost of one use of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

NANODOLLARS = 1_000_000_000
"""In one US dollar."""

Purpose = Literal["answer", "tools", "reading", "summary", "task"]
"""The answer itself, going on with the results of tools, the keeper, summaries, tasks by the clock."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and cost of one use of a model."""

    model: str
    purpose: Purpose
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    """The part of the input that the provider had in its cache."""
    cost_nanodollars: int | None = None
    """None when nobody knows the price."""

    @property
    def tokens(self) -> int:
        """All that went in and came out."""
        return self.input_tokens + self.output_tokens


Spend = Callable[[Spent], None]


def nobody_asks(_: Spent) -> None:
    """Count nothing."""
