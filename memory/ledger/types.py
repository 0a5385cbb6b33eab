"""The note, the change, and the operations on a ledger: frozen contracts of the one memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import Field

from memory.types import Contract

Kind = Literal[
    "person", "fact", "preference", "constraint", "decision", "project", "event", "task", "promise", "question", "story"
]
Status = Literal["open", "done", "dropped", "replaced"]
Ending = Literal["done", "dropped"]
Hand = Literal["person", "model", "keeper", "offline", "operator"]
"""The writers: buttons and commands, the model's tools, the keeper, the reader without a model, the console."""
OccurrenceState = Literal["moved", "left_out", "rang", "snoozed", "done", "passed", "skipped"]
"""Moved or left out before it rang; rang; rang and comes again; called done; its time came and nothing came of it, or
somebody left it out then.
"""
Verb = Literal["add", "change", "end", "merge", "reopen", "ring", "undo"]

LASTING: Final[frozenset[str]] = frozenset({"person", "fact", "preference", "constraint", "decision"})
"""Kinds that stay true; the others go on until they end."""
ANYBODYS: Final[frozenset[str]] = frozenset({"preference", "constraint"})
"""Kinds whose owner is the one who likes or cannot have it; "" for the person."""
TO_DO: Final[frozenset[str]] = frozenset({"task", "promise", "question"})
"""Kinds that wait for somebody to act."""
TEXT_MAX_CHARS: Final = 400
WORK_MAX_CHARS: Final = 2_000
"""Of work by the clock: its text is put to a model word for word."""
NO_WORDS: Final = "…"
"""The text of a note whose words were erased: only the turns on which it rested are kept."""
SUBJECT_MAX_CHARS: Final = 80

USER: Final = "user"
ASSISTANT: Final = "assistant"
EVERYONE: Final = "everyone"
"""The owner of a task that all of a group have."""
NAMELESS: Final = "a story"
"""The `about` of a story without a name."""
UNTIL_TOLD_MS: Final = 221_845_392_000_000
"""The year 9000: put off until the person says that it goes on."""


class Occurrence(Contract):
    """One date of a note that rings, where it differs from its rule or has rung."""

    original_local: str
    """When the rule has it ring, by the note's clock: `2026-11-29T19:00`."""
    moved_to_ms: int | None = None
    """When it rings instead; once it rang, when that was, where that differs; the rule's own minute where none rang."""
    due_at_ms: int | None = None
    """When the thing itself is, where that does not follow from its ring."""
    lasts_ms: int | None = None
    """How long it lasts, where not as long as the others."""
    state: OccurrenceState


class Note(Contract):
    """Anything that should outlive the message that it came from."""

    note_id: str
    conversation_id: str
    number: int = Field(ge=1)
    """Its number in prompts, tools and talk (`#12`); per conversation, never reused."""
    kind: Kind
    text: str = Field(min_length=1, max_length=WORK_MAX_CHARS)
    """One line in the person's language that stands alone."""
    subject: str = Field(default="", max_length=SUBJECT_MAX_CHARS)
    """The thing of which it is a value, when that can change; of two notes with one subject the later stands."""
    owner: str = ""
    """The one who has to act: `user`, `assistant`, or a name; "" for nobody. Of a like or limit the one who has it."""
    due_at_ms: int | None = None
    due_exact: bool = False
    """False when a day was said but no hour: `due_at_ms` is the beginning of that day by `time_zone`."""
    ends_at_ms: int | None = None
    """The beginning of the last of several days by `time_zone`; None for one day."""
    lasts_ms: int = Field(default=0, ge=0)
    """Milliseconds from its hour until it is over; 0 when no end was said."""
    time_zone: str = "UTC"
    rings_from: str = ""
    """When it rings first, by `time_zone`: `2026-11-29T19:00`; "" for a note that does not ring."""
    repeats: str = ""
    """An RRULE read in `time_zone`, `FREQ=WEEKLY;BYDAY=SU`; "" = once. Counts from the first ring, else `due_at_ms`."""
    rings_again_min: tuple[int, ...] = ()
    """Minutes by its clock behind the ring of each date of a series at which it rings for that date once more."""
    rings_at_ms: int | None = None
    """When it rings next, reckoned from the three above and `occurrences`; None = not any more."""
    occurrences: tuple[Occurrence, ...] = ()
    status: Status = "open"
    about: str = ""
    """"" for a real note, else the persona or story that it belongs to: remembered there, never a to-do."""
    weight: float = Field(default=0.5, ge=0, le=1)
    confidence: float = Field(default=1.0, ge=0, le=1)
    said_at_ms: int
    snoozed_until_ms: int | None = None
    offered: bool = False
    """True when the person was asked how it went: nobody is asked twice."""
    session_id: str | None = None
    user_id: int | None = None
    """The author; None in a memory that knows no people."""
    persona: str = ""
    turn_ids: tuple[str, ...] = ()
    """Every turn that it rests on, oldest first: forgetting one of them takes the note (P13)."""
    source: Hand = "person"
    doubtful: bool = False
    """True while a message that it rests on was edited and not answered again."""
    replaced_by: str | None = None
    """The note that took its place."""
    version: int = 0
    """The ledger's version of its last change."""

    @property
    def is_open(self) -> bool:
        """Whether it stands."""
        return self.status == "open"

    @property
    def lasts(self) -> bool:
        """Whether it stays true rather than going on until it ends."""
        return self.kind in LASTING

    @property
    def is_real(self) -> bool:
        """Whether it is about the world, not about a story."""
        return not self.about

    @property
    def is_forgotten(self) -> bool:
        """Whether the person asked to forget it: it reaches no model any more, even while its rows are there."""
        return self.status == "dropped" and self.confidence == 0

    @property
    def is_wordless(self) -> bool:
        """Whether its words were erased."""
        return self.text == NO_WORDS

    def without(self, local: str) -> tuple[Occurrence, ...]:
        """The dates but the one that the rule has at this local time."""
        return tuple(each for each in self.occurrences if each.original_local != local)

    def lasts_at(self, due_ms: int) -> int:
        """How long the date lasts that is due then: as long as the others, unless it has an end of its own."""
        own = (each.lasts_ms for each in self.occurrences if due_ms in {each.due_at_ms, each.moved_to_ms})
        return next((lasts_ms for lasts_ms in own if lasts_ms is not None), self.lasts_ms)

    @property
    def is_paused(self) -> bool:
        """Whether the person put it off without a day: a series rests until they say that it goes on."""
        return self.snoozed_until_ms == UNTIL_TOLD_MS

    @property
    def rings(self) -> bool:
        """Whether a message is sent for it, now or once more."""
        return bool(self.rings_from)


def is_anothers(note: Note) -> bool:
    """Whether somebody else than the two who talk has to act, or has that limit."""
    return note.owner not in {"", USER, ASSISTANT, EVERYONE}


class NoteChange(Contract):
    """One change of one note; append-only but for forgetting. The notes can be rebuilt from them."""

    conversation_id: str
    version: int = Field(ge=1)
    """The ledger's version with this change: counts 1, 2, 3 … in the conversation."""
    note_id: str
    number: int
    verb: Verb
    before: dict[str, Any] = Field(default_factory=dict)
    """The fields that changed, as they were; {} for a new note."""
    after: dict[str, Any] = Field(default_factory=dict)
    """The same fields as they are now; of a new note all that are not empty."""
    hand: Hand
    cause: str = ""
    """The turn, tap or keeper's reading that it came with."""
    said: str = ""
    """At most twelve words in a row of a cited turn that bear it out."""
    at_ms: int


@dataclass(frozen=True, slots=True)
class Actor:
    """The hand that changes a ledger, the time, and the cause."""

    hand: Hand
    at_ms: int
    cause: str = ""
    """The turn, tap or keeper's reading."""

    @property
    def lets_pass(self) -> OccurrenceState:
        """The state of a date that it leaves out once its time has come: the clock's is one that was missed."""
        return "passed" if self.hand == "operator" else "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Note something new. One with the `subject` of a note that stands takes that note's place."""

    kind: Kind
    text: str
    note_id: str
    """The same id twice is the same note: a call that is made again adds nothing."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the note: owner, due_at_ms, rings_from, turn_ids, …"""
    number: int | None = None
    """The number that was told already, by `Ledgers.reserve`; None, and one that is taken, for the next free one."""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Give fields of a note other values; `turn_ids` are joined to those that it rests on already."""

    number: int
    fields: Mapping[str, Any]
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End a note, or with `occurrence` one date of it; a series goes on after [Done] of a date but its last."""

    number: int
    how: Ending = "done"
    occurrence: str = ""
    """`original_local` of the date."""
    turn_ids: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Let one note stand for both: `number` is replaced by `into`, which rests on the turns of both."""

    number: int
    into: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the note that stays, as `Change` gives them: a text that tells both, a day."""
    turn_ids: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen:
    """Let a note that ended stand again, or take back one date of several that was called done or left out."""

    number: int
    occurrence: str = ""
    """`original_local` of the date; "" for the latest that was called done, else the only one left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Move one date of a note that rings, or leave it out (`to_ms` None); the series stays as it is."""

    number: int
    occurrence: str
    """`original_local` of the date."""
    to_ms: int | None = None
    due_at_ms: int | None = None
    """When the thing itself is then; None where a ring alone is moved, and what comes behind it with it."""
    lasts_ms: int | None = None
    """How long it lasts then; None for as long as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """Write down that a date rang; the next one is reckoned from it."""

    number: int
    occurrence: str
    rings_at_ms: int
    """When it was to ring: another process that rang it first has moved this on."""


Operation = Add | Change | End | Merge | Reopen | Move | Ring

RefusalCode = Literal[
    "unknown", "ended", "empty", "same", "known", "past", "rule", "rings", "date", "field", "changed", "number"
]
"""Why an operation has no place: no such number, ended already, no text, nothing new, noted already (`number`), a time
that is over, no RRULE that has a date (`detail` says why), two notes that ring each at a time of their own, no such
date of the series, a field that cannot be changed, changed by a stronger hand since; or that it has: under another
number than was told (`detail`).
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An operation that was not done, and why: a value, never an exception."""

    code: RefusalCode
    number: int | None = None
    """The note that it is about."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The notes of one conversation at one version; a value that `apply` moves on."""

    conversation_id: str
    version: int = 0
    next_number: int = 1
    notes: Mapping[int, Note] = field(default_factory=dict)
    """By number, in their order."""
    epoch: str = field(default="", compare=False)
    """Another word whenever something was forgotten or edited: an answer made from the ledger before is void."""

    def __iter__(self) -> Iterator[Note]:
        return iter(self.notes.values())

    def find(self, number: int) -> Note | None:
        """The note of this number."""
        return self.notes.get(number)

    def by_id(self, note_id: str) -> Note | None:
        """The note of this id."""
        return next((note for note in self if note.note_id == note_id), None)

    def newest(self, note: Note) -> Note:
        """The note that stands for this one now: itself, or the one in its place."""
        seen = {note.note_id}
        while note.status == "replaced" and note.replaced_by and note.replaced_by not in seen:
            following = self.by_id(note.replaced_by)
            if following is None:
                return note
            seen.add(following.note_id)
            note = following
        return note


@dataclass(frozen=True, slots=True)
class Applied:
    """A ledger after an operation, the note as it stands now, and the changes that are to be written down."""

    ledger: Ledger
    note: Note
    changes: tuple[NoteChange, ...] = ()


Outcome = Applied | Refusal
