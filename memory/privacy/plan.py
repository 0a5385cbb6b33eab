"""The plan of a forgetting (P13): the request, and all that goes with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from memory.ports import Row, Statement
from memory.privacy.cutting import Cut
from memory.storage.store import SessionRow
from memory.storage.turn_rows import LoggedTurn
from memory.types import ConversationTurn, SessionState


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget something of one conversation."""

    conversation_id: str
    turn_ids: tuple[str, ...] = ()
    note_ids: tuple[str, ...] = ()
    """They go with older and newer values of the same; the messages stay."""
    messages_too: bool = False
    """The turns that these notes rest on go too; other notes that rest on them keep their own words."""
    kept_ids: tuple[str, ...] = ()
    """Notes made from the rest of those asked for: they stay."""
    beside_stays: bool = False
    """The messages were found by words: other notes of them stay, also when no note is asked for."""
    words: tuple[str, ...] = ()
    """Those words, as `word_keys`: the part of a message with them goes."""
    silent_ids: tuple[str, ...] = ()
    """Turns that tell these notes again: they stay, and no model is told them. `Forgetter.forget` finds them."""
    session_ids: tuple[str, ...] = ()
    everything: bool = False
    user_id: int | None = None
    """Only this person's words, as in a group; None = everybody's."""

    @property
    def wholly(self) -> bool:
        """True when the conversation itself goes."""
        return self.everything and self.user_id is None


@dataclass(frozen=True, slots=True)
class ForgetCounts:
    """Counts of things forgotten."""

    turns: int = 0
    notes: int = 0
    summaries: int = 0
    sessions: int = 0
    jobs: int = 0
    parts: int = 0
    """Turns of which a part goes."""
    beside: Mapping[str, int] = field(default_factory=dict)
    """Counts of extensions, by name."""


@dataclass(slots=True)
class ForgetPlan:
    """A plan, gathered piece by piece."""

    statements: list[Statement] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    turn_ids: set[str] = field(default_factory=set)
    session_ids: set[str] = field(default_factory=set)
    gone_texts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Words of people, from messages and from parts that go."""
    whole: list[str] = field(default_factory=list)
    """The words in messages that go whole."""
    told: list[str] = field(default_factory=list)
    """The words that tell the matter to be forgotten."""
    cuts: dict[str, Cut] = field(default_factory=dict)
    """Turns of which a part goes, after the cut."""
    touched: frozenset[str] = frozenset()
    """Turns that go, wholly or in part, and turns on which a note rests that goes."""
    quotable: list[str] = field(default_factory=list)
    """Words of turns and notes that go: a tool's result may repeat them."""
    notes: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    """The same with older values of them."""
    matters: list[str] = field(default_factory=list)
    """Those with their days, by which they are told again."""
    resting: frozenset[str] = frozenset()
    """Staying turns that nobody asked for, on which notes rest that go."""
    note_ids: set[str] = field(default_factory=set)
    """Notes that go, or whose history is written again: no checkpoint of the conversation may hold them."""
    staying: frozenset[str] = frozenset()
    """Notes of other matters than those asked for: they stay, even when their turns go."""
    left_texts: list[str] = field(default_factory=list)
    left: dict[str, list[ConversationTurn]] = field(default_factory=dict)
    """The staying turns of each session that loses some."""
    before: dict[str, list[ConversationTurn]] = field(default_factory=dict)
    """All turns of the same sessions, before."""
    logs: dict[str, list[LoggedTurn]] = field(default_factory=dict)
    """Their turns as they are stored."""
    gone: set[str] = field(default_factory=set)
    """Every turn that goes, wholly or in part, also of sessions that go as a whole."""
    jobs: list[Row] = field(default_factory=list)
    states: dict[str, tuple[SessionRow, SessionState]] = field(default_factory=dict)
    """Staying sessions, by id, with their states after it."""
    turns: int = 0
    summaries: int = 0
    beside: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, **params: object) -> None:
        """Add a statement."""
        self.statements.append(Statement(name, params))

    @property
    def counts(self) -> ForgetCounts:
        """The counts of everything that goes."""
        sessions, jobs = len(self.session_ids), len(self.jobs)
        return ForgetCounts(self.turns, len(self.notes), self.summaries, sessions, jobs, len(self.cuts), +self.beside)

    def left_of(self, before: Iterable[LoggedTurn]) -> list[LoggedTurn]:
        """The staying turns of a session, without the parts that go; their digests are not made again."""
        stay = [each for each in before if each.turn.turn_id not in self.gone or each.turn.turn_id in self.cuts]
        cuts = self.cuts
        return [replace(each, turn=cuts[id_].turn) if (id_ := each.turn.turn_id) in cuts else each for each in stay]
