"""What a use of a model cost: by the operator's prices, else by the price list that pydantic-ai carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.meters import NANODOLLARS, Purpose, Spent
from bot.settings import Prices

if TYPE_CHECKING:
    from pydantic_ai.usage import RunUsage

_NANODOLLARS_PER_TOKEN = NANODOLLARS / 1_000_000
"""At one dollar a million tokens."""


def spent_of(model: str, purpose: Purpose, usage: RunUsage, prices: Prices) -> Spent:
    """Return what a run took. Its cost is unknown, not zero, for a model that no list knows."""
    return Spent(
        model=model,
        purpose=purpose,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=min(usage.cache_read_tokens, usage.input_tokens),
        cost_nanodollars=_cost(model, usage, prices),
    )


def _cost(model: str, usage: RunUsage, prices: Prices) -> int | None:
    own = prices.get(model)
    if own is not None:
        dollars = usage.input_tokens * own[0] + usage.output_tokens * own[1]
        return round(dollars * _NANODOLLARS_PER_TOKEN)
    return None if usage.cost is None else round(usage.cost * NANODOLLARS)
