"""The durable inbox behind PTB's update queue: what is put is on disk, once, or PTB is told to ask again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from telegram import Update
from telegram.error import NetworkError

from bot.intake.access import Gate
from bot.intake.inbox import Inbox
from bot.intake.queue import DurableQueue
from bot.intake.updates import Me
from bot.tables import QUERY_FILES
from memory.errors import StorageUnavailable
from memory.storage.migrate import migrate
from memory.storage.sqlite import SqliteDatabase
from memory.testing import ManualClock

ROOT = Path(__file__).parent.parent.parent
ME = Me(99, "continuity_bot")


def update(update_id=1, text="hello", user_id=7):
    chat = {"id": user_id, "type": "private", "first_name": "Ana"}
    who = {"id": user_id, "is_bot": False, "first_name": "Ana"}
    raw = {"update_id": update_id, "message": {"message_id": 5, "date": 1, "chat": chat, "from": who, "text": text}}
    return Update.de_json(raw, None)


class House:
    """A database, an inbox, and the queue before it; keeps what is handed on."""

    def __init__(self, db):
        self.db, self.delivered, self.strangers = db, [], []
        self.inbox = Inbox(db, ManualClock(), "boot_1")
        gate = Gate(everyone=False, named={7}, paired=())
        self.queue = DurableQueue(self.inbox, gate, deliver=self.delivered.append, stranger=self.strangers.append)
        self.queue.me = ME


@pytest.fixture
async def house(tmp_path):
    migrate(tmp_path / "c.db")
    db = await SqliteDatabase.open(tmp_path / "c.db", QUERY_FILES)
    yield House(db)
    await db.close()


async def test_an_update_is_on_disk_when_put_returns(house):
    """The row holds the raw update, and its lane gets it."""
    await house.queue.put(update())
    (found,) = await house.inbox.unfinished(ME)

    assert (found.text, found.attempts) == ("hello", 0)
    assert [envelope.update_id for envelope in house.delivered] == [1]


async def test_the_same_update_twice_starts_one_turn(house):
    """Telegram delivers again what it does not know to be taken; only the first counts (P2)."""
    await house.queue.put(update())
    await house.queue.put(update())

    assert len(house.delivered) == 1
    assert len(await house.inbox.unfinished(ME)) == 1


async def test_a_disk_that_refuses_leaves_as_a_network_error(house):
    """PTB then asks again from the old offset; any other exception would end polling silently (P10)."""

    class Full:
        async def write(self, *_):
            raise StorageUnavailable("no space")

    house.inbox._db = Full()
    with pytest.raises(NetworkError, match="no space"):
        await house.queue.put(update())

    assert house.inbox.storage_error == "no space"
    assert house.delivered == []
    house.inbox._db = house.db
    await house.queue.put(update())
    assert house.inbox.storage_error is None
    assert len(house.delivered) == 1


async def test_a_stranger_is_handed_on_and_not_stored(house):
    """Not a byte of a stranger's update reaches the table (P14)."""
    await house.queue.put(update(user_id=666))

    assert [envelope.user_id for envelope in house.strangers] == [666]
    assert await house.db.read("inbox_counts") == []


async def test_what_is_not_an_update_passes_through(house):
    """PTB's stop marker goes through the same queue."""
    marker = object()
    await house.queue.put(marker)

    assert house.queue.get_nowait() is marker


async def test_poison_is_stored_once_and_never_replayed(house):
    """An update that cannot be parsed is quarantined, however often it comes."""
    raw = {"update_id": 5, "message": {"from": {"id": 7}, "date": "yesterday"}}
    await house.queue.quarantine(raw, "ValueError")
    await house.queue.quarantine(raw, "ValueError")

    assert [(row["state"], row["n"]) for row in await house.db.read("inbox_counts")] == [("quarantined", 1)]
    assert await house.inbox.unfinished(ME) == []


async def test_a_finished_update_keeps_no_text(house):
    """Once it is done, the row is bookkeeping: the payload is gone."""
    await house.queue.put(update(text="secret words"))
    (found,) = await house.inbox.unfinished(ME)
    await house.inbox.claim([found], "t_1")
    await house.db.write(house.inbox.done(found))

    assert "secret" not in json.dumps([dict(row) for row in await house.db.read("inbox_counts")])
    assert await house.inbox.unfinished(ME) == []
