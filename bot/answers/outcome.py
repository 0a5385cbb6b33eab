"""The request to a model, and its answer: the same for every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.answers.responder import Picture
from memory.context.transcript import PromptMessage
from memory.text import clean
from memory.types import ToolCall


@dataclass(frozen=True, slots=True)
class Prompted:
    """Instructions, and the messages whose last one of a person is answered."""

    instructions: str
    messages: Sequence[PromptMessage]
    pictures: Sequence[Picture] = ()
    """Pictures of that message."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole answer, or the calls of one that was stopped."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    steps: tuple[PromptMessage, ...] = ()
    """The messages after the prompt: the model's calls of tools and their returns, in order."""
    blind: bool = False
    """There were pictures that the model cannot see."""
    stopped: bool = False
    """The person stopped it: there is no text, and the calls are those made until then."""


def storable(outcome: Outcome) -> Outcome:
    """Return an answer as databases take it: a model may write NUL and halves of characters, and so may a tool."""
    steps = tuple(PromptMessage(step.role, clean(step.text), _storable(step.tool_calls)) for step in outcome.steps)
    return replace(outcome, text=clean(outcome.text), tool_calls=_storable(outcome.tool_calls), steps=steps)


def _storable(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    names = ("call_id", "name", "arguments", "result")
    return tuple(call.model_copy(update={name: clean(getattr(call, name)) for name in names}) for call in calls)
