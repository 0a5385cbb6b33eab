"""When old turns are folded into the summary, which ones, and whether the outcome may be used (004). Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory.context.budget import FLOOR_TURNS, MIN_TURNS, Budget
from memory.context.transcript import turn_messages, turn_tokens
from memory.ports import TokenCounter
from memory.types import CompactionMark, ConversationTurn, SessionState

Method = Literal["deterministic", "model", "truncation"]

HOLD_TURNS: Final = 10
"""After an undo nothing is compacted for this many turns, or the undo would be undone by the next message."""

_FLOOR_PERCENT: Final = 75
"""Thirty turns stay when they take at most this share of the history, so that the next turn is not compacted again."""
_SHRINK_PERCENT: Final = 60
"""A summary takes at most this share of the turns that it replaces: every compaction makes the prompt smaller."""
_MIN_SUMMARY_TOKENS: Final = 60


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """A compaction before it is done: turns that go into the summary, turns that stay verbatim."""

    session_id: str
    reason: str
    segment: tuple[ConversationTurn, ...]
    """The turns that go into the summary, oldest first."""
    previous: str
    """The summary that they are merged with."""
    summary_max_tokens: int
    history_from_seq: int
    tokens_before: int
    """History and summary before."""
    verbatim_tokens: int
    """History afterwards, without the summary."""

    @property
    def from_seq(self) -> int:
        """The first turn that goes in."""
        return self.segment[0].seq

    @property
    def through_seq(self) -> int:
        """The last turn that goes in."""
        return self.segment[-1].seq


@dataclass(frozen=True, slots=True)
class _Priced:
    turn: ConversationTurn
    tokens: int
    messages: int


def verbatim(state: SessionState, turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """Return the turns that the state's compaction leaves verbatim, oldest first, each once.

    A turn that was edited and answered again stands there in its new form alone.
    """
    mark = state.compaction
    unique = {turn.seq: turn for turn in turns if turn.turn_id not in state.undone}
    return [unique[seq] for seq in sorted(unique) if mark is None or mark.leaves(seq)]


def plan(
    state: SessionState,
    turns: Sequence[ConversationTurn],
    budget: Budget,
    counter: TokenCounter,
) -> CompactionPlan | None:
    """Return the turns to compact before the next model call, or None while the history fits (004 trigger).

    It cuts back to about 60 % of the history budget in one step, so that the prompt's beginning stays the same for many
    turns. The last `recency_window` messages stay, more while they are small, fewer when they are large, never fewer
    than three turns. What goes are the oldest, all of them: a turn that stayed amid them would stand without what was
    said to it later, and may have been taken back there.
    """
    shown, kept = verbatim(state, turns), state.compaction.kept_seqs if state.compaction else ()
    window = [_Priced(turn, turn_tokens(turn, counter), turn_messages(turn)) for turn in shown]
    tokens = sum(each.tokens for each in window)
    messages = sum(each.messages for each in window)
    if tokens <= budget.history_tokens and messages <= budget.max_history_messages:
        return None
    recent = [each for each in _recent(window, budget) if each.turn.seq not in kept]
    segment = window[: len(window) - len(recent)]
    if not segment:
        return None
    previous = _previous(state, window[0].turn.seq)
    before = counter.count(previous)
    return CompactionPlan(
        session_id=state.session_id,
        reason=_reason(tokens, messages, budget),
        segment=tuple(each.turn for each in segment),
        previous=previous,
        summary_max_tokens=_summary_room(before, _sum(segment), budget),
        history_from_seq=recent[0].turn.seq,
        tokens_before=tokens + before,
        verbatim_tokens=_sum(recent),
    )


def mark_of(plan: CompactionPlan, compaction_id: str, summary: str, counter: TokenCounter) -> CompactionMark | None:
    """Return the mark that the plan leaves with this summary, or None when the prompt would not become smaller."""
    tokens = counter.count(summary)
    if not summary.strip() or plan.verbatim_tokens + tokens >= plan.tokens_before:
        return None
    return CompactionMark(
        compaction_id=compaction_id,
        history_from_seq=plan.history_from_seq,
        summary=summary,
        summary_tokens=tokens,
    )


def truncation(plan: CompactionPlan, compaction_id: str, counter: TokenCounter) -> CompactionMark:
    """Return the mark that only leaves the old turns out: the way out when no summary makes the prompt smaller."""
    return CompactionMark(
        compaction_id=compaction_id,
        history_from_seq=plan.history_from_seq,
        summary=plan.previous,
        summary_tokens=counter.count(plan.previous),
    )


def held(turns: Sequence[ConversationTurn], undone_at_ms: int | None) -> bool:
    """Return whether an undo still holds: fewer than ten turns were stored since."""
    return undone_at_ms is not None and sum(turn.created_at_ms > undone_at_ms for turn in turns) < HOLD_TURNS


def _recent(window: Sequence[_Priced], budget: Budget) -> list[_Priced]:
    """Return the newest turns that stay: three at least, thirty when they fit, the recency window if not too large."""
    tokens = messages = 0
    taken: list[_Priced] = []
    most_messages = budget.max_history_messages * budget.compact_to_percent // 100
    newest = window[-FLOOR_TURNS:]
    fits = _sum(newest) <= _room(budget) and sum(each.messages for each in newest) <= budget.max_history_messages
    floor = fits and len(window) > FLOOR_TURNS
    for each in reversed(window):
        tokens += each.tokens
        messages += each.messages
        is_over = tokens > budget.compact_to_tokens or messages > most_messages
        if len(taken) >= MIN_TURNS and is_over and not (floor and len(taken) < FLOOR_TURNS):
            break
        taken.append(each)
    return taken[::-1]


def _room(budget: Budget) -> int:
    """Return the most tokens of history that a compaction leaves."""
    return budget.history_tokens * _FLOOR_PERCENT // 100


def _previous(state: SessionState, first_seq: int) -> str:
    """Return the summary that stands for turns outside the window; nothing when it shows all."""
    if state.compaction:
        return state.compaction.summary
    return state.rolling_summary if first_seq > 1 else ""


def _summary_room(previous_tokens: int, segment_tokens: int, budget: Budget) -> int:
    shrinking = previous_tokens + segment_tokens * _SHRINK_PERCENT // 100
    return min(budget.summary_tokens, max(shrinking, _MIN_SUMMARY_TOKENS))


def _sum(priced: Sequence[_Priced]) -> int:
    return sum(each.tokens for each in priced)


def _reason(tokens: int, messages: int, budget: Budget) -> str:
    if tokens > budget.history_tokens:
        return f"history of {tokens} tokens is over its budget of {budget.history_tokens}"
    return f"history of {messages} messages is over the limit of {budget.max_history_messages}"


def gap(held: Collection[int], first: int, last: int) -> tuple[int, int] | None:
    """Return the stretch that has to be read, the window's missing part; None where all is held."""
    missing = [seq for seq in range(first, last + 1) if seq not in held]
    return (missing[0], missing[-1]) if missing else None
