"""Spans of a turn for OpenTelemetry, when the extra `otel` is installed and a collector is named; else nothing at all.

The one file that imports OpenTelemetry. People's messages and names and the texts of errors are in no attribute.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer as OtelTracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""OpenTelemetry's own variables; one of them names the collector, and without one nothing is traced."""
SERVICE = "continuity-bot"

Attribute = str | int | float | bool


class Span(Protocol):
    """A stretch of work that is being measured."""

    def set(self, **attributes: Attribute | None) -> None:
        """Add attributes, None left out. Names are written with `__` for a dot: `continuity__turn_id`."""
        ...


class Tracer(Protocol):
    """Makes spans; one inside another is its child."""

    def span(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        """Measure the work inside."""
        ...


class _NoSpan:
    def set(self, **attributes: Attribute | None) -> None:
        """Do nothing."""


class NoTracer:
    """Measures nothing and costs nothing."""

    _nothing = nullcontext(_NoSpan())

    def span(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:  # noqa: ARG002 - the port names them
        """Return a span that nobody sees."""
        return self._nothing


class _OtelSpan:
    def __init__(self, span: Any) -> None:
        self._span = span

    def set(self, **attributes: Attribute | None) -> None:
        """Add attributes."""
        self._span.set_attributes(_named(attributes))


class OpenTelemetryTracer:
    """Spans of OpenTelemetry. An error is told by its kind: its text may repeat a person's message."""

    def __init__(self, tracer: OtelTracer) -> None:
        self._tracer = tracer

    @contextmanager
    def span(self, name: str, **attributes: Attribute | None) -> Iterator[Span]:
        """Measure the work inside, also when it raises."""
        from opentelemetry.trace import Status, StatusCode

        with self._tracer.start_as_current_span(
            name, attributes=_named(attributes), record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield _OtelSpan(span)
            except BaseException as exc:
                span.set_attribute("error.type", type(exc).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise


def _named(attributes: dict[str, Attribute | None]) -> dict[str, Attribute]:
    return {name.replace("__", "."): value for name, value in attributes.items() if value is not None}


def is_wanted() -> bool:
    """Return whether a collector is named and the extra is there to send to it."""
    named = any(os.environ.get(name) for name in ENDPOINTS)
    return (
        named
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
        and find_spec("opentelemetry.sdk") is not None
    )


def open_tracer() -> tuple[Tracer, Callable[[], None]]:
    """Return the tracer, and the function that sends the last spans and ends it. Imports nothing when not wanted."""
    if not is_wanted():
        return NoTracer(), lambda: None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or SERVICE
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return tracer_of(provider), provider.shutdown


def tracer_of(provider: TracerProvider) -> Tracer:
    """Return a tracer over a provider of one's own."""
    return OpenTelemetryTracer(provider.get_tracer("continuity"))
