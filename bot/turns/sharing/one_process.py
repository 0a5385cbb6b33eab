"""The port that hands updates to lanes, and its form for one process that has every chat to itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from bot.intake.updates import Envelope
from bot.turns.lanes import Lanes
from bot.turns.recovery import Recovery, StartReport


@dataclass(frozen=True, slots=True)
class Duties:
    """Work of a process besides its chats."""

    keep: Callable[[], Awaitable[None]]
    """Begins the work that is done once over all processes."""
    recover: Callable[[], Awaitable[None]]
    """Takes up the work that the timers of a dead process waited for."""
    met: Callable[[], Awaitable[None]]
    """Learns of people and chats that others have met."""


class Sharing(Protocol):
    """Hands updates to the lanes of the process that works on their chat."""

    async def begin(self, report: StartReport) -> None:
        """Take up work that an earlier process left, and begin to share. Raises `StorageUnavailable`."""
        ...

    def submit(self, envelope: Envelope) -> None:
        """Let an update that is written down be worked on."""
        ...

    def alone(self, conversation_id: str) -> AbstractAsyncContextManager[None]:
        """Let no turn be under way in a conversation meanwhile, in any process."""
        ...

    @property
    def idle(self) -> bool:
        """True when nothing waits to be handed to a lane."""
        ...

    async def keep(self) -> None:
        """Begin the work that is done once over all processes, now or when it falls to this one."""
        ...

    async def close(self) -> None:
        """Take nothing more."""
        ...


class OneProcess:
    """Every chat is this process's."""

    def __init__(
        self,
        lanes: Lanes,
        recovery: Recovery,
        *,
        keep: Callable[[], Awaitable[None]],
        recover: Callable[[], Awaitable[None]],
    ) -> None:
        """`keep` and `recover` as for `Workers`."""
        self._recover = recover
        self._recovery = recovery
        self._keep = keep
        self.submit = lanes.submit
        self.alone = lanes.alone

    async def begin(self, report: StartReport) -> None:
        """Take up the work that the process before left."""
        await self._recover()
        await self._recovery.run(report)

    @property
    def idle(self) -> bool:
        """Return True: every submitted update is in its lane."""
        return True

    async def keep(self) -> None:
        """Begin the work that is done once: here nobody else does it."""
        await self._keep()

    async def close(self) -> None:
        """Do nothing: the lanes are closed by themselves."""
