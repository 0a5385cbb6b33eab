"""The tokens of each tier of the packet, and the cap over all of them (003 FR-005, DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from memory.packets import Tier
from memory.ports import TokenCounter

TIERS: Final[tuple[Tier, ...]] = (
    "history", "summary", "memories", "retrieved", "today", "threads", "last_conversation",
)  # fmt: skip
"""All tiers, the most precious first."""

CUT_ORDER: Final[tuple[Tier, ...]] = (
    "last_conversation", "threads", "today", "retrieved", "memories", "summary", "history",
)  # fmt: skip
"""Which tier gives way first when the cap is reached; history loses its oldest turns."""

MIN_HISTORY_TOKENS: Final = 100
"""The smallest history tier: room for the exchange that a short reply answers, abridged."""

FRAME_TOKENS: Final = 500
"""Room beside the history for times, authors, headings and fences."""

MAX_MISSES: Final = 20

MIN_TURNS: Final = 3
"""Turns of any size that stay verbatim (002 section 4: the last 3 raw turns)."""

FIRST_TURN_TOKENS: Final = 200
"""Where turns are left out without a summary the first exchange of a session stays (000 section 2), in this size."""

FLOOR_TURNS: Final = 30
"""A compaction leaves this many turns verbatim when they fit the history's budget."""

NEAR_LIMIT_PERCENT: Final = 80
"""A prompt that takes more of the cap is reported (004 phase 1)."""

Strategy = Literal["summarize", "truncate"]
"""The fate of turns that have no room (000 section 3): folded into a summary, or left out."""

MIN_TOOL_OUTPUT_CHARS: Final = 100
"""Below this hardly a sentence is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Token budgets of the tiers, the cap over all, and the windows; wrong combinations raise `ValueError`.

    The cap may be smaller than the sum of the tiers (then the cut order decides), but not smaller than the parts that
    must always fit: the history tier and `FRAME_TOKENS`.
    """

    history_tokens: int = 3000
    summary_tokens: int = 1000
    retrieved_tokens: int = 600
    today_tokens: int = 500
    threads_tokens: int = 400
    memories_tokens: int = 600
    last_conversation_tokens: int = 300
    cap_tokens: int = 6150
    max_history_messages: int = 120
    recency_window: int = 6
    tool_output_max_chars: int = 4000
    compact_to_percent: int = 60
    """A compaction cuts the history back to this share of its budget in one step."""
    strategy: Strategy = "summarize"

    def __post_init__(self) -> None:
        problems = [*self._wrong_tiers(), *self._wrong_windows()]
        if problems:
            raise ValueError("; ".join(problems))

    def tokens(self, tier: Tier) -> int:
        """Return the budget of one tier."""
        value: int = getattr(self, f"{tier}_tokens")
        return value

    @property
    def max_history_turns(self) -> int:
        """Turns that `max_history_messages` allows: a turn is two messages."""
        return self.max_history_messages // 2

    @property
    def recent_turns(self) -> int:
        """Turns that a compaction leaves verbatim when their size allows it; never fewer than three."""
        return max(MIN_TURNS, self.recency_window // 2)

    def beside(self, reserved_tokens: int) -> Budget:
        """Return the budget whose history leaves room under the cap for instructions, tools and the bootstrap."""
        room = max(MIN_HISTORY_TOKENS, self.cap_tokens - FRAME_TOKENS - reserved_tokens)
        return self if room >= self.history_tokens else replace(self, history_tokens=room)

    @property
    def compact_to_tokens(self) -> int:
        """History tokens that a compaction aims at."""
        return self.history_tokens * self.compact_to_percent // 100

    def _wrong_tiers(self) -> list[str]:
        wrong = [
            f"the {tier} budget is {self.tokens(tier)} tokens; it cannot be negative, use 0 to switch the tier off"
            for tier in TIERS
            if self.tokens(tier) < 0
        ]
        if self.history_tokens < MIN_HISTORY_TOKENS:
            wrong.append(
                f"the history budget is {self.history_tokens} tokens, but the exchange that a short reply answers "
                f"needs {MIN_HISTORY_TOKENS}; raise it"
            )
        if self.cap_tokens < self.history_tokens + FRAME_TOKENS:
            wrong.append(
                f"the cap over all tiers is {self.cap_tokens} tokens, smaller than what must always fit: "
                f"{self.history_tokens} of history and {FRAME_TOKENS} for the frame; raise the cap or lower the history"
            )
        return wrong

    def _wrong_windows(self) -> list[str]:
        wrong = []
        if self.max_history_messages < 2 * MIN_TURNS:
            wrong.append(
                f"max_history_messages is {self.max_history_messages}; the last {MIN_TURNS} turns "
                f"({2 * MIN_TURNS} messages) always stay, use at least that"
            )
        if not 1 <= self.recency_window <= self.max_history_messages:
            wrong.append(
                f"recency_window is {self.recency_window} messages; use 1 to {self.max_history_messages} "
                "(max_history_messages)"
            )
        if self.tool_output_max_chars < MIN_TOOL_OUTPUT_CHARS:
            wrong.append(f"tool_output_max_chars is {self.tool_output_max_chars}; use at least {MIN_TOOL_OUTPUT_CHARS}")
        if not 10 <= self.compact_to_percent <= 90:  # noqa: PLR2004 - a share that is neither nothing nor everything
            wrong.append(f"compact_to_percent is {self.compact_to_percent}; use 10 to 90")
        return wrong


def cost_of(lines: Mapping[int, str], counter: TokenCounter) -> int:
    """The tokens of lines, each with its break."""
    return sum(counter.count(line) + 1 for line in lines.values())


def fitting(
    lines: Iterable[tuple[int, str]], most: int, counter: TokenCounter, most_misses: int = MAX_MISSES
) -> dict[int, str]:
    """The lines that fit, in their order; after so many misses in a row no more are tried."""
    found, missed = dict[int, str](), 0
    for number, line in lines:
        cost, missed = counter.count(line) + 1, missed + 1
        if cost <= most:
            most, missed, found[number] = most - cost, 0, line
        elif missed > most_misses:
            break
    return found
