"""The loopback model speaks OpenAI's chat completions to pydantic-ai, and fails the way providers do."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from loopback.model import Gate, ToolCall


@pytest.fixture
async def agent(model, monkeypatch):
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with AsyncOpenAI(base_url=model.url, api_key="sk-loopback", max_retries=0) as client:
        yield Agent(
            OpenAIChatModel("loopback", provider=OpenAIProvider(openai_client=client)), instructions="Be brief."
        )


async def test_a_whole_answer_comes_with_usage(agent, model):
    """The request is kept as the model saw it."""
    result = await agent.run("hello")

    assert (result.output, result.usage.output_tokens > 0) == ("You said: hello", True)
    assert model.requests[0].messages == [("system", "Be brief."), ("user", "hello")]


async def test_a_streamed_answer_waits_for_the_gate(agent, model):
    """Words come one by one when the test lets them through."""
    model.gate = Gate()
    seen = []

    async def read():
        async with agent.run_stream("one two") as stream:
            async for text in stream.stream_text(debounce_by=None):
                seen.append(text)
                model._changes.announce()
            return stream.usage.output_tokens

    reading = asyncio.create_task(read())
    model.gate.let(2)
    await model.until(lambda: seen[-1:] and seen[-1].strip() == "You said:")
    assert not model.requests[0].is_finished

    model.gate.open()
    assert (await reading > 0, seen[-1]) == (True, "You said: one two")


async def test_a_tool_is_called(agent, model):
    """The scripted reply may ask for tools first."""
    asked = []

    @agent.tool_plain
    def remember(fact: str) -> str:
        """Note a fact."""
        asked.append(fact)
        return "noted"

    model.reply = lambda messages: (
        "Done." if messages[-1]["role"] == "tool" else [ToolCall("remember", {"fact": "tea"})]
    )

    assert ((await agent.run("I like tea")).output, asked) == ("Done.", ["tea"])
    async with agent.run_stream("again") as stream:
        assert await stream.get_output() == "Done."


@pytest.mark.parametrize("fault", ["break", "too_many", "server_error", "garbage"])
@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_planted_fault_fails_one_request(agent, model, fault, is_streamed):
    """The faulty request raises and the next one works."""
    model.plant(fault)

    async def ask():
        if not is_streamed:
            return (await agent.run("a long enough text")).output
        async with agent.run_stream("a long enough text") as stream:
            return await stream.get_output()

    with pytest.raises(Exception) as caught:  # noqa: PT011 - each fault has an error of its own kind
        await ask()
    assert not isinstance(caught.value, AssertionError)
    assert await ask() == "You said: a long enough text"


async def test_a_hanging_model_answers_nothing(model):
    """The caller's own time limit is what ends it."""
    model.plant("hang")
    async with httpx.AsyncClient(base_url=model.url) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/chat/completions", json={"model": "m", "messages": []}, timeout=0.2)

    assert model.requests[0].fault == "hang"
