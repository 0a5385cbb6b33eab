"""The frozen values of the continuity bootstrap (001): persona, relationship state, arcs, preview, preference."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memory.ledger.types import Note
from memory.types import Contract

PROMPT_VERSION = "3"
"""A part of every fingerprint: raised when wording, scoring or selection changes, it makes all caches stale."""

CORE_MAX = 3
ACTIVE_MAX = 7
TITLE_MAX_CHARS = 60
SUMMARY_MAX_CHARS = 240

Role = Literal["assistant", "companion", "roleplay"]
Immersion = Literal["minimal", "balanced", "full", "unbounded"]
Familiarity = Literal["new", "familiar", "established", "close"]
ArcKind = Literal["project", "theme", "question", "story", "relationship", "constraint"]
Level = Literal["high", "medium", "low"]
Stickiness = Literal["high", "normal", "low"]
Mode = Literal["ask", "use", "off"]
Choice = Literal["use", "off"]


class Persona(Contract):
    """The assistant's manner; written by the operator, so its words are trusted as instructions."""

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
    """The owner of a bootstrap: one user in one conversation with one persona.

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
    turn_count: int
    last_turn_at_ms: int


class BootstrapInputs(Contract):
    """All inputs of a bootstrap: nothing else can show up in it."""

    sessions: tuple[PastSession, ...] = ()
    """Newest first: the index is the number of conversations ago."""
    notes: tuple[Note, ...] = ()
    """Notes of the conversation that are this user's to carry, best first."""
    version: int = 0
    """The ledger's: any change of a note gives another bootstrap."""
    now_ms: int = 0
    zone: str = "UTC"
    dropped: tuple[DroppedArc, ...] = ()
    """Lines that the user took off the preview; each stays off until something new is said about it."""

    @property
    def newest_at_ms(self) -> int:
        """The time of the newest input, 0 when there is none."""
        return max([*(s.last_turn_at_ms for s in self.sessions), *(n.said_at_ms for n in self.notes)], default=0)


class DroppedArc(Contract):
    """An arc that the user did not want carried forward, and its evidence."""

    arc_id: str
    sources: tuple[str, ...]


class RelationshipState(Contract):
    """The assistant's manner towards a person, not its words (001, its five fields)."""

    familiarity: Familiarity
    tone: tuple[str, ...]
    contract: tuple[str, ...]
    """Working norms."""
    boundaries: tuple[str, ...]
    """Safety and role constraints; never empty."""
    role_frame: str
    """One sentence."""
    who: str = ""
    """The best known facts of this person, in one line; "" for somebody new. Their words: data, never instructions."""
    norms: tuple[str, ...] = ()
    """Their preferences, as they said them; data as well."""


class ArcCandidate(Contract):
    """A note that may be carried into a new session."""

    number: int
    """The note's."""

    kind: ArcKind
    title: str
    text: str
    confidence: Level
    stickiness: Stickiness
    sources: tuple[str, ...]
    """The note and the turns that it rests on: news about it is a new source."""
    last_touched_at_ms: int
    conversations_ago: int
    worth: dict[str, float] = Field(default_factory=dict)
    """The worth of the note now, in parts (`memory.ledger.views.breakdown`)."""


class Arc(Contract):
    """An ongoing matter, framed for the persona: 1-2 sentences, natural language."""

    arc_id: str
    number: int
    """The note's."""
    kind: ArcKind
    title: str
    summary: str
    confidence: Level
    stickiness: Stickiness
    sources: tuple[str, ...]
    last_touched_at_ms: int
    conversations_ago: int
    worth: dict[str, float] = Field(default_factory=dict)
    """As in `ArcCandidate`."""
    generalized: bool = False
    """True when it was uncertain, so that specifics were left out."""


class ScoredArc(Contract):
    """An arc with its score and the parts of that."""

    arc: Arc
    score: float
    breakdown: dict[str, float]
    """confidence, stickiness, emphasis, recency (never positive), the worth of the note, and diversity."""


class Selection(Contract):
    """The arcs of a bootstrap in two tiers, and those left out with the reason."""

    core: tuple[ScoredArc, ...] = Field(default=(), max_length=CORE_MAX)
    active: tuple[ScoredArc, ...] = Field(default=(), max_length=ACTIVE_MAX)
    left_out: tuple[tuple[ScoredArc, str], ...] = ()

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """Core, then active arcs."""
        return tuple(scored.arc for scored in (*self.core, *self.active))


class Stages(Contract):
    """Every stage of one generation, for `bootstrap run` and for the cache."""

    owner_key: str
    fingerprint: str
    relationship: RelationshipState
    candidates: tuple[ArcCandidate, ...]
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
    """A user's choice for a persona; survives clearing."""

    mode: Mode = "use"
    skip_preview: bool = False
    is_chosen: bool = True
    """False for the bot's default, while the user has not chosen."""


class SessionChoice(Contract):
    """The choice for one session, with the packet exactly as it was shown."""

    session_id: str
    mode: Choice
    """"off" after Start fresh: nothing of other sessions may reach the model through any tier."""
    internal_packet: str = ""
    chosen_at_ms: int


BootstrapInputs.model_rebuild()
