"""What a use of a model cost: by the operator's prices, else by the price list that pydantic-ai carries."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from bot.settings import Prices
from bot.spent import NANODOLLARS, Purpose, Spent

_NANODOLLARS_PER_TOKEN = NANODOLLARS / 1_000_000
"""At one dollar a million tokens."""


class Used(Protocol):
    """What requests took together; pydantic-ai's `RunUsage` is one."""

    @property
    def input_tokens(self) -> int:
        """All that went in, with what the provider had in its cache."""
        ...

    @property
    def output_tokens(self) -> int:
        """All that came out."""
        ...

    @property
    def cache_read_tokens(self) -> int:
        """Of the input, what the provider had in its cache."""
        ...

    @property
    def cost(self) -> Decimal | None:
        """In dollars, by the price list; None when it knows no price."""
        ...


@dataclass(slots=True)
class Usage:
    """The same, counted by us."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cost: Decimal | None = None


def spent_of(model: str, purpose: Purpose, usage: Used, prices: Prices) -> Spent:
    """Return what a run took. Its cost is unknown, not zero, for a model that no list knows."""
    return Spent(
        model=model,
        purpose=purpose,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=min(usage.cache_read_tokens, usage.input_tokens),
        cost_nanodollars=_cost(model, usage, prices),
    )


def list_price(name: str, url: str, usage: Usage) -> Decimal | None:
    """Return the cost in dollars by the price list, None for what it does not know; blocks while that is loaded."""
    from genai_prices import Usage as Priced  # noqa: PLC0415 - 0.3 s that nobody waits for who has no use for it
    from genai_prices import calc_price  # noqa: PLC0415

    cached = min(usage.cache_read_tokens, usage.input_tokens)
    took = Priced(input_tokens=usage.input_tokens, cache_read_tokens=cached, output_tokens=usage.output_tokens)
    try:
        return calc_price(took, name, provider_api_url=url).total_price
    except (LookupError, ValueError):
        """The list does not know who is at this address: then by the model's name alone."""
    try:
        return calc_price(took, name, provider_id="openai").total_price
    except (LookupError, ValueError):
        return None


def _cost(model: str, usage: Used, prices: Prices) -> int | None:
    own = prices.get(model)
    if own is not None:
        dollars = usage.input_tokens * own[0] + usage.output_tokens * own[1]
        return round(dollars * _NANODOLLARS_PER_TOKEN)
    return None if usage.cost is None else round(usage.cost * NANODOLLARS)
