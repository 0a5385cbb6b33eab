"""The OpenAI Agents SDK as the tests of its adapter need it: its runner, its sessions, a model that has a script."""

from __future__ import annotations

from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.memory import Session
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from openai_agents_session import MemorySession

__all__ = ["Agent", "MemorySession", "Runner", "SQLiteSession", "Session"]

QUIET = RunConfig(tracing_disabled=True)


def text(words: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=words, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def call(name: str, arguments: str = "{}") -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(call_id="c_1", name=name, arguments=arguments, type="function_call")


class Scripted(Model):
    """The SDK's port to a model: says what the script says and keeps what it was shown."""

    def __init__(self, *script: Any) -> None:
        self.script, self.shown = list(script), []

    async def get_response(self, **given):
        self.shown.append(given["input"])
        return ModelResponse(output=[self.script.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


@function_tool
def stock(item: str) -> str:
    """Return how many there are."""
    return f"3 {item}"
