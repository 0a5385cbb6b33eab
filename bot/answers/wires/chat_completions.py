"""OpenAI's chat completions: `openai-chat:`, Ollama, OpenRouter and every server that speaks like them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

from bot.answers.cost import Usage
from bot.answers.errors import unfinished, within
from bot.answers.responder import Picture
from bot.answers.wires.port import GrowingReply, Round, WireRequest, own_words, tokens
from memory.context.transcript import PromptMessage
from memory.text import clean
from memory.types import ToolCall

_THOUGHTS: Final = ("reasoning_content", "reasoning")
"""Fields in which servers tell thoughts; some refuse a call of a tool that comes back without them."""


class ChatCompletions:
    """The format."""

    path = "/chat/completions"
    searches = False

    def body(self, model: str, asked: WireRequest) -> dict[str, Any]:
        """Return the request."""
        said = [each for message in asked.messages for each in _message(message)]
        if asked.pictures:
            seen = [each for each in said if each.get("role") == "user"][-1]
            seen["content"] = _seen(seen["content"], asked.pictures)
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": asked.instructions}, *said, *_rounds(asked.rounds)],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if asked.tools:
            body |= {"tool_choice": "required" if asked.forced else "auto", "tools": list(asked.tools)}
        return body | ({"max_completion_tokens": asked.max_tokens} if asked.max_tokens else {})

    def read(self, reply: GrowingReply, piece: dict[str, Any]) -> bool:
        """Take one piece of the stream; return True when the text grew."""
        if piece.get("type") == "done":
            reply.finished = reply.over = True
            return False
        if piece.get("error"):
            raise within(None)
        if used := piece.get("usage"):
            reply.usage = _usage(used)
        grew = False
        reply.working = reply.working or bool(piece.get("choices"))
        for choice in (piece.get("choices") or ())[:1]:
            grew = _take(reply, choice.get("delta") or {})
            if end := choice.get("finish_reason"):
                if error := unfinished(end):
                    raise error
                reply.finished = True
        return grew


def _take(reply: GrowingReply, delta: dict[str, Any]) -> bool:
    for asked in delta.get("tool_calls") or ():
        function = asked.get("function") or {}
        key, call_id = asked.get("index", len(reply.calls)), str(asked.get("id") or "")
        reply.call(key, call_id=call_id, name=function.get("name") or "", arguments=function.get("arguments") or "")
    for name in _THOUGHTS:
        if isinstance(thought := delta.get(name), str) and thought:
            reply.native[name] = reply.native.get(name, "") + thought
            reply.grew(len(thought))
    content = delta.get("content") or delta.get("refusal") or ""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return reply.say(content)


def _usage(told: Any) -> Usage:
    return Usage(
        input_tokens=tokens(told, "prompt_tokens"),
        output_tokens=tokens(told, "completion_tokens"),
        cache_read_tokens=tokens(told, "prompt_tokens_details", "cached_tokens"),
    )


def _message(message: PromptMessage) -> list[dict[str, Any]]:
    """Return a neutral message as the server knows it; a call and its return keep their id."""
    if message.role == "tool":
        return [_returned(call) for call in message.tool_calls]
    if message.tool_calls:
        return [_calling("", message.tool_calls)]
    return [{"role": message.role, "content": message.text}]


def _rounds(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for each in rounds:
        thoughts = {name: clean(thought) for name, thought in each.reply.native.items()}
        said.append(_calling(own_words(each.reply), each.calls) | thoughts)
        said += [_returned(call) for call in each.calls]
    return said


def _calling(text: str, calls: Sequence[ToolCall]) -> dict[str, Any]:
    made = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    return {"role": "assistant", "content": text or None} | ({"tool_calls": made} if made else {})


def _returned(call: ToolCall) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.call_id, "content": call.result}


def _seen(text: str, pictures: Sequence[Picture]) -> list[dict[str, Any]]:
    shown = [{"type": "image_url", "image_url": {"url": data_url(picture)}} for picture in pictures]
    return [*shown, {"type": "text", "text": text}]


def data_url(picture: Picture) -> str:
    """Return a picture as an address that holds it."""
    return f"data:{picture.media_type};base64,{b64encode(picture.data).decode()}"
