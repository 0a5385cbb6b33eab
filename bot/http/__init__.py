"""The HTTP door: health, readiness and the webhook."""
