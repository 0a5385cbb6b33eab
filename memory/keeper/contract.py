"""The request to a keeper and its answer: the contract that any model behind the reply can be tried with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from memory.ledger.types import Kind, Ledger, Note
from memory.types import ConversationTurn

TOOL: Final = "keep"
"""The only tool of a keeper; its arguments are the answer."""
SAID_MAX_WORDS: Final = 12
TITLE_MAX_CHARS: Final = 80
STANDING_MAX_CHARS: Final = 900

Op = Literal["add", "change", "end", "merge", "delete"]


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @field_validator("*", mode="before")
    @classmethod
    def _null_is_missing(cls, value: Any, info: Any) -> Any:
        """Take null for a field that was left out, as some models write it."""
        return cls.model_fields[info.field_name].get_default(call_default_factory=True) if value is None else value


class ProposedChange(_Answered):
    """One change of the notes that a keeper asks for; nothing of it is believed yet."""

    op: Op = Field(description="add a note; change, end or delete note `number`; merge note `number` into `into`.")
    number: int | None = Field(None, description="The note that is meant (#…); not for add.")
    into: int | None = Field(None, description="For merge: the note that stands for both.")
    kind: Kind | None = None
    text: str = ""
    subject: str = Field("", description="What it is a value of, if that can change: 'address', 'budget'.")
    owner: str | None = Field(None, description="Who has to act, or whose limit it is: user, assistant or a name.")
    due: str = Field(
        "",
        description="YYYY-MM-DD, YYYY-MM-DDTHH:MM or first/last; empty: none.",
    )
    repeats: str = Field("", description="FREQ=WEEKLY;BYDAY=TU.")
    rings: str = Field("", description="When it rings, if doubtful.")
    about: str = Field("", description="Empty for what is real; else the story or role that it belongs to.")
    weight: float | None = Field(None, description="0 to 1.")
    how: Literal["done", "dropped"] | None = Field(None, description="For end.")
    turns: tuple[int, ...] = Field((), description="Numbers of the turns that it rests on.")
    said: str = Field("", description="Copied from one of these turns.")


class KeeperAnswer(_Answered):
    """Changes of the notes; an empty list is a good answer."""

    title: str = Field("", description="Empty: it stays.")
    standing: str = Field("", description="Empty: it stays; none: over.")
    standing_turns: tuple[int, ...] = Field((), description="Numbers of turns that both rest on.")
    worked_on: tuple[int, ...] = Field((), description="Turns of pasted, drafted, translated, played text alone.")
    changes: tuple[ProposedChange, ...] = ()

    @property
    def ends_standing(self) -> bool:
        """Whether nothing is left of where the session stood."""
        return self.standing.strip().casefold().rstrip(".") == "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperRequest:
    """The request to a keeper: a stretch of one session, and the notes that it may change."""

    reading_id: str
    session_id: str
    conversation_id: str
    ledger: Ledger
    """The notes when it was asked: for the check, and as the base of its rebase."""
    notes: tuple[Note, ...]
    """Those that are shown."""
    before: tuple[ConversationTurn, ...]
    """Turns that were read already, for the meaning of "it" and "yes"; they may be cited."""
    turns: tuple[ConversationTurn, ...]
    """The new ones, oldest first."""
    zone: str
    now_ms: int
    beside: tuple[ConversationTurn, ...] = ()
    """Turns that are not shown, but may hold a number or name: those before, and those that the notes rest on."""
    persona: str = ""
    """The assistant's persona here: stories belong to one."""
    played: str = ""
    """The one whose story these turns may tell, where that is another: it answered before."""
    character: str = ""
    """The person's own words for whom the assistant plays: they stand in no turn."""
    standing: str = ""
    """The session's title and standing until now, which the answer's take the place of."""
    names: Mapping[int, str] = field(default_factory=dict)
    """The speakers of a group, by user id; empty where two talk."""
    edited: tuple[str, ...] = ()
    """Turns whose message says something else than when it was answered."""
    later: frozenset[int] = frozenset()
    """The notes that rest on turns after the new ones, as where turns are read again."""
    taken_back: frozenset[int] = frozenset()
    """The notes of which the person took the last change back."""
    seen: Mapping[str, str] = field(default_factory=dict)
    """A program's descriptions of the pictures that came with a turn, by turn id: nobody said them."""

    @property
    def numbered(self) -> dict[int, ConversationTurn]:
        """Every turn that may be cited, by its number in the request."""
        return dict(enumerate((*self.before, *self.turns), 1))


@dataclass(frozen=True, slots=True)
class Again:
    """The refused part of an answer, for the one more time that a keeper is asked."""

    answer: KeeperAnswer
    reasons: tuple[str, ...]
    """One line each, in plain words."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """An answer and its cost."""

    answer: KeeperAnswer
    input_tokens: int = 0
    output_tokens: int = 0
    cost_nanodollars: int | None = None
    """None when nobody knows the price."""


class ContractBroken(Exception):
    """A model answered, but with no call of `keep`, or with one of another shape."""

    def __init__(self, why: str, keeping: Keeping | None = None) -> None:
        super().__init__(why)
        self.spent = keeping or Keeping(KeeperAnswer())
        """Its cost all the same."""


Code = Literal["turns", "said", "foreign", "worked on", "number", "name", "due", "note", "story", "shape", "ledger"]
"""The reason of a refusal, for counting: it cites no turn, has words that nobody said, somebody else's words, …;
`ledger`: it does not fit any more.
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """A change that may be made, with every turn that it rests on."""

    change: ProposedChange
    turn_ids: tuple[str, ...]
    speaker: ConversationTurn
    """The turn whose words bear it out."""
    due: datetime | None = None
    """By the person's clock."""
    last: datetime | None = None
    """The last of several days, or the minute at which it ends."""
    rings: datetime | None = None
    """When a note in doubt rings, by the same clock."""


@dataclass(frozen=True, slots=True)
class RefusedProposal:
    """A change that is not believed or has no place, and why, in words that a model can act on."""

    change: ProposedChange
    code: Code
    reason: str
    turn_ids: tuple[str, ...] = ()


class KeepingModel(Protocol):
    """Asks a model to keep the notes."""

    @property
    def name(self) -> str:
        """The id of the model."""
        ...

    def estimate(self, request: KeeperRequest) -> int:
        """Return the estimated tokens of asking it."""
        ...

    async def __call__(self, request: KeeperRequest, again: Again | None = None) -> Keeping:
        """Return its answer. Raises `ContractBroken` for one of another shape, else the adapter's errors.

        An error may have a `reason`, a word or two that hold nothing of a message: it is kept instead of its class.
        """
        ...
