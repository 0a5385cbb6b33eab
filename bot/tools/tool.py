"""A tool, the context of its calls, and their results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

SEARCH_GROUP: Final = "search_group"
"""The name of the tool that looks into a person's groups: with it nobody says that nothing is known of them."""
LONGEST_S: Final = 60.0
"""A call that takes longer is given up: of one that changes something nobody knows whether it did."""


class NotDone(Exception):
    """Surely nothing happened; the message tells the model why."""

    def __init__(self, why: str, *, foreign: bool = False) -> None:
        """`foreign` where somebody else's words stand in it: they are told as such."""
        super().__init__(why)
        self.foreign = foreign


@dataclass(frozen=True, slots=True)
class Place:
    """The person who is offered tools, and the chat."""

    conversation_id: str
    user_id: int | None
    private: bool = True


@dataclass(frozen=True, slots=True)
class CallContext:
    """The call that a tool is in the midst of."""

    call_id: str
    """The call's own key, the same when it is made again: hand it on where a service takes an idempotency key."""
    turn_id: str
    place: Place
    time_zone: str
    """The person's, by its IANA name."""
    now_ms: int
    said: str = ""
    """The message that is answered, word for word; "" behind a tap."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool."""

    text: str
    foreign: bool = True
    """Somebody else's words: fenced as data, and no note is set by them without the person's word."""
    failed: bool = False
    """The tool itself says that it could not do it."""
    cost_nanodollars: int | None = None
    """Billionths of a US dollar; None when nobody knows."""


Run = Callable[[Mapping[str, Any], CallContext], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that the model can do."""

    name: str
    """As the model calls it: letters, digits, `_` and `-`, at most 64."""
    description: str
    parameters: Mapping[str, Any]
    """The JSON schema of its arguments, an object."""
    run: Run
    reads_only: bool = False
    """A call changes nothing anywhere."""
    trusted: bool = False
    """Its claims about itself count: ours, the operator's own, and those of servers that the operator trusts."""
    idempotent: bool = False
    """A second call with the same key changes nothing more: it may be made again after a doubt."""
    server: str = ""
    """The server or file it comes from; "" for the bot's own."""
    origin: str = ""
    """A digest of how that is set up."""
    title: str = ""
    """The tool's name for people; "" for `name`."""
    longest_s: float = LONGEST_S
    ready: Callable[[], Awaitable[None]] | None = None
    """Prepares a call before it may have an effect: starts a server. Raises `NotDone`."""
    hidden: bool = False
    """Left out of the prompt: `find_tools` finds it, and `use_tool` calls it."""
    shows: Callable[[Mapping[str, Any], CallContext], Awaitable[Sequence[bytes]]] | None = None
    """JPEGs that the model is shown with the result."""
    with_turn: bool = False
    """Changes notes, as a part of the turn, and has no call of its own; no run of a task is offered it."""
    keeps: bool = False
    """Keeps something beyond the conversation: a private one is not offered it."""
    asks: Callable[[Mapping[str, Any], CallContext], Awaitable[bool]] | None = None
    """Whether a call of a tool that only reads is asked about first, for its arguments. Raises `NotDone`."""
    about: Callable[[Mapping[str, Any]], str] | None = None
    """The subject of [Always] and [Never] in the arguments: the host of a page; "" for the tool as a whole."""
    spoken: str = ""
    """The key of a sentence that names it in the person's language, in place of `title`."""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """Further claims of its server."""

    @property
    def runs_unasked(self) -> bool:
        """True when it may be called, also again after a crash, without a tap; where it has `asks`, after that."""
        return self.reads_only and self.trusted


def chosen_as(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the name under which a choice about this call is kept: `add`, `read_page:example.org`."""
    about = tool.about(arguments) if tool.about else ""
    return f"{tool.name}:{about}" if about else tool.name


def about_of(name: str) -> str:
    """Return the subject in the name of a choice: `example.org`; "" for the tool as a whole."""
    return name.partition(":")[2]


Source = Callable[[Place], Awaitable[Sequence[Tool]]]
"""Returns the tools that are offered in a place. Never raises."""
