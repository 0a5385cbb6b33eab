"""Whether a bot can take messages and answer them just now (P10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bot.intake.polling import POLL_TIMEOUT_S
from bot.joining.joining import Joined
from bot.joining.process import Process
from bot.turns.recovery import StartReport

LAG_S = 5.0
"""A bot whose event loop stood still for longer within the last half minute is not well: nobody was answered."""


@dataclass(frozen=True, slots=True)
class BotFault:
    """A reason why messages cannot be taken or answered."""

    kind: Literal["storage", "polling", "loop"]
    """Nothing of it tells a path or a driver's sentence."""
    text: str

    @property
    def sentence(self) -> str:
        """The fault for somebody who reads it: a driver's words say by themselves nothing of where they belong."""
        return str(self) if self.kind == "storage" else self.text

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True, slots=True)
class BotHealth:
    """Whether the bot can take and answer messages, and why not."""

    problems: tuple[BotFault, ...]
    detail: dict[str, Any]

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems


def health_of(joined: Joined, process: Process, report: StartReport) -> BotHealth:
    """Return whether messages can be taken and answered just now (P10)."""
    services = joined.services
    problems = list[BotFault]()
    refused = services.inbox.storage_error or joined.memory.db.trouble()
    if refused:
        problems.append(BotFault("storage", str(refused)))
    stalled_s = joined.poller.silent_for_s()
    if not process.settings.telegram_webhook_url and stalled_s > 2 * POLL_TIMEOUT_S:
        problems.append(BotFault("polling", f"Telegram has not answered for {stalled_s:.0f} s"))
    lag_s = process.meters.longest_lag_s()
    if lag_s > LAG_S:
        problems.append(BotFault("loop", f"the bot stood still for {lag_s:.1f} s"))
    detail = {
        "loop_lag_s": round(lag_s, 3),
        "boot_id": process.boot_id,
        "bot": services.me.username,
        "answered": joined.turns.answered,
        "outbox_backlog": services.delivery.backlog,
        "unreachable_chats": len(services.delivery.unreachable),
        "checkpoint_error": services.memory.recorder.checkpoint_error,
        "keeper_handed_over": services.memory.keeper.handed_over,
        "start": report.as_dict(),
    }
    return BotHealth(tuple(problems), detail)
