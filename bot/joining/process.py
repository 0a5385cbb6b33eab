"""One start of the bot: what it was given, and what tells it from the starts before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.answers.responder import Responder
from bot.delivery.rate_limit import RateLimits
from bot.meters.meters import Meters
from bot.pauses import Pauses
from bot.settings import Settings
from bot.tools.web.addresses import Reach, is_public
from memory.ports import Clock, Ids


@dataclass(frozen=True, slots=True)
class Process:
    """One start of the bot: its options, and its difference from the starts before."""

    settings: Settings
    clock: Clock
    ids: Ids
    boot_id: str
    meters: Meters
    limits: RateLimits
    pauses: Pauses
    responder: Responder | None
    """Who answers; None for the one that the settings name."""
    announce: Callable[[str], None]
    """Prints for whoever reads the console."""
    fail: Callable[[str], None]
    """Ends the process: going on can never work."""
    behind: Callable[..., object]
    """Runs work that nobody waits for, by its name; it ends with the bot."""
    keep: Callable[[], Awaitable[None]]
    """Begins what has to be done once over all processes that share the work."""
    may_reach: Reach = is_public
    """Which addresses a page may be read from."""


def announce_now(text: str) -> None:
    """Print for whoever reads the console, also when it is a pipe that would hold it back."""
    print(text, flush=True)  # noqa: T201 - the pairing code is for the console, not for the log
