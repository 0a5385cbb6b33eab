"""The port beneath the loop: one request free of any provider's format, and its response as it grows."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Protocol

from bot.answers.cost import Usage
from bot.answers.errors import endless
from bot.answers.responder import Picture
from memory.context.transcript import PromptMessage
from memory.text import clean
from memory.types import ToolCall

MOST_CHARS: Final = 200_000
"""Of one response, thoughts and calls included: fifty messages of Telegram. A model that says more says it for ever."""
MOST_CALLS: Final = 128
"""Of tools in one response."""
MOST_TOKENS: Final = 10**9
"""No request takes more: a larger number is none."""
_THOUGHT: Final = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


@dataclass(slots=True)
class GrowingCall:
    """A call of a tool as it grows."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ProviderSearch:
    """A search of the web that a provider made by itself."""

    search_id: str
    query: str
    found: tuple[tuple[str, str], ...]
    """Title and address of each page."""


@dataclass(slots=True)
class GrowingReply:
    """One response as it grows."""

    text: str = ""
    calls: dict[Any, GrowingCall] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    """As the server said last: some say it with every piece, and each time the whole of it."""
    chars: int = 0
    """Characters taken so far, of text, thoughts and calls."""
    working: bool = False
    """The model has begun: a piece of it came, be it of a thought."""
    finished: bool = False
    """The model said that this is all."""
    paused: bool = False
    """True when the model is to be asked again, with this response behind the request: it uses its provider's tool."""
    over: bool = False
    """Nothing comes behind this piece."""
    searches: list[ProviderSearch] = field(default_factory=list)
    """Searches that its provider made."""
    native: dict[Any, Any] = field(default_factory=dict)
    """Blocks that the provider wants back between calls of tools (thoughts with their signatures), as it sent it."""

    def say(self, piece: str) -> bool:
        """Take a piece of the text; return whether it grew. Raises `ModelError` for one without an end."""
        self.text = joined(self.text, piece)
        self.grew(len(piece))
        return bool(piece)

    def call(self, key: Any, *, call_id: str = "", name: str = "", arguments: str = "") -> None:
        """Take a piece of a call; its id comes whole, name and arguments may come bit by bit."""
        call = self.calls.setdefault(key, GrowingCall())
        call.call_id = call_id or call.call_id
        call.name = joined(call.name, name)
        call.arguments = joined(call.arguments, arguments)
        self.grew(len(name) + len(arguments))

    def grew(self, chars: int) -> None:
        """Count characters of any kind that came. Raises `ModelError` when the response has become too long."""
        self.chars += chars
        if self.chars > MOST_CHARS or len(self.calls) > MOST_CALLS:
            raise endless()

    @property
    def shown(self) -> str:
        """The text without the thoughts that some models write before it."""
        return _THOUGHT.sub("", self.text[:-1] if _is_first_half(self.text[-1:]) else self.text)


@dataclass(frozen=True, slots=True)
class Round:
    """One response that called tools, and each call as it was made, with the text for the model."""

    reply: GrowingReply
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request, free of any provider's format."""

    instructions: str
    messages: Sequence[PromptMessage]
    pictures: Sequence[Picture] = ()
    """Pictures of the person's last message."""
    tools: Sequence[Mapping[str, Any]] = ()
    """As chat completions offer them: `{"type": "function", "function": {name, description, parameters}}`."""
    rounds: Sequence[Round] = ()
    """The messages that followed."""
    forced: bool = False
    """A call of the one tool is the only answer."""
    searches: bool = False
    """The provider's own search may be used."""
    max_tokens: int | None = None


class Wire(Protocol):
    """The way to one model of one provider."""

    searches: bool
    """Its provider has a search of its own."""

    def stream(self, asked: WireRequest, reply: GrowingReply) -> AsyncGenerator[bool]:
        """Fill the reply, and yield at each sign of life whether its text grew.

        Close it when you leave early, so that the request ends. Raises `ModelError` for all that goes wrong on the way;
        a reply that is not `finished` at the end broke off.
        """
        ...

    async def price(self, usage: Usage) -> Decimal | None:
        """Return the cost in dollars by the price list; None for an unknown model."""
        ...

    async def close(self) -> None:
        """Close the connections to the provider."""
        ...


class Format(Protocol):
    """The format of one kind of HTTP server. Pure."""

    path: str
    """Behind the server's address."""
    searches: bool
    """True where the provider has a search of its own."""

    def body(self, model: str, asked: WireRequest) -> dict[str, Any]:
        """Return the request."""
        ...

    def read(self, reply: GrowingReply, piece: dict[str, Any]) -> bool:
        """Take one piece of the stream; return True when the text grew.

        Raises `ModelError`, and TypeError, AttributeError or LookupError for a piece of another shape.
        """
        ...


def joined(text: str, piece: str) -> str:
    """Return both together; of two halves of one character, which a stream may part, that character."""
    if piece and _is_first_half(text[-1:]) and "\udc00" <= piece[0] <= "\udfff":
        both = (text[-1] + piece[0]).encode("utf-16", "surrogatepass").decode("utf-16")
        return text[:-1] + both + piece[1:]
    return text + piece


def _is_first_half(letter: str) -> bool:
    return "\ud800" <= letter <= "\udbff"


def tokens(told: Any, *path: str) -> int:
    """Return a number of tokens that a server tells, 0 for anything else."""
    for name in path:
        told = told.get(name) if isinstance(told, dict) else None
    return told if type(told) is int and 0 <= told <= MOST_TOKENS else 0


def last_said(asked: WireRequest) -> int:
    """Return the place of the person's last message; calls that were made before may stand behind it."""
    return max((at for at, message in enumerate(asked.messages) if message.role == "user"), default=0)


def functions(asked: WireRequest) -> list[Mapping[str, Any]]:
    """Return name, description and parameters of each tool."""
    return [tool["function"] for tool in asked.tools]


def own_words(reply: GrowingReply) -> str:
    """Return the text of a response as it is given back to its model."""
    return clean(reply.shown)
