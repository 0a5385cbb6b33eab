"""The adapters in `examples/`, run by the frameworks that they are for: what the model sees, what is stored, once."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelResponse as PydanticResponse
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_chat import reply

from memory.testing import open_memory

HERE = "shop:42"


def seen(items):
    """Return what items say, whichever of the SDK's forms they have, without the memory's own blocks of data."""
    found = []
    for item in items:
        if item.get("type") == "function_call":
            found.append(("call", item["name"], item["arguments"]))
        elif item.get("type") == "function_call_output":
            found.append(("return", item["output"]))
        else:
            content = item["content"]
            found.append((item["role"], content if isinstance(content, str) else content[0]["text"]))
    return [each for each in found if not each[1].startswith("<data-") and each != ("assistant", "Noted.")]


@pytest.fixture(scope="module")
def sdk():
    """Return the SDK with its scripted model; it takes 2 s to import, which no other test has to wait for."""
    import agents_sdk

    return agents_sdk


@pytest.fixture(params=["ours", "theirs"])
def session(request, sdk, memory, tmp_path):
    """Each promise of a session is kept by the SDK's own and by ours."""
    if request.param == "ours":
        yield sdk.MemorySession(memory, HERE)
        return
    opened = sdk.SQLiteSession(HERE, tmp_path / "theirs.db")
    yield opened
    opened.close()


async def test_a_run_sees_the_runs_before(sdk, session):
    """Messages, calls and returns of earlier runs are the beginning of the next, in their order."""
    model = sdk.Scripted(
        sdk.text("Hello Ana."), sdk.call("stock", '{"item":"lamps"}'), sdk.text("We have three."), sdk.text("Ana.")
    )
    agent = sdk.Agent("shop", model=model, tools=[sdk.stock])
    for said in ("I am Ana.", "Do you have lamps?", "Who am I?"):
        await sdk.Runner.run(agent, said, session=session, run_config=sdk.QUIET)

    assert isinstance(session, sdk.Session)
    assert seen(model.shown[-1]) == [
        ("user", "I am Ana."),
        ("assistant", "Hello Ana."),
        ("user", "Do you have lamps?"),
        ("call", "stock", '{"item":"lamps"}'),
        ("return", "3 lamps"),
        ("assistant", "We have three."),
        ("user", "Who am I?"),
    ]


async def test_items_come_back_and_go(session):
    """The newest are returned with a limit and popped one by one; a cleared session is empty."""
    await session.add_items([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])
    await session.add_items([{"role": "user", "content": "three"}])

    assert seen(await session.get_items()) == [("user", "one"), ("assistant", "two"), ("user", "three")]
    assert seen(await session.get_items(limit=2)) == [("assistant", "two"), ("user", "three")]
    assert await session.get_items(limit=0) == []
    assert seen([await session.pop_item(), await session.pop_item()]) == [("user", "three"), ("assistant", "two")]
    assert seen(await session.get_items()) == [("user", "one")]
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_a_turn_of_a_run_is_stored_once_and_survives(sdk, tmp_path):
    """What another process opens is one turn per run, with its calls; nothing waits for an orderly end."""
    model = sdk.Scripted(sdk.call("stock", '{"item":"lamps"}'), sdk.text("We have three."))
    agent = sdk.Agent("shop", model=model, tools=[sdk.stock])
    async with open_memory(tmp_path) as memory:
        await sdk.Runner.run(agent, "Do you have lamps?", session=sdk.MemorySession(memory, HERE), run_config=sdk.QUIET)
    async with open_memory(tmp_path) as memory:
        state = await memory.recorder.current(HERE)
        (turn,) = await memory.recorder.recent_turns(state.session_id)

    assert (turn.user_text, turn.assistant_text) == ("Do you have lamps?", "We have three.")
    assert [(each.name, each.result) for each in turn.tool_calls] == [("stock", "3 lamps")]


async def test_a_pydantic_ai_agent_remembers_its_runs(memory):
    """Its second run begins with the first, calls paired with their returns, in pydantic-ai's own messages."""
    shown = []

    def answer(messages, info):
        shown.append(messages)
        last = messages[-1].parts[-1]
        if last.part_kind == "user-prompt" and "lamps" in last.content:
            return PydanticResponse(parts=[ToolCallPart("stock", {"item": "lamps"}, tool_call_id="c_1")])
        return PydanticResponse(parts=[TextPart("We have three.")])

    agent = PydanticAgent(FunctionModel(answer))
    agent.tool_plain(lambda item: f"3 {item}", name="stock")
    assert await reply(agent, memory, HERE, "Do you have lamps?") == "We have three."
    await reply(agent, memory, HERE, "How many was that?")

    history = shown[-1][:-1]
    kinds = [part.part_kind for message in history for part in message.parts]
    assert kinds == ["user-prompt", "tool-call", "tool-return", "text"]
    assert ModelMessagesTypeAdapter.validate_python(ModelMessagesTypeAdapter.dump_python(history)) == history


async def test_a_prompt_is_valid_for_chat_completions(memory):
    """What `messages` gives is what OpenAI's types call a message, tool calls included."""
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    from memory import ToolCall

    turn = await memory.begin(HERE, "Do you have lamps?")
    await turn.record("We have three.", tool_calls=[ToolCall(call_id="c_1", name="stock", result="3 lamps")])
    messages = (await memory.begin(HERE, "How many was that?")).messages

    adapter = TypeAdapter(ChatCompletionMessageParam)
    for message in messages:
        adapter.validate_python(message)
    assert [message["role"] for message in messages][-5:] == ["user", "assistant", "tool", "assistant", "user"]
