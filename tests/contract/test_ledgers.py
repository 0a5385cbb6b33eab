"""Ledgers over a real database: what was stored comes back, writers do not overwrite each other, nothing is half."""

from dataclasses import replace

import pytest

from memory.errors import Conflict
from memory.ledger.ledgers import Ledgers
from memory.ledger.series import at_ms_of, local_of
from memory.ledger.types import Actor, Add, Change, End, Move, Ring
from memory.ledger.undo import rebuilt
from memory.ports import Statement
from memory.storage.chain import answered_in_turn
from memory.testing import open_memory

NOW = 1_800_000_000_000
BY = Actor("model", NOW, "t_1")
WEEKLY = {
    "rings_from": "2027-01-17T19:00",
    "repeats": "FREQ=WEEKLY;BYDAY=SU",
    "time_zone": "Europe/Berlin",
    "turn_ids": ("t_1",),
}


@pytest.fixture
async def db(place):
    async with open_memory(place) as opened:
        yield opened.db


async def test_a_ledger_comes_back_from_its_rows(db):
    """What was stored is read as it was, dates and all, and its changes rebuild it."""
    ledgers = Ledgers(db)
    await ledgers.change("c", [Add(kind="task", text="Call mum", note_id="n_1", fields=WEEKLY)], BY)
    await ledgers.change("c", [Move(number=1, occurrence="2027-01-24T19:00")], BY)

    fresh = await Ledgers(db).read("c")
    assert fresh == await ledgers.read("c") == rebuilt("c", await ledgers.since("c", 0))
    assert fresh.notes[1].occurrences


async def test_a_date_of_a_series_that_does_not_ring_comes_back_with_its_end(db):
    """Where nothing rang its dates were not read: after a restart the lesson that was moved stood on its old day."""
    due = {"due_at_ms": NOW, "due_exact": True, "repeats": "FREQ=WEEKLY", "time_zone": "Europe/Berlin"}
    await Ledgers(db).change("c", [Add(kind="event", text="Violin", note_id="n_1", fields=due)], BY)
    local = local_of(NOW, "Europe/Berlin")
    move = Move(number=1, occurrence=local, to_ms=NOW + 1, due_at_ms=NOW + 2, lasts_ms=3)
    await Ledgers(db).change("c", [move], BY)

    [date] = (await Ledgers(db).read("c")).notes[1].occurrences
    assert (date.original_local, date.moved_to_ms, date.due_at_ms, date.lasts_ms) == (local, NOW + 1, None, 3)


async def test_a_series_that_rings_twice_for_each_date_comes_back_as_it_was(db):
    """Its further rings are a column, and of what rang the second is still to come."""
    fields = {"rings_from": "2027-01-17T19:00", "repeats": "FREQ=WEEKLY", "rings_again_min": (60, 900)}
    await Ledgers(db).change("c", [Add(kind="task", text="Bins", note_id="n_1", fields=fields)], BY)
    ring = Ring(number=1, occurrence="2027-01-17T19:00", rings_at_ms=at_ms_of("2027-01-17T19:00", "UTC"))
    await Ledgers(db).change("c", [ring], replace(BY, hand="operator", at_ms=ring.rings_at_ms))

    note = (await Ledgers(db).read("c")).notes[1]
    assert (note.rings_again_min, local_of(note.rings_at_ms, "UTC")) == ((60, 900), "2027-01-17T20:00")
    assert rebuilt("c", await Ledgers(db).since("c", 0)).notes[1] == note


async def test_two_processes_lose_nothing_of_each_other(db):
    """Who comes second applies its operations again to what stands."""
    one, other = Ledgers(db), Ledgers(db)
    await one.read("c")
    await other.change("c", [Add(kind="task", text="Call mum", note_id="n_1")], BY)
    await one.change("c", [Add(kind="task", text="Pay rent", note_id="n_2")], BY)

    assert [note.text for note in await Ledgers(db).read("c")] == ["Call mum", "Pay rent"]


class Interrupted:
    """A database behind whose first read another process changes the ledger."""

    def __init__(self, db, change):
        self._db = db
        self._change = change

    def __getattr__(self, name):
        return getattr(self._db, name)

    async def read_chain(self, reads):
        async def ask(statement):
            found = await self._db.read(statement.name, **statement.params)
            change, self._change = self._change, None
            if change is not None:
                await change()
            return found

        return await answered_in_turn(reads, ask)


async def test_a_ledger_that_moves_while_it_is_read_is_read_again_and_not_mended(db, caplog):
    """Half of it from before a change and half from behind is no damage: nothing is written over the other's rows."""
    other = Ledgers(db)
    await other.change("c", [Add(kind="task", text="Call mum", note_id="n_1")], BY)
    before = await other.read("c")
    torn = Interrupted(db, lambda: other.change("c", [Add(kind="task", text="Pay rent", note_id="n_2")], BY))
    read = await Ledgers(torn).read("c")

    assert read == await other.read("c") != before
    assert read.epoch == before.epoch
    assert caplog.messages == []


async def test_what_belongs_to_a_change_is_stored_with_it_or_not_at_all(db):
    """A tap that was used already changes no note."""
    ledgers = Ledgers(db)
    await ledgers.change("c", [Add(kind="task", text="Call mum", note_id="n_1")], BY)
    used = Statement("set_session_status", {"session_id": "nobody", "status": "active"}, expect=1)
    with pytest.raises(Conflict):
        await ledgers.change("c", [End(number=1)], BY, used)

    assert (await ledgers.read("c")).notes[1].is_open


async def test_a_note_can_be_put_back_by_what_caused_its_change(db):
    """[Undo] finds what came with a turn, and says so by a change of its own."""
    ledgers = Ledgers(db)
    await ledgers.change("c", [Add(kind="task", text="Call mum", note_id="n_1")], Actor("model", NOW, "t_1"))
    await ledgers.change("c", [Change(number=1, fields={"text": "Call Ana"})], Actor("model", NOW, "t_2"))
    await ledgers.undo("c", await ledgers.caused_by("c", "t_2"), Actor("person", NOW, "b_1"))

    assert (await ledgers.read("c")).notes[1].text == "Call mum"
    assert [each.verb for each in await ledgers.history("n_1")] == ["add", "change", "undo"]


async def test_a_number_that_was_reserved_is_given_to_nobody_else(db):
    """The model was told #1 while it writes; what is noted meanwhile is #2, and #1 is there for its turn."""
    ledgers = Ledgers(db)
    number = ledgers.reserve(await ledgers.read("c"))
    await ledgers.change("c", [Add(kind="task", text="Feed", note_id="n_2")], Actor("keeper", NOW, "r_1"))
    add = Add(kind="task", text="Water", note_id="n_1", number=number)
    await ledgers.change("c", [add], Actor("model", NOW, "t_1"))

    assert [(n.number, n.text) for n in (await ledgers.read("c"))] == [(1, "Water"), (2, "Feed")]
    assert ledgers.reserve(await ledgers.read("c")) == 3


async def test_what_another_process_wrote_is_shown_where_the_database_is_shared(db):
    """/loops of one worker shows what another's tap has ended just now."""
    one, other = Ledgers(db, shared=True), Ledgers(db, shared=True)
    await one.change("c", [Add(kind="task", text="Call mum", note_id="n_1")], BY)
    await other.change("c", [End(number=1)], BY)

    assert not (await one.read("c")).notes[1].is_open
