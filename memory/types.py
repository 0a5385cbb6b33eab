"""The frozen contracts of conversation memory (002 section 3.3): turn, session state, checkpoint."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

TURN_SCHEMA = 1


STATE_SCHEMA = 1


CHECKPOINT_SCHEMA = 2


SessionStatus = Literal["active", "paused", "resuming", "awaiting_clarification", "shutdown_clean"]


LoopKind = Literal["request", "commitment", "question", "task"]


LoopStatus = Literal["open", "snoozed", "done", "answered", "dropped"]


LoopOwner = Literal["user", "assistant", "other"]


ResponseType = Literal["answer", "question", "confirmation", "action", "refusal", "error", "none"]


CARE = "care"
"""`action_name` of a turn in which somebody in distress was answered with care."""


UNDOES = "undo"
"""`action_name` of a turn that took back the changes of an earlier one."""


PRIVATE = "private"
"""`action_name` of a turn of a private session: it stays in that session."""


BY_CLOCK = "by_clock"
"""`action_name` of a turn that nobody typed: the program asked it, since somebody wanted that done at this time."""


BY_TAP = "by_tap"
"""`action_name` of a turn that a button began: in place of the person's message stands the button's line."""


WAS_STOPPED = "stopped"
"""`action_name` of a turn whose answer the person stopped: a sentence of the program's stands in its place."""


class Contract(BaseModel):
    """Base of all contracts: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(Contract):
    """One tool call of a turn together with its return; the two are never parted."""

    call_id: str
    name: str
    arguments: str = "{}"
    """JSON object as text."""
    result: str = ""
    """The result of the tool, capped when it was stored."""


class ConversationTurn(Contract):
    """One exchange, user + assistant; append-only; `seq` counts 1, 2, 3 … within its session."""

    schema_version: int = TURN_SCHEMA
    turn_id: str
    session_id: str
    conversation_id: str
    seq: int = Field(ge=1)
    user_id: int | None = None
    user_text: str
    assistant_text: str
    intent: str = "chat"
    action_name: str | None = None
    response_type: ResponseType = "answer"
    job_refs: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    third_party: bool = False
    """True when the user's text was forwarded or quoted: it is never promoted to memory."""
    authored: str | None = None
    """The program's own words in a reply that it put together itself; the rest of it repeats people.

    None for a model's reply, all of which is the assistant's own.
    """
    language: str | None = None
    user_tokens: int = 0
    assistant_tokens: int = 0
    tool_tokens: int = 0
    created_at_ms: int

    @property
    def tokens(self) -> int:
        """Tokens of the whole turn, as stored when it was written."""
        return self.user_tokens + self.assistant_tokens + self.tool_tokens

    @property
    def spoken(self) -> str:
        """The assistant's words in its own name: promises, questions and delays are read from these alone."""
        return self.assistant_text if self.authored is None else self.authored

    @property
    def typed(self) -> str:
        """The person's message; "" where a button or the clock began the turn."""
        return "" if self.action_name in {BY_TAP, BY_CLOCK} else self.user_text

    @property
    def unfiled(self) -> bool:
        """True when nothing may be noted, listed, indexed or summed up from it: it stays in the talk alone."""
        return self.action_name in {CARE, UNDOES, PRIVATE}


class Topic(Contract):
    """The subject of a stretch of the conversation, in its own words."""

    name: str
    weight: float
    """0..1; decays with every turn that does not touch the topic."""
    first_seq: int
    last_seq: int


class OpenLoop(Contract):
    """An unfinished matter: a promise, a question left, a task."""

    loop_id: str
    """`<turn_id>.<n>`: the turn that is its evidence, and a counter."""
    kind: LoopKind
    owner: LoopOwner
    """The side that has to act; "other" is somebody else, or nobody: an event takes place by itself."""
    text: str
    status: LoopStatus = "open"
    turn_id: str
    opened_seq: int
    opened_at_ms: int
    touched_at_ms: int
    due_at_ms: int | None = None
    due_exact: bool = True
    """False when a day was said but no hour: `due_at_ms` stands for the day."""
    snoozed_until_ms: int | None = None
    """The end of its rest; its due date stays."""
    closed_turn_id: str | None = None


class ListedItem(Contract):
    """One line of a list that was shown."""

    kind: Literal["loop", "job", "memory", "other"]
    ref: str
    """loop_id, job_id or memory_id; empty for a line that nothing can be done with."""
    text: str


class ShownList(Contract):
    """A list as it was shown, so that "the first one" has a meaning."""

    items: tuple[ListedItem, ...]
    seq: int
    """The last turn when it was shown."""
    at_ms: int


class PendingClarification(Contract):
    """A question the assistant asked and the user has not answered."""

    question: str
    options: tuple[str, ...] = ()
    """The choices it offered, in order, so that "the second one" has a meaning."""
    turn_id: str
    asked_seq: int
    asked_at_ms: int


class CompactionMark(Contract):
    """The place where the prompt's verbatim history begins, and the summary that stands for all before it (004)."""

    compaction_id: str
    history_from_seq: int
    summary: str
    summary_tokens: int
    kept_seqs: tuple[int, ...] = ()
    """Of a mark from before: older turns that stay verbatim amid what was cut, until the next compaction."""
    current_task: str = ""
    """The current task when the session was compacted (004 phase 3): its newest open matter, or its title."""

    def leaves(self, seq: int) -> bool:
        """Whether it leaves a turn in the history, so that its summary tells nothing of it."""
        return seq >= self.history_from_seq or seq in self.kept_seqs


class NotesMark(Contract):
    """The moment, clock and scope of the notes at the beginning of a session's prompts.

    No text: the notes are written again from the ledger as it was then, so that forgotten words are nowhere.
    """

    version: int
    """The ledger's version."""
    at_ms: int
    time_zone: str
    persona: str = ""
    of_session: bool = False
    """True when only notes of the session itself belong to it: fresh, mode off, another user of a group."""
    compaction_id: str = ""
    """The compaction in force then: after the next one the notes are taken anew."""


RETIRED_STATE_FIELDS = frozenset({"job_steps", "listed", "last_intent", "taken_up_at_ms"})
"""Fields of earlier versions' states, in rows and checkpoints; dropped when they are read and not known."""


class SessionState(Contract):
    """The state of a session; a fold of its turns, so it can always be computed again."""

    @model_validator(mode="before")
    @classmethod
    def _read_up(cls, values: Any) -> Any:
        """Leave out fields that only earlier versions knew, so that their rows are read and not set aside."""
        if not isinstance(values, dict) or RETIRED_STATE_FIELDS.isdisjoint(values):
            return values
        return {k: v for k, v in values.items() if k in cls.model_fields or k not in RETIRED_STATE_FIELDS}

    schema_version: int = STATE_SCHEMA
    session_id: str
    conversation_id: str
    isolated: bool = False
    """True in a session started with /fresh: nothing of other sessions reaches the model through any tier."""
    private: bool = False
    """True in a session started with /fresh private: nothing of it is noted, indexed or carried into another one."""
    after_private: bool = False
    """True in the session behind a private one: of what was said just before it nothing is kept."""
    status: SessionStatus = "active"
    active_topics: tuple[Topic, ...] = ()
    pending_clarifications: tuple[PendingClarification, ...] = ()
    open_loops: tuple[OpenLoop, ...] = ()
    active_job_refs: tuple[str, ...] = ()
    resolved_entities: dict[str, str] = Field(default_factory=dict)
    """References and their meaning, e.g. "that task" → job or loop id."""
    time_zone: str = "UTC"
    """The zone in which "by Friday" is read: that of the person who wrote last."""
    language: str | None = None
    """The language of the person's last message, for messages too short to tell."""
    listed: ShownList | None = None
    """The list shown last."""
    undone: tuple[str, ...] = ()
    """Turns whose message was edited and answered again, at most the last hundred: no keeper reads them any more."""
    edited: tuple[str, ...] = ()
    """Turns whose message was edited to say something else after the answer, at most the last hundred."""
    notes_marks: tuple[NotesMark, ...] = ()
    """Marks of the notes at the beginning of its prompts, the latest last; in a group one for each scope and clock."""
    rolling_summary: str = ""
    summarized_through_seq: int = 0
    """The last turn that `rolling_summary` covers."""
    compaction: CompactionMark | None = None
    last_intent: str | None = None
    last_response_type: ResponseType = "none"
    turn_count: int = 0
    last_seq: int = 0
    last_turn_id: str | None = None
    last_turn_digest: str = ""
    """The digest of turn `last_seq`; chains to all earlier ones (P8)."""
    last_turn_at_ms: int = 0
    taken_up_at_ms: int = 0
    """The time when somebody went back to it; 0 = nobody did."""
    edits: int = 0
    """Changes made between turns (a loop closed by a button, a compaction); with `last_seq` it orders two states."""

    @property
    def personas(self) -> tuple[str, ...]:
        """The personas that answered in it, the first first."""
        return tuple(dict.fromkeys(mark.persona for mark in self.notes_marks))


class ConversationCheckpointSnapshot(Contract):
    """Full restorable state of one session: session state, its last turns, the summary delta."""

    schema_version: int = CHECKPOINT_SCHEMA
    session_id: str
    conversation_id: str
    state: SessionState
    last_turns: tuple[ConversationTurn, ...] = ()
    """The last K turns, oldest first, so that a log that fell behind can be healed."""
    previous_digest: str = ""
    """The chain digest of the turn before `last_turns[0]`."""
    summary_delta: str = ""
    last_seq: int = 0
    notes: tuple[dict[str, Any], ...] = ()
    """The notes made in it, as JSON values; () in a checkpoint of schema 1."""
    note_changes: tuple[dict[str, Any], ...] = ()
    """Changes of these, oldest first."""
    ledger_version: int = 0
    ledger_next_number: int = 1
    clean: bool = False
    """True when it was written by an orderly shutdown."""
    saved_at_ms: int
