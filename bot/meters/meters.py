"""Counters and timers of a running bot, for `/metrics`; the one file that imports prometheus-client."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.meters.spent import NANODOLLARS, Spent
from bot.meters.tracing import NoTracer, Span, Tracer
from memory.packets import ConversationContextPacket

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LAG_EVERY_S = 1.0
LAG_RECENT_S = 30.0
"""Age up to which `/health` tells of a standstill of the event loop."""
_SHORT_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_TOKENS = (100, 200, 350, 600, 1_000, 1_500, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 12_000, 20_000, 40_000, 80_000)
_LONG_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@dataclass(slots=True)
class Stopwatch:
    """Seconds that something took."""

    seconds: float = 0.0

    @property
    def ms(self) -> int:
        """The time in milliseconds."""
        return round(self.seconds * 1000)


class Meters:
    """The meters of one process; with a tracer each turn and its stages are spans too."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        self.tracer = tracer or NoTracer()
        self.registry = CollectorRegistry()
        self._gauges: dict[str, Gauge] = {}
        self.turns = self._counter("continuity_turns", "Turns stored by this process.")
        self.stage = self._histogram(
            "continuity_turn_stage_seconds",
            "Seconds of a turn by stage: queue (received to begun), packet, model, commit, delivery (stored to shown).",
            _LONG_S,
            "stage",
        )
        self.commit = self._histogram(
            "continuity_commit_seconds", "Seconds of a database transaction, its statements and its fsync.", _SHORT_S
        )
        self.fsync = self._histogram(
            "continuity_fsync_seconds",
            "Seconds spent waiting for the disk: a commit's write to the log, a checkpoint's files.",
            _SHORT_S,
            "what",
        )
        self.lag = self._histogram("continuity_event_loop_lag_seconds", "How late the event loop woke up.", _SHORT_S)
        self._late: deque[tuple[float, float]] = deque(maxlen=int(LAG_RECENT_S / LAG_EVERY_S))
        self._due_s = math.inf
        self._context = self._histogram(
            "continuity_context_tokens",
            "Tokens that a model was given for an answer: the whole prompt, and of it notes, history and finds.",
            _TOKENS,
            "part",
        )
        self._telegram = self._counter(
            "continuity_telegram_failures", "Calls to Telegram that failed, by kind (wait = 429) and what was done.",
            "kind", "then",
        )  # fmt: skip
        self._retries = self._counter("continuity_work_retries", "Updates that failed and were tried again.")
        self._model_failures = self._counter(
            "continuity_model_failures", "Requests to a model that failed; rate_limit is a 429.", "model", "kind"
        )
        self._tokens = self._counter(
            "continuity_model_tokens", "Tokens by model, purpose and kind: input, cached (of the input), output.",
            "model", "purpose", "kind",
        )  # fmt: skip
        self._cost = self._counter(
            "continuity_model_cost_dollars", "US dollars that models took, as far as prices are known.",
            "model", "purpose",
        )  # fmt: skip
        self._calls = self._counter(
            "continuity_model_calls", "Uses of a model, by whether their price is known.", "model", "purpose", "priced"
        )
        self._readings = self._counter(
            "continuity_readings", "Sessions read for their notes, by reader: done or failed.", "reader", "result"
        )
        self._items = self._counter(
            "continuity_reading_items", "What readers proposed: kept, or dropped and why.", "reader", "result"
        )

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(name, what, labels, registry=self.registry)

    def _histogram(self, name: str, what: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(name, what, labels, buckets=buckets, registry=self.registry)

    def turn(self, turn_id: str) -> AbstractContextManager[Span]:
        """Trace one turn; its stages are children."""
        return self.tracer.span("turn", continuity__turn_id=turn_id)

    @contextmanager
    def timed(self, stage: str) -> Iterator[Stopwatch]:
        """Time a stage of a turn; the stopwatch has the seconds afterwards."""
        watch, began_s = Stopwatch(), time.perf_counter()
        with self.tracer.span(stage):
            try:
                yield watch
            finally:
                watch.seconds = time.perf_counter() - began_s
                self.took(stage, watch.seconds)

    def took(self, stage: str, seconds: float) -> None:
        """Note how long a stage took."""
        self.stage.labels(stage).observe(max(0.0, seconds))

    def shown(self, seconds: float) -> None:
        """Note how long a part took from the outbox to the screen."""
        self.took("delivery", seconds)

    def gave(self, packet: ConversationContextPacket) -> None:
        """Note the tokens of the prompt for an answer."""
        used = {receipt.tier: receipt.used_tokens for receipt in packet.receipts}
        self._context.labels("prompt").observe(packet.prompt_tokens)
        self._context.labels("notes").observe(used.get("memories", 0) + used.get("threads", 0))
        self._context.labels("history").observe(used.get("history", 0))
        self._context.labels("finds").observe(used.get("retrieved", 0))

    def waited_for_disk(self, what: str, seconds: float) -> None:
        """Note an fsync of `"database"` or `"checkpoint"`; from any thread."""
        self.fsync.labels(what).observe(seconds)

    def failed(self, kind: str, then: str) -> None:
        """Count a failed call to Telegram by its kind and the action taken."""
        self._telegram.labels(kind, then).inc()

    def tried_again(self) -> None:
        """Count work on updates that failed and is tried again."""
        self._retries.inc()

    def model_failed(self, model: str, kind: str) -> None:
        """Count a request to a model that failed."""
        self._model_failures.labels(model, kind).inc()

    def spend(self, spent: Spent) -> None:
        """Count the tokens and the cost of a use of a model."""
        fresh = max(0, spent.input_tokens - spent.cached_tokens)
        for kind, tokens in (("input", fresh), ("cached", spent.cached_tokens), ("output", spent.output_tokens)):
            self._tokens.labels(spent.model, spent.purpose, kind).inc(tokens)
        known = spent.cost_nanodollars is not None
        self._calls.labels(spent.model, spent.purpose, "yes" if known else "no").inc()
        self._cost.labels(spent.model, spent.purpose).inc((spent.cost_nanodollars or 0) / NANODOLLARS)

    def read(self, reader: str, kept: int, dropped: Mapping[str, int], *, failed: bool = False) -> None:
        """Count a reading and its items, kept or dropped."""
        self._readings.labels(reader, "failed" if failed else "done").inc()
        self._items.labels(reader, "kept").inc(kept)
        for reason, count in dropped.items():
            self._items.labels(reader, reason).inc(count)

    async def watch_lag(self) -> None:
        """Measure how late the event loop wakes up, until cancelled."""
        while True:
            self._due_s = time.perf_counter() + LAG_EVERY_S
            await asyncio.sleep(LAG_EVERY_S)
            self.woke_late(self.overdue_s())

    def woke_late(self, seconds: float) -> None:
        """Note how late the event loop woke up."""
        self.lag.observe(seconds)
        self._late.append((time.perf_counter(), seconds))

    def overdue_s(self) -> float:
        """Return how late the event loop is at this moment; 0 before it is measured."""
        return max(0.0, time.perf_counter() - self._due_s)

    def longest_lag_s(self) -> float:
        """Return the longest standstill of the event loop in the last half minute, also one that is hardly over."""
        since_s = time.perf_counter() - LAG_RECENT_S
        return max(self.overdue_s(), *(late_s for at_s, late_s in self._late if at_s >= since_s), 0.0)

    def gauge(self, name: str, what: str, values: Mapping[str, float], label: str = "") -> None:
        """Set a figure that is read when `/metrics` is asked for, one value per label value; old labels go."""
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
