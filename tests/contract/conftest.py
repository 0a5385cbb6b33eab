"""Offers the loopback servers, and an empty house of the operator's commands, to the contract tests."""

import pytest
from loopback.fixtures import api, bot_here, clock, database_server, model, sounds

__all__ = ["api", "bot_here", "clock", "database_server", "model", "sounds"]


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Return a house without a database, and stand beside it."""
    from ops_house import House

    monkeypatch.chdir(tmp_path)  # away from the checkout's own .env
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return House(folder)
