"""The frozen contract of session notes: what was read in a session, and what a reader is given."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import Field

from memory.language.languages import Languages
from memory.types import Contract, ConversationTurn

NOTES_SCHEMA = 1
DAY_MS = 86_400_000
RULES = "rules"
"""`SessionNotes.reader` when no model was asked."""

TITLE_MAX_CHARS = 60
TEXT_MAX_CHARS = 240
STANDING_MAX_CHARS = 900

MatterKind = Literal["project", "event", "task", "promise", "question", "theme", "story"]
MatterStatus = Literal["open", "settled", "dropped"]
LastingKind = Literal["fact", "preference", "constraint", "relationship", "decision"]
Ending = Literal["settled", "dropped"]
Speaker = Literal["user", "assistant"]
Sign = Literal["taken_up", "pending", "reminds", "told"]
"""What shows that a matter waits for somebody: the answer to it offers or says "I'll ..."; it has a deadline, or others
have to act; a reminder was set, which speaks for itself once its time has come.
"""


class Matter(Contract):
    """Something that goes on: it has an end that has not come yet, or comes back again and again."""

    matter_id: str
    """`<turn_id>.<suffix>` of the turn that first spoke of it; a suffix that is a number belongs to loops. A later
    reading that speaks of the same matter, also in another session, keeps the id; of two the newer holds."""
    kind: MatterKind
    text: str = Field(min_length=1, max_length=TEXT_MAX_CHARS)
    """Words that stand alone: no bare "him" or "it", no list number, on one line."""
    quoted: Speaker | None = None
    """Whose own words the text is; None when a model worded it. The presentation puts quotes around the former."""
    owner: str = "user"
    """Who has to act: "user", "assistant", or the name of somebody else as it was written ("Priya")."""
    due_at_ms: int | None = None
    """When it happens or has to be done, in UTC; None when nothing was said."""
    due_exact: bool = False
    """True when an hour was said; else `due_at_ms` stands for the day."""
    snoozed_until_ms: int | None = None
    """Until when the person does not want to hear of it; the due date stays."""
    status: MatterStatus = "open"
    turn_ids: tuple[str, ...] = Field(min_length=1)
    """The turns it rests on, oldest first; forgetting one of them removes it or has it read again (P13)."""
    said_at_ms: int
    """When it was last spoken of."""
    weight: float = Field(default=0.5, ge=0, le=1)
    """How much it matters to the person: 1 = a return without it feels like amnesia."""
    faint: bool = False
    """True for what was only said in passing: the model is told it, no list shows it."""
    signs: tuple[Sign, ...] = ()
    """What else its words, and the answer to them, say for somebody having to act; kinds alone say it badly."""
    replaces: tuple[str, ...] = ()
    """Ids of matters that it corrects ("the interview moved to Monday"); they are not shown any more."""
    by_hand: bool = False
    """True when an operator worded it: a session that is read again keeps these words."""


class LastingNote(Contract):
    """Something about the person that stays true beyond the session."""

    note_id: str
    """`<turn_id>.<n>` of the turn that first said it."""
    kind: LastingKind
    text: str = Field(min_length=1, max_length=TEXT_MAX_CHARS)
    quoted: Speaker | None = None
    """As in `Matter`."""
    subject: str = ""
    """What it is a value of ("budget", "user.home"), lower-case; of two notes with one subject the newer holds. "" when
    it competes with nothing."""
    turn_ids: tuple[str, ...] = Field(min_length=1)
    said_at_ms: int
    weight: float = Field(default=0.5, ge=0, le=1)
    faint: bool = False
    """As in `Matter`."""
    replaces: tuple[str, ...] = ()
    """Ids of notes that it corrects."""
    by_hand: bool = False
    """As in `Matter`."""


def key_of(note: Matter | LastingNote) -> str:
    """Return the id of a note of either kind."""
    return note.matter_id if isinstance(note, Matter) else note.note_id


def is_order(note: Matter | LastingNote) -> bool:
    """Return whether the note is what the person told the assistant to do ("remind me to …")."""
    return isinstance(note, Matter) and note.owner == "assistant" and note.quoted == "user"


class Settled(Contract):
    """What came to its end: done, answered, past, or not wanted any more."""

    matter_id: str | None = None
    """The matter that ended, also one of an earlier session; None when it was never noted as a matter."""
    text: str = Field(min_length=1, max_length=TEXT_MAX_CHARS)
    """What ended, in words that stand alone."""
    ending: Ending = "settled"
    turn_ids: tuple[str, ...] = Field(min_length=1)
    """The turns that ended it."""
    said_at_ms: int


class SessionNotes(Contract):
    """What one session was about, as far as it was read."""

    schema_version: int = NOTES_SCHEMA
    session_id: str
    conversation_id: str
    title: str = Field(default="", max_length=TITLE_MAX_CHARS)
    """3-6 words that name the matter; "" when there was none."""
    standing: str = Field(default="", max_length=STANDING_MAX_CHARS)
    """Where it stands: 2-5 sentences or lines."""
    standing_turn_ids: tuple[str, ...] = ()
    """The turns that title and standing rest on."""
    matters: tuple[Matter, ...] = ()
    """Those spoken of in this session, of whatever status; one of an earlier session only when it came up again."""
    lasting: tuple[LastingNote, ...] = ()
    settled: tuple[Settled, ...] = ()
    names: tuple[str, ...] = ()
    """Names of people and places that came up, lower-case, so that they are known when they are written small."""
    read_through_seq: int = Field(default=0, ge=0)
    """The last turn that was read."""
    reader: str = RULES
    """`rules`, or the id of the model that read it."""
    language: str = "en"
    """The language that the person speaks in this session."""
    written_at_ms: int = 0


class ReadingRequest(Contract):
    """What a reader is given: never more than one conversation."""

    session_id: str
    conversation_id: str
    turns: tuple[ConversationTurn, ...]
    """The turns that are new, oldest first, all of this session."""
    before: tuple[ConversationTurn, ...] = ()
    """A few turns read already that come right before them, for what "it" and "yes" mean; not to be read again."""
    notes: SessionNotes | None = None
    """The notes so far of this session; None at the first reading."""
    open_matters: tuple[Matter, ...] = ()
    """What is still open from the earlier sessions of the conversation (empty in a session started fresh)."""
    lasting: tuple[LastingNote, ...] = ()
    """What stays true from the earlier sessions of the conversation."""
    names: tuple[str, ...] = ()
    """Names from the earlier sessions of the conversation."""
    zone: str = "UTC"
    """The person's time zone."""
    now_ms: int
    """When it is read: `written_at_ms` of the notes. What "tomorrow" means comes from the turn that said it."""
    language: str = "en"
    """What the person seems to speak; used where a turn does not say."""


class ReadByRules(Protocol):
    """The reader without a model: pure, deterministic, never raises; `rules.read_by_rules` is one."""

    def __call__(self, request: ReadingRequest, languages: Languages) -> SessionNotes:
        """Return the notes so far together with what the new turns add, change and settle."""
        ...
