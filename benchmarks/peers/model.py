"""A language model on 127.0.0.1 that answers each message by its number, at a chosen pace, and notes what it got."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

NUMBER = re.compile(r"\bq-(\d+)-(\d+)\b")
"""Message n of person p says `q-p-n`."""
WORDS = 30


def answer_to(numbers: list[str]) -> str:
    """Return an answer whose beginning and end can be told apart on a screen."""
    told = " ".join(f"word{each}" for each in range(WORDS))
    return f"Begin {' '.join(numbers)}: {told}. " + " ".join(f"Done{number[1:]}" for number in numbers)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: which messages it was to answer, and which stood anywhere in it."""

    answers: tuple[str, ...]
    saw: frozenset[str]


@dataclass
class PacedModel:
    """OpenAI chat completions, streamed or whole, `pace_s` from the first word to the last; so two more formats."""

    pace_s: float
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=50_000_000)
        for path in ("chat/completions", "responses", "messages"):
            app.router.add_post(f"/v1/{path}", self._complete)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "loopback", "object": "model"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        reply = self._note(body)
        if not body.get("stream"):
            await asyncio.sleep(self.pace_s)
            choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
            return web.json_response(_head("chat.completion") | {"choices": [choice], "usage": _usage(body)})
        with contextlib.suppress(ConnectionError):  # who asked was killed
            return await self._stream(request, body, reply)
        return web.Response()

    async def _stream(self, request: web.Request, body: dict[str, Any], reply: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        words, call = re.findall(r"\S+\s*", reply), _must_call(body)
        if not request.path.endswith("completions"):
            for event in (_responses if request.path.endswith("responses") else _messages)(words, call):
                await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
                await asyncio.sleep(self.pace_s / len(words))
            return response
        called = {"index": 0, "id": "call_1", "type": "function", "function": {"name": call, "arguments": "{}"}}
        for said in [{"tool_calls": [called]}] if call else [{"content": word} for word in words]:
            await _send(response, [{"index": 0, "delta": {"role": "assistant", **said}}])
            await asyncio.sleep(self.pace_s / len(words))
        await _send(response, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
        await _send(response, [], _usage(body))
        await response.write(b"data: [DONE]\n\n")
        return response

    def _note(self, body: dict[str, Any]) -> str:
        """Write down what was asked; the messages to answer are those since the last answer, and not answered yet."""
        messages = body.get("messages") or [item for item in body["input"] if item.get("role")]
        all_of_it = json.dumps(messages)
        last = max((at for at, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
        said = dict.fromkeys(_numbers(messages[last + 1 :], "user"))
        fresh = [number for number in said if f"Done{number[1:]}" not in all_of_it] or list(said)[:1]
        self.asked.append(Asked(tuple(fresh), frozenset(_numbers(messages))))
        return answer_to(fresh) if fresh else "Noted."


def _must_call(body: dict[str, Any]) -> str:
    """The tool that has to be called, "" for none: notes are kept so, and an empty call changes nothing in them."""
    choice = body.get("tool_choice")
    if (choice.get("type") if isinstance(choice, dict) else choice) not in {"required", "any", "tool"}:
        return ""
    tool = body["tools"][0]
    return str(tool.get("function", tool)["name"])


def _responses(words: list[str], call: str) -> list[dict[str, Any]]:
    """The events of OpenAI's Responses API for a text, or for a call of a tool."""
    place = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call, "arguments": "{}"}
    texts = ({"type": "response.output_text.delta", "delta": word, **place} for word in words)
    called = [{"type": "response.output_item.done", "output_index": 0, "item": item}]
    usage = {"input_tokens": 100, "output_tokens": WORDS, "total_tokens": 100 + WORDS}
    return [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        *(called if call else texts),
        {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "usage": usage}},
    ]


def _messages(words: list[str], call: str) -> list[dict[str, Any]]:
    """The events of Anthropic's Messages API for a text, or for a call of a tool."""
    texts = [{"type": "text_delta", "text": word} for word in words]
    deltas = [{"type": "input_json_delta", "partial_json": "{}"}] if call else texts
    block = {"type": "tool_use", "id": "call_1", "name": call, "input": {}} if call else {"type": "text", "text": ""}
    return [
        {"type": "message_start", "message": {"usage": {"input_tokens": 100, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": WORDS}},
        {"type": "message_stop"},
    ]


def _numbers(messages: list[dict[str, Any]], role: str = "") -> list[str]:
    said = [json.dumps(message.get("content")) for message in messages if not role or message["role"] == role]
    return [match[0] for match in NUMBER.finditer(" ".join(said))]


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-loopback", "object": kind, "created": 1_700_000_000, "model": "loopback"}


def _usage(body: dict[str, Any]) -> dict[str, int]:
    tokens = len(json.dumps(body["messages"])) // 4
    return {"prompt_tokens": tokens, "completion_tokens": WORDS, "total_tokens": tokens + WORDS}


async def _send(response: web.StreamResponse, choices: list[Any], usage: dict[str, int] | None = None) -> None:
    chunk = _head("chat.completion.chunk") | {"choices": choices} | ({"usage": usage} if usage else {})
    await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
