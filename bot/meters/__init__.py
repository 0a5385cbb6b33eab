"""Counts and times: meters for Prometheus, spans for OpenTelemetry, uses of models."""
