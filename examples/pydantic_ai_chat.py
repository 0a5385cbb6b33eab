"""A pydantic-ai agent that remembers: the packet becomes its message history, what it did becomes the turn.

async with await ConversationMemory.open("data") as memory:
print(await reply(agent, memory, "shop:42", "Where is my order?"))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from memory import ConversationMemory, ModelTokens, ToolCall


async def reply(agent: Agent[None, str], memory: ConversationMemory, conversation_id: str, text: str) -> str:
    """Answer a message; when this returns the turn is stored, with the tools that were called and what it cost."""
    turn = await memory.begin(conversation_id, text)
    result = await agent.run(text, message_history=as_history(turn.messages[:-1]))
    usage = result.usage
    await turn.record(
        result.output,
        tool_calls=calls_in(result.new_messages()),
        usage=ModelTokens(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
    )
    return result.output


def as_history(messages: Sequence[Mapping[str, Any]]) -> list[ModelMessage]:
    """Return messages of chat completions as pydantic-ai's."""
    names = {call["id"]: call["function"]["name"] for each in messages for call in each.get("tool_calls", ())}
    return [_message(each, names) for each in messages]


def calls_in(messages: Sequence[ModelMessage]) -> list[ToolCall]:
    """Return the tool calls of a run, each with what it returned."""
    parts = [part for message in messages for part in message.parts]
    returns = {part.tool_call_id: part.model_response_str() for part in parts if isinstance(part, ToolReturnPart)}
    return [
        ToolCall(
            call_id=part.tool_call_id,
            name=part.tool_name,
            arguments=part.args_as_json_str(),
            result=returns[part.tool_call_id],
        )
        for part in parts
        if isinstance(part, ToolCallPart) and part.tool_call_id in returns
    ]


def _message(message: Mapping[str, Any], names: Mapping[str, str]) -> ModelMessage:
    if message["role"] == "user":
        return ModelRequest(parts=[UserPromptPart(message["content"])])
    if message["role"] == "tool":
        call_id = message["tool_call_id"]
        return ModelRequest(parts=[ToolReturnPart(names[call_id], message["content"], tool_call_id=call_id)])
    calls = [
        ToolCallPart(call["function"]["name"], call["function"]["arguments"], tool_call_id=call["id"])
        for call in message.get("tool_calls", ())
    ]
    return ModelResponse(parts=[*calls, *([TextPart(message["content"])] if message["content"] else [])])
