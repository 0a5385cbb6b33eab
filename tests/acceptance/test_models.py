"""Several models: one is chosen, another one steps in before the first word, and people see what they took."""

from __future__ import annotations

import json

import pytest
from loopback.model import ModelFault, ToolCall
from story import PERSON, asked, bot_texts, reply, rows, shows, tap

from bot import replies

pytestmark = pytest.mark.acceptance

FRIEND = 4712
MODELS = {
    "CONTINUITY_MODELS": "fast=openai-chat:fast, deep=anthropic:deep, home=openai:home@1500",
    "CONTINUITY_MEMORY_MODEL": "off",
}
PRICES = {"CONTINUITY_PRICES": "anthropic:deep=10/10, openai-chat:fast=1/1"}


@pytest.fixture
def bot(bot_here, model, monkeypatch):
    """Offer a function: a bot with three models to choose from, all of them on one loopback server."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url.removesuffix("/v1"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-loopback")

    async def make(**settings):
        return await bot_here(**{"CONTINUITY_MODEL": "openai-chat:loopback", **MODELS, **settings})

    return make


def used(model) -> list[str]:
    """The models that were asked, in order."""
    return [request.body["model"] for request in asked(model)]


async def say(api, text, user=PERSON):
    """Say something; return what comes back."""
    return (await reply(api, text, chat_id=user, user=user)).text


async def test_a_model_is_chosen_by_a_tap_for_one_person_alone(api, model, bot):
    """The list names the operator's default and whom it holds for; [Default] goes back."""
    await bot()
    listed = await say(api, "/model")
    assert "• ✓ openai-chat:loopback\n• fast (openai-chat:fast)" in listed
    assert "for you alone" in listed
    assert "has set openai-chat:loopback as the default" in listed
    await tap(api, "deep", r"✓ deep \(anthropic:deep\)")
    assert await say(api, "hello") == "You said: hello"
    await say(api, "hello", FRIEND)
    assert "• ✓ deep (anthropic:deep)" in await say(api, "/model")
    await tap(api, "Default", "✓ openai-chat:loopback")
    await say(api, "hello again")

    assert used(model) == ["deep", "loopback", "loopback"]


async def test_a_chosen_model_that_is_gone_falls_back_to_the_default_and_says_so(api, model, bot):
    """Once under an answer, and in /model; the words that are kept are the answer alone."""
    one = await bot()
    await say(api, "/model deep")
    await one.restart(CONTINUITY_MODELS="fast=openai-chat:fast")
    first, second = await say(api, "hello"), await say(api, "and again")

    assert first.startswith("You said: hello")
    assert "“deep” isn't offered any more" in first
    assert "offered" not in second
    assert "“deep” isn't offered any more" in await say(api, "/model")
    assert used(model) == ["loopback", "loopback"]
    assert rows(one, "SELECT assistant_text FROM conversation_turns ORDER BY seq")[0] == ("You said: hello",)


@pytest.mark.parametrize("fault", [ModelFault.TOO_MANY, ModelFault.SERVER_ERROR, ModelFault.GARBAGE])
async def test_another_model_answers_when_the_first_one_fails_before_its_first_word(api, model, bot, fault):
    """For that turn, and one small line under the answer says so."""
    await bot(CONTINUITY_FALLBACK_MODEL="fast")
    model.broken["loopback"] = fault
    said = await say(api, "hello")
    model.broken.clear()
    then = await say(api, "and now?")

    assert said.startswith("You said: hello")
    assert "fast answered this: openai-chat:loopback couldn't just now." in said
    assert then == "You said: and now?"
    assert (used(model)[0], used(model)[-2:]) == ("loopback", ["fast", "loopback"])


async def test_another_model_answers_when_the_first_one_does_not_begin(api, model, bot):
    """After half of the time that a model may be silent."""
    await bot(CONTINUITY_FALLBACK_MODEL="fast", CONTINUITY_MODEL_TIMEOUT_S=1)
    model.broken["loopback"] = ModelFault.HANG

    assert "fast answered this" in await say(api, "hello")


async def test_nobody_else_answers_behind_the_first_word(api, model, bot):
    """A stream that breaks off in the midst: the person is told, with [Try again]."""
    one = await bot(CONTINUITY_FALLBACK_MODEL="fast")
    model.broken["loopback"] = ModelFault.BREAK
    said = await say(api, "one two three four five six")

    assert replies.say("why_broken") in said
    assert set(used(model)) == {"loopback"}
    assert rows(one, "SELECT state FROM inbox WHERE state <> 'done'") == [("parked",)]


async def test_nobody_else_answers_behind_a_call_of_a_tool(api, model, bot):
    """What a tool did may stand: another model does not do it once more."""
    await bot(CONTINUITY_FALLBACK_MODEL="fast")
    model.reply = lambda messages: [ToolCall("search", {"query": "x"})] if messages[-1]["role"] == "user" else ""
    said = await say(api, "look it up")

    assert replies.say("why_broken") in said
    assert set(used(model)) == {"loopback"}


async def test_a_model_with_a_small_context_gets_as_much_of_the_past_as_it_takes(api, model, bot):
    """The oldest turns go first; what the person says now stays whole."""
    await bot()
    for number in range(6):
        await say(api, f"{number} " + "words that fill the context of a small model " * 20)
    await say(api, "/model home")
    model.requests.clear()
    await say(api, "what did I say?")

    (request,) = asked(model)
    assert "what did I say?" in request.text
    assert "0 words" not in request.text
    assert len(json.dumps(request.chat)) < 1500 * 5


async def test_people_see_what_they_took_by_day_and_purpose(api, model, clock, bot):
    """Answers and work with tools apart, money where a price is known; where it is not, it says so."""
    await bot(**PRICES)
    model.reply = lambda messages: "found" if messages[-1]["role"] == "tool" else [ToolCall("search", {"query": "x"})]
    assert "Nothing yet." in await say(api, "/usage")
    await say(api, "/model deep")
    await say(api, "look it up")
    clock.advance(hours=24)
    await say(api, "/model default")
    await say(api, "look it up")
    usage = await say(api, "/usage")

    today, before = usage.split("On the days before:")
    assert "answers" in today
    assert "working with tools" in today
    assert "$" not in today
    assert "$" in before
    assert "nobody told me a price" in usage
    assert "There's no daily limit for you." in usage


async def test_a_limit_is_said_before_it_bites_and_holds(api, model, bot):
    """At 80 % one line, once; when it is used up nobody is asked any more."""
    seen = set()

    def tokens(text):
        fresh = text.startswith("You said") and text not in seen
        seen.add(text)
        return 100 if fresh else 0

    model.tokens = tokens
    await bot(CONTINUITY_DAILY_TOKENS_PER_USER=1000)
    told = [await say(api, f"{number} now") for number in range(8)]
    near = [at for at, text in enumerate(told) if "more than 80 %" in text]
    over = [at for at, text in enumerate(told) if replies.say("why_budget") in text]

    assert len(near) == 1
    assert over
    assert near[0] < over[0]
    assert len(asked(model)) == over[0]
    usage = await say(api, "/usage")
    assert "Your limit a day: 1,000 tokens. 100 % of it is used" in usage


@pytest.mark.parametrize(
    ("chosen", "limit"),
    [
        ("fast", {"CONTINUITY_DAILY_TOKENS_PER_USER": "5000"}),
        ("deep", {"CONTINUITY_DAILY_COST_PER_USER": "0.02"}),
    ],
)
async def test_a_limit_holds_within_an_answer_too(api, model, bot, chosen, limit):
    """A model that calls tools on and on is asked no more once the day's tokens, or its money, are used up."""
    one = await bot(**PRICES, **limit)
    model.reply = lambda _: [ToolCall("search", {"query": "x"})]
    await say(api, f"/model {chosen}")

    assert replies.say("why_budget") in await say(api, "look it up")

    assert 1 < len(asked(model)) < 16
    assert rows(one, "SELECT COUNT(*) FROM usage_days WHERE tokens > 0")[0][0] >= 1


async def test_a_summary_is_booked_like_an_answer(api, model, bot):
    """It's paid by the person who spoke, and /usage says so."""
    one = await bot(
        **PRICES, CONTINUITY_SUMMARY_MODEL="fast", CONTINUITY_CONTEXT_TOKENS="1200", CONTINUITY_HISTORY_TOKENS="300"
    )
    model.reply = lambda _: "Well, " + "that is a long story of many words " * 20
    for number in range(12):
        await say(api, f"story number {number}")
    await one.settled()

    booked = rows(one, "SELECT tokens FROM usage_days WHERE purpose = 'summary'")
    assert booked
    assert booked[0][0] > 0
    assert "summaries" in await say(api, "/usage")


async def test_what_failed_is_booked_all_the_same(api, model, bot):
    """An answer that the model made and that is none was paid for."""
    one = await bot(**PRICES)
    model.reply = lambda _: [ToolCall("search", {"query": "x"})]
    said = await say(api, "look it up")

    assert replies.say("why_endless") in said
    ((tokens, unpriced),) = rows(one, "SELECT SUM(tokens), SUM(unpriced_tokens) FROM usage_days")
    assert tokens > 0
    assert unpriced == tokens


async def test_without_a_list_the_one_model_is_named(api, model, bot):
    """Nothing is offered that cannot be chosen."""
    await bot(CONTINUITY_MODELS="")
    assert await say(api, "/model") == "There's one language model here: openai-chat:loopback."
    assert bot_texts(api)[-1].startswith("There's one")
    await shows(api, "There's one")
