"""The three formats that a loopback model speaks: what is checked of a request, and how an answer is streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

MOST_MARKS = 4
CALL_ID_CHARS = 64


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model wants a tool to run."""

    name: str
    arguments: dict[str, Any]
    call_id: str = "call_1"


Reply = str | list[ToolCall]
Event = tuple[str, dict[str, Any]]
"""Its name and its data; the name is "word" for a word of the answer, which a gate may hold."""


@cache
def _adapter(name: str) -> Any:
    """The type of a request as the provider's own client has it; loaded when a request of the kind is checked."""
    from pydantic import TypeAdapter

    if name == "chat":
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as Asked
    elif name == "responses":
        from openai.types.responses.response_create_params import (
            ResponseCreateParamsStreaming as Asked,
        )
    else:
        from anthropic.types.message_create_params import MessageCreateParamsStreaming as Asked
    return TypeAdapter(Asked)


def checked(name: str, body: dict[str, Any]) -> None:
    """Raise ValueError for a field that the provider does not know, lacks, or takes with another type."""
    _through(_adapter(name).validate_python(body, extra="forbid"))


def _through(value: Any) -> None:
    """Walk through a value: what is iterable is checked as it is walked."""
    if isinstance(value, dict):
        for each in value.values():
            _through(each)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for each in value:
            _through(each)


def text_of(content: Any) -> str:
    """The text of a message, of parts too."""
    if isinstance(content, list):
        return "\n".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content or ""


def words_of(text: str) -> list[str]:
    """The pieces in which a text is streamed."""
    return re.findall(r"\S+\s*|\s+", text)


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)] or [""]


# --- chat completions -------------------------------------------------------------------------------------------------


class Chat:
    """OpenAI's chat completions."""

    name = "chat"
    path = "/v1/chat/completions"

    def messages(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages as chat completions have them."""
        return list(body["messages"])

    def wrong(self, body: dict[str, Any], thoughts: dict[str, Any]) -> str:
        """Whatever the types cannot say: a return without its call, thoughts that did not come back."""
        bare = [{key: value for key, value in each.items() if key != "reasoning_content"} for each in body["messages"]]
        checked(self.name, body | {"messages": bare})
        called = {call["id"] for each in body["messages"] for call in each.get("tool_calls") or ()}
        for each in body["messages"]:
            if each["role"] == "tool" and each["tool_call_id"] not in called:
                return f"no call {each['tool_call_id']}"
            for call in each.get("tool_calls") or ():
                if call["id"] in thoughts and each.get("reasoning_content") != thoughts[call["id"]]:
                    return "The reasoning_content in the thinking mode must be passed back to the API."
        return ""

    def events(self, body: dict[str, Any], reply: Reply, used: tuple[int, int], thought: str) -> Iterator[Event]:
        """The answer, piece by piece."""
        head = {"id": "chatcmpl-loopback", "object": "chat.completion.chunk", "created": 1_700_000_000}
        head |= {"model": body["model"]}

        def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
            return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield "", chunk({"role": "assistant", "content": ""})
        if thought:
            yield "", chunk({"reasoning_content": thought})
        if isinstance(reply, str):
            for word in words_of(reply):
                yield "word", chunk({"content": word})
        else:
            for call in chat_calls(reply):
                yield "", chunk({"tool_calls": [call]})
        yield "", chunk({}, "stop" if isinstance(reply, str) else "tool_calls")
        if (body.get("stream_options") or {}).get("include_usage"):
            yield "", head | {"choices": [], "usage": chat_usage(used)}

    def keep(self, reply: list[ToolCall], thought: str, thoughts: dict[str, Any]) -> None:
        """Remember which thoughts have to come back with these calls."""
        thoughts.update({call.call_id: thought for call in reply})


def chat_usage(used: tuple[int, int]) -> dict[str, int]:
    """What was used."""
    asked, said = used
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def chat_calls(reply: list[ToolCall]) -> list[dict[str, Any]]:
    """The calls, numbered."""
    return [
        {
            "index": number,
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(reply)
    ]


# --- responses --------------------------------------------------------------------------------------------------------


class Responses:
    """OpenAI's Responses API."""

    name = "responses"
    path = "/v1/responses"

    def messages(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The input as chat completions have it."""
        said: list[dict[str, Any]] = [{"role": "system", "content": body["instructions"]}]
        for item in body["input"]:
            if item.get("type") == "function_call":
                function = {"name": item["name"], "arguments": item["arguments"]}
                call = {"id": item["call_id"], "type": "function", "function": function}
                said.append({"role": "assistant", "content": None, "tool_calls": [call]})
            elif item.get("type") == "function_call_output":
                said.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
            elif item.get("role"):
                said.append({"role": item["role"], "content": text_of(item["content"])})
        return said

    def wrong(self, body: dict[str, Any], thoughts: dict[str, Any]) -> str:
        """Whatever the types cannot say."""
        checked(self.name, body)
        if body.get("store") is not False:
            return "a conversation was to be stored"
        before: list[dict[str, Any]] = []
        for item in body["input"]:
            call_id = item.get("call_id", "")
            if len(call_id) > CALL_ID_CHARS:
                return "call_id is too long"
            calls = {each["call_id"] for each in before if each.get("type") == "function_call"}
            if item.get("type") == "function_call_output" and call_id not in calls:
                return f"No tool call found for function call output with call_id {call_id}."
            if item.get("type") == "function_call" and call_id in thoughts and thoughts[call_id] not in before:
                return "function_call was provided without its required 'reasoning' item"
            before.append(item)
        return ""

    def events(self, body: dict[str, Any], reply: Reply, used: tuple[int, int], thought: str) -> Iterator[Event]:
        """The answer, event by event."""
        response = {"id": "resp_1", "object": "response", "created_at": 1_700_000_000, "model": body["model"]}
        response |= {"status": "in_progress", "output": []}
        yield "response.created", {"response": response}
        output: list[dict[str, Any]] = []
        if thought:
            item = reasoning(thought)
            yield "response.output_item.added", {"output_index": 0, "item": item | {"encrypted_content": ""}}
            yield "response.reasoning_summary_text.delta", {"output_index": 0, "item_id": "rs_1", "delta": thought}
            yield "response.output_item.done", {"output_index": 0, "item": item}
            output.append(item)
        for call in reply if isinstance(reply, list) else ():
            yield from _called(call, len(output))
            output.append({"type": "function_call", "call_id": call.call_id})
        if isinstance(reply, str):
            yield from _spoken(reply, len(output))
        usage = {
            "input_tokens": used[0],
            "input_tokens_details": {"cached_tokens": used[0] // 2, "cache_write_tokens": 0},
            "output_tokens": used[1],
            "output_tokens_details": {"reasoning_tokens": len(thought)},
            "total_tokens": sum(used),
        }
        yield "response.completed", {"response": response | {"status": "completed", "usage": usage}}

    def keep(self, reply: list[ToolCall], thought: str, thoughts: dict[str, Any]) -> None:
        """Remember which thoughts have to come back with these calls."""
        kept = ("id", "type", "summary", "encrypted_content")
        thoughts.update({call.call_id: {name: reasoning(thought)[name] for name in kept} for call in reply})


def reasoning(thought: str) -> dict[str, Any]:
    """A thought as an item."""
    summary = [{"type": "summary_text", "text": thought}]
    return {"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": f"sealed {thought}"}


def _called(call: ToolCall, at: int) -> Iterator[Event]:
    arguments = json.dumps(call.arguments)
    item = {"id": f"fc_{at}", "type": "function_call", "call_id": call.call_id, "name": call.name}
    yield "response.output_item.added", {"output_index": at, "item": item | {"arguments": "", "status": "in_progress"}}
    place = {"output_index": at, "item_id": f"fc_{at}"}
    for piece in _pieces(arguments):
        yield "response.function_call_arguments.delta", place | {"delta": piece}
    yield "response.function_call_arguments.done", place | {"arguments": arguments}
    whole = item | {"arguments": arguments, "status": "completed"}
    yield "response.output_item.done", {"output_index": at, "item": whole}


def _spoken(text: str, at: int) -> Iterator[Event]:
    item: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress"}
    place = {"output_index": at, "item_id": "msg_1", "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    yield "response.output_item.added", {"output_index": at, "item": item | {"content": []}}
    yield "response.content_part.added", place | {"part": part}
    for word in words_of(text):
        yield "word", place | {"type": "response.output_text.delta", "delta": word}
    yield "response.output_text.done", place | {"text": text}
    whole = item | {"status": "completed", "content": [part | {"text": text}]}
    yield "response.output_item.done", {"output_index": at, "item": whole}


# --- messages ---------------------------------------------------------------------------------------------------------


class Messages:
    """Anthropic's Messages API."""

    name = "messages"
    path = "/v1/messages"

    def messages(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages as chat completions have them."""
        said: list[dict[str, Any]] = [{"role": "system", "content": text_of(body["system"])}]
        for message in body["messages"]:
            blocks = message["content"]
            called = [each for each in blocks if each["type"] == "tool_use"]
            returned = [each for each in blocks if each["type"] == "tool_result"]
            said += [
                {"role": "tool", "tool_call_id": each["tool_use_id"], "content": text_of(each["content"])}
                for each in returned
            ]
            text = text_of([each for each in blocks if each["type"] == "text"])
            if text or called:
                calls = [
                    {
                        "id": each["id"],
                        "type": "function",
                        "function": {"name": each["name"], "arguments": json.dumps(each["input"])},
                    }
                    for each in called
                ]
                said.append({"role": message["role"], "content": text} | ({"tool_calls": calls} if calls else {}))
        return said

    def wrong(self, body: dict[str, Any], thoughts: dict[str, Any]) -> str:
        """Whatever the types cannot say."""
        checked(self.name, body)
        blocks = [*body["system"], *(block for each in body["messages"] for block in each["content"])]
        marks = sum("cache_control" in block for block in blocks)
        blank = any(block["type"] == "text" and not block["text"].strip() for block in blocks)
        broken = {
            f"A maximum of {MOST_MARKS} blocks with cache_control may be provided.": marks > MOST_MARKS,
            "first message must use the user role": body["messages"][0]["role"] != "user",
            "text content blocks must be non-empty": blank,
        }
        if any(broken.values()):
            return next(rule for rule, is_broken in broken.items() if is_broken)
        asked: set[str] = set()
        for message in body["messages"]:
            returned = {each["tool_use_id"] for each in message["content"] if each["type"] == "tool_result"}
            if returned != asked:
                return f"tool_use ids {asked} were found without tool_result blocks immediately after: {returned}"
            asked = {each["id"] for each in message["content"] if each["type"] == "tool_use"}
            if any(not re.fullmatch(r"[a-zA-Z0-9_-]+", call_id) for call_id in asked):
                return "tool_use ids match ^[a-zA-Z0-9_-]+$"
            if any(each in thoughts and thoughts[each] not in message["content"] for each in asked):
                return "a final assistant message must start with a thinking block"
        return ""

    def events(self, body: dict[str, Any], reply: Reply, used: tuple[int, int], thought: str) -> Iterator[Event]:
        """The answer, event by event."""
        cached = used[0] // 2
        usage = {"input_tokens": used[0] - cached - 1, "cache_read_input_tokens": cached, "output_tokens": 1}
        usage |= {"cache_creation_input_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        yield "message_start", {"message": message | {"stop_reason": None, "usage": usage}}
        yield "ping", {}
        at = 0
        if thought:
            yield "content_block_start", _block(0, {"type": "thinking", "thinking": "", "signature": ""})
            for piece in _pieces(thought):
                yield "content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": piece}}
            signed = {"type": "signature_delta", "signature": f"signed {thought}"}
            yield "content_block_delta", {"index": 0, "delta": signed}
            yield "content_block_stop", {"index": 0}
            at = 1
        if isinstance(reply, str):
            yield "content_block_start", _block(at, {"type": "text", "text": ""})
            for word in words_of(reply):
                delta = {"type": "text_delta", "text": word}
                yield "word", {"type": "content_block_delta", "index": at, "delta": delta}
            yield "content_block_stop", {"index": at}
        for number, call in enumerate(reply if isinstance(reply, list) else (), at):
            called = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}}
            yield "content_block_start", _block(number, called)
            for piece in _pieces(json.dumps(call.arguments)):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield "content_block_delta", {"index": number, "delta": delta}
            yield "content_block_stop", {"index": number}
        end = "end_turn" if isinstance(reply, str) else "tool_use"
        ended = {"delta": {"stop_reason": end, "stop_sequence": None}, "usage": {"output_tokens": used[1]}}
        yield "message_delta", ended
        yield "message_stop", {}

    def keep(self, reply: list[ToolCall], thought: str, thoughts: dict[str, Any]) -> None:
        """Remember which thoughts have to come back with these calls."""
        block = {"type": "thinking", "thinking": thought, "signature": f"signed {thought}"}
        thoughts.update({call.call_id: block for call in reply})


def _block(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"index": index, "content_block": block}


FORMATS = {each.path: each for each in (Chat(), Responses(), Messages())}
Tokens = Callable[[str], int]


def sse(name: str, data: dict[str, Any], *, bare: bool) -> bytes:
    """An event as it goes over the wire; chat completions give theirs no name."""
    if bare:
        return f"data: {json.dumps(data)}\n\n".encode()
    kind = data.get("type") or name
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
