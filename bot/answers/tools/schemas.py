"""The model's tools as pydantic-ai knows them: the same schemas and the same calls as on every other way to a model."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, Tool

from bot.answers.tools import calls as tool_calls
from bot.answers.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Hand:
    """What a run of the agent is given: the tools of this answer, and its instructions."""

    toolbox: Toolbox
    instructions: str


def toolset() -> FunctionToolset[Hand]:
    """The tools. They run one after another, so that the same calls always do the same."""
    tools = [
        Tool[Hand].from_schema(
            _function(spec["name"]), spec["name"], spec["description"], spec["parameters"], takes_ctx=True
        )
        for spec in tool_calls.specs()
    ]
    return FunctionToolset(tools, sequential=True, id="memory")


def _function(name: str) -> Callable[..., Awaitable[str]]:
    async def made(context: RunContext[Hand], **arguments: Any) -> str:
        try:
            return await context.deps.toolbox.call("", name, json.dumps(arguments))
        except tool_calls.WrongCall as exc:
            raise ModelRetry(str(exc)) from exc

    return made
