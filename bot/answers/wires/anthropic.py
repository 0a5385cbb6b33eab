"""Anthropic's Messages API: `anthropic:`. The constant beginning is cached; thoughts go back with their signatures."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.answers.errors import unfinished, within
from bot.answers.responder import Picture
from bot.answers.wires.port import (
    GrowingReply,
    ProviderSearch,
    Round,
    WireRequest,
    functions,
    last_said,
    own_words,
    tokens,
)
from memory.context.transcript import PromptMessage
from memory.text import clean
from memory.types import ToolCall

MAX_TOKENS: Final = 8_192
"""The API wants to be told how long an answer may be: some thirty thousand characters, seven messages of Telegram."""
SEARCH: Final = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
CACHE: Final = {"cache_control": {"type": "ephemeral"}}
_NO_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")


class Messages:
    """The format."""

    path = "/v1/messages"
    searches = True

    def body(self, model: str, asked: WireRequest) -> dict[str, Any]:
        """Return the request. The marks for the cache stand behind the instructions, the past, and the last round."""
        at = last_said(asked)
        past, behind = ([_message(each) for each in part] for part in (asked.messages[:at], asked.messages[at + 1 :]))
        if past and past[0]["role"] == "assistant":
            past.insert(0, {"role": "user", "content": [_text("…")]})  # the API begins with a person
        behind += [each for made in asked.rounds for each in _round(made)]
        _mark(past)
        _mark(behind)
        last = _message(asked.messages[at])
        last["content"] = [*map(_picture, asked.pictures), *last["content"]]
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": asked.max_tokens or MAX_TOKENS,
            "system": [_text(asked.instructions) | CACHE],
            "messages": [*past, last, *behind],
            "stream": True,
        }
        if asked.tools:
            body["tools"] = [_tool(each) for each in functions(asked)]
        if asked.searches:
            body["tools"] = [*body.get("tools", ()), SEARCH]
        if asked.forced:
            name = body["tools"][0]["name"]
            body["tool_choice"] = {"type": "tool", "name": name, "disable_parallel_tool_use": True}
        return body

    def read(self, reply: GrowingReply, piece: dict[str, Any]) -> bool:
        """Take one event of the stream; return True when the text grew."""
        kind = piece.get("type")
        if kind == "content_block_delta":
            return _grow(reply, piece["index"], piece["delta"])
        if kind == "content_block_start":
            return _begin(reply, piece["index"], piece["content_block"])
        if kind == "content_block_stop":
            _end(reply.native[piece["index"]])
        elif kind == "message_start":
            reply.working = True
            _count(reply, piece["message"].get("usage"))
        elif kind == "message_delta":
            _count(reply, piece.get("usage"))
            _stop(reply, piece["delta"].get("stop_reason"))
        elif kind == "message_stop":
            reply.over = True
        elif kind == "error" or piece.get("error"):
            told = piece.get("error")
            raise within(told.get("type") if isinstance(told, dict) else None)
        return False


def _begin(reply: GrowingReply, index: int, block: dict[str, Any]) -> bool:
    """Keep the block of this number, to be given back as it came."""
    reply.native[index] = dict(block)
    if block["type"] == "web_search_tool_result":
        _searched(reply, block)
    if block["type"] == "tool_use":
        reply.call(index, call_id=block["id"], name=block["name"])
    return block["type"] == "text" and reply.say(block.get("text") or "")


def _searched(reply: GrowingReply, block: dict[str, Any]) -> None:
    """Take the hits of a search; one that failed has none."""
    asked: dict[str, Any] = next((each for each in reply.native.values() if each.get("id") == block["tool_use_id"]), {})
    found = block.get("content")
    pages = [each for each in found if each.get("url")] if isinstance(found, list) else []
    query = str((asked.get("input") or {}).get("query") or "")
    at = tuple((str(each.get("title") or ""), str(each["url"])) for each in pages)
    reply.searches.append(ProviderSearch(str(block["tool_use_id"]), query, at))
    reply.grew(len(query) + sum(len(title) + len(url) for title, url in at))


def _grow(reply: GrowingReply, index: int, delta: dict[str, Any]) -> bool:
    block, kind = reply.native[index], delta["type"]
    if kind == "text_delta":
        block["text"] = block.get("text", "") + delta["text"]
        return reply.say(delta["text"])
    if kind == "input_json_delta":
        if index in reply.calls:
            reply.call(index, arguments=delta["partial_json"])
        else:
            block["partial_json"] = block.get("partial_json", "") + delta["partial_json"]
            reply.grew(len(delta["partial_json"]))
    elif kind in {"thinking_delta", "signature_delta"}:
        name = kind.removesuffix("_delta")
        block[name] = block.get(name, "") + delta[name]
        reply.grew(len(delta[name]))
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
    return False


def _end(block: dict[str, Any]) -> None:
    """Put the input of a provider's own tool in its place, once it is whole."""
    if "partial_json" in block:
        block["input"] = _object(block.pop("partial_json"))


def _stop(reply: GrowingReply, reason: str | None) -> None:
    if error := unfinished(reason):
        raise error
    reply.paused = reason == "pause_turn"
    reply.finished = reply.finished or bool(reason)


def _count(reply: GrowingReply, told: Any) -> None:
    """Take the usage: the server tells input without the cache's share, and each time the whole of it."""
    used = reply.usage
    fresh = tokens(told, "input_tokens") or used.input_tokens - used.cache_read_tokens - used.cache_write_tokens
    used.cache_read_tokens = tokens(told, "cache_read_input_tokens") or used.cache_read_tokens
    used.cache_write_tokens = tokens(told, "cache_creation_input_tokens") or used.cache_write_tokens
    used.input_tokens = fresh + used.cache_read_tokens + used.cache_write_tokens
    used.output_tokens = tokens(told, "output_tokens") or used.output_tokens
    used.searches = tokens(told, "server_tool_use", "web_search_requests") or used.searches


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": function["name"], "description": function.get("description") or ""}
    return named | {"input_schema": function["parameters"]}


def _message(message: PromptMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "user", "content": [_returned(call) for call in message.tool_calls]}
    content = [_calling(call) for call in message.tool_calls] or [_text(message.text)]
    return {"role": message.role, "content": content}


def _round(each: Round) -> list[dict[str, Any]]:
    """Return the model's words as they came, and the result of each of its calls."""
    calls = iter(each.calls)
    blocks = [_given_back(block, calls) for _, block in sorted(each.reply.native.items()) if not _is_blank(block)]
    said = {"role": "assistant", "content": [*blocks, *map(_calling, calls)] or [_text(own_words(each.reply) or "…")]}
    returned = [_returned(call) for call in each.calls]
    return [said, *([{"role": "user", "content": returned}] if returned else [])]


def _given_back(block: dict[str, Any], calls: Iterator[ToolCall]) -> dict[str, Any]:
    """Return a block as it came; a call with the id that we gave it, a text as it can be sent."""
    if block["type"] == "tool_use":
        return _calling(next(calls))
    return block | {"text": clean(block["text"])} if block["type"] == "text" else block


def _is_blank(block: dict[str, Any]) -> bool:
    """Whether a block is a text without a word, which the API does not take back."""
    return block["type"] == "text" and not block.get("text", "").strip()


def _mark(messages: Sequence[dict[str, Any]]) -> None:
    """Let the provider cache all messages up to here; thoughts bear no mark."""
    if messages and "thinking" not in messages[-1]["content"][-1]["type"]:
        content = messages[-1]["content"]
        content[-1] = content[-1] | CACHE


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _calling(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": _id(call), "name": call.name, "input": _object(call.arguments)}


def _returned(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": _id(call), "content": call.result}


def _id(call: ToolCall) -> str:
    return _NO_ID.sub("_", call.call_id) or "call"


def _object(arguments: str) -> dict[str, Any]:
    """Return arguments as an object; any other text is put into one."""
    try:
        found = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        found = arguments
    return found if isinstance(found, dict) else {"value": found}


def _picture(picture: Picture) -> dict[str, Any]:
    source = {"type": "base64", "media_type": picture.media_type, "data": b64encode(picture.data).decode()}
    return {"type": "image", "source": source}
