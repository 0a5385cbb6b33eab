"""Every way to a model keeps the same promises, against servers as strict as the provider."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from loopback.formats import checked as checked_body
from loopback.model import LoopbackModel, ModelFault, ToolCall
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bot.answers.cost import Usage, list_price, spent_of
from bot.answers.errors import ModelError, refusal
from bot.answers.keeper import KeeperModel
from bot.answers.loop import ModelLoop, Progress, reply_to
from bot.answers.outcome import Prompted
from bot.answers.responder import Picture
from bot.answers.summary import write_summary
from bot.answers.tools import calls
from bot.answers.tools.calls import WrongCall, checked, specs
from bot.answers.wires.any_provider import AnyProvider
from bot.answers.wires.http_wire import HttpWire
from bot.answers.wires.port import GrowingReply, WireRequest
from bot.answers.wires.providers import PROVIDERS, wire_to
from memory.context.transcript import PromptMessage
from memory.keeper.contract import Again, ContractBroken, KeeperAnswer, KeeperRequest
from memory.ledger.types import Ledger
from memory.testing import START_MS, make_turn
from memory.types import ToolCall as Call

LIGHT = ["openai-chat:m", "openai:m", "anthropic:m"]
ANY = "any other provider"
CALLS = (Call(call_id="odd id " + "x" * 70, name="note", arguments='{"text":"a","kind":"fact"}', result="noted"),)
PROMPT = Prompted(
    "You are kind.",
    (
        PromptMessage("assistant", "Good to see you."),
        PromptMessage("user", "hi"),
        PromptMessage("assistant", tool_calls=CALLS),
        PromptMessage("tool", tool_calls=CALLS),
        PromptMessage("assistant", "hello"),
        PromptMessage("user", "what did I say?"),
    ),
)
PICTURE = Picture("image/png", b"\x89PNG")


@dataclass
class Box:
    """A toolbox that finds one thing."""

    earlier = ()
    pictures = ()

    asked: list[str] = field(default_factory=list)

    def offered(self):
        return calls.offered()

    async def look_again(self):
        """Show nothing."""

    async def searched(self, query, found):
        self.asked.append((query, *found))
        return "Found by a search."

    async def call(self, _call_id, name, arguments):
        self.asked.append(calls.given(name, arguments)["query"])
        return "found it"


@pytest.fixture
async def server(monkeypatch):
    """Serve every format on a port of this machine, strictly."""
    async with LoopbackModel(strict=True) as model:
        for variable, value in {
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "sk-loopback",
            "ANTHROPIC_BASE_URL": model.url.removesuffix("/v1"),
            "ANTHROPIC_API_KEY": "sk-loopback",
        }.items():
            monkeypatch.setenv(variable, value)
        yield model


@pytest.fixture(params=[*LIGHT, ANY])
async def name(request):
    """Name each model once."""
    return request.param


@pytest.fixture
async def loop(server, name):
    """The loop over each wire."""
    if name == ANY:
        provider = OpenAIProvider(base_url=server.url, api_key="sk-loopback")
        wire = AnyProvider(OpenAIChatModel("m", provider=provider), listed=False)
    else:
        wire = await wire_to(name, listed=True)
    made = ModelLoop(wire, 4000)
    yield made
    await made.close()


def searching(*names):
    """A model that calls these tools, one a response, then answers."""

    def reply(messages):
        done = sum(message["role"] == "tool" for message in messages) - 1
        return [ToolCall(names[done], {"query": f"x{done}"}, f"call_{done}")] if done < len(names) else "so it was"

    return reply


async def test_an_answer_is_made_with_tools_and_grows_on_the_screen(server, loop):
    """Two rounds of a tool; the past, the calls and their returns are what the provider's own client would send."""
    server.reply = searching("search", "search")
    box, shown = Box(), []
    progress = Progress(shown.append)
    outcome = await loop.run(PROMPT, box, progress)

    assert (outcome.text, box.asked) == ("so it was", ["x0", "x1"])
    assert [each.role for each in outcome.steps] == ["assistant", "tool"] * 2
    assert [(call.name, call.result) for call in outcome.tool_calls] == [("search", "found it")] * 2
    assert shown[-1] == "so it was"
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    assert 0 < progress.tool_usage.input_tokens < progress.usage.input_tokens
    assert progress.usage.output_tokens > 0
    assert progress.begun
    last = server.requests[-1].messages
    assert last[0] == ("system", "You are kind.")
    assert [role for role, _ in last[-5:]] == ["user", "assistant", "tool", "assistant", "tool"]


@pytest.mark.parametrize("name", LIGHT)
async def test_thoughts_are_counted_given_back_between_calls_and_never_shown(server, loop):
    """The server refuses a call that comes back without its thought, unchanged."""
    server.thought = "The person wants to know what they said."
    server.reply = searching("search")
    shown = []
    outcome = await loop.run(PROMPT, Box(), Progress(shown.append))

    assert outcome.text == "so it was"
    assert not [text for text in shown if "wants to know" in text]


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m"])
async def test_what_the_provider_had_in_its_cache_is_told(server, loop):
    """All of the input is counted once, what was cached within it."""
    progress = Progress()
    await loop.run(PROMPT, Box(), progress)
    usage = progress.usage
    (asked,) = server.requests

    assert usage.input_tokens == len(json.dumps(asked.chat)) // 4
    assert usage.cache_read_tokens == usage.input_tokens // 2


@pytest.mark.parametrize("name", ["anthropic:m"])
async def test_anthropic_caches_instructions_past_and_rounds(server, loop):
    """A mark behind each of them, none behind the message that changes with every turn."""
    server.reply = searching("search")
    await loop.run(PROMPT, Box(), Progress())
    body = server.requests[-1].body
    marked = [
        message["content"][-1].get("text") or message["content"][-1]["type"]
        for message in body["messages"]
        if "cache_control" in message["content"][-1]
    ]

    assert "cache_control" in body["system"][0]
    assert marked == ["hello", "tool_result"]


async def test_pictures_are_shown_to_the_model(server, loop):
    """With the words of the last message, and again in each round."""
    server.reply = searching("search")
    prompted = Prompted("You are kind.", PROMPT.messages, (PICTURE, PICTURE))
    outcome = await loop.run(prompted, Box(), Progress())

    assert (outcome.blind, loop.sees) == (False, True)
    assert all(json.dumps(asked.body).count("iVBORw==") == 2 for asked in server.requests)
    assert "what did I say?" in server.requests[0].messages[-1][1]


async def test_calls_that_were_made_before_stand_behind_what_the_person_said(server, loop):
    """Their pictures stay with their words, and the model goes on from the results."""
    server.reply = searching("search", "search")
    made = (Call(call_id="call_0", name="search", arguments='{"query":"x"}', result="found before"),)
    earlier = (PromptMessage("assistant", tool_calls=made), PromptMessage("tool", tool_calls=made))
    prompted = Prompted("You are kind.", (*PROMPT.messages, *earlier), (PICTURE,))
    outcome = await loop.run(prompted, Box(), Progress())

    assert outcome.text == "so it was"
    request = server.requests[0]
    assert [role for role, _ in request.messages[-3:]] == ["user", "assistant", "tool"]
    assert "what did I say?" in request.messages[-3][1]


async def test_a_model_that_cannot_see_answers_the_words_and_says_so(server, loop):
    """It is tried once; from then on pictures stay here, and the model is told of them."""
    server.blind = True
    prompted = Prompted("You are kind.", PROMPT.messages, (PICTURE,))
    first = await loop.run(prompted, Box(), Progress())
    second = await loop.run(prompted, Box(), Progress())

    assert (first.blind, second.blind, loop.sees) == (True, True, False)
    assert len(server.requests) == 3
    assert "you can't see pictures" in server.requests[1].messages[-1][1]


@pytest.mark.parametrize(
    ("fault", "passing"),
    [
        (ModelFault.TOO_MANY, True),
        (ModelFault.SERVER_ERROR, True),
        (ModelFault.BREAK, True),
        (ModelFault.GARBAGE, False),
    ],
)
async def test_what_goes_wrong_is_told_apart(server, loop, name, fault, passing):
    """What may pass is tried again by the caller; nothing half is taken for an answer."""
    server.plant(fault)
    with pytest.raises(ModelError) as caught:
        await loop.run(PROMPT, Box(), Progress())

    assert caught.value.passing == passing or name == ANY
    assert caught.value.why in {"why_busy", "why_broken", "why_garbage"}
    assert "what did I say" not in str(caught.value)


def test_a_status_tells_what_may_pass():
    """Overload does, a refusal does not."""
    passing = {status: refusal(status).passing for status in (400, 401, 404, 408, 409, 429, 500, 503, 529)}
    assert passing == dict.fromkeys((400, 401, 404), False) | dict.fromkeys((408, 409, 429, 500, 503, 529), True)


async def test_a_model_that_calls_tools_for_ever_is_stopped(server, loop):
    """The number of requests of one answer is bounded; ids that come again are told apart."""
    server.reply = lambda _: [ToolCall("search", {"query": "x"})]
    with pytest.raises(ModelError, match="too many requests"):
        await loop.run(PROMPT, Box(), Progress())


async def test_a_wrong_call_is_explained_once(server, loop):
    """The model hears what was wrong and may call again; a second wrong call ends it."""
    server.reply = searching("no_such_tool")
    assert (await loop.run(PROMPT, Box(), Progress())).text == "so it was"
    assert "Unknown tool name" in server.requests[-1].messages[-1][1]

    server.reply = lambda _: [ToolCall("no_such_tool", {})]
    with pytest.raises(ModelError, match="again and again"):
        await loop.run(PROMPT, Box(), Progress())


@pytest.mark.parametrize("name", LIGHT)
async def test_a_request_of_another_shape_is_refused_by_these_servers(server, name):
    """Negative control: a field that nobody knows, and a return without its call."""
    wire = await wire_to(name, listed=False)
    stray = PromptMessage("tool", tool_calls=CALLS)
    with pytest.raises(ModelError) as caught:
        await reply_to(WireRequest("x", (stray, PromptMessage("user", "hi"))), wire, Usage())
    assert caught.value.status_code == 400
    wrong = HttpWire("m", wire._server, Misspelt(wire._format), "openai", listed=False)
    with pytest.raises(ModelError) as caught:
        await reply_to(WireRequest("x", (PromptMessage("user", "hi"),)), wrong, Usage())
    assert caught.value.status_code == 400
    await wire.close()


@dataclass
class Misspelt:
    """A format that adds a field which no provider knows."""

    spoken: object

    searches = False

    @property
    def path(self):
        return self.spoken.path

    def body(self, model, asked):
        return self.spoken.body(model, asked) | {"max_tokns": 5}


# --- events that the loopback servers do not send by themselves -------------------------------------------------------

_RESPONSE = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
ENDS = [
    ("openai-chat", [{"choices": [{"delta": {"content": "Once"}, "finish_reason": "length"}]}], "why_too_long"),
    ("openai-chat", [{"choices": [{"delta": {}, "finish_reason": "content_filter"}]}], "why_declined"),
    ("openai-chat", [{"error": {"message": "full"}}], "why_busy"),
    ("openai", [{"type": "response.incomplete", "response": _RESPONSE}], "why_too_long"),
    ("openai", [{"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}], "why_busy"),
    ("openai", [{"type": "error", "code": "invalid_prompt", "message": "no"}], "why_refused"),
    ("openai", [{"type": "response.failed", "response": {"error": {"code": "server_error"}}}], "why_busy"),
    ("openai", [{"type": "response.output_text.delta", "delta": 5}], "why_garbage"),
    ("openai", [{"type": "response.completed"}], "why_garbage"),
    ("anthropic", [{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}}], "why_too_long"),
    ("anthropic", [{"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {}}], "why_declined"),
    ("anthropic", [{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}], "why_busy"),
    ("anthropic", [{"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}], "why_refused"),
    ("anthropic", [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}], "why_garbage"),
]


class Sent:
    """A server that sends these pieces."""

    is_here = True

    def __init__(self, *pieces):
        self._pieces = pieces

    async def stream(self, _path, _body, _is_over):
        """Yield the pieces one by one."""
        for piece in self._pieces:
            yield [piece]


def over(provider, *pieces):
    """The wire of a provider whose server sends these pieces."""
    return HttpWire("m", Sent(*pieces), PROVIDERS[provider].spoken, provider, listed=False)


@pytest.mark.parametrize(("provider", "pieces", "why"), ENDS)
async def test_an_answer_that_ends_otherwise_is_no_answer(provider, pieces, why):
    """Cut off, withheld, an error in its midst, garbage: told apart, in words of ours."""
    with pytest.raises(ModelError) as caught:
        await reply_to(WireRequest("x", (PromptMessage("user", "hi"),)), over(provider, *pieces), Usage())
    assert caught.value.why == why


async def test_a_provider_that_pauses_is_asked_to_go_on(server, monkeypatch):
    """What it said before is kept, and goes back to it as it came."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    parts = [
        [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Let me look. "}},
            {"type": "content_block_start", "index": 1, "content_block": search},
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": '{"query":'},
            },
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"x"}'}},
            {"type": "content_block_stop", "index": 1},
            {"type": "content_block_start", "index": 2, "content_block": found},
            {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 3}},
        ],
        [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "It rains."}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        ],
    ]
    bodies = []

    class Pausing(Sent):
        async def stream(self, _path, body, _is_over):
            bodies.append(body)
            yield parts[len(bodies) - 1]

    shown = []
    wire = HttpWire("m", Pausing(), PROVIDERS["anthropic"].spoken, "anthropic", listed=False)
    progress = Progress(shown.append)
    outcome = await ModelLoop(wire, 4000).run(PROMPT, Box(), progress)

    assert (outcome.text, progress.usage.output_tokens) == ("Let me look. It rains.", 5)
    assert shown[-1] == outcome.text
    assert [block["type"] for block in bodies[1]["messages"][-1]["content"]] == [
        "text",
        "server_tool_use",
        "web_search_tool_result",
    ]
    assert bodies[1]["messages"][-1]["content"][1]["input"] == {"query": "x"}


PAGE = "https://weather.example.org/today"
SEARCHED = {
    "openai": [
        {"type": "response.created", "response": {}},
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {
                "id": "ws_1",
                "type": "web_search_call",
                "status": "completed",
                "action": {"type": "search", "query": "rain today", "sources": [{"type": "url", "url": PAGE}]},
            },
        },
        {"type": "response.output_text.delta", "delta": "It rains."},
        {
            "type": "response.completed",
            "response": {"status": "completed", "usage": {"input_tokens": 9, "output_tokens": 3}},
        },
    ],
    "anthropic": [
        {"type": "message_start", "message": {"usage": {"input_tokens": 9}}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"query": "rain today"}'},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [{"type": "web_search_result", "url": PAGE, "title": "Today", "encrypted_content": "x"}],
            },
        },
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "It rains."}},
        {"type": "content_block_stop", "index": 2},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3, "server_tool_use": {"web_search_requests": 1}},
        },
        {"type": "message_stop"},
    ],
}
"""A search as each provider's documentation shows it."""


class Searching(Sent):
    """A server that searches; `refuses` says whether its model has no search."""

    def __init__(self, name, *pieces, refuses=False):
        super().__init__(*pieces)
        self._name = name
        self._refuses = refuses
        self.offered: list[bool] = []

    async def stream(self, _path, body, _is_over):
        """Check the request with the provider's own types, then send the pieces."""
        checked_body(self._name, body)
        self.offered.append(any("web_search" in tool["type"] for tool in body["tools"] if "type" in tool))
        if self._refuses and self.offered[-1]:
            raise ModelError("Refused", "why_refused", "no search", status_code=400)
        yield list(self._pieces)


@pytest.mark.parametrize(
    ("provider", "kind", "title"), [("openai", "responses", ""), ("anthropic", "messages", "Today")]
)
async def test_a_search_of_the_provider_is_kept_as_a_call_and_paid_for(provider, kind, title):
    """What it found is told to the toolbox, which takes it for somebody else's words; a search costs a cent."""
    server = Searching(kind, *SEARCHED[provider])
    loop = ModelLoop(HttpWire("m", server, PROVIDERS[provider].spoken, provider, listed=False), 4000, searches=True)
    box, progress = Box(), Progress()

    outcome = await loop.run(PROMPT, box, progress)

    assert (outcome.text, box.asked) == ("It rains.", [("rain today", (title, PAGE))])
    [call] = outcome.tool_calls
    assert (call.name, call.arguments, call.result) == ("web_search", '{"query": "rain today"}', "Found by a search.")
    assert progress.usage.searches == 1
    free = {"m": (0.0, 0.0)}
    assert spent_of("m", "answer", progress.usage, free).cost_nanodollars == 10_000_000


@pytest.mark.parametrize(("provider", "kind"), [("openai", "responses"), ("anthropic", "messages")])
async def test_a_model_without_a_search_is_asked_without_it(provider, kind):
    """It's refused once, and never offered again."""
    server = Searching(kind, *SEARCHED[provider], refuses=True)
    loop = ModelLoop(HttpWire("m", server, PROVIDERS[provider].spoken, provider, listed=False), 4000, searches=True)

    for _ in range(2):
        await loop.run(PROMPT, Box(), Progress())

    assert server.offered == [True, False, False]


def test_thoughts_in_the_text_are_not_part_of_an_answer():
    """What a model thinks aloud before its answer is neither shown nor kept; a mention of the tag is."""
    reply = GrowingReply()
    reply.say("<think>hm, ")
    assert reply.shown == ""
    reply.say("well</think>\nHello <think>")
    assert reply.shown == "Hello <think>"


# --- the keeper and summaries -----------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", LIGHT)
async def test_a_keeper_is_asked_with_one_tool_that_it_must_call(server, name):
    """The last user message holds the request, fenced; the answer is the arguments of `keep`, and is priced."""
    server.reply = lambda _: [ToolCall("keep", KEPT)]
    keeping = await KeeperModel(name)(asked_to_keep())

    assert (keeping.answer.changes[0].text, keeping.input_tokens > 0) == ("Call the plumber", True)
    (asked,) = server.requests
    assert len(asked.body["tools"]) == 1
    assert "keep" in json.dumps(asked.body["tools"][0])
    assert asked.body["tool_choice"] in (
        "required",
        {"type": "tool", "name": "keep", "disable_parallel_tool_use": True},
    )
    assert 4000 in asked.body.values()
    role, text = asked.messages[-1]
    assert role == "user"
    assert text.startswith("<data-")
    assert "1. [Tue 2023-11-14 23:14] person: I have to call the plumber.\n   assistant: answer 1" in text


@pytest.mark.parametrize("name", LIGHT)
async def test_what_was_not_taken_is_told_to_the_keeper_as_the_result_of_its_call(server, name):
    """The same request, its own call, and the reasons behind it."""
    server.reply = lambda _: [ToolCall("keep", {})]
    before = KeeperAnswer.model_validate(KEPT)
    await KeeperModel(name)(asked_to_keep(), Again(before, ("add “Call Bob”: the name Bob was not said",)))

    (asked,) = server.requests
    assert [role for role, _ in asked.messages] == ["system", "user", "assistant", "tool"]
    assert "Bob was not said" in asked.messages[-1][1]
    assert "Call the plumber" in str(asked.chat[2]["tool_calls"])


@pytest.mark.parametrize("name", LIGHT)
@pytest.mark.parametrize("reply", ["no call at all", [ToolCall("keep", {"changes": 3})], [ToolCall("other", {})]])
async def test_an_answer_of_another_shape_is_asked_for_once_more_and_then_breaks_the_contract(server, name, reply):
    """What it cost is known all the same."""
    server.reply = lambda _: reply
    with pytest.raises(ContractBroken) as caught:
        await KeeperModel(name)(asked_to_keep())

    assert len(server.requests) == 2
    assert caught.value.spent.input_tokens > 0


async def test_a_keeper_of_any_other_provider_is_asked_through_pydantic_ai():
    """Its answer has the same shape, and a price."""
    keeping = await KeeperModel("test")(asked_to_keep())

    assert isinstance(keeping.answer, KeeperAnswer)
    assert keeping.input_tokens > 0


@pytest.mark.parametrize("name", LIGHT)
async def test_a_summary_is_written_over_every_wire(server, name):
    """The turns are data in a fence; what it took is told."""
    server.reply = lambda _: "They spoke of a plumber."
    text, spent = await write_summary(name, [make_turn(user_text="I have to call the plumber.")], "")

    assert text == "They spoke of a plumber."
    assert (spent.purpose, spent.input_tokens > 0) == ("summary", True)
    assert "call the plumber" in server.requests[0].messages[-1][1]


# --- tools, keys, prices ----------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("name", "key"), [("openai:m", "OPENAI"), ("openai-chat:m", "OPENAI"), ("anthropic:m", "ANTHROPIC")]
)
async def test_a_missing_key_is_said(monkeypatch, name, key):
    """By its name; a server of one's own may need none."""
    monkeypatch.delenv(f"{key}_API_KEY", raising=False)
    monkeypatch.delenv(f"{key}_BASE_URL", raising=False)
    with pytest.raises(ModelError, match=f"{key}_API_KEY"):
        await wire_to(name, listed=True)
    monkeypatch.setenv(f"{key}_BASE_URL", "http://127.0.0.1:9/v1")
    wire = await wire_to(name, listed=True)
    assert await wire.price(Usage(input_tokens=5)) is None
    await wire.close()


def test_a_price_is_that_of_the_list():
    """A known model has one, by its provider's address or by its name; an unknown one has none."""
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    openai = list_price("gpt-4o", "openai", "https://api.openai.com/v1", usage)
    assert openai
    assert openai == list_price("gpt-4o", "openai", "https://x.example", usage)
    assert list_price("claude-sonnet-4-5", "anthropic", "https://api.anthropic.com", usage)
    assert list_price("nobody-knows-it", "openai", "https://x.example", usage) is None
