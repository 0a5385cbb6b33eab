"""A database that was lost, or is older than its checkpoints: notes come back, forgotten ones do not."""

import json
import sqlite3
from contextlib import closing

import pytest

from memory.ledger.apply import apply
from memory.ledger.ledgers import Ledgers
from memory.ledger.restoring import NotesCopy, restored
from memory.ledger.types import Actor, Add, Change, End, Ledger
from memory.ledger.undo import rebuilt
from memory.privacy.plan import ForgetRequest
from memory.storage.checkpoint import canonical, digest_of
from memory.testing import START_MS, lay_tables, make_exchange, start_memory

HERE = "tg:1:7:0"
BY = Actor("model", START_MS, "t_1")
WEEKLY = {"rings_from": "2027-01-17T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU"}


def add(note_id, text, *turn_ids, **fields):
    return Add(kind="task", text=text, note_id=note_id, fields={"turn_ids": turn_ids, **fields})


async def say(memory, number, session_id, *operations):
    fields = {"session_id": session_id, "conversation_id": HERE, "operations": operations}
    await memory.recorder.record(make_exchange(number, user_text=f"said {number}", **fields), None)


@pytest.fixture
async def talked(tmp_path):
    """Two sessions with notes, each session's last change made in the other; the process is killed."""
    memory = await start_memory(tmp_path, recover=True)
    one, two = [(await memory.recorder.open_session(HERE, 7, "gap")).session_id for _ in range(2)]
    await say(memory, 1, one, add("n_1", "Call mum", "t_1", session_id=one, **WEEKLY))
    await say(memory, 2, two, add("n_2", "Buy tea", "t_2", session_id=two))
    await say(memory, 3, one, Change(number=1, fields={"text": "Call mum and dad"}), End(number=2))
    await say(memory, 4, one, End(number=1, occurrence="2027-01-24T19:00", how="dropped"))
    await memory.recorder.settle()
    yield memory
    await memory.close()


async def again(memory, tmp_path, *, lost=True):
    """Return the memory after a restart, with an empty database when the old one was lost."""
    await memory.close()
    if lost:
        for file in tmp_path.glob("continuity.db*"):
            file.unlink()
        lay_tables(tmp_path / "continuity.db")
    return await start_memory(tmp_path, recover=True)


async def test_notes_come_back_when_the_database_was_lost(talked, tmp_path):
    """Those of all sessions, as they last stood, with their numbers and their dates; no version falls."""
    before = await talked.ledgers.read(HERE)
    memory = await again(talked, tmp_path)

    after = await memory.ledgers.read(HERE)
    assert after.notes == before.notes
    assert (after.version, after.next_number) == (before.version, before.next_number)
    assert rebuilt(HERE, await memory.ledgers.since(HERE, 0)).notes == after.notes
    await memory.close()


async def test_a_tap_is_not_lost_with_the_database(talked, tmp_path):
    """What a button ended between turns is in the next checkpoint, whichever session the note is of."""
    await talked.change(HERE, [End(number=1)], Actor("person", START_MS, "b_1"))
    await talked.recorder.settle()
    memory = await again(talked, tmp_path)

    assert (await memory.ledgers.read(HERE)).notes[1].status == "done"
    await memory.close()


async def test_a_forgotten_note_does_not_come_back_with_any_checkpoint(talked, tmp_path):
    """Neither its own session's copy nor another's: the database is lost after something was forgotten."""
    await talked.forgetter.forget(ForgetRequest(HERE, note_ids=("n_1",)))
    await say(talked, 6, "s_2")
    await talked.recorder.settle()
    memory = await again(talked, tmp_path)

    notes = await memory.ledgers.read(HERE)
    assert [note.text for note in notes if not note.is_forgotten] == ["Buy tea"]
    assert {note.text for note in notes if note.is_forgotten} <= {"…"}
    await memory.close()


async def test_an_old_copy_that_somebody_puts_back_revives_no_forgotten_note(talked, tmp_path):
    """Its turn is not in the log any more, so what rests on it stays forgotten."""
    path = talked.checkpoints.path("s_1")
    old = path.read_bytes()
    await talked.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))
    path.write_bytes(old)
    memory = await again(talked, tmp_path, lost=False)
    await memory.recorder.session("s_1")

    assert [note.text for note in await memory.ledgers.read(HERE)] == ["Buy tea"]
    await memory.close()


async def test_turns_that_the_log_lost_bring_their_notes(talked, tmp_path):
    """A database that is a little older than the checkpoints: turns and notes are healed from them."""
    with closing(sqlite3.connect(tmp_path / "continuity.db")) as disk, disk:
        disk.execute("DELETE FROM conversation_turns WHERE seq > 1 AND session_id = 's_1'")
        for table in ("notes", "note_changes"):
            disk.execute(f"DELETE FROM {table} WHERE note_id = 'n_1'")  # noqa: S608 - ours
        disk.execute("UPDATE ledgers SET version = 2, row_digest = NULL")
        disk.execute("UPDATE notes SET version = 2, status = 'open', row_digest = NULL")
        disk.execute("DELETE FROM note_changes WHERE version > 2")
    memory = await again(talked, tmp_path, lost=False)
    await memory.recorder.session("s_1")

    after = await memory.ledgers.read(HERE)
    assert [note.text for note in after] == ["Call mum and dad", "Buy tea"]
    assert rebuilt(HERE, await memory.ledgers.since(HERE, 0)).notes == after.notes
    await memory.close()


async def test_a_checkpoint_of_the_version_before_is_read_up(talked, tmp_path):
    """Schema 1, with fields of a state that nobody knows any more: used, not set aside."""
    await talked.recorder.shutdown(5)
    path = talked.checkpoints.path("s_1")
    payload = json.loads(path.read_bytes())["payload"]
    payload = {k: v for k, v in payload.items() if not k.startswith(("note", "ledger"))} | {"schema_version": 1}
    payload["state"] |= {"job_steps": [], "listed": None, "undone": ["t_9"]}
    body = canonical(payload)
    path.write_bytes(
        b'{"format":"continuity-checkpoint","digest":"%b","payload":%b}' % (digest_of(body).encode(), body)
    )
    memory = await again(talked, tmp_path)

    assert (await memory.recorder.session("s_1")).turn_count == 3
    assert list(path.parent.glob("*.corrupt-*")) == []
    assert [report.checkpoint for report in memory.found.rebuilt] == ["newer", "newer"]
    await memory.close()


def test_a_note_whose_number_or_version_is_taken_comes_back_with_another():
    """The database was lost, people talked on, and then the checkpoint turned up."""
    old = Ledger("c")
    changes = []
    for operation in (add("n_1", "Call mum"), add("n_2", "Buy tea"), Change(number=1, fields={"text": "Call dad"})):
        applied = apply_one(old, operation)
        old, changes = applied.ledger, [*changes, *applied.changes]
    new = apply_one(Ledger("c"), add("n_3", "Feed the cat"))
    copy = NotesCopy(tuple(old), tuple(changes), old.version, old.next_number)

    after, made = restored(new.ledger, new.changes, copy, lambda _: True)

    assert sorted((note.number, note.text) for note in after) == [(1, "Feed the cat"), (2, "Buy tea"), (3, "Call dad")]
    assert rebuilt("c", sorted([*new.changes, *made], key=lambda each: each.version)).notes == after.notes
    assert restored(after, [*new.changes, *made], copy, lambda _: True) == (after, [])


def apply_one(ledger, operation):
    return apply(ledger, operation, BY)


async def test_a_restored_ledger_is_what_its_rows_say(talked, tmp_path):
    """What came back is stored: a process that starts after it reads the same."""
    memory = await again(talked, tmp_path)
    assert await Ledgers(memory.db).read(HERE) == await memory.ledgers.read(HERE)
    await memory.close()
