"""Offers the loopback servers to the contract tests."""

from loopback.fixtures import api, bot_here, clock, database_server, model

__all__ = ["api", "bot_here", "clock", "database_server", "model"]
