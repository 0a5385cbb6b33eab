"""Cost of one use of a model: by the operator's prices, else by the public price list."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from bot.meters.spent import NANODOLLARS, Purpose, Spent
from bot.settings import Prices

_NANODOLLARS_PER_TOKEN = NANODOLLARS / 1_000_000
"""At one dollar a million tokens."""
SEARCH_NANODOLLARS = NANODOLLARS // 100
"""One search of a provider: ten dollars a thousand, at OpenAI and at Anthropic."""


@dataclass(slots=True)
class Usage:
    """Tokens of several requests together."""

    input_tokens: int = 0
    """All that went in, with the tokens read from the provider's cache or written to it."""
    output_tokens: int = 0
    """All that came out, thoughts included."""
    cache_read_tokens: int = 0
    """Of the input, the tokens read from the provider's cache."""
    cache_write_tokens: int = 0
    """Of the input, the tokens written to the cache."""
    searches: int = 0
    """Of the web, by the provider's own search."""
    cost: Decimal | None = None
    """In dollars, by the price list; None when it knows no price."""

    @property
    def tokens(self) -> int:
        """All that went in and came out."""
        return self.input_tokens + self.output_tokens

    def add(self, other: Usage) -> None:
        """Add the tokens of one more request; a cost that its provider told is added, too."""
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cache_read_tokens += other.cache_read_tokens
        self.cache_write_tokens += other.cache_write_tokens
        self.searches += other.searches
        self.cost = other.cost if self.cost is None else self.cost + (other.cost or 0)

    def less(self, other: Usage) -> Usage:
        """Return the rest without a part of it, its cost unknown."""
        return Usage(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.cache_read_tokens - other.cache_read_tokens,
            self.cache_write_tokens - other.cache_write_tokens,
            self.searches - other.searches,
        )


def spent_of(model: str, purpose: Purpose, usage: Usage, prices: Prices) -> Spent:
    """Return the tokens and cost of a run. The cost is unknown, not zero, for a model that no list knows."""
    return Spent(
        model=model,
        purpose=purpose,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=min(usage.cache_read_tokens, usage.input_tokens),
        cost_nanodollars=_cost(model, usage, prices),
    )


def list_price(name: str, provider: str, url: str, usage: Usage) -> Decimal | None:
    """Return the cost in dollars by the price list, None for an unknown model; blocks while the list is loaded."""
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    cached = min(usage.cache_read_tokens, usage.input_tokens)
    took = Priced(
        input_tokens=usage.input_tokens,
        cache_read_tokens=cached,
        cache_write_tokens=min(usage.cache_write_tokens, usage.input_tokens - cached),
        output_tokens=usage.output_tokens,
    )
    try:
        return calc_price(took, name, provider_api_url=url).total_price
    except (LookupError, ValueError):
        """The list does not know who is at this address: then by the model's name alone."""
    try:
        return calc_price(took, name, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None


def _cost(model: str, usage: Usage, prices: Prices) -> int | None:
    own, searches = prices.get(model), usage.searches * SEARCH_NANODOLLARS
    if own is not None:
        dollars = usage.input_tokens * own[0] + usage.output_tokens * own[1]
        return round(dollars * _NANODOLLARS_PER_TOKEN) + searches
    return None if usage.cost is None else round(usage.cost * NANODOLLARS) + searches
