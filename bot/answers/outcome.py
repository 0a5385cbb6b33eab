"""What goes to a model, and what comes back when it has answered: the same for every way to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.answers.cost import Used
from bot.answers.responder import Show
from bot.answers.tools import Toolbox
from memory.context.transcript import PromptMessage
from memory.types import ToolCall


@dataclass(frozen=True, slots=True)
class Prompted:
    """Instructions, and the messages whose last one is answered."""

    instructions: str
    messages: Sequence[PromptMessage]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole answer."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Used
    steps: tuple[PromptMessage, ...] = ()
    """What went to the model after the prompt: its calls of tools and their returns, in order."""


class Model(Protocol):
    """One way to a model."""

    async def run(self, prompted: Prompted, toolbox: Toolbox, show: Show, alive: Callable[[], None]) -> Outcome:
        """Return the answer, once the model calls no tool any more; `alive` is called at each sign of life."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
