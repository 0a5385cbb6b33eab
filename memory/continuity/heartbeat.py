"""The idle task that keeps every bootstrap fresh (001): runs only when nothing waits, yields when a message comes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from memory.continuity.bootstrap import Bootstrap
from memory.continuity.staleness import Workload, heartbeat_decision
from memory.continuity.types import BootstrapOwner, Persona
from memory.errors import StorageUnavailable
from memory.ports import Database, Row

PAGE = 100
_END_OF_TIME_MS = 2**62

PersonaOf = Callable[[int], Awaitable[Persona | None]]
"""The persona that a user has now; None when it is missing, then the user is skipped."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class HeartbeatReport:
    """The work of one heartbeat: bootstraps made, and bootstraps skipped by reason."""

    generated: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    stopped: str = ""
    """Why it ended before it was through; "" when it was through."""

    def skip(self, reason: str) -> None:
        """Count one owner that needed nothing."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


@dataclass(slots=True)
class _Pass:
    """One pass over the active sessions, latest first, which may take several heartbeats."""

    since_ms: int = -1
    """The beginning of the pass before: older sessions were seen then."""
    newest_ms: int = -1
    before_ms: int = _END_OF_TIME_MS
    before_id: str = ""
    done: set[tuple[str, int]] = field(default_factory=set)
    """Conversation and user: one with several sessions is looked after once."""

    def position(self) -> dict[str, int | str]:
        """Return the beginning of the next page, as parameters of its query."""
        return {"since_ms": self.since_ms, "before_ms": self.before_ms, "before_id": self.before_id}

    def step(self, row: Row) -> None:
        """Leave one session behind."""
        self.newest_ms = max(self.newest_ms, row["last_turn_at_ms"])
        self.before_ms, self.before_id = row["last_turn_at_ms"], row["session_id"]
        self.done.add((row["conversation_id"], row["user_id"]))

    def next(self) -> _Pass:
        """Return the pass that begins where this one began."""
        return _Pass(since_ms=max(self.since_ms, self.newest_ms))


class Heartbeat:
    """Generates stale bootstraps one user after another while the process is idle.

    `workload` counts the waiting work (the gate before it starts), `busy` tells of a message (asked before each user).
    `message_arrived` stops it in the middle of a user; the next heartbeat goes on with that user. Changes without a
    turn (a loop closed by a button, something forgotten) are worked in when a preview is next shown, not here.
    """

    def __init__(
        self,
        db: Database,
        bootstrap: Bootstrap,
        *,
        persona_of: PersonaOf,
        workload: Callable[[], Workload],
        busy: Callable[[], bool],
    ) -> None:
        self._db = db
        self._bootstrap = bootstrap
        self._persona_of = persona_of
        self._workload = workload
        self._busy = busy
        self._pass = _Pass()
        self._current: asyncio.Task[None] | None = None
        self._running = False

    def message_arrived(self) -> None:
        """Stop the generation that is running, if one is; a model call inside it is cancelled."""
        if self._current is not None:
            self._current.cancel()

    async def run(self) -> HeartbeatReport:
        """Do one heartbeat and log its work, or why it did nothing; never raises but when cancelled itself."""
        report = HeartbeatReport()
        decision = heartbeat_decision(self._workload())
        if self._running or not decision.go:
            report.stopped = "still running" if self._running else decision.reason
        else:
            self._running = True
            try:
                await self._work(report)
            except StorageUnavailable as exc:
                report.stopped = str(exc)
            finally:
                self._running = False
        _log.info(
            "bootstrap heartbeat: generated=%d skipped=%s failed=%d stopped=%s",
            report.generated,
            report.skipped,
            report.failed,
            report.stopped or "no",
        )
        return report

    async def _work(self, report: HeartbeatReport) -> None:
        """Go through everybody who was active since the last pass, until a message comes; then go on from there."""
        await self._bootstrap.warm_up()
        while page := await self._db.read("continuity_activity", limit=PAGE, **self._pass.position()):
            for row in page:
                if self._busy() or not await self._finished(row, report):
                    report.stopped = "a message came"
                    return
                self._pass.step(row)
        self._pass = self._pass.next()

    async def _finished(self, row: Row, report: HeartbeatReport) -> bool:
        """Look after one user in a task that a message can cancel; return whether it finished."""
        self._current = asyncio.create_task(self._one(row, report))
        try:
            await asyncio.wait({self._current})
            if self._current.cancelled():
                return False
            self._current.result()
        finally:
            await self._drop_current()
        return True

    async def _one(self, row: Row, report: HeartbeatReport) -> None:
        """Look after one user; a failure is counted and does not keep the next from their turn."""
        if (row["conversation_id"], row["user_id"]) in self._pass.done:
            return
        persona = await self._persona_of(row["user_id"])
        if persona is None:
            report.skip("persona missing")
            return
        owner = BootstrapOwner(conversation_id=row["conversation_id"], user_id=row["user_id"], persona=persona)
        try:
            decision = await self._bootstrap.refresh_if_stale(owner)
        except StorageUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one user must not keep the next from their turn; it is logged with its traceback
            report.failed += 1
            _log.exception("bootstrap heartbeat: one generation failed and is left for the next message")
            return
        if decision.go:
            report.generated += 1
        else:
            report.skip(decision.reason)

    async def _drop_current(self) -> None:
        """Forget the current task; when the heartbeat itself is cancelled, the task goes with it."""
        task, self._current = self._current, None
        if task is not None and not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
