"""The frozen values of the continuity bootstrap (001): persona, relationship state, arcs, preview, preference."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memory.notes.view import NotesView
from memory.types import Contract, Memory, SessionState

PROMPT_VERSION = "2"
"""Goes into every fingerprint: raise it when wording, scoring or selection changes, and all caches are stale."""

CORE_MAX = 3
ACTIVE_MAX = 7
TITLE_MAX_CHARS = 60
SUMMARY_MAX_CHARS = 240
SOURCES_MAX = 20

Role = Literal["assistant", "companion", "roleplay"]
Immersion = Literal["minimal", "balanced", "full", "unbounded"]
Familiarity = Literal["new", "familiar", "established", "close"]
ArcKind = Literal["project", "theme", "question", "story", "relationship", "constraint"]
Level = Literal["high", "medium", "low"]
Stickiness = Literal["high", "normal", "low"]
ArcStatus = Literal["active", "dropped"]
Mode = Literal["ask", "use", "off"]
Choice = Literal["use", "off"]
Evidence = Literal["note", "loop", "decision", "preference", "fact"]


class Persona(Contract):
    """How the assistant shows up; written by the operator, so its words are trusted as instructions."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")
    role: Role
    immersion: Immersion = "balanced"
    tone: tuple[str, ...] = Field(min_length=2, max_length=4)
    """2-4 adjectives."""
    instructions: str = Field(min_length=1, max_length=8000)
    boundaries: tuple[str, ...] = Field(default=(), max_length=12)
    contract: tuple[str, ...] = Field(default=(), max_length=6)
    """Working norms beyond those of the role."""


class BootstrapOwner(Contract):
    """Whose bootstrap it is: one user in one conversation with one persona.

    Artifacts are kept per conversation, so nothing of a private chat can reach a group; preferences per user.
    """

    conversation_id: str
    user_id: int
    persona: Persona

    @property
    def artifact_key(self) -> str:
        """Return `<conversation_id>|<user_id>|<persona>`, the key of relationship state, arcs and cache."""
        return f"{self.conversation_id}|{self.user_id}|{self.persona.name}"

    @property
    def preference_key(self) -> str:
        """Return `<user_id>|<persona>`, the key of the preference."""
        return f"{self.user_id}|{self.persona.name}"


class PastSession(Contract):
    """One session that has turns, as the bootstrap reads it."""

    session_id: str
    title: str
    state: SessionState
    turn_count: int
    last_turn_at_ms: int


class BootstrapInputs(Contract):
    """All that a bootstrap is made from: nothing else can show up in it."""

    sessions: tuple[PastSession, ...] = ()
    """Newest first: the index is the number of conversations ago."""
    memories: tuple[Memory, ...] = ()
    """Active ones, newest first."""
    known: NotesView = NotesView()
    """What is alive in the conversation, best first; a session that was read for it speaks through nothing else."""
    now_ms: int = 0
    zone: str = "UTC"
    foreign_turn_ids: frozenset[str] = frozenset()
    """Turns that somebody else wrote in a shared session: their loops are not this user's."""
    dropped: tuple[DroppedArc, ...] = ()
    """What the user took off the preview; it stays off until something new is said about it."""

    @property
    def newest_at_ms(self) -> int:
        """Return when the newest input came into being, 0 when there is none."""
        return max(
            [s.last_turn_at_ms for s in self.sessions] + [m.at_ms for m in self.memories],
            default=0,
        )


class DroppedArc(Contract):
    """An arc that the user did not want carried forward, and the evidence it stood on."""

    arc_id: str
    sources: tuple[str, ...]


class RelationshipState(Contract):
    """How the assistant should show up, not what it should say (001, its five fields)."""

    familiarity: Familiarity
    tone: tuple[str, ...]
    contract: tuple[str, ...]
    """Working norms."""
    boundaries: tuple[str, ...]
    """Safety and role constraints; never empty."""
    role_frame: str
    """One sentence."""


class ArcCandidate(Contract):
    """Something that may be going on across sessions, in the words of its evidence."""

    kind: ArcKind
    title: str
    text: str
    confidence: Level
    stickiness: Stickiness
    evidence: Evidence
    by_assistant: bool = False
    """True when the assistant has to act (it promised, it was asked)."""
    worth: float = 0.0
    """What a note is worth among the others; 0 for other evidence, which is scored by its kind."""
    sources: tuple[str, ...]
    """Loop, memory or session ids."""
    last_touched_at_ms: int
    conversations_ago: int


class Arc(Contract):
    """An ongoing matter, framed for the persona: 1-2 sentences, natural language."""

    arc_id: str
    kind: ArcKind
    title: str
    summary: str
    confidence: Level
    stickiness: Stickiness
    sources: tuple[str, ...]
    last_touched_at_ms: int
    conversations_ago: int
    worth: float = 0.0
    """As in `ArcCandidate`."""
    generalized: bool = False
    """True when it was uncertain, so that specifics were left out."""


class ScoredArc(Contract):
    """An arc with its score and what the score is made of."""

    arc: Arc
    score: float
    breakdown: dict[str, float]
    """confidence, stickiness, emphasis, recency (never positive), and diversity once it was selected."""


class AlsoKnown(Contract):
    """A note that is alive but not on the preview: the model is told it, the user is not asked about it."""

    text: str
    source: str
    """Id of the note."""


class Selection(Contract):
    """The arcs of a bootstrap in two tiers, what else is known, and what was left out with the reason."""

    core: tuple[ScoredArc, ...] = Field(default=(), max_length=CORE_MAX)
    active: tuple[ScoredArc, ...] = Field(default=(), max_length=ACTIVE_MAX)
    also: tuple[AlsoKnown, ...] = ()
    """Best first; only in the internal packet, as far as its budget goes."""
    left_out: tuple[tuple[ScoredArc, str], ...] = ()

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """Return core, then active arcs."""
        return tuple(scored.arc for scored in (*self.core, *self.active))


class Stages(Contract):
    """Every stage of one generation, for `bootstrap run` and for the cache."""

    owner_key: str
    fingerprint: str
    relationship: RelationshipState
    candidates: tuple[ArcCandidate, ...]
    merged: tuple[ArcCandidate, ...]
    scored: tuple[ScoredArc, ...]
    selection: Selection
    internal_packet: str
    preview: str

    @property
    def available(self) -> bool:
        """True when there is something to carry forward."""
        return bool(self.selection.core)


class CachedBootstrap(Contract):
    """The last generation of an owner, as it is kept."""

    fingerprint: str
    internal_packet: str
    relationship: RelationshipState
    selection: Selection
    generated_at_ms: int


class Preference(Contract):
    """What a user chose for a persona; survives clearing."""

    mode: Mode = "ask"
    skip_preview: bool = False


class SessionChoice(Contract):
    """What was chosen for one session, with the packet exactly as it was shown."""

    session_id: str
    mode: Choice
    internal_packet: str = ""
    chosen_at_ms: int

    @property
    def isolates(self) -> bool:
        """True after Start fresh: nothing of other sessions may reach the model through any tier."""
        return self.mode == "off"


BootstrapInputs.model_rebuild()
