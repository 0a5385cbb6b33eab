"""One start of the bot: its options, and its difference from the starts before."""

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
    """The options and the identity of one start."""

    settings: Settings
    clock: Clock
    ids: Ids
    boot_id: str
    meters: Meters
    limits: RateLimits
    pauses: Pauses
    responder: Responder | None
    """Answers people; None for the one that the settings name."""
    announce: Callable[[str], None]
    """Prints on the console."""
    fail: Callable[[str], None]
    """Ends the process: going on can never work."""
    behind: Callable[..., object]
    """Runs work that nobody waits for, by its name; it ends with the bot."""
    keep: Callable[[], Awaitable[None]]
    """Begins the work that is done once over all processes that share it."""
    may_reach: Reach = is_public
    """Whether a page may be read from an address."""


def announce_now(text: str) -> None:
    """Print on the console, also through a pipe that would hold the text back."""
    print(text, flush=True)  # noqa: T201 - the pairing code is for the console, not for the log
