"""A prompt in the form of chat completions, which most model libraries take: dicts with `role` and `content`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory.context.transcript import PromptMessage


def chat_messages(messages: Sequence[PromptMessage]) -> list[dict[str, Any]]:
    """Return the messages as `{"role": …, "content": …}`; a call and its return keep their common id.

    A message that made tool calls has them under `tool_calls`, and each return is a message of role `tool`.
    """
    return [each for message in messages for each in _chat(message)]


def _chat(message: PromptMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"role": "tool", "tool_call_id": call.call_id, "content": call.result} for call in message.tool_calls]
    chat: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        chat["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return [chat]
