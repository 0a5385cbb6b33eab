"""The models of the settings by their names: what is read, what is refused, who is the default."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.answers.fit import fitted
from bot.answers.responder import Ask
from bot.settings import Settings
from bot.settings.model_names import NamedModel, model_names, read_model, wrong_models
from memory.packets import ConversationContextPacket, TierReceipt
from memory.testing import make_state, make_turn

LIST = "Fast=openai:gpt-5-mini, home=ollama:qwen3:8b@8000"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fast=openai:gpt-5-mini", NamedModel("fast", "openai:gpt-5-mini")),
        ("home=ollama:qwen3:8b@8000", NamedModel("home", "ollama:qwen3:8b", 8000)),
        ("openai:gpt-5-mini", NamedModel("openai:gpt-5-mini", "openai:gpt-5-mini")),
        ("x=openrouter:meta/llama-4", NamedModel("x", "openrouter:meta/llama-4")),
        ("gpt-5-mini", None),
        ("9=openai:m", None),
        ("a b=openai:m", None),
    ],
)
def test_an_entry_is_read(text, found):
    """A name, a model, a context; colons and slashes of models stay."""
    assert read_model(text) == found


@pytest.mark.parametrize("text", ["openai:m", "fast=m", "fast=openai:a, fast=openai:b", "fast openai:m"])
def test_a_list_that_cannot_be_read_is_refused(text):
    """With an example; so is a name that stands there twice, and a fallback that names nothing."""
    assert wrong_models(text)
    with pytest.raises(ValidationError, match="name"):
        Settings(_env_file=None, continuity_models=text)
    with pytest.raises(ValidationError, match="CONTINUITY_FALLBACK_MODEL"):
        Settings(_env_file=None, continuity_fallback_model="slow")


def test_default_and_fallback_may_be_names_of_the_list():
    """A name or an id of it; an id that stands nowhere else is its own name."""
    names = model_names("openai:gpt-5-mini", LIST, "HOME")

    assert (names.default.name, names.fallback.model) == ("fast", "ollama:qwen3:8b")
    assert names.chosen("Fast") is names.chosen("") is names.default
    assert names.chosen("gone") is None
    assert [each.model for each in names.all] == ["openai:gpt-5-mini", "ollama:qwen3:8b"]
    assert model_names("home", LIST, None).default.context_tokens == 8000
    assert model_names("openai:other", LIST, "a:b").fallback == NamedModel("a:b", "a:b")


def ask_of(*turn_tokens, **tiers):
    """An ask with turns and tiers of so many tokens."""
    turns = tuple(make_turn(seq=at, turn_id=f"t_{at}", user_tokens=tokens) for at, tokens in enumerate(turn_tokens, 1))
    used = {"history": sum(turn.tokens for turn in turns), **tiers}
    packet = ConversationContextPacket(
        conversation_id="c",
        session_id="s",
        session_status="active",
        history=turns,
        today="Earlier." if "today" in tiers else "",
        receipts=tuple(TierReceipt(tier=tier, budget_tokens=9_999, used_tokens=n) for tier, n in used.items()),
        message_tokens=100,
        context_compiled_at_ms=1,
    )
    return Ask("t", "c", 7, "Dana", "hi", make_state(), packet, "", "UTC", 1)


def test_the_past_is_cut_to_a_small_context_in_the_order_of_the_budget():
    """What else was told first, then the oldest turns; the message stays, and so does what fits."""
    ask = ask_of(500, 500, 500, today=300)

    assert fitted(ask, None) is fitted(ask, 10_000) is ask
    cut = fitted(ask, 2_000).packet
    assert (cut.today, [turn.turn_id for turn in cut.history]) == ("", ["t_2", "t_3"][-len(cut.history) :])
    assert cut.prompt_tokens <= 1_500
    assert cut.history_truncated
    assert fitted(ask, 200).packet.history == ()
