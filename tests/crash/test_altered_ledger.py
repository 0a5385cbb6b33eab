"""A byte that flips on the disk in a note, one of its dates, or a ledger's row: made again from the changes."""

import logging
import sqlite3
from contextlib import closing

import pytest

from memory.ledger.ledgers import Ledgers
from memory.ledger.types import Actor, Add, Change, End
from memory.testing import START_MS, open_memory

BY = Actor("model", START_MS, "t_1")
WEEKLY = {"rings_from": "2027-01-17T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU", "turn_ids": ("t_1",)}


@pytest.fixture
async def memory(tmp_path):
    """Keep two notes, one of which rings and has a date left out."""
    async with open_memory(tmp_path) as opened:
        await opened.ledgers.change("c", [Add(kind="task", text="Call mum", note_id="n_1", fields=WEEKLY)], BY)
        await opened.ledgers.change("c", [Add(kind="fact", text="Lives in Ulm", note_id="n_2")], BY)
        await opened.ledgers.change("c", [End(number=1, how="dropped", occurrence="2027-01-24T19:00")], BY)
        await opened.ledgers.change("c", [Change(number=2, fields={"text": "Lives in Bonn"})], BY)
        yield opened


def on_disk(memory, sql):
    """Change the file as a failing disk would: no trigger, no digest."""
    with closing(sqlite3.connect(memory.db.path)) as raw, raw:
        raw.execute(sql)


@pytest.mark.parametrize(
    "flip",
    [
        "UPDATE notes SET text = 'Lives in Bomn' WHERE note_id = 'n_2'",
        "UPDATE notes SET status = 'done' WHERE note_id = 'n_2'",
        "UPDATE notes SET conversation_id = 'b' WHERE note_id = 'n_2'",
        "UPDATE notes SET note_id = 'n_3' WHERE note_id = 'n_2'",
        "UPDATE notes SET number = 9 WHERE note_id = 'n_2'",
        "UPDATE occurrences SET original_local = '2027-01-25T19:00'",
        "UPDATE ledgers SET version = 2",
        "UPDATE ledgers SET next_number = 1",
    ],
)
async def test_what_was_altered_is_made_again_from_the_changes(memory, caplog, flip):
    """Whichever column it was: the ledger is as before, the rows are sound again, and the log says so."""
    caplog.set_level(logging.WARNING)
    before = await memory.ledgers.read("c")
    on_disk(memory, flip)

    assert await Ledgers(memory.db).read("c") == before
    assert any("made again from their changes" in each for each in caplog.messages)
    assert await memory.db.altered_rows() == ()
    caplog.clear()
    assert await Ledgers(memory.db).read("c") == before
    assert caplog.messages == []


async def test_a_change_that_was_altered_is_named_and_left_alone(memory):
    """Nothing else knows it: doctor names it, and the notes stay as they are."""
    before = await memory.ledgers.read("c")
    on_disk(memory, "UPDATE note_changes SET said = 'x' WHERE version = 2")

    assert await Ledgers(memory.db).read("c") == before
    assert await memory.db.altered_rows() == ("row 'c/2' of note_changes does not match its digest",)


async def test_a_ledger_can_be_written_again_by_hand(memory):
    """What was changed in the rows alone is as its changes have it."""
    before = await memory.ledgers.read("c")
    on_disk(memory, "UPDATE notes SET weight = 0.1, row_digest = NULL")

    assert await memory.ledgers.rebuild("c") == before
    assert await Ledgers(memory.db).read("c") == before
