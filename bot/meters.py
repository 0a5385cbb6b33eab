"""What is counted and timed while the bot runs, for `/metrics`; the one file that imports prometheus-client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LAG_EVERY_S = 1.0
_SHORT_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LONG_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Meters:
    """The meters of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.turns = Counter("continuity_turns", "Turns stored by this process.", registry=self.registry)
        self.stage = Histogram(
            "continuity_turn_stage_seconds", "Seconds of a turn by stage: packet, model, commit.", ["stage"],
            buckets=_LONG_S, registry=self.registry,
        )  # fmt: skip
        self.commit = Histogram(
            "continuity_commit_seconds", "Seconds of a database commit with its fsync.",
            buckets=_SHORT_S, registry=self.registry,
        )  # fmt: skip
        self.failed_calls = Counter(
            "continuity_telegram_failures", "Calls to Telegram that failed, by kind; wait is a 429.", ["kind"],
            registry=self.registry,
        )  # fmt: skip
        self.lag = Histogram(
            "continuity_event_loop_lag_seconds", "How late the event loop woke up.", buckets=_SHORT_S,
            registry=self.registry,
        )  # fmt: skip
        self._gauges: dict[str, Gauge] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Time a stage of a turn."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.stage.labels(stage).observe(time.perf_counter() - began_s)

    def failed(self, kind: str) -> None:
        """Count a call to Telegram that failed."""
        self.failed_calls.labels(kind).inc()

    async def watch_lag(self) -> None:
        """Measure how late the event loop wakes up, until cancelled."""
        while True:
            due_s = time.perf_counter() + LAG_EVERY_S
            await asyncio.sleep(LAG_EVERY_S)
            self.lag.observe(max(0.0, time.perf_counter() - due_s))

    def gauge(self, name: str, what: str, values: Mapping[str, float], label: str = "") -> None:
        """Set a figure that is read at the moment of asking, one value per label value; old labels go."""
        gauge = self._gauges.get(name)
        if gauge is None:
            gauge = self._gauges[name] = Gauge(name, what, [label] if label else [], registry=self.registry)
        if not label:
            gauge.set(values[""])
            return
        gauge.clear()
        for value, number in values.items():
            gauge.labels(value).set(number)

    def text(self) -> bytes:
        """Return everything in the format that Prometheus reads."""
        return generate_latest(self.registry)
