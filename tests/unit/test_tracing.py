"""Spans of a turn: nested, with names and numbers alone; nothing is imported where they are not wanted."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.meters import tracing
from bot.meters.meters import Meters


@pytest.fixture
def traced():
    """Offer meters whose spans are kept, and the spans."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Meters(tracing.tracer_of(provider)), exporter


def test_the_stages_of_a_turn_are_its_children(traced):
    """A turn holds its stages; what is unknown is no attribute."""
    meters, exporter = traced
    with meters.turn("t_1") as span:
        with meters.timed("packet"):
            pass
        span.set(gen_ai__request__model="a:m", continuity__cost_nanodollars=None)
    stage, turn = exporter.get_finished_spans()

    assert (stage.name, turn.name) == ("packet", "turn")
    assert stage.parent.span_id == turn.context.span_id
    assert dict(turn.attributes) == {"continuity.turn_id": "t_1", "gen_ai.request.model": "a:m"}


def test_an_error_is_told_by_its_kind_alone(traced):
    """Its text may repeat what somebody wrote."""
    meters, exporter = traced
    with pytest.raises(ValueError, match="zebrafish"), meters.turn("t_1"):
        raise ValueError("the codeword is zebrafish")
    (turn,) = exporter.get_finished_spans()

    assert turn.attributes["error.type"] == "ValueError"
    assert not turn.status.is_ok
    assert "zebrafish" not in turn.to_json()


def test_nothing_is_traced_unless_a_collector_is_named(monkeypatch):
    """The extra alone sends nothing anywhere; OpenTelemetry's own switch is obeyed."""
    for name in tracing.ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    assert not tracing.is_wanted()

    monkeypatch.setenv(tracing.ENDPOINTS[0], "http://127.0.0.1:4318")
    assert tracing.is_wanted()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not tracing.is_wanted()


def test_without_the_extra_it_is_not_looked_for_twice(monkeypatch):
    """A machine without OpenTelemetry's SDK runs the same, also with a collector named."""
    monkeypatch.setenv(tracing.ENDPOINTS[0], "http://127.0.0.1:4318")
    monkeypatch.setattr(tracing, "find_spec", lambda _: None)

    tracer, end = tracing.open_tracer()
    with tracer.span("turn") as span:
        span.set(a=1)
    end()

    assert isinstance(tracer, tracing.NoTracer)


def test_what_is_not_wanted_is_not_imported():
    """A bot that is not traced does not load OpenTelemetry for it."""
    code = (
        "import sys, bot.meters.meters; from bot.meters.tracing import open_tracer; open_tracer(); "
        "print('opentelemetry' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})

    assert found.stdout == "False\n"
