"""A byte that flips on the disk, in any column of any turn: whoever reads that turn, the log names it."""

from __future__ import annotations

import logging

import pytest

from memory.search.query import Query
from memory.testing import CONVERSATION_ID, make_exchange, open_memory

TURNS = 20
UNPROTECTED = {"turn_id", "session_id", "seq", "model", "input_tokens", "output_tokens", "dedupe_key"}
"""What leads to the row, and what a turn cost: these no digest covers."""


@pytest.fixture
async def memory(tmp_path):
    """Open a memory with a session of twenty turns, each about a word of its own."""
    async with open_memory(tmp_path) as memory:
        await memory.recorder.open_session(CONVERSATION_ID, 7, "first")
        for number in range(1, TURNS + 1):
            said = {"user_text": f"the zebra{number} is striped", "assistant_text": f"lion{number}"}
            ids = {"conversation_id": CONVERSATION_ID, "session_id": "s_1"}
            await memory.recorder.record(make_exchange(number, **ids, **said), None)
        yield memory


async def export(memory, _number):
    await memory.store.turns_after("s_1", 0)


async def look_up(memory, number):
    await memory.store.turn(f"t_{number}")


async def search(memory, number):
    found = await memory.searcher.search(Query(text=f"zebra{number}", conversation_id=CONVERSATION_ID))
    assert any(item.ref == f"t_{number}" for item in found)


async def on_disk(memory, sql, **params):
    return await memory.db._writer.call(lambda connection: connection.execute(sql, params).fetchall())


def flipped(value):
    """Return the value with its lowest bit changed, of a text that of the sign in its middle."""
    if isinstance(value, int):
        return value ^ 1
    middle = len(value or "?") // 2
    return f"{(value or '?')[:middle]}{chr(ord((value or '?')[middle]) ^ 1)}{(value or '?')[middle + 1 :]}"


async def named(memory, caplog, read, number):
    caplog.clear()
    await read(memory, number)
    return any(f"turn {number} (t_{number})" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("read", [export, look_up, search])
async def test_a_turn_that_was_altered_is_named_when_it_is_read(memory, caplog, read):
    """Every column that is covered, of the first turn, one in the middle and the last; put back, it is sound again."""
    caplog.set_level(logging.WARNING)
    columns = {row[1] for row in await on_disk(memory, "PRAGMA table_info(conversation_turns)")} - UNPROTECTED
    found = 0
    for number in (1, 9, TURNS):
        assert not await named(memory, caplog, read, number)
        turn = await memory.store.turn(f"t_{number}")
        for column in sorted(columns - ({"conversation_id"} if read is search else set())):
            ((sound,),) = await on_disk(memory, f"SELECT {column} FROM conversation_turns WHERE seq = {number}")  # noqa: S608 - names of ours
            change = f"UPDATE conversation_turns SET {column} = :value WHERE seq = {number}"  # noqa: S608 - names of ours
            await on_disk(memory, change, value=flipped(sound))
            reads_as_before = await memory.store.turn(f"t_{number}") == turn  # a broken empty list is an empty list
            assert reads_as_before or await named(memory, caplog, read, number), f"{column} of turn {number}"
            await on_disk(memory, change, value=sound)
            found += not reads_as_before
        assert not await named(memory, caplog, read, number)

    assert found >= 3 * 9
