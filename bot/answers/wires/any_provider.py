"""Any other provider, through pydantic-ai's models. Its import takes more than a second: load this file late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from pydantic_ai import BinaryContent, ToolDefinition, exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.settings import ModelSettings

from bot.answers.cost import Usage, list_price
from bot.answers.errors import ModelError, broken, unfinished
from bot.answers.wires.port import GrowingReply, Round, WireRequest, functions, last_said
from memory.context.transcript import PromptMessage
from memory.types import ToolCall

_WHY: Final[tuple[tuple[tuple[type[Exception], ...], str], ...]] = (
    ((exceptions.ModelTimeoutError,), "why_timeout"),
    (
        (exceptions.ModelAuthenticationError, exceptions.ModelNotFoundError, exceptions.ModelRequestRejectedError),
        "why_refused",
    ),
    ((exceptions.ModelQuotaExceededError, exceptions.ModelRateLimitError), "why_busy"),
    ((exceptions.ModelUnavailableError, exceptions.ModelServerError), "why_busy"),
    ((exceptions.ModelConnectionError,), "why_broken"),
    ((exceptions.UserError,), "why_refused"),
    ((exceptions.AgentRunError,), "why_garbage"),
)
_RESPONSE: Final = "response"


class AnyProvider:
    """`bot.answers.wires.port.Wire` over one of pydantic-ai's models."""

    searches = False

    def __init__(self, model: Model, *, listed: bool) -> None:
        """Ask this model; `listed` says whether the price list is looked at."""
        self._model = model
        self._listed = listed
        client = getattr(model, "client", None)
        if client is not None and hasattr(client, "max_retries"):
            client.max_retries = 0  # one layer of retries is enough, and it is ours

    @classmethod
    def build(cls, name: str, *, listed: bool) -> AnyProvider:
        """Return the way to this model. Raises `ModelError` for a missing key, ImportError for a missing library."""
        try:
            found = infer_model(name)
        except exceptions.UserError as exc:
            raise translated(exc) from exc
        return cls(found, listed=listed)

    async def stream(self, asked: WireRequest, reply: GrowingReply) -> AsyncGenerator[bool]:
        """Fill the reply, and yield at each sign of life whether its text grew."""
        settings = ModelSettings(max_tokens=asked.max_tokens) if asked.max_tokens else None
        try:
            async with model_request_stream(
                self._model, _messages(asked), model_settings=settings, model_request_parameters=_parameters(asked)
            ) as events:
                async for event in events:
                    yield _read(reply, event)
                _whole(reply, events.get())
        except (exceptions.AgentRunError, exceptions.UserError) as exc:
            raise translated(exc) from exc

    async def price(self, usage: Usage) -> Decimal | None:
        """Return the cost that the provider told, else that of the price list."""
        if usage.cost is not None or not self._listed:
            return usage.cost
        url, system = self._model.base_url or "", self._model.system
        return await asyncio.to_thread(list_price, self._model.model_name, system, url, usage)

    async def close(self) -> None:
        """Close the connections to the provider."""
        async with self._model:
            """Leaving it closes them."""


def translated(error: Exception) -> ModelError:
    """Return pydantic-ai's error as ours; its text may repeat the prompt and stays out of it."""
    why = next(why for kinds, why in _WHY if isinstance(error, kinds))
    status: int | None = getattr(error, "status_code", None)
    return ModelError(type(error).__name__, why, passing=_is_passing(error), status_code=status)


def _is_passing(error: Exception) -> bool:
    if isinstance(error, exceptions.ModelHTTPError):
        return error.status_code in (408, 409, 429) or error.status_code >= 500  # noqa: PLR2004 - statuses of HTTP
    return isinstance(error, exceptions.ModelAPIError) and not isinstance(error, exceptions.ModelRequestRejectedError)


def _parameters(asked: WireRequest) -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=each["name"],
            parameters_json_schema=dict(each["parameters"]),
            description=each.get("description"),
            kind="output" if asked.forced else "function",
        )
        for each in functions(asked)
    ]
    if asked.forced:
        return ModelRequestParameters(output_tools=tools, output_mode="tool", allow_text_output=False)
    return ModelRequestParameters(function_tools=tools)


def _messages(asked: WireRequest) -> list[ModelMessage]:
    """Return neutral messages as pydantic-ai's; every call of a tool keeps its return (003 FR-001)."""
    at = last_said(asked)
    seen: list[UserContent] = [BinaryContent(each.data, media_type=each.media_type) for each in asked.pictures]
    messages = list(map(_message, asked.messages))
    if seen:
        messages[at] = ModelRequest(parts=[UserPromptPart([*seen, asked.messages[at].text])])
    messages += [each for done in asked.rounds for each in _round(done)]
    for place in reversed(range(len(messages))):
        latest = messages[place]
        if isinstance(latest, ModelRequest):
            messages[place] = replace(latest, instructions=asked.instructions)
            break
    return messages


def _message(message: PromptMessage) -> ModelMessage:
    if message.role == "user":
        return ModelRequest(parts=[UserPromptPart(content=message.text)])
    if message.role == "tool":
        return _returns(message.tool_calls)
    calls = [ToolCallPart(call.name, call.arguments, tool_call_id=call.call_id) for call in message.tool_calls]
    return ModelResponse(parts=[*calls] if calls else [TextPart(message.text)])


def _returns(calls: Sequence[ToolCall]) -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart(call.name, call.result, tool_call_id=call.call_id) for call in calls])


def _round(done: Round) -> list[ModelMessage]:
    """Return a response as it came, its calls with the ids that we gave them, and their results."""
    calls = iter(done.calls)
    response: ModelResponse | None = done.reply.native.get(_RESPONSE)
    if response is None:  # the calls were made before this answer was begun
        return [_message(PromptMessage("assistant", tool_calls=done.calls)), _returns(done.calls)]
    parts = [
        replace(part, tool_call_id=next(calls).call_id) if isinstance(part, ToolCallPart) else part
        for part in response.parts
    ]
    return [replace(response, parts=parts), *([_returns(done.calls)] if done.calls else [])]


def _read(reply: GrowingReply, event: Any) -> bool:
    """Take one event; return True when the text grew. Raises `ModelError` for a response that does not end."""
    reply.working = True
    if isinstance(event, PartStartEvent):
        if isinstance(event.part, TextPart):
            return reply.say(event.part.content)
        return _grew(reply, event.part)
    if isinstance(event, PartDeltaEvent):
        if isinstance(event.delta, TextPartDelta):
            return reply.say(event.delta.content_delta)
        return _grew(reply, event.delta)
    return False


def _grew(reply: GrowingReply, part: Any) -> bool:
    """Count parts besides text: thoughts, arguments of a tool."""
    fields = ("content", "args", "content_delta", "args_delta", "tool_name_delta")
    reply.grew(sum(len(found) for name in fields if isinstance(found := getattr(part, name, None), str)))
    return False


def _whole(reply: GrowingReply, response: ModelResponse) -> None:
    """Take the calls and the usage of a response that has ended. Raises `ModelError` for one that is not whole."""
    if error := unfinished(response.finish_reason):
        raise error
    if response.state != "complete":
        raise broken(f"state {response.state}")
    for number, part in enumerate(response.parts):
        if isinstance(part, ToolCallPart):
            reply.call(number, call_id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())
    used = response.usage
    reply.usage = Usage(
        used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens, cost=used.cost
    )
    reply.native[_RESPONSE] = response
    reply.finished = True
