"""Two workers and one file: the bytes are kept once, read by both, and gone with the last who sent them."""

from __future__ import annotations

import asyncio

import pytest

from bot.files.store import Missing, TableBlobs
from bot.tables import BOT_TABLES
from memory import ConversationMemory
from memory.errors import Conflict
from memory.ports import Statement

pytestmark = pytest.mark.postgres

BYTES = b"The rent is 1,240 euros. " * 20_000
"""More than one piece."""


def wanted(number: int) -> Statement:
    """What writes down a file of one person."""
    file = {
        "telegram_id": "t",
        "unique_id": "u",
        "kind": "document",
        "name": "lease.pdf",
        "media_type": "",
        "seconds": 0,
    }
    where = {"bot_id": 1, "conversation_id": f"tg:1:{number}:0", "chat_id": number, "user_id": number}
    about = {"file_id": f"1:{number}:5", "message_id": 5, "size_bytes": 0, "received_at_ms": 1}
    return Statement("file_want", file | where | about)


async def fetched(blobs: TableBlobs, number: int) -> str:
    """Keep what came for a file of one person; return its digest."""
    incoming = await blobs.begin()
    incoming.write(BYTES)
    await blobs.finish(incoming)
    values = {"digest": incoming.digest, "size_bytes": len(BYTES), "media_type": "x|x"}
    await blobs.keep(incoming, Statement("file_fetched", {"file_id": f"1:{number}:5", **values}))
    return incoming.digest


async def gone(db, number: int, digest: str) -> int:
    """Delete one person's file, sweep, and return how many pieces are left."""
    await db.write(Statement("erase_file", {"file_id": f"1:{number}:5"}))
    await TableBlobs(db).sweep()
    row = await db.read_one("file_chunk", digest=digest, position=0)
    return 0 if row is None else len(row["data"])


@pytest.fixture
async def workers(postgres, tmp_path):
    """Two workers on one database, each with a folder of its own for what passes through."""
    options = {"extensions": [BOT_TABLES], "background": False}
    async with (
        await ConversationMemory.open(postgres, checkpoints=tmp_path / "c1", worker="b_1", **options) as one,
        await ConversationMemory.open(postgres, checkpoints=tmp_path / "c2", worker="b_2", **options) as other,
    ):
        yield (one.db, TableBlobs(one.db, tmp_path / "one")), (other.db, TableBlobs(other.db, tmp_path / "other"))


async def test_two_workers_keep_the_same_bytes_once(workers, tmp_path):
    """Both fetch the same file at once: each reads what the other kept, and it goes with the last who sent it."""
    (db, blobs), (other_db, other_blobs) = workers
    await db.write(wanted(1), wanted(2))
    digest, again = await asyncio.gather(fetched(blobs, 1), fetched(other_blobs, 2))

    assert digest == again
    for each in (blobs, other_blobs):
        async with each.at(digest) as path:
            assert path.read_bytes() == BYTES
    assert await gone(db, 1, digest) > 0
    async with other_blobs.at(digest) as path:
        assert path.read_bytes() == BYTES
    assert await gone(other_db, 2, digest) == 0
    with pytest.raises(Missing):
        async with blobs.at(digest):
            pass
    assert [*(tmp_path / "one").iterdir(), *(tmp_path / "other").iterdir()] == []


async def test_a_sweep_takes_nothing_that_another_worker_is_just_keeping(workers):
    """The row that names them is stored with the bytes: whoever sweeps meanwhile sees both or neither."""
    (db, blobs), (_, other_blobs) = workers
    await db.write(wanted(1))
    digest, *_ = await asyncio.gather(fetched(blobs, 1), *(other_blobs.sweep() for _ in range(20)))

    async with other_blobs.at(digest) as path:
        assert path.read_bytes() == BYTES


async def test_of_two_workers_one_says_an_answer(workers):
    """Both have had it spoken: one alone may send it."""
    (db, _), (other_db, _) = workers
    about = {"bot_id": 1, "conversation_id": "tg:1:7:0", "chat_id": 7, "thread_id": None, "user_id": 7}
    await db.write(Statement("speech_wish", {"turn_id": "t_1", "text": "hi", "created_at_ms": 1, **about}))
    over = Statement("speech_over", {"turn_id": "t_1"}, expect=1)
    ends = await asyncio.gather(db.write(over), other_db.write(over), return_exceptions=True)

    assert sum(isinstance(end, Conflict) for end in ends) == 1
