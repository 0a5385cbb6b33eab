"""The sessions in memory: hydrated when they are first needed, the longest unused let go."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from memory.errors import Conflict
from memory.process.turn_taking import TurnTaking
from memory.sessions.fold import KEPT_TURNS
from memory.sessions.hydrator import HydrationReport, Hydrator
from memory.storage.turn_rows import LoggedTurn
from memory.types import ConversationTurn, SessionState, SessionStatus

log = logging.getLogger(__name__)

_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class LiveSession:
    """A session in memory; replaced piece by piece only after a commit."""

    state: SessionState
    tail: tuple[LoggedTurn, ...]
    previous_digest: str | None
    version: int
    report: HydrationReport | None

    @property
    def turns(self) -> tuple[ConversationTurn, ...]:
        """The last turns, oldest first."""
        return tuple(logged.turn for logged in self.tail)

    def append(self, logged: LoggedTurn) -> None:
        """Keep a turn that was stored, and let go of the oldest beyond the number that a checkpoint carries."""
        self.tail = (*self.tail, logged)
        if len(self.tail) > KEPT_TURNS:
            self.previous_digest = self.tail[0].digest
            self.tail = self.tail[1:]


class LiveSessions:
    """At most `max_live` sessions; a writer of one holds its lock in `taking`."""

    def __init__(self, hydrator: Hydrator, taking: TurnTaking, max_live: int) -> None:
        self._hydrator = hydrator
        self._taking = taking
        self._max_live = max_live
        self._live: OrderedDict[str, LiveSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._live)

    def find(self, session_id: str | None) -> LiveSession | None:
        """Return a session that is in memory already."""
        return self._live.get(session_id) if session_id else None

    async def read(self, session_id: str) -> LiveSession:
        """Return the live session; one that has to be loaded waits for its present writer.

        Raises `UnknownSession` and `StorageUnavailable`, as `load` does.
        """
        live = self._used(session_id)
        if live:
            return live
        async with self._taking.of(session_id):
            return await self.load(session_id)

    async def load(self, session_id: str) -> LiveSession:
        """Return the session, hydrated if need be, to a caller that holds its lock."""
        live = self._used(session_id)
        if live:
            return live
        found = await self._hydrator.hydrate(session_id)
        for warning in found.report.warnings:
            log.warning("session %s: %s", session_id, warning)
        state = found.state
        if state.status == "shutdown_clean":  # 002 section 5.7: it is being taken up again
            state = state.model_copy(update={"status": "resuming"})
        return self.keep(session_id, LiveSession(state, found.tail, found.previous_digest, found.version, found.report))

    def keep(self, session_id: str, live: LiveSession) -> LiveSession:
        """Keep a session (return the one kept already, if any), and let go of the longest unused beyond the limit."""
        live = self._live.setdefault(session_id, live)
        while len(self._live) > self._max_live:
            self._live.popitem(last=False)
        return live

    def status_written(self, session_id: str | None, status: SessionStatus) -> None:
        """Follow a change of a session's status that was committed."""
        live = self.find(session_id)
        if live:
            live.version += 1
            live.state = live.state.model_copy(update={"status": status})

    def drop(self, session_id: str) -> None:
        """Let go of a session; it is loaded from the disk when it is needed again."""
        self._live.pop(session_id, None)

    def of(self, belongs: Callable[[str], bool]) -> list[str]:
        """Return the sessions in memory of these conversations."""
        return [session_id for session_id, live in self._live.items() if belongs(live.state.conversation_id)]

    def _used(self, session_id: str) -> LiveSession | None:
        live = self._live.get(session_id)
        if live:
            self._live.move_to_end(session_id)
        return live


async def once_more(work: Callable[[], Awaitable[_T]]) -> _T:
    """Do the work; after a conflict, which has thrown the stale session out of memory, do it once more."""
    try:
        return await work()
    except Conflict:
        return await work()
