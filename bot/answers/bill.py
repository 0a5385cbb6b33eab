"""Cost of one answer, over every attempt and every model that was asked for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.answers.cost import Usage, spent_of
from bot.answers.loop import ModelLoop, Progress
from bot.meters.spent import Purpose, Spend, Spent
from bot.settings import Prices


@dataclass(slots=True)
class Bill:
    """The uses of models for one answer; each is counted as it is added."""

    spend: Spend
    prices: Prices
    by_clock: bool = False
    """For a run of a task: all of it counts as that."""
    uses: list[Spent] = field(default_factory=list)

    async def add(self, model: str, loop: ModelLoop, progress: Progress) -> None:
        """Add the usage of an attempt: that of the answer, and that of going on with the results of tools."""
        answer = progress.usage.less(progress.tool_usage)
        parts: dict[Purpose, Usage] = {"answer": answer, "tools": progress.tool_usage}
        if self.by_clock:
            parts = {"task": progress.usage}
        for purpose, usage in parts.items():
            if usage.input_tokens or usage.output_tokens:
                await loop.price(usage)
                spent = spent_of(model, purpose, usage, self.prices)
                self.uses.append(spent)
                self.spend(spent)
        progress.usage, progress.tool_usage = Usage(), Usage()


def total_cost(uses: Iterable[Spent]) -> int | None:
    """Return the sum of the uses' costs, as far as prices are known; None when none is."""
    known = [use.cost_nanodollars for use in uses if use.cost_nanodollars is not None]
    return sum(known) if known else None
