"""What a use of a model cost: the operator's price first, then the price list, else unknown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import ValidationError

from bot.answers.cost import Usage, spent_of
from bot.meters.meters import Meters
from bot.meters.spent import Spent
from bot.settings import Settings


def usage(**fields) -> Usage:
    return Usage(**({"input_tokens": 1_000_000, "output_tokens": 500_000} | fields))


@pytest.mark.parametrize(
    ("found", "prices", "expected"),
    [
        (usage(cost=Decimal("0.25")), {}, 250_000_000),
        (usage(cost=Decimal("0.25")), {"own:m": (0.2, 0.8)}, 600_000_000),
        (usage(), {"own:m": (0, 0)}, 0),
        (usage(), {"other:m": (1, 1)}, None),
    ],
)
def test_the_operators_price_counts_before_the_list(found, prices, expected):
    """A model without any price has an unknown cost, which is not nothing."""
    assert spent_of("own:m", "answer", found, prices).cost_nanodollars == expected


def test_prices_are_read_from_one_line():
    """Names keep their colons; a list that can't be read is refused with an example."""
    settings = Settings(_env_file=None, continuity_prices="openai-chat:own=0.2/0.8, ollama:qwen2.5:7b=0/0")

    assert settings.prices == {"openai-chat:own": (0.2, 0.8), "ollama:qwen2.5:7b": (0.0, 0.0)}
    with pytest.raises(ValidationError, match=r"openai-chat:own=0\.2/0\.8"):
        Settings(_env_file=None, continuity_prices="own=cheap")


def test_tokens_and_money_are_counted_by_model_and_purpose():
    """Cached tokens are counted apart; what has no price is counted as such and adds no money."""
    meters = Meters()
    meters.spend(Spent("a:m", "answer", 100, 20, cached_tokens=60, cost_nanodollars=2_000_000))
    meters.spend(Spent("b:m", "reading", 10, 2))
    text = meters.text().decode()

    assert 'continuity_model_tokens_total{kind="input",model="a:m",purpose="answer"} 40.0' in text
    assert 'continuity_model_tokens_total{kind="cached",model="a:m",purpose="answer"} 60.0' in text
    assert 'continuity_model_cost_dollars_total{model="a:m",purpose="answer"} 0.002' in text
    assert 'continuity_model_calls_total{model="b:m",priced="no",purpose="reading"} 1.0' in text
    assert 'continuity_model_cost_dollars_total{model="b:m",purpose="reading"} 0.0' in text


def test_what_readers_proposed_is_counted_by_reason():
    """Kept and dropped items, and readings that failed."""
    meters = Meters()
    meters.read("a:m", 3, {"number": 2})
    meters.read("a:m", 0, {}, failed=True)
    text = meters.text().decode()

    assert 'continuity_reading_items_total{reader="a:m",result="kept"} 3.0' in text
    assert 'continuity_reading_items_total{reader="a:m",result="number"} 2.0' in text
    assert 'continuity_readings_total{reader="a:m",result="failed"} 1.0' in text
