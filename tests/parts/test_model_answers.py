"""Answers of a model through pydantic-ai: whole or none, asked again for what passes, with what its tools did (P4)."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import ModelAuthenticationError, ModelHTTPError, ModelServerError
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from bot import replies
from bot.answers.loop import MAX_REQUESTS
from bot.answers.one_model import ATTEMPTS

NAME = "another:scripted"
REMIND = ("remind", '{"text": "call Ana", "at": "2027-01-16T09:00"}')


@pytest.fixture
async def model(start, monkeypatch):
    """Offer a function: a bot whose model does what the script says for each request; an error is raised."""
    requests = []

    async def scripted(*script):
        async def stream(messages, _info):
            requests.append(messages)
            step = script[min(len(requests), len(script)) - 1]
            if isinstance(step, Exception):
                raise step
            if isinstance(step, tuple):
                yield {0: DeltaToolCall(name=step[0], json_args=step[1], tool_call_id=f"c_{len(requests)}")}
                return
            for word in step.split(" "):
                yield f"{word} "

        monkeypatch.setattr(
            "bot.answers.wires.any_provider.infer_model", lambda _: FunctionModel(stream_function=stream)
        )
        one = await start(continuity_model=NAME, continuity_memory_model="off")
        await one.services.responder.warm()
        return one

    scripted.requests = requests
    return scripted


async def test_a_whole_answer_is_stored_with_what_it_took(model, screen):
    """Its words, the model's name and its tokens."""
    one = await model("Good morning Ana")
    await one.take(1, "hello")
    await one.settled()

    assert [text.strip() for text in screen.sent] == ["Good morning Ana"]
    ((name, input_tokens, output_tokens),) = await one.rows("turn_figures", "model, input_tokens, output_tokens")
    assert name == NAME
    assert input_tokens > 0
    assert output_tokens > 0


@pytest.mark.parametrize("hiccup", [ModelHTTPError(503, NAME), ModelHTTPError(429, NAME), ""])
async def test_what_passes_is_not_worth_a_word(model, screen, hiccup):
    """Overload, too many requests, an answer that broke off before its first word: asked again, answered once."""
    one = await model(hiccup, "Good morning")
    await one.take(1, "hello")
    await one.settled()

    assert [text.strip() for text in screen.sent] == ["Good morning"]
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("trouble", "why", "times"),
    [
        (ModelAuthenticationError(401, NAME), "why_refused", 1),
        (ModelServerError(NAME, "overloaded"), "why_busy", ATTEMPTS),
        ("", "why_broken", ATTEMPTS),
    ],
)
async def test_what_lasts_is_said_and_nothing_is_stored(model, screen, trouble, why, times):
    """The person learns what is wrong, with [Try again]; what can't pass is not tried again."""
    one = await model(trouble)
    await one.take(1, "hello")
    await one.settled()

    assert screen.sent == [replies.say("model_down", why=replies.say(why))]
    assert len(model.requests) == times
    assert await one.rows("conversation_turns", "turn_id") == []
    assert await one.rows("inbox", "state") == [("parked",)]


async def test_what_a_tool_did_is_committed_with_the_answer(model, screen):
    """A reminder is there when the answer that promises it is."""
    one = await model(REMIND, "I will remind you.")
    await one.take(1, "Remember to tell me about the call with Ana at the right time.")
    await one.settled()

    assert screen.sent[-1].strip() == "I will remind you."
    assert await one.rows("notes", "text") == [("call Ana",)]


async def test_of_an_answer_that_never_came_its_tools_did_nothing(model, screen):
    """The model sets a reminder and then fails for good: no reminder, and the person is told."""
    one = await model(REMIND, ModelAuthenticationError(401, NAME))
    await one.take(1, "Remember to tell me about the call with Ana at the right time.")
    await one.settled()

    assert await one.rows("notes", "text") == []
    assert screen.sent == [replies.say("model_down", why=replies.say("why_refused"))]


async def test_a_model_that_calls_tools_for_ever_is_stopped(model, screen):
    """After so many requests the person is told; nothing is stored."""
    one = await model(("search", "{}"))
    await one.take(1, "hello")
    await one.settled()

    assert len(model.requests) == MAX_REQUESTS
    assert screen.sent == [replies.say("model_down", why=replies.say("why_endless"))]
    assert await one.rows("conversation_turns", "turn_id") == []
