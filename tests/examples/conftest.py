"""Offers the loopback servers and a memory to the tests of the examples, which are imported from their folder."""

import sys
from pathlib import Path

import pytest
from loopback.fixtures import api, bot_process, clock, database_server, model

from memory.testing import open_memory

__all__ = ["api", "bot_process", "clock", "database_server", "model"]

sys.path.append(str(Path(__file__).parents[2] / "examples"))


@pytest.fixture
async def memory(tmp_path):
    async with open_memory(tmp_path / "data") as opened:
        yield opened
