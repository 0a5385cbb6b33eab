"""/usage: somebody's use of language models, by day and purpose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Final

from bot import replies
from bot.dates import day_text
from bot.delivery.outbox import OutgoingMessage
from bot.intake.updates import Envelope
from bot.people.spending import DayBudget, Spending, UsedThatDay, day_budget, day_of, money
from bot.turns.feature import Action, Command
from bot.turns.services import Services

DAYS_BEFORE: Final = 6
PURPOSES: Final = ("answer", "tools", "reading", "summary", "task")


def usage_text(used: Sequence[UsedThatDay], budget: DayBudget, now_ms: int, zone: str) -> str:
    """Return somebody's tokens of today by purpose, those of the days before, and their limits."""
    today = day_of(now_ms, zone)
    of_today = [each for each in used if each.day == today]
    by_purpose = {purpose: [each for each in of_today if each.purpose == purpose] for purpose in PURPOSES}
    told = {replies.say(f"usage_purposes.{purpose}"): found for purpose, found in by_purpose.items() if found}
    lines = [replies.say("usage_head"), *(f"• {name}: {_sum(found)}" for name, found in told.items())]
    if not of_today:
        lines.append(replies.say("usage_nothing"))
    before = sorted({each.day for each in used if each.day != today}, reverse=True)
    if before:
        lines += ["", replies.say("usage_before")]
        lines += [f"• {_day(day, now_ms, zone)}: {_sum(each for each in used if each.day == day)}" for day in before]
    if any(each.unpriced_tokens for each in used):
        lines += ["", replies.say("usage_unpriced")]
    return "\n".join([*lines, "", *_limits(of_today, budget, zone)])


def _limits(of_today: Sequence[UsedThatDay], budget: DayBudget, zone: str) -> list[str]:
    if budget.is_unlimited:
        return [replies.say("usage_no_limit")]
    limits = []
    if budget.tokens is not None:
        limits.append(replies.counted(budget.tokens, "token"))
    if budget.nanodollars is not None:
        limits.append(money(budget.nanodollars))
    share = budget.share(sum(each.tokens for each in of_today), sum(each.cost_nanodollars for each in of_today))
    percent = min(100, int(share * 100))
    return [replies.say("usage_limit", limit=", ".join(limits), percent=percent, zone=zone)]


def _sum(used: Iterable[UsedThatDay]) -> str:
    """Return `12,000 tokens, $0.04`; "?" beside money that is not all of it."""
    each = list(used)
    tokens, unpriced = sum(one.tokens for one in each), sum(one.unpriced_tokens for one in each)
    told = replies.counted(tokens, "token")
    if unpriced == tokens:
        return told
    return f"{told}, {money(sum(one.cost_nanodollars for one in each))}{' + ?' if unpriced else ''}"


def _day(day: str, now_ms: int, zone: str) -> str:
    """Return a day as people write it."""
    ahead = date.fromisoformat(day) - date.fromisoformat(day_of(now_ms, zone))
    return day_text(now_ms + ahead // timedelta(milliseconds=1), now_ms, zone, replies.spoken())


class ModelUsage:
    """Shows people their use of models."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._spending = Spending(services.db, day_budget(services.settings))
        self.commands: dict[str, Command] = {"usage": self.usage}
        self.actions: dict[str, Action] = {}

    async def usage(self, envelope: Envelope) -> None:
        """Tell this person's use of models, by day and purpose."""
        services = self._services
        if envelope.user_id is None:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("only_people"))])
            return
        zone = (await services.people.time_zone(envelope.user_id)).name
        now_ms = services.clock.now_ms()
        first = date.fromisoformat(day_of(now_ms, zone)) - timedelta(days=DAYS_BEFORE)
        used = await self._spending.since(envelope.user_id, first.isoformat())
        text = usage_text(used, self._spending.budget, now_ms, zone)
        await services.committer.done([envelope], [OutgoingMessage(text)])
