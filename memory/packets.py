"""The packet: the past that a model is given for one answer, by tiers, each with a receipt (003). Frozen contracts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from memory.types import (
    Contract,
    ConversationTurn,
    NotesMark,
    OpenLoop,
    PendingClarification,
    ResponseType,
    SessionStatus,
)

Tier = Literal["history", "summary", "retrieved", "today", "threads", "memories", "last_conversation"]


class RetrievedItem(Contract):
    """An older turn or a memory that bears on the message, with the reasons for its rank."""

    source: Literal["turn", "memory"]
    ref: str
    """turn_id or memory_id."""
    text: str
    seq: int | None = None
    session_id: str | None = None
    user_id: int | None = None
    """The turn's author; None when that is not known."""
    at_ms: int
    score: float
    share: float = 0.0
    """The share of the question's words, weighted, in the item and its neighbours."""
    lent: bool = False
    """Whether only its neighbours have something of the question."""
    common: bool = False
    """Whether it shares nothing with the question but words that are said in many turns."""
    repeats: bool = False
    """Whether the person says nothing in it but words of the question, and says them often."""
    edited: bool = False
    """Whether its message was edited after the answer, which was to other words."""
    personas: tuple[str, ...] = ()
    """The personas that answered in its session; () where that is not known."""
    note: str = ""
    """The line of the note that rests on it, in its newest form; "" when none does, or the prompt has it already."""
    breakdown: dict[str, float] = Field(default_factory=dict)
    tokens: int = 0


class JobProgress(Contract):
    """A matter that the assistant does later, as the packet shows it (002 section 5.4)."""

    job_id: str
    title: str
    status: str
    progress: str = ""
    due_at_ms: int | None = None


class TierReceipt(Contract):
    """Items and tokens of one tier in the packet, and items left out."""

    tier: Tier
    budget_tokens: int
    used_tokens: int = 0
    items: int = 0
    cut_items: int = 0
    cut_tokens: int = 0
    error: str | None = None


class ConversationContextPacket(Contract):
    """The past as the model is given it (002 section 3.3, 003)."""

    conversation_id: str
    session_id: str
    session_status: SessionStatus
    recent_turn_summaries: tuple[str, ...] = ()
    rolling_session_summary: str = ""
    standing: str = ""
    """Where the session stands in a keeper's words, before the summary, of what it read."""
    active_topics: tuple[str, ...] = ()
    active_job_refs: tuple[str, ...] = ()
    jobs: tuple[JobProgress, ...] = ()
    pending_clarifications: tuple[PendingClarification, ...] = ()
    open_loops: tuple[OpenLoop, ...] = ()
    resolved_entities_map: dict[str, str] = Field(default_factory=dict)
    last_response_type: ResponseType = "none"
    history: tuple[ConversationTurn, ...] = ()
    """Turns to be shown verbatim, oldest first."""
    edited: tuple[str, ...] = ()
    """Ids of those turns whose message was edited after the answer."""
    taken_back: tuple[int, ...] = ()
    """The seqs of turns that are shown in another form: their message was edited and answered again."""
    history_truncated: bool = False
    notes_lasting: str = ""
    """Lasting facts about the person and matters that go on, a line each: frozen from the session's first reply on."""
    threads: str = ""
    """Matters open then: ten lines at most, the rest counted (003 AC-3.4 has five); frozen with the notes."""
    notes_mark: NotesMark | None = None
    """The ledger's version, time and scope of these notes."""
    notes_changed: str = ""
    """Notes that are new, other or ended since, each once in its newest form."""
    notes_events: str = ""
    """Notes that rang, or that the person tapped, since the last answer, each with its time."""
    today: str = ""
    """Earlier sessions of the same day, a line each."""
    last_conversation: str = ""
    """Sessions before, a line each."""
    retrieved: tuple[RetrievedItem, ...] = ()
    """Finds in earlier talk."""
    time_zone: str = "UTC"
    """The zone of every time in the prompt."""
    has_times: bool = True
    """False where messages stand without their times."""
    local_time: str = ""
    """The local time there, e.g. `Sunday 2026-11-22 14:05 (Europe/Lisbon)`; "" when it is not to be said."""
    person: str = ""
    """The name of the person whose message is answered; "" when it is not known."""
    person_id: int | None = None
    """That person's user id."""
    is_group: bool = False
    """True where several people talk: each message is told with its speaker's name, the others' words as data."""
    speakers: dict[int, str] = Field(default_factory=dict)
    """The members of a group with known names: user id → name."""
    bootstrap: str = ""
    """The bootstrap's packet, which stands behind the instructions (001)."""
    files: str = ""
    """Passages of files for the message."""
    files_title: str = ""
    """The heading above them."""
    notices: tuple[str, ...] = ()
    """News for the model before this message that stand nowhere else: a change of notes that did not fit."""
    orders: tuple[str, ...] = ()
    """What the program asks of the model with this message, in words of ours alone: they stand in no fence."""
    receipts: tuple[TierReceipt, ...] = ()
    instructions_tokens: int = 0
    """Text beside the tiers in the same prompt: instructions, descriptions of tools, bootstrap, new message."""
    tools_tokens: int = 0
    bootstrap_tokens: int = 0
    message_tokens: int = 0
    frame_tokens: int = 0
    """Headings, fences, times, changes of the notes, and the line with author and time."""
    is_near_limit: bool = False
    """True when the prompt takes more than 80 % of the cap (004 phase 1: early warning)."""
    context_compiled_at_ms: int

    @property
    def notes_block(self) -> str:
        """All notes at the beginning of the session's prompts."""
        return "\n".join(filter(None, (self.notes_lasting, self.threads)))

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the whole prompt."""
        beside = self.instructions_tokens + self.tools_tokens + self.bootstrap_tokens + self.message_tokens
        return beside + self.frame_tokens + sum(receipt.used_tokens for receipt in self.receipts)

    def figures(self, turns: int) -> dict[str, Any]:
        """What was loaded and cut of a session of so many turns, for the log (000 section 5)."""
        return {
            "session_id": self.session_id,
            "total_messages": 2 * turns,
            "messages_loaded": 2 * len(self.history),
            "messages_truncated": 2 * max(0, turns - len(self.history)),
            "estimated_tokens": self.prompt_tokens,
            **{f"{receipt.tier}_tokens": receipt.used_tokens for receipt in self.receipts},
        }
