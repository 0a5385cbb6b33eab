"""Acceptance tests use the bot from outside, over a Bot API server and a language model on 127.0.0.1."""

from browsing import console
from loopback.fixtures import api, bot_here, bot_process, clock, database_server, model, sounds
from loopback.served import served

__all__ = ["api", "bot_here", "bot_process", "clock", "console", "database_server", "model", "served", "sounds"]
