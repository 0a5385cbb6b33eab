"""Telegram in, Telegram out: a durable inbox, one turn at a time per conversation, a durable outbox."""

import os

os.environ.setdefault("PTB_TIMEDELTA", "1")  # RetryAfter as a timedelta, without a deprecation warning each time
os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")  # it would be printed into the middle of a chat
