"""The tiers on their way into the packet: their items, the items left out, and the turns that stand verbatim. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.context.budget import FIRST_TURN_TOKENS, MIN_TURNS, Budget
from memory.context.compaction.plan import verbatim
from memory.context.transcript import abridge, clip_to_tokens, clip_tools, turn_messages, turn_tokens
from memory.packets import Tier, TierReceipt
from memory.ports import TokenCounter
from memory.types import ConversationTurn, SessionState

_MIN_ABRIDGED_TOKENS: Final = 60


@dataclass(slots=True)
class TierPart:
    """A tier with its budget; its items with their tokens, the most precious first."""

    tier: Tier
    budget: int
    items: list[tuple[Any, int]] = field(default_factory=list)
    cut_items: int = 0
    cut_tokens: int = 0
    error: str | None = None
    uncounted: tuple[Any, ...] = ()
    """Values that are told and are no item themselves: the line that counts the rest."""

    @property
    def used(self) -> int:
        """Tokens of the items taken."""
        return sum(tokens for _, tokens in self.items)

    @property
    def values(self) -> list[Any]:
        """The items taken."""
        return [value for value, _ in self.items]

    def drop(self) -> None:
        """Leave out the least precious item."""
        self._leave_out(self.items.pop()[1])

    def offer(self, value: Any, tokens: int) -> bool:
        """Take the item if it fits into the rest of the tier's budget."""
        if self.used + tokens > self.budget:
            self._leave_out(tokens)
            return False
        self.items.append((value, tokens))
        return True

    def offer_lines(self, lines: Sequence[str], counter: TokenCounter) -> None:
        """Take the lines that fit, in their order; a single line that is too long for the tier is clipped."""
        for line in filter(None, (line.rstrip() for line in lines)):
            text = line
            cost = 1 + counter.count(text)
            if cost > self.budget:
                self.cut_tokens += cost - self.budget
                text = clip_to_tokens(line, self.budget - 1, counter)
                cost = 1 + counter.count(text)
            self.offer(text, cost)

    def receipt(self, missing_turns: int) -> TierReceipt:
        """The receipt of the tier: items and tokens taken, items left out."""
        return TierReceipt(
            tier=self.tier,
            budget_tokens=self.budget,
            used_tokens=self.used,
            items=sum(value not in self.uncounted for value in self.values),
            cut_items=missing_turns if self.tier == "history" else self.cut_items,
            cut_tokens=self.cut_tokens,
            error=self.error,
        )

    def _leave_out(self, tokens: int) -> None:
        self.cut_items += 1
        self.cut_tokens += tokens


def fill_history(
    part: TierPart, state: SessionState, turns: Sequence[ConversationTurn], budget: Budget, counter: TokenCounter
) -> None:
    """Take turns while they fit, the newest first.

    Where what is left out has no summary (`truncate`) the first follows on the last three, at a small size. Of the last
    three the one at the edge is shortened rather than lost; behind it there is no room for others.
    """
    waiting = _by_worth(state, turns, budget)[::-1]
    messages = 0
    while waiting:
        turn = clip_tools(waiting[-1], budget.tool_output_max_chars)
        if _is_head(turn, part, budget) and turn_tokens(turn, counter) > FIRST_TURN_TOKENS:
            turn = abridge(turn, FIRST_TURN_TOKENS, counter)
        messages += turn_messages(turn)
        cost = turn_tokens(turn, counter)
        if messages > budget.max_history_messages or part.used + cost > part.budget:
            break
        part.items.append((turn, cost))
        waiting.pop()
    if waiting and len(part.items) < MIN_TURNS and messages <= budget.max_history_messages:
        shorten_into(part, waiting.pop(), part.budget - part.used, counter)
    for turn in waiting:
        part.cut_tokens += turn_tokens(turn, counter)


def shown_whole(
    state: SessionState, turns: Sequence[ConversationTurn], budget: Budget, counter: TokenCounter
) -> list[ConversationTurn]:
    """Return the turns that the prompt says word by word: a find in them need not be said again."""
    part = TierPart("history", budget.history_tokens)
    fill_history(part, state, turns, budget, counter)
    stored = {turn.turn_id: turn for turn in turns}
    return [turn for turn, _ in part.items if is_said(turn, stored[turn.turn_id])]


def is_said(shown: ConversationTurn, stored: ConversationTurn) -> bool:
    """Whether a turn is shown in all its words; results of its tools may be shortened."""
    return (shown.user_text, shown.assistant_text) == (stored.user_text, stored.assistant_text)


def shorten_into(part: TierPart, turn: ConversationTurn, room: int, counter: TokenCounter) -> None:
    """Put the turn into the history at the size of `room`, or leave it out where that would say nothing."""
    before = turn_tokens(turn, counter)
    if part.items and room < _MIN_ABRIDGED_TOKENS:
        part.cut_tokens += before
        return
    short = abridge(turn, room, counter)
    after = turn_tokens(short, counter)
    part.items.append((short, after))
    part.cut_tokens += max(0, before - after)


def _is_head(turn: ConversationTurn, part: TierPart, budget: Budget) -> bool:
    return budget.strategy == "truncate" and turn.seq == 1 and len(part.items) >= MIN_TURNS


def _by_worth(state: SessionState, turns: Sequence[ConversationTurn], budget: Budget) -> list[ConversationTurn]:
    """Return the turns that may be shown, the most precious first; a cut takes them from the end."""
    newest_first = verbatim(state, turns)[::-1]
    if budget.strategy == "summarize":
        return newest_first
    last, older = newest_first[:MIN_TURNS], newest_first[MIN_TURNS:]
    return [*last, *(turn for turn in older if turn.seq == 1), *(turn for turn in older if turn.seq != 1)]
