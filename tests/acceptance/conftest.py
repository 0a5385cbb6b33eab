"""Acceptance tests use the bot from outside: its process, a Bot API server and a language model on 127.0.0.1."""

from loopback.fixtures import api, bot_process, model

__all__ = ["api", "bot_process", "model"]
