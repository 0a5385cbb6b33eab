"""What the tests of the bootstrap service begin with: a database with its queries, a clock an hour later, an owner."""

from __future__ import annotations

import pytest
from bootstrap_cases import opened

from memory.continuity.bootstrap import Bootstrap
from memory.ledger.ledgers import Ledgers
from memory.testing import START_MS, ManualClock, WordCounter, make_owner


@pytest.fixture
async def db(address, tmp_path):
    database = await opened(address, tmp_path)
    yield database
    await database.close()


@pytest.fixture
def clock():
    return ManualClock(START_MS + 3600_000)


@pytest.fixture
def ledgers(db):
    return Ledgers(db)


@pytest.fixture
def bootstrap(db, clock, ledgers):
    return Bootstrap(db, clock, WordCounter(), ledgers)


@pytest.fixture
def owner():
    return make_owner()
