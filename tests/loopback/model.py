"""A language model on 127.0.0.1 that says what the test wants: OpenAI chat completions, streamed or whole."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from aiohttp import web

from bot.playground.changes import Changes

_BEFORE_WORDS = re.compile(
    r"\A(?:<data-(\w+)>\nWhat (?:came|the assistant).*?</data-\1>\s*|\[(?:Earlier|From|It is)[^\]]*\]\s*)*", re.DOTALL
)


class ModelFault(StrEnum):
    """What goes wrong: `BREAK` sends half of the answer and drops the line, the others send nothing of it."""

    HANG = "hang"
    BREAK = "break"
    TOO_MANY = "too_many"
    SERVER_ERROR = "server_error"
    GARBAGE = "garbage"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model wants a tool to run."""

    name: str
    arguments: dict[str, Any]
    call_id: str = "call_1"


Reply = str | list[ToolCall]


@dataclass(slots=True)
class ModelRequest:
    """One request as the model got it."""

    body: dict[str, Any]
    headers: dict[str, str]
    fault: ModelFault | None = None
    reply: Reply = ""
    is_finished: bool = False
    """The whole answer went out."""

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of every message, in order."""
        return [(m["role"], _text(m.get("content"))) for m in self.body["messages"]]

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
    said = next((_text(m.get("content")) for m in reversed(messages) if m["role"] == "user"), "")
    line = said.strip().splitlines()[-1] if said.strip() else ""
    is_group = any("in a Telegram group" in _text(m.get("content")) for m in messages if m["role"] != "user")
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

    def __post_init__(self) -> None:
        self._plans: list[_Plan] = []
        self._changes = Changes()
        self._runner: web.AppRunner | None = None
        self._stopping = asyncio.Event()

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
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
        body = await request.json()
        asked = ModelRequest(body, dict(request.headers), self._strike())
        self.requests.append(asked)
        self._changes.announce()
        if asked.fault is ModelFault.HANG:
            await self._stopping.wait()
        if asked.fault in _ERRORS:
            status, error = _ERRORS[asked.fault]
            error = error | {"message": f"{error['message']} on input {body['messages'][-1:]}"}  # providers do so
            return web.json_response({"error": error}, status=status, headers={"retry-after-ms": "10"})
        await asyncio.sleep(self.pause_s)
        reply = asked.reply = self.reply(body["messages"])
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
        chunks = _chunks(asked.body, reply, self.tokens)
        if asked.fault is ModelFault.BREAK:
            chunks = chunks[: max(2, len(chunks) // 2)]
        for chunk in chunks:
            if self.gate and chunk["choices"] and chunk["choices"][0]["delta"].get("content"):
                await self.gate.pass_one()
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self._changes.announce()
        if asked.fault is ModelFault.BREAK:
            request.transport.abort()
            return response
        await response.write(b"data: [DONE]\n\n")
        asked.is_finished = True
        self._changes.announce()
        return response


_ERRORS = {
    ModelFault.TOO_MANY: (429, {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}),
    ModelFault.SERVER_ERROR: (500, {"message": "The server had an error", "type": "server_error", "code": None}),
}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def billed(body: dict[str, Any], reply: Reply, tokens: Callable[[str], int]) -> tuple[int, int]:
    """Return the tokens of a whole request, messages and schemas, and of its answer."""
    texts = [_text(m.get("content")) + json.dumps(m.get("tool_calls") or "") for m in body["messages"]]
    schemas = [json.dumps(body[name], ensure_ascii=False) for name in ("tools", "response_format") if body.get(name)]
    said = reply if isinstance(reply, str) else json.dumps([call.arguments for call in reply], ensure_ascii=False)
    return sum(map(tokens, [*texts, *schemas])), tokens(said)


def _usage(body: dict[str, Any], reply: Reply, tokens: Callable[[str], int] | None) -> dict[str, int]:
    asked, said = len(json.dumps(body["messages"])) // 4, len(str(reply)) // 4
    if tokens is not None:
        asked, said = billed(body, reply, tokens)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-loopback", "object": kind, "created": 1_700_000_000, "model": body["model"]}


def _calls(reply: list[ToolCall]) -> list[dict[str, Any]]:
    return [
        {
            "index": number,
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(reply)
    ]


def _whole(body: dict[str, Any], reply: Reply, tokens: Callable[[str], int] | None) -> dict[str, Any]:
    is_text = isinstance(reply, str)
    message = {"role": "assistant", "content": reply if is_text else None}
    if not is_text:
        message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in _calls(reply)]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if is_text else "tool_calls", "logprobs": None}
    return _head(body, "chat.completion") | {"choices": [choice], "usage": _usage(body, reply, tokens)}


def _chunks(body: dict[str, Any], reply: Reply, tokens: Callable[[str], int] | None) -> list[dict[str, Any]]:
    if isinstance(reply, str):
        deltas = [{"content": word} for word in re.findall(r"\S+\s*|\s+", reply)]
    else:
        deltas = [{"tool_calls": [call]} for call in _calls(reply)]
    end = "stop" if isinstance(reply, str) else "tool_calls"
    steps = [({"role": "assistant", "content": ""}, None), *((delta, None) for delta in deltas), ({}, end)]
    chunks = [
        _head(body, "chat.completion.chunk") | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        for delta, finish in steps
    ]
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks.append(_head(body, "chat.completion.chunk") | {"choices": [], "usage": _usage(body, reply, tokens)})
    return chunks
