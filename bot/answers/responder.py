"""The port behind which answers are made: the offline concierge, a model, a script in tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from bot.delivery.outbox import Button, OutgoingMessage
from bot.meters.spent import Spent
from bot.people.spending import DayBudget, day_of
from bot.tools.call import CallRow
from bot.tools.tool import Place, Tool
from memory.context.transcript import PromptMessage
from memory.ledger.types import Hand, Ledger, Operation
from memory.ledger.views import EVERYTHING, Scope
from memory.packets import ConversationContextPacket
from memory.ports import Statement
from memory.types import SessionState, ToolCall

Again = Literal["asked", "edited", "joined"]
"""Why a message is answered again: the person asked, edited it, or brought back what was before."""

STOPPED: Final = "stopped by the person"
"""The message of the cancellation of an answer that the person stopped."""

Show = Callable[[str], None]
"""Called with the whole answer so far, each time it grows; returns at once and never raises."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as a model is shown it."""

    media_type: str
    """`image/jpeg` and the like."""
    data: bytes


@dataclass(frozen=True, slots=True)
class EndedPoll:
    """The result of a poll that somebody had sent."""

    bot_id: int
    poll_id: str
    conversation_id: str
    outcome: str
    """Marked line by line as somebody else's words."""
    turn_id: str
    """The turn that it came in, which tells of its end, too."""
    session_id: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One message to be answered, with everything that is known about the past."""

    turn_id: str
    conversation_id: str
    user_id: int | None
    user_name: str
    text: str
    state: SessionState
    packet: ConversationContextPacket
    persona: str
    """Text that we wrote: instructions for the model."""
    time_zone: str
    now_ms: int
    private: bool = True
    group: str = ""
    """The name of the group; "" in private."""
    third_party: bool = False
    unsure: bool = False
    """True for a spoken message of which the recogniser doubts that it heard right."""
    time_zone_chosen: bool = True
    """False when it is the bot's own, for want of a choice."""
    ledger: Ledger = field(default_factory=lambda: Ledger(""))
    """The notes of the conversation, as they stand before this turn."""
    scope: Scope = EVERYTHING
    """The part of the ledger that may reach the model."""
    cared_for: bool = False
    """True in a session in which the person spoke of ending their life and was answered with where help is."""
    tools: tuple[Tool, ...] = ()
    """Tools beyond the notes, for this person in this chat."""
    switched_off: tuple[str, ...] = ()
    """Tools and servers that they switched off there."""
    earlier: tuple[CallRow, ...] = ()
    """Calls of further tools that were made for this turn before: by an attempt that was broken off, or by a tap."""
    repeats: tuple[str, ...] = ()
    """The turns that answered this very message before."""
    why_again: Again = "asked"
    """Why it is answered again; but where the person merely asked, what those turns did was taken back."""
    news: tuple[CallRow, ...] = ()
    """Calls that were decided since the model heard last."""
    polls: tuple[EndedPoll, ...] = ()
    """Polls that have ended since the model heard last."""
    past_is_shown: bool = False
    """True when the chat shows the context carried into this first turn: a greeting need not tell it again."""
    pictures: tuple[Picture, ...] = ()
    """Pictures of the message, for a model that sees."""
    model: str = ""
    """The name of the model that the person chose; "" for the operator's default."""
    left: DayBudget = field(default_factory=DayBudget)
    """The person's rest of today's budget; checked before each request for this answer."""
    by_clock: bool = False
    """True for a run of a task, which nobody typed: it costs no more than was said, and makes no task."""
    task_said: str = ""
    """The person's own words as they asked for that task."""

    @property
    def today(self) -> str:
        """The person's calendar day, e.g. `2026-05-03`."""
        return day_of(self.now_ms, self.time_zone)

    @property
    def own_words(self) -> str:
        """The person's own words, one by one: an address in them is theirs."""
        return self.task_said if self.by_clock else self.text

    @property
    def place(self) -> Place:
        """The person who is answered, and the chat."""
        return Place(self.conversation_id, self.user_id, self.private)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `effects` and `change` are committed together with the turn, `buttons` hang under it."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input, the tokens read from the provider's cache."""
    cost_nanodollars: int | None = None
    """None when no model was used, or nobody knows its price."""
    action_name: str | None = None
    authored: str | None = None
    """The bot's words in its own name in an answer that it put together itself; None for a model's."""
    job_refs: tuple[str, ...] = ()
    effects: tuple[Statement, ...] = field(default=())
    change: Callable[[SessionState], SessionState] | None = None
    operations: tuple[Operation, ...] = ()
    """Its changes of the notes; applied at the commit, to the ledger of that moment."""
    hand: Hand = "model"
    """The hand that made the changes."""
    buttons: tuple[tuple[Button, ...], ...] = ()
    messages: tuple[OutgoingMessage, ...] = ()
    """Messages behind it: questions about tools."""
    uses: tuple[Spent, ...] = ()
    """Uses of models for it, failed attempts included."""
    packet: ConversationContextPacket | None = None
    """The past as the model was given it, where that is less than was asked with."""
    footnotes: tuple[str, ...] = ()
    """Small lines under it on the screen; they are no part of the answer's text."""
    steps: tuple[PromptMessage, ...] = ()
    """The model's calls of tools after the prompt and their returns, in order."""
    stopped: bool = False
    """True where the person stopped it: it has no text, and all that its tools did until then."""


QUOTED_MATTER: Final = "…"
"""Stands in `Answer.authored` for the person's own words."""


def own_words(text: str, action_name: str, **also: Any) -> Answer:
    """Return an answer that the bot put together itself and that repeats nobody."""
    return Answer(text, action_name=action_name, authored=text, **also)


class NoAnswer(Exception):
    """No answer could be had. `reason` is for the log, `apology` for the person."""

    def __init__(self, reason: str, apology: str, uses: tuple[Spent, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.apology = apology
        self.uses = uses
        """Uses of models that cost all the same."""


class Responder(Protocol):
    """Makes an answer."""

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the whole answer. Raises NoAnswer, never half an answer as if it were whole."""
        ...

    def preface(self, persona: str) -> str:
        """Return the text before the packet in every prompt, so that it can be counted against the cap."""
        ...

    def instructions(self, ask: Ask) -> str:
        """Return our text before the bootstrap and the messages; "" without a prompt."""
        ...

    def tools(self, further: tuple[Tool, ...] = (), *, only_reads: bool = False) -> str:
        """Return the descriptions of the notes' and further tools, to be counted too; "" without tools.

        With `only_reads` of the notes' tools only those that a private conversation is offered.
        """
        ...

    async def warm(self) -> None:
        """Load slow libraries; called behind the start and before each claim, quick when done. Never raises."""
        ...

    async def close(self) -> None:
        """Close connections that were opened for answers; nothing is asked after it."""
        ...
