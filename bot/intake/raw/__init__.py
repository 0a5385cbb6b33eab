"""Raw updates as Telegram sends them, read into envelopes."""
