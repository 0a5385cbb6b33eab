"""A language model on 127.0.0.1 that says what the test wants, in the three formats of `loopback.formats`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from aiohttp import web

from bot.playground.bot_api.changes import Changes

from .formats import FORMATS, Chat, Reply, ToolCall, chat_calls, chat_usage, sse, text_of

__all__ = ["Gate", "LoopbackModel", "ModelFault", "ModelRequest", "ToolCall", "billed", "echo"]

_BEFORE_WORDS = re.compile(
    r"\A(?:<data-(\w+)>\nWhat (?:came|the assistant).*?</data-\1>\s*|\[(?:Earlier|From|It is)[^\]]*\]\s*)*", re.DOTALL
)
_PICTURE = re.compile(r'"type": "(?:image|image_url|input_image)"')


class ModelFault(StrEnum):
    """What goes wrong: `BREAK` sends half of the answer and drops the line, the others send nothing of it."""

    HANG = "hang"
    BREAK = "break"
    TOO_MANY = "too_many"
    SERVER_ERROR = "server_error"
    GARBAGE = "garbage"


@dataclass(slots=True)
class ModelRequest:
    """One request as the model got it."""

    body: dict[str, Any]
    headers: dict[str, str]
    fault: ModelFault | None = None
    reply: Reply = ""
    is_finished: bool = False
    """The whole answer went out."""
    path: str = Chat.path

    @property
    def chat(self) -> list[dict[str, Any]]:
        """Every message as chat completions have it, in whatever format it came."""
        return FORMATS[self.path].messages(self.body)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of every message, in order."""
        return [(m["role"], text_of(m.get("content"))) for m in self.chat]

    @property
    def said(self) -> str:
        """What the person said last, without what stands before it in the same message."""
        return _BEFORE_WORDS.sub("", self.messages[-1][1])

    @property
    def text(self) -> str:
        """Everything the model was given, as one text."""
        return "\n".join(text for _, text in self.messages)


class Gate:
    """Holds a streamed answer: each word waits until it is let through."""

    def __init__(self) -> None:
        self._allowed = asyncio.Semaphore(0)
        self._is_open = False

    def let(self, words: int = 1) -> None:
        """Let so many more words through."""
        for _ in range(words):
            self._allowed.release()

    def open(self) -> None:
        """Let everything through."""
        self._is_open = True
        self.let(1)

    async def pass_one(self) -> None:
        if not self._is_open:
            await self._allowed.acquire()
        if self._is_open:
            self._allowed.release()  # for the next one that waits


@dataclass
class _Plan:
    fault: ModelFault
    nth: int
    times: int | None
    seen: int = 0
    hits: int = 0


def echo(messages: list[dict[str, Any]]) -> Reply:
    """Answer with the last line of the last user message, so that a test sees what was answered; in a group unnamed."""
    said = next((text_of(m.get("content")) for m in reversed(messages) if m["role"] == "user"), "")
    line = said.strip().splitlines()[-1] if said.strip() else ""
    is_group = any("You are in a group;" in text_of(m.get("content")) for m in messages if m["role"] != "user")
    return f"You said: {line.partition(': ')[2] if is_group and ': ' in line else line}"


@dataclass
class LoopbackModel:
    """The server. `async with LoopbackModel() as model:`; `model.url` is OPENAI_BASE_URL.

    `reply` makes the answer from the messages; `requests` keeps what was asked; `plant` makes calls go wrong; while
    `gate` is set, streamed words wait for it.
    """

    reply: Callable[[list[dict[str, Any]]], Reply] = echo
    gate: Gate | None = None
    pause_s: float = 0.0
    """How long it thinks before it answers."""
    requests: list[ModelRequest] = field(default_factory=list)
    url: str = ""
    tokens: Callable[[str], int] | None = None
    """Counts what is billed, schemas too; without it a quarter of the characters of the messages is."""
    thought: str = ""
    """What it thinks before each answer; it has to come back with what it called."""
    broken: dict[str, ModelFault] = field(default_factory=dict)
    """What goes wrong with each request to a model, by its name."""
    blind: bool = False
    """It refuses pictures."""
    strict: bool = False
    """A request that the provider's own client would not send is refused, and so is what the types cannot say."""

    def __post_init__(self) -> None:
        self._plans: list[_Plan] = []
        self._changes = Changes()
        self._runner: web.AppRunner | None = None
        self._stopping = asyncio.Event()
        self._thoughts: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        app = web.Application()
        for path in FORMATS:
            app.router.add_post(path, self._complete)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping.set()
        if self.gate:
            self.gate.open()
        await self._runner.cleanup()

    def plant(self, fault: ModelFault | str, *, nth: int = 1, times: int | None = 1) -> None:
        """From the `nth` request on, counted from now, `times` requests (None = all) go wrong."""
        self._plans.append(_Plan(ModelFault(fault), nth, times))

    def heal(self) -> None:
        """Forget all planted faults."""
        self._plans.clear()

    async def until(self, check: Callable[[], Any], timeout_s: float = 60) -> Any:
        """Return the first true value of `check`, asked after every request, word and answer."""
        try:
            return await self._changes.until(check, timeout_s, look_s=0.1)
        except TimeoutError:
            raise AssertionError(f"the model got {[r.messages[-1:] for r in self.requests]} in {timeout_s} s") from None

    def _strike(self) -> ModelFault | None:
        struck = None
        for plan in self._plans:
            plan.seen += 1
            if plan.seen >= plan.nth and (plan.times is None or plan.hits < plan.times) and not struck:
                plan.hits += 1
                struck = plan.fault
        return struck

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body, spoken = await request.json(), FORMATS[request.path]
        asked = ModelRequest(
            body, dict(request.headers), self.broken.get(body["model"]) or self._strike(), path=request.path
        )
        self.requests.append(asked)
        self._changes.announce()
        if asked.fault is ModelFault.HANG:
            await self._stopping.wait()
        if asked.fault in _ERRORS:
            return _refused(asked, *_ERRORS[asked.fault])
        if self.blind and _PICTURE.search(json.dumps(body)):
            return _refused(asked, 400, {"message": "image input is not supported", "type": "invalid_request_error"})
        if self.strict and (wrong := _wrong(spoken, body, self._thoughts)):
            return _refused(asked, 400, {"message": wrong, "type": "invalid_request_error"})
        await asyncio.sleep(self.pause_s)
        reply = asked.reply = self.reply(asked.chat)
        if self.thought and isinstance(reply, list):
            spoken.keep(reply, self.thought, self._thoughts)
        if body.get("stream"):
            return await self._stream(request, asked, reply)
        if asked.fault is ModelFault.GARBAGE:
            return web.Response(text="<<<not json>>>", content_type="application/json")
        if asked.fault is ModelFault.BREAK:
            request.transport.abort()
        asked.is_finished = True
        self._changes.announce()
        return web.json_response(_whole(body, reply, self.tokens))

    async def _stream(self, request: web.Request, asked: ModelRequest, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        if asked.fault is ModelFault.GARBAGE:
            await response.write(b"data: <<<not json>>>\n\n")
            return response
        spoken, bare = FORMATS[asked.path], asked.path == Chat.path
        events = list(spoken.events(asked.body, reply, _used(asked, reply, self.tokens), self.thought))
        if asked.fault is ModelFault.BREAK:
            events = events[: max(2, len(events) // 2)]
        for name, data in events:
            if self.gate and name == "word":
                await self.gate.pass_one()
            await response.write(sse(name, data, bare=bare))
            self._changes.announce()
        if asked.fault is ModelFault.BREAK:
            request.transport.abort()
            return response
        if bare:
            await response.write(b"data: [DONE]\n\n")
        asked.is_finished = True
        self._changes.announce()
        return response


def _wrong(spoken: Any, body: dict[str, Any], thoughts: dict[str, Any]) -> str:
    try:
        return spoken.wrong(body, thoughts)
    except ValueError as exc:
        return str(exc)


def _refused(asked: ModelRequest, status: int, error: dict[str, Any]) -> web.Response:
    """Refuse a request in the words of a provider, who repeats some of the input in them."""
    error = error | {"message": f"{error['message']} on input {asked.chat[-1:]}"}
    return web.json_response({"type": "error", "error": error}, status=status, headers={"retry-after-ms": "10"})


_ERRORS = {
    ModelFault.TOO_MANY: (429, {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}),
    ModelFault.SERVER_ERROR: (500, {"message": "The server had an error", "type": "server_error", "code": None}),
}


def billed(body: dict[str, Any], reply: Reply, tokens: Callable[[str], int]) -> tuple[int, int]:
    """Return the tokens of a whole request, messages and schemas, and of its answer."""
    texts = [text_of(m.get("content")) + json.dumps(m.get("tool_calls") or "") for m in body["messages"]]
    schemas = [json.dumps(body[name], ensure_ascii=False) for name in ("tools", "response_format") if body.get(name)]
    said = reply if isinstance(reply, str) else json.dumps([call.arguments for call in reply], ensure_ascii=False)
    return sum(map(tokens, [*texts, *schemas])), tokens(said)


def _used(asked: ModelRequest, reply: Reply, tokens: Callable[[str], int] | None) -> tuple[int, int]:
    if tokens is None:
        return len(json.dumps(asked.chat)) // 4, len(str(reply)) // 4
    return billed(asked.body | {"messages": asked.chat}, reply, tokens)


def _whole(body: dict[str, Any], reply: Reply, tokens: Callable[[str], int] | None) -> dict[str, Any]:
    is_text = isinstance(reply, str)
    message = {"role": "assistant", "content": reply if is_text else None}
    if not is_text:
        message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in chat_calls(reply)]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if is_text else "tool_calls", "logprobs": None}
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [choice],
        "usage": chat_usage(_used(ModelRequest(body, {}), reply, tokens)),
    }
