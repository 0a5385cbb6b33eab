"""What is counted and timed: meters for Prometheus, spans for OpenTelemetry, what models took."""
