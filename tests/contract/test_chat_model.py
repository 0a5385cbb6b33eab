"""The light way to a model: it asks as pydantic-ai asks, and what goes wrong is told apart in the same way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from loopback.model import LoopbackModel, ModelFault, ToolCall

from bot.answers.agent import AgentModel
from bot.answers.chat_model import ChatModel, GrowingReply
from bot.answers.chat_server import ChatServer, ModelError, refusal
from bot.answers.cost import Usage, list_price
from bot.answers.keeper import KeeperModel
from bot.answers.keeper import _agent as keeping_agent
from bot.answers.outcome import Prompted
from bot.answers.tools import calls
from bot.answers.tools.calls import WrongCall, checked, specs
from memory.context.transcript import PromptMessage
from memory.keeper.contract import Again, ContractBroken, KeeperAnswer, KeeperRequest
from memory.ledger.types import Ledger
from memory.testing import START_MS, make_turn
from memory.types import ToolCall as Call

CALLS = (Call(call_id="c1", name="note", arguments='{"text":"a","kind":"fact"}', result="noted"),)
PROMPT = Prompted(
    "You are kind.",
    (
        PromptMessage("user", "hi"),
        PromptMessage("assistant", tool_calls=CALLS),
        PromptMessage("tool", tool_calls=CALLS),
        PromptMessage("assistant", "hello"),
        PromptMessage("user", "what did I say?"),
    ),
)


@dataclass
class Box:
    """A toolbox that finds one thing."""

    asked: list[str] = field(default_factory=list)

    def offered(self) -> tuple[dict[str, Any], ...]:
        return calls.offered()

    async def call(self, _call_id: str, name: str, arguments: str) -> str:
        self.asked.append(calls.given(name, arguments)["query"])
        return "found it"


@pytest.fixture
async def server():
    async with LoopbackModel() as model:
        yield model


@pytest.fixture
async def chat(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
    model = ChatModel("openai-chat:m", ChatServer.of_environment(), 4000, listed=True)
    yield model
    await model.close()


def nobody(*_):
    """Show nothing."""


def searching(query='{"query":"x"}', name="search"):
    """Return a model that calls a tool, then answers."""

    def reply(messages):
        if messages[-1]["role"] == "tool":
            return "so it was"
        call = ToolCall(name, {})
        call.arguments.update({} if query is None else {"query": "x"})
        return [call]

    return reply


async def test_a_request_is_what_pydantic_ai_would_send(server, chat):
    """Messages, tools and options are the same, also after a call of a tool."""
    server.reply = searching()
    agent = AgentModel.build("openai-chat:m", 4000)
    for way in (chat, agent):
        box = Box()
        outcome = await way.run(PROMPT, box, nobody, nobody)
        assert (outcome.text, box.asked) == ("so it was", ["x"])
        assert [each.role for each in outcome.steps] == ["assistant", "tool"]
        assert [(call.name, call.result) for call in outcome.tool_calls] == [("search", "found it")]
    await agent.close()
    ours, theirs = server.requests[:2], server.requests[2:]

    assert ours[0].body == theirs[0].body
    assert len(ours[1].body["messages"]) == len(theirs[1].body["messages"])


def asked_to_keep():
    """A request with one turn and nothing noted before."""
    return KeeperRequest(
        reading_id="r_1",
        session_id="s_1",
        conversation_id="tg:1:1:0",
        ledger=Ledger("tg:1:1:0"),
        notes=(),
        before=(),
        turns=(make_turn(user_text="I have to call the plumber."),),
        zone="Europe/Berlin",
        now_ms=START_MS,
    )


KEPT = {
    "changes": [{"op": "add", "kind": "task", "text": "Call the plumber", "turns": [1], "said": "call the plumber"}]
}


async def test_a_keeper_is_asked_over_either_way_with_one_tool(server, chat):
    """The last user message holds the request, fenced; the answer is the arguments of `keep`, and both are priced."""
    server.reply = lambda _: [ToolCall("keep", KEPT)]
    keeping = await KeeperModel("openai-chat:m")(asked_to_keep())
    agent = keeping_agent("openai-chat:m")
    async with agent:
        result = await agent.run("What was said.")

    assert keeping.answer == result.output
    assert (keeping.answer.changes[0].text, keeping.input_tokens > 0) == ("Call the plumber", True)
    ours, theirs = (asked.body for asked in server.requests)
    assert [tool["function"]["name"] for tool in ours["tools"]] == [
        tool["function"]["name"] for tool in theirs["tools"]
    ]
    assert ours["max_completion_tokens"] == 4000
    role, text = server.requests[0].messages[-1]
    assert role == "user"
    assert text.startswith("<data-")
    assert "1. [Tue 2023-11-14 23:14] person: I have to call the plumber.\n   assistant: answer 1" in text


async def test_what_was_not_taken_is_told_to_the_keeper_as_the_result_of_its_call(server, chat):
    """The same request, its own call, and the reasons behind it."""
    server.reply = lambda _: [ToolCall("keep", {})]
    before = KeeperAnswer.model_validate(KEPT)
    await KeeperModel("openai-chat:m")(asked_to_keep(), Again(before, ("add “Call Bob”: the name Bob was not said",)))

    assert [role for role, _ in server.requests[0].messages] == ["system", "user", "assistant", "tool"]
    assert "Bob was not said" in server.requests[0].messages[-1][1]
    assert "Call the plumber" in str(server.requests[0].body["messages"][2]["tool_calls"])


@pytest.mark.parametrize("reply", ["no call at all", [ToolCall("keep", {"changes": 3})], [ToolCall("other", {})]])
async def test_an_answer_of_another_shape_is_asked_for_once_more_and_then_breaks_the_contract(server, chat, reply):
    """What it cost is known all the same."""
    server.reply = lambda _: reply
    with pytest.raises(ContractBroken) as caught:
        await KeeperModel("openai-chat:m")(asked_to_keep())

    assert len(server.requests) == 2
    assert caught.value.spent.input_tokens > 0


async def test_a_keeper_of_any_other_provider_is_asked_through_pydantic_ai():
    """Its answer has the same shape, and a price."""
    keeping = await KeeperModel("test")(asked_to_keep())

    assert isinstance(keeping.answer, KeeperAnswer)
    assert keeping.input_tokens > 0


class Arriving:
    """A server whose words arrive some at a time."""

    is_here = True

    async def stream(self, _):
        """Yield three words, two of them together."""
        said = lambda text, end=None: {"choices": [{"delta": {"content": text}, "finish_reason": end}]}  # noqa: E731
        yield [said("one ")]
        yield [said("two "), said("three", "stop"), {"choices": [], "usage": {"prompt_tokens": 5}}]


async def test_words_grow_on_the_screen_and_usage_is_counted():
    """`show` gets the whole text so far, once for all that arrived together."""
    shown = []
    outcome = await ChatModel("openai-chat:m", Arriving(), 4000, listed=True).run(PROMPT, Box(), shown.append, nobody)

    assert shown == ["one ", "one two three"]
    assert outcome.usage.input_tokens == 5


@pytest.mark.parametrize(
    ("fault", "kind", "passing"),
    [
        (ModelFault.TOO_MANY, "Status", True),
        (ModelFault.SERVER_ERROR, "Status", True),
        (ModelFault.BREAK, "BrokenOff", True),
        (ModelFault.GARBAGE, "Garbage", False),
    ],
)
async def test_what_goes_wrong_is_told_apart(server, chat, fault, kind, passing):
    """What may pass is tried again by the caller; nothing half is taken for an answer."""
    server.plant(fault)
    with pytest.raises(ModelError) as caught:
        await chat.run(PROMPT, Box(), nobody, nobody)

    assert (caught.value.kind, caught.value.passing) == (kind, passing)
    assert (refusal(401).passing, refusal(429).passing, refusal(503).passing) == (False, True, True)


async def test_a_model_that_calls_tools_for_ever_is_stopped(server, chat):
    """The number of requests of one answer is bounded."""
    server.reply = lambda _: [ToolCall("search", {"query": "x"})]
    with pytest.raises(ModelError, match="too many requests"):
        await chat.run(PROMPT, Box(), nobody, nobody)


async def test_a_wrong_call_is_explained_once(server, chat):
    """The model hears what was wrong and may call again; a second wrong call ends it."""
    server.reply = searching(name="no_such_tool")
    assert (await chat.run(PROMPT, Box(), nobody, nobody)).text == "so it was"
    assert "Unknown tool name" in server.requests[-1].messages[-1][1]

    server.reply = lambda _: [ToolCall("no_such_tool", {})]
    with pytest.raises(ModelError, match="again and again"):
        await chat.run(PROMPT, Box(), nobody, nobody)


@pytest.mark.parametrize(
    "arguments",
    ["nonsense", "[]", "{}", '{"text": 1, "kind": "fact"}', '{"text": "a", "kind": "odd"}', '{"text": "a", "more": 1}'],
)
def test_arguments_are_checked_against_the_schema(arguments):
    """What is missing, unknown or of another type never reaches a tool; null is left out."""
    note = specs()[0]["parameters"]
    with pytest.raises(WrongCall):
        checked(note, arguments)
    assert checked(note, '{"text": "a", "kind": "fact", "due": null}') == {"text": "a", "kind": "fact"}


def test_thoughts_are_not_part_of_an_answer():
    """What a model thinks aloud before its answer is neither shown nor kept; a mention of the tag is."""
    reply = GrowingReply()
    reply.take({"content": "<think>hm, "})
    assert reply.shown == ""
    reply.take({"content": "well</think>\nHello <think>"})
    assert reply.shown == "Hello <think>"


async def test_openai_without_a_key_is_said(monkeypatch):
    """Another server may need none."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        ChatServer.of_environment()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server = ChatServer.of_environment()
    assert server.is_here
    await server.close()


def test_a_price_is_that_of_the_list():
    """A known model has one, by its provider's address or by its name; an unknown one has none."""
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert list_price("gpt-4o", "https://api.openai.com/v1", usage)
    assert list_price("gpt-4o", "https://api.openai.com/v1", usage) == list_price("gpt-4o", "https://x.example", usage)
    assert list_price("nobody-knows-it", "https://x.example", usage) is None
