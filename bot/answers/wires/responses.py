"""OpenAI's Responses API: `openai:`. Nothing is stored there; thoughts come back encrypted and are given back so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.answers.cost import Usage
from bot.answers.errors import cut_off, unfinished, within
from bot.answers.responder import Picture
from bot.answers.wires.chat_completions import data_url
from bot.answers.wires.port import GrowingReply, ProviderSearch, Round, WireRequest, functions, own_words, tokens
from memory.context.transcript import PromptMessage
from memory.text import clean
from memory.types import ToolCall

_TEXT: Final = {"response.output_text.delta", "response.refusal.delta"}
_THOUGHT: Final = {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
_ARGUMENTS: Final = "response.function_call_arguments.delta"
_BEFORE: Final = {"response.created", "response.queued", "response.in_progress"}
"""Text told before the model begins."""
CALL_ID_CHARS: Final = 64
"""A longer one, as another provider may have made it, is refused."""


class Responses:
    """The format."""

    path = "/responses"
    searches = True

    def body(self, model: str, asked: WireRequest) -> dict[str, Any]:
        """Return the request."""
        said = [each for message in asked.messages for each in _message(message)]
        if asked.pictures:
            seen = [each for each in said if each.get("role") == "user"][-1]
            seen["content"] = _seen(seen["content"], asked.pictures)
        body: dict[str, Any] = {
            "model": model,
            "instructions": asked.instructions,
            "input": [*said, *(item for each in asked.rounds for item in _round(each))],
            "store": False,
            "stream": True,
        }
        if asked.tools:
            choice = "required" if asked.forced else "auto"
            body |= {"tool_choice": choice, "tools": [_tool(each) for each in functions(asked)]}
        if asked.searches:
            body["tools"] = [*body.get("tools", ()), {"type": "web_search"}]
            body["include"] = ["web_search_call.action.sources"]
        return body | ({"max_output_tokens": asked.max_tokens} if asked.max_tokens else {})

    def read(self, reply: GrowingReply, piece: dict[str, Any]) -> bool:
        """Take one event of the stream; return True when the text grew."""
        kind = piece.get("type")
        reply.working = reply.working or kind not in _BEFORE
        if kind in _TEXT:
            return reply.say(piece["delta"])
        if kind in _THOUGHT:
            reply.grew(len(piece["delta"]))
        elif kind == _ARGUMENTS:
            reply.call(piece["output_index"], arguments=piece["delta"])
        elif kind == "response.output_item.added":
            if piece["item"]["type"] == "function_call":
                reply.call(piece["output_index"], call_id=piece["item"]["call_id"], name=piece["item"]["name"])
        elif kind == "response.output_item.done":
            _done(reply, piece["output_index"], piece["item"])
        else:
            _ended(reply, kind, piece)
        return False


def _done(reply: GrowingReply, key: int, item: dict[str, Any]) -> None:
    """Keep an item that is whole; its call is taken from it, and a text that came in no pieces, too."""
    reply.native[key] = item
    if item["type"] == "web_search_call":
        _searched(reply, item)
    if item["type"] == "function_call" and not (key in reply.calls and reply.calls[key].arguments):
        call = reply.calls.get(key)
        name = "" if call and call.name else item["name"]
        reply.call(key, call_id=item["call_id"], name=name, arguments=item["arguments"])


def _searched(reply: GrowingReply, item: dict[str, Any]) -> None:
    """Take note of a search; a page that was opened is one that was found."""
    action = item.get("action") or {}
    at = [str(source["url"]) for source in action.get("sources") or () if source.get("url")]
    at += [str(action["url"])] if action.get("url") else []
    query = str(action.get("query") or ", ".join(action.get("queries") or ()))
    reply.searches.append(ProviderSearch(str(item.get("id") or ""), query, tuple(("", url) for url in at)))
    reply.usage.searches += action.get("type") == "search"
    reply.grew(len(query) + sum(map(len, at)))


def _ended(reply: GrowingReply, kind: object, piece: dict[str, Any]) -> None:
    """Take an event that ends the response. Raises `ModelError` for every end but a whole one."""
    if kind == "error" or piece.get("error"):
        told = piece.get("error")
        raise within((told if isinstance(told, dict) else piece).get("code"))
    if kind not in {"response.completed", "response.incomplete", "response.failed"}:
        return
    response = piece["response"]
    reply.usage = _usage(response.get("usage"), reply.usage.searches)
    if kind == "response.failed":
        raise within((response.get("error") or {}).get("code"))
    if kind == "response.incomplete":
        raise unfinished((response.get("incomplete_details") or {}).get("reason")) or cut_off()
    reply.finished = reply.over = True


def _usage(told: Any, searches: int) -> Usage:
    return Usage(
        searches=searches,
        input_tokens=tokens(told, "input_tokens"),
        output_tokens=tokens(told, "output_tokens"),
        cache_read_tokens=tokens(told, "input_tokens_details", "cached_tokens"),
    )


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool; whether its schema is kept to strictly has to be said, the API's default is yes."""
    return {"type": "function", "strict": False, **function}


def _message(message: PromptMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [_returned(call) for call in message.tool_calls]
    if message.tool_calls:
        return [_calling(call) for call in message.tool_calls]
    return [{"role": message.role, "content": message.text}]


def _round(each: Round) -> Iterator[dict[str, Any]]:
    """Yield the model's words unchanged, then the result of each of its calls."""
    calls = iter(each.calls)
    items = [item for _, item in sorted(each.reply.native.items())]
    if not items and own_words(each.reply):
        yield {"role": "assistant", "content": own_words(each.reply)}
    for item in items:
        if item["type"] == "function_call":
            yield _calling(next(calls))
        elif item["type"] == "message":
            if text := _said(item):
                phase = {"phase": item["phase"]} if item.get("phase") else {}
                yield {"role": "assistant", "content": text, **phase}
        elif item["type"] != "reasoning":
            yield item
        elif item.get("encrypted_content"):
            kept = ("id", "type", "summary", "encrypted_content")
            yield {name: item[name] for name in kept}
    yield from (_calling(call) for call in calls)
    yield from (_returned(call) for call in each.calls)


def _said(item: dict[str, Any]) -> str:
    parts = item.get("content") or ()
    return clean("".join(part.get("text") or part.get("refusal") or "" for part in parts))


def _calling(call: ToolCall) -> dict[str, Any]:
    call_id = call.call_id[:CALL_ID_CHARS]
    return {"type": "function_call", "call_id": call_id, "name": call.name, "arguments": call.arguments}


def _returned(call: ToolCall) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call.call_id[:CALL_ID_CHARS], "output": call.result}


def _seen(text: str, pictures: Sequence[Picture]) -> list[dict[str, Any]]:
    shown = [{"type": "input_image", "detail": "auto", "image_url": data_url(picture)} for picture in pictures]
    return [*shown, {"type": "input_text", "text": text}]
