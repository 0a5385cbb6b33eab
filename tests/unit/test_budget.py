"""The budgets of the tiers are validated together."""

import pytest

from memory.context.budget import CUT_ORDER, TIERS, Budget


def test_the_defaults_are_those_of_the_design():
    """Seven tiers and a cap of 6150 tokens, 120 messages, a recency window of 6."""
    budget = Budget()

    assert {tier: budget.tokens(tier) for tier in TIERS} == {
        "history": 3000,
        "summary": 1000,
        "retrieved": 600,
        "today": 500,
        "threads": 400,
        "memories": 600,
        "last_conversation": 300,
    }
    assert (budget.cap_tokens, budget.max_history_turns, budget.recent_turns) == (6150, 60, 3)


def test_every_tier_has_a_place_in_the_cut_order():
    """The last conversation gives way first, the history last."""
    assert sorted(CUT_ORDER) == sorted(TIERS)
    assert (CUT_ORDER[0], CUT_ORDER[-1]) == ("last_conversation", "history")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cap_tokens": 3100}, "cap over all tiers is 3100"),
        ({"history_tokens": 50}, "history budget is 50"),
        ({"today_tokens": -1}, "today budget is -1"),
        ({"max_history_messages": 4}, "max_history_messages is 4"),
        ({"recency_window": 190}, "recency_window is 190"),
        ({"tool_output_max_chars": 10}, "tool_output_max_chars is 10"),
        ({"compact_to_percent": 95}, "compact_to_percent is 95"),
    ],
)
def test_a_wrong_combination_says_what_is_wrong(wrong, words):
    """A cap smaller than what must always fit, and its like, are clear errors."""
    with pytest.raises(ValueError, match=words):
        Budget(**wrong)


def test_all_problems_are_told_at_once():
    """An operator mends the settings in one go."""
    with pytest.raises(ValueError, match=r"history budget.*; .*tool_output_max_chars"):
        Budget(history_tokens=1, tool_output_max_chars=1)
