"""One turn at work: the messages that it answers, their joined text, and the answer that completes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot import replies
from bot.answers.responder import Again, Answer, Ask, NoAnswer
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.tools.call import CallRow
from bot.turns.steps.attachments import NOTHING, Material
from memory.context.transcript import clip_ends, clip_to_tokens
from memory.ledger.types import Operation
from memory.pending import PendingTurn
from memory.ports import Statement, TokenCounter
from memory.types import SessionState


@dataclass(frozen=True, slots=True)
class ByClock:
    """A turn that nobody typed: a run of a task."""

    number: int
    """Of the task's note."""
    orders: tuple[str, ...]
    """What the program asks of the model with it."""
    notices: tuple[str, ...]
    """Lines for the model before it."""
    unanswered: Callable[[NoAnswer, int | None], Awaitable[None]]
    """Finishes the update when no answer could be had, in place of the message that grew."""
    task_said: str = ""
    """The person's own words as they asked for it."""
    buttons: tuple[tuple[Button, ...], ...] = ()
    """Buttons under the answer."""
    operations: tuple[Operation, ...] = ()
    """Operations on its note at the end of the run."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """The text to answer when it is not the updates' own: /retry, [Answer again], a run of a task."""

    text: str
    third_party: bool = False
    whole_chars: int = 0
    """Length of the text before its middle was left out; 0 when it is whole."""
    repeats: tuple[str, ...] = ()
    """The turns that answered this before."""
    why_again: Again = "asked"
    """Why it is answered again; but where the person merely asked, those turns were taken back."""
    calls: tuple[CallRow, ...] = ()
    """Calls of tools that a tap has decided, whose results are answered."""
    material: Material = NOTHING
    """Words of its files, and notices on them to the person."""
    by_clock: ByClock | None = None
    """For a run of a task."""
    by_tap: bool = False
    """True when the text is a button's line: the person's own words stand in the message before it."""


@dataclass(frozen=True, slots=True)
class TurnWork:
    """One turn to be made."""

    batch: Sequence[Envelope]
    turn_id: str
    said: AskedAgain
    effects: Sequence[Statement] = ()
    """Committed with the end of the updates."""
    state: SessionState | None = None
    """Of the session, when it was read just now and nothing has happened since."""
    claimed: Awaitable[None] | None = None
    """The claim of the updates, when it is still being stored."""

    @property
    def target(self) -> Target:
        """The chat of the answer."""
        return Target.of(self.batch[-1])


@dataclass(frozen=True, slots=True)
class Made:
    """An answer, and the turn that it completes."""

    pending: PendingTurn
    ask: Ask
    answer: Answer


def bounded(said: AskedAgain, max_tokens: int, counter: TokenCounter) -> AskedAgain:
    """Return the words with their middle left out when they are too long for one turn; the text itself says so."""
    text = clip_to_tokens(said.text, max_tokens, counter, clip_ends)
    return said if text == said.text else replace(said, text=text, whole_chars=said.whole_chars or len(said.text))


def whole_chars(batch: Sequence[Envelope]) -> int:
    """Return how long these messages were together, 0 when none of them was cut as it came in."""
    if not any(envelope.whole_chars for envelope in batch):
        return 0
    return sum(envelope.whole_chars or len(envelope.text) for envelope in batch)


def sent_at_ms(envelope: Envelope) -> int | None:
    """The moment a message was sent; None for one that was edited or is answered again, which begins now."""
    return None if envelope.kind == "edit" or envelope.again else envelope.sent_at_ms or None


def besides(said: AskedAgain) -> list[OutgoingMessage]:
    """Sentences for the person besides the answer."""
    if not said.whole_chars:
        return list(said.material.notices)
    read, whole = replies.number(len(said.text)), replies.number(said.whole_chars)
    return [OutgoingMessage(replies.say("too_long", read=read, whole=whole)), *said.material.notices]


def reply_to(batch: Sequence[Envelope]) -> int | None:
    """Quote the message in groups, where answers of several people cross."""
    return None if batch[-1].private else batch[-1].message_id
