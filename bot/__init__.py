"""Telegram in, Telegram out: a durable inbox, one turn at a time per conversation, a durable outbox."""
