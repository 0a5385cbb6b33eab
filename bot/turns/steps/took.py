"""The time of a turn and its use of a model, for charts and traces."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.answers.responder import Answer
from bot.meters.meters import Stopwatch
from bot.meters.tracing import Attribute
from memory.ports import Statement


@dataclass(slots=True)
class Took:
    """Durations of the stages of a turn."""

    queue_ms: int
    is_second_try: bool = False
    """The answer was made before and could not be stored then: something may have been forgotten since."""
    packet: Stopwatch = field(default_factory=Stopwatch)
    model: Stopwatch = field(default_factory=Stopwatch)

    def figures(self, turn_id: str, answer: Answer, now_ms: int) -> Statement:
        """Return the statement that stores the figures of the turn, for charts."""
        values = {
            "turn_id": turn_id,
            "model": answer.model,
            "input_tokens": answer.input_tokens,
            "cached_tokens": answer.cached_tokens,
            "output_tokens": answer.output_tokens,
            "cost_nanodollars": answer.cost_nanodollars,
            "queue_ms": self.queue_ms,
            "packet_ms": self.packet.ms,
            "model_ms": self.model.ms,
            "at_ms": now_ms,
        }
        return Statement("turn_figures_keep", values)


def of_model(answer: Answer) -> dict[str, Attribute | None]:
    """Return the attributes of a span about the model: its name and tokens by OpenTelemetry's names, never a word."""
    return {
        "gen_ai__request__model": answer.model,
        "gen_ai__usage__input_tokens": answer.input_tokens,
        "gen_ai__usage__output_tokens": answer.output_tokens,
        "continuity__cost_nanodollars": answer.cost_nanodollars,
    }
