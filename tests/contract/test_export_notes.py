"""A person takes their notes along, and an operator is told when rows and changes disagree."""

from types import SimpleNamespace

import pytest

from bot.ops.copies import checkpoints
from memory.ledger.types import Actor, Add, Change
from memory.ports import Statement
from memory.privacy.export import as_markdown
from memory.testing import START_MS, make_exchange, open_memory

HERE = "tg:1:7:0"
BY = Actor("model", START_MS, "t_1")


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        for number, user_id in ((1, 7), (2, 8)):
            add = Add(kind="task", text=f"Call {number}", note_id=f"n_{number}", fields={"user_id": user_id})
            await opened.change(HERE, [add], BY)
        await opened.change(HERE, [Change(number=1, fields={"text": "Call Ana"})], BY)
        yield opened


async def test_the_export_holds_notes_and_what_was_done_to_them(memory):
    """As they stand, and how they came to that."""
    document = await memory.export(HERE)

    assert [note["text"] for note in document["notes"]] == ["Call Ana", "Call 2"]
    assert [change["verb"] for change in document["note_changes"]] == ["add", "add", "change"]


async def test_in_a_group_a_person_gets_their_own_notes(memory):
    """And the changes of these alone."""
    document = await memory.export(HERE, user_id=7)

    assert [note["text"] for note in document["notes"]] == ["Call Ana"]
    assert {change["note_id"] for change in document["note_changes"]} == {"n_1"}


def test_notes_are_written_as_markdown():
    """A heading with its lines; what people wrote is no markup."""
    pages = [("To do", ["Call *mum*", "Read\n# this"]), ("People", [])]

    assert as_markdown(pages) == "# To do\n\n- Call \\*mum\\*\n- Read \\# this\n"


async def test_rows_that_differ_from_their_changes_are_found(memory):
    """Doctor's question, before and after somebody wrote past the ledger."""
    assert not await memory.ledgers.differs(HERE)
    row = (await memory.db.read("notes_of", conversation_id=HERE))[0]
    await memory.db.write(Statement("note_put", {**row, "text": "Call Ben"}))
    assert await memory.ledgers.differs(HERE)
    await memory.ledgers.rebuild(HERE)
    assert not await memory.ledgers.differs(HERE)


async def test_hydrating_writes_the_notes_again(memory):
    """The operator's way back: `hydrate` says that it did, and a look before it changes nothing."""
    await memory.recorder.open_session(HERE, 7, "first")
    await memory.recorder.record(make_exchange(1, session_id="s_1", conversation_id=HERE), None)
    row = (await memory.db.read("notes_of", conversation_id=HERE))[0]
    await memory.db.write(Statement("note_put", {**row, "text": "Call Ben"}))
    workspace = SimpleNamespace(memory=memory)

    [foreseen] = await checkpoints.hydrate(workspace, ["s_1"], dry_run=True)
    assert "would be written again" in foreseen.warnings[-1]
    [report] = await checkpoints.hydrate(workspace, ["s_1"], dry_run=False)

    assert "were written again" in report.warnings[-1]
    assert not await memory.ledgers.differs(HERE)
