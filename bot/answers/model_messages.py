"""Our messages as pydantic-ai's, and what a run did as our tool calls. One path for new and running sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from memory.context.transcript import PromptMessage, clip_tool_output
from memory.types import ToolCall


def to_model_messages(messages: Sequence[PromptMessage]) -> list[ModelMessage]:
    """Return neutral messages as pydantic-ai messages; every tool call keeps its return (003 FR-001)."""
    return [_to_model_message(message) for message in messages]


def _to_model_message(message: PromptMessage) -> ModelMessage:
    if message.role == "user":
        return ModelRequest(parts=[UserPromptPart(content=message.text)])
    if message.role == "tool":
        returns = [ToolReturnPart(call.name, call.result, tool_call_id=call.call_id) for call in message.tool_calls]
        return ModelRequest(parts=returns)
    calls = [ToolCallPart(call.name, call.arguments, tool_call_id=call.call_id) for call in message.tool_calls]
    return ModelResponse(parts=[*calls] if calls else [TextPart(message.text)])


def tool_calls(messages: Iterable[ModelMessage], max_chars: int) -> tuple[ToolCall, ...]:
    """Return the tool calls of a run with their returns, in order; a call without its return is left out.

    A return longer than `max_chars` was cut when the tool ran; it is cut here once more in case a tool did not. An id
    that the model used twice is made different, since all calls of a turn are shown in one message.
    """
    asked: dict[str, ToolCallPart] = {}
    paired: list[ToolCall] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                asked[part.tool_call_id] = part
            elif isinstance(part, ToolReturnPart) and part.tool_call_id in asked:
                call = asked.pop(part.tool_call_id)
                paired.append(
                    ToolCall(
                        call_id=_unlike(call.tool_call_id, paired),
                        name=call.tool_name,
                        arguments=call.args_as_json_str(),
                        result=clip_tool_output(part.model_response_str(), max_chars),
                    )
                )
    return tuple(paired)


def steps(messages: Sequence[ModelMessage]) -> tuple[PromptMessage, ...]:
    """Return what a run sent to the model after its prompt: what it had said and called, and what came back.

    What the run began with and the answer that ended it are not among them.
    """
    return tuple(found for message in messages[1:-1] for found in _step(message))


def _step(message: ModelMessage) -> Iterator[PromptMessage]:
    if isinstance(message, ModelResponse):
        text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
        called = [part for part in message.parts if isinstance(part, ToolCallPart)]
        calls = (ToolCall(call_id=c.tool_call_id, name=c.tool_name, arguments=c.args_as_json_str()) for c in called)
        yield PromptMessage("assistant", text, tuple(calls))
        return
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            returned = ToolCall(call_id=part.tool_call_id, name=part.tool_name, result=part.model_response_str())
            yield PromptMessage("tool", tool_calls=(returned,))
        elif isinstance(part, RetryPromptPart) and part.tool_name:
            refused = ToolCall(call_id=part.tool_call_id, name=part.tool_name, result=part.model_response())
            yield PromptMessage("tool", tool_calls=(refused,))
        elif isinstance(part, RetryPromptPart):
            yield PromptMessage("user", part.model_response())


def _unlike(call_id: str, paired: Sequence[ToolCall]) -> str:
    taken = {call.call_id for call in paired}
    return next(i for i in (call_id, *(f"{call_id}_{n}" for n in range(2, len(taken) + 3))) if i not in taken)
