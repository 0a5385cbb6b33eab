"""An answer through pydantic-ai: any provider by its id. Its import takes more than a second: load this file late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, AgentRunResultEvent, RunContext, UsageLimits, exceptions
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import infer_model

from bot.answers.chat_model import MAX_REQUESTS, MOST_CHARS, joined
from bot.answers.chat_server import ModelError, broken, endless
from bot.answers.model_messages import steps, to_model_messages, tool_calls
from bot.answers.outcome import Outcome, Prompted
from bot.answers.responder import Show
from bot.answers.tools.schemas import Hand, toolset
from bot.answers.tools.toolbox import Toolbox

_WHY: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((exceptions.ModelTimeoutError,), "why_timeout"),
    (
        (exceptions.ModelAuthenticationError, exceptions.ModelNotFoundError, exceptions.ModelRequestRejectedError),
        "why_refused",
    ),
    ((exceptions.ModelQuotaExceededError, exceptions.ModelRateLimitError), "why_busy"),
    ((exceptions.ModelUnavailableError, exceptions.ModelServerError), "why_busy"),
    ((exceptions.ModelConnectionError,), "why_broken"),
    ((exceptions.UsageLimitExceeded,), "why_endless"),
    ((exceptions.UserError,), "why_refused"),
    ((exceptions.AgentRunError,), "why_garbage"),
)


@dataclass(frozen=True, slots=True)
class AgentModel:
    """One model of any provider."""

    agent: Agent[Hand, str]
    tool_output_max_chars: int

    @classmethod
    def build(cls, model: str, tool_output_max_chars: int) -> AgentModel:
        """Return the way to this model. Raises `ModelError` for a missing key, ImportError for a missing library."""
        try:
            found = infer_model(model)
        except exceptions.UserError as exc:
            raise told(exc) from exc
        client = getattr(found, "client", None)
        if client is not None and hasattr(client, "max_retries"):
            client.max_retries = 0  # one layer of retries is enough, and it is ours
        agent: Agent[Hand, str] = Agent(found, deps_type=Hand, toolsets=[toolset()], retries=1)

        @agent.instructions
        def _instructions(context: RunContext[Hand]) -> str:
            return context.deps.instructions

        return cls(agent, tool_output_max_chars)

    async def run(self, prompted: Prompted, toolbox: Toolbox, show: Show, alive: Callable[[], None]) -> Outcome:
        """Return the answer, once the model calls no tool any more. Raises `ModelError`."""
        *history, last = prompted.messages
        try:
            async with self.agent.run_stream_events(
                last.text,
                message_history=to_model_messages(history),
                deps=Hand(toolbox, prompted.instructions),
                usage_limits=UsageLimits(request_limit=MAX_REQUESTS),
            ) as events:
                result = await _follow(events, show, alive)
        except (exceptions.AgentRunError, exceptions.UserError) as exc:
            raise told(exc) from exc
        if result.response.state != "complete" or not result.output.strip():
            raise broken(f"state {result.response.state}, {len(result.output)} characters")
        run = result.new_messages()
        return Outcome(result.output, tool_calls(run, self.tool_output_max_chars), result.usage, steps(run))

    async def close(self) -> None:
        """Close the connections to the provider."""
        async with self.agent:
            """Leaving it is what closes them."""


def told(error: Exception) -> ModelError:
    """Return pydantic-ai's error as ours; its text may repeat the prompt and stays out of it."""
    why = next(why for kinds, why in _WHY if isinstance(error, kinds))
    status: int | None = getattr(error, "status_code", None)
    return ModelError(type(error).__name__, why, passing=_is_passing(error), status_code=status)


def _is_passing(error: Exception) -> bool:
    if isinstance(error, exceptions.ModelHTTPError):
        return error.status_code in (408, 409, 429) or error.status_code >= 500  # noqa: PLR2004
    return isinstance(error, exceptions.ModelAPIError) and not isinstance(error, exceptions.ModelRequestRejectedError)


def _grew(event: Any) -> int:
    """Return how many characters an event brought, of whatever kind: text, thoughts, arguments of a tool."""
    part = (
        event.part if isinstance(event, PartStartEvent) else event.delta if isinstance(event, PartDeltaEvent) else None
    )
    fields = ("content", "args", "content_delta", "args_delta", "tool_name_delta")
    return sum(len(found) for name in fields if isinstance(found := getattr(part, name, None), str))


async def _follow(events: Any, show: Show, alive: Callable[[], None]) -> Any:
    """Show the text as it grows, call `alive` at each event; return the result of the run."""
    text, result, chars = "", None, 0
    async for event in events:
        alive()
        chars += _grew(event)
        if chars > MOST_CHARS:
            raise endless()
        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
            text = event.part.content
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            text = joined(text, event.delta.content_delta)
        elif isinstance(event, AgentRunResultEvent):
            result = event.result
            continue
        else:
            continue
        show(text)
    if result is None:
        raise broken("the run ended without a result")
    return result
