"""Work while nobody writes: bootstraps are kept fresh behind the start (001, lifecycle)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

import structlog

from bot.turns.services import Services
from memory.continuity.heartbeat import Heartbeat
from memory.continuity.staleness import Workload

EVERY_S = 60.0

log = structlog.get_logger(__name__)


class Idle:
    """Runs a heartbeat every minute; a message that arrives ends it at once.

    Summaries and compactions are made inside a turn, so an idle lane means that none is pending; readings are counted.
    """

    def __init__(self, services: Services, is_idle: Callable[[], bool], *, every_s: float = EVERY_S) -> None:
        self._clock = services.clock
        self._notes = services.memory.keeper.queue
        self._pending_readings = 0
        self._is_idle = is_idle
        self._every_s = every_s
        self._arrived_at_ms: int | None = None
        self._heartbeat = Heartbeat(
            services.db,
            services.memory.bootstrap,
            persona_of=services.personas.chosen,
            workload=self._workload,
            busy=lambda: not is_idle(),
        )

    def message_arrived(self) -> None:
        """Make room for a message that just came."""
        self._arrived_at_ms = self._clock.now_ms()
        self._heartbeat.message_arrived()

    async def run(self) -> None:
        """Beat until cancelled; a beat that fails is logged and the next one comes."""
        while True:
            await asyncio.sleep(self._every_s)
            try:
                self._pending_readings = await self._notes.waiting(self._clock.now_ms())
                await self._heartbeat.run()
            except Exception:
                log.exception("heartbeat failed")

    def _workload(self) -> Workload:
        idle_ms = None if self._arrived_at_ms is None else self._clock.now_ms() - self._arrived_at_ms
        return Workload(
            running_turns=0 if self._is_idle() else 1,
            pending_readings=self._pending_readings,
            idle_ms=idle_ms,
            load=_load(),
        )


def _load() -> float | None:
    """Return the load of the machine per core; None where the system does not tell."""
    with suppress(OSError, AttributeError):
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    return None
