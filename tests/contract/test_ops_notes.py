"""What an operator sees and changes by hand of what is noted in a conversation, and the parts that were given up on."""

from __future__ import annotations

import pytest

from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import Outbox, OutgoingMessage, Target
from bot.ops.records import notes, quarantine
from bot.ops.workspace import OpsError, Workspace
from bot.settings import Settings
from bot.tables import BOT_TABLES
from memory.ledger.series import at_ms_of
from memory.ledger.store import refusal_row
from memory.ledger.types import Actor, Add, Change, Refusal
from memory.ports import Statement
from memory.testing import START_MS, ManualClock, SequentialIds, make_exchange, open_memory

CHAT = "tg:5:987654321:0"
RINGS = {"rings_from": "2023-11-20T09:00", "time_zone": "Europe/Lisbon"}
SAID = (
    ("I live in Porto.", Add(kind="fact", text="Lives in Porto", note_id="n_1", fields={"turn_ids": ("t_1",)})),
    ("I have to call Ana.", Add(kind="task", text="Call Ana", note_id="n_2", fields={"turn_ids": ("t_2",)} | RINGS)),
    ("Ana has to be called.", Add(kind="task", text="Ring Ana up", note_id="n_3", fields={"turn_ids": ("t_3",)})),
)


@pytest.fixture
async def workspace(place):
    """Offer a memory with the bot's tables in which somebody said three things, each noted."""
    async with open_memory(place, extensions=[BOT_TABLES], clock=ManualClock(START_MS)) as memory:
        opened = await memory.recorder.open_session(CHAT, 7, "first")
        for seq, (text, note) in enumerate(SAID, 1):
            exchange = make_exchange(
                seq, session_id=opened.session_id, conversation_id=CHAT, user_text=text, operations=(note,),
                assistant_text="Good.", created_at_ms=START_MS + seq,
            )  # fmt: skip
            await memory.recorder.record(exchange, None)
        await memory.settle()
        yield Workspace(Settings(_env_file=None), memory)


async def standing(workspace):
    return {note.number: note.text for note in (await notes.read_notes(workspace, CHAT)).standing}


async def test_everything_noted_is_listed_and_what_ended_apart(workspace):
    """Standing notes by number, ended ones behind them, and the newest refusal with its reason."""
    await notes.end(workspace, CHAT, "#3", "dropped")
    wanted = Change(number=1, fields={"text": "Lives in Lima"})
    refused = refusal_row("f_1", CHAT, "s_1", (wanted, Refusal("changed", 1)), Actor("keeper", START_MS, "r_1"))
    await workspace.memory.db.write(refused)

    seen = await notes.read_notes(workspace, CHAT)

    assert {note.number for note in seen.standing} == {1, 2}
    assert [(note.number, note.status) for note in seen.ended] == [(3, "dropped")]
    assert [(each.wanted, each.reason, each.hand) for each in seen.refused] == [
        ("change #1 Lives in Lima", "changed", "keeper")
    ]


async def test_a_note_is_corrected_and_its_history_tells_by_whom(workspace):
    """The new words are what stands; the change is the operator's, the words of the message stay."""
    corrected = await notes.correct(workspace, CHAT, "1", "  Lives in\n Lisbon ")
    told = await notes.history(workspace, CHAT, "#1")

    assert corrected.text == "Lives in Lisbon"
    assert [(each.verb, each.hand) for each in told] == [("add", "model"), ("change", "operator")]
    assert (await workspace.memory.store.turn("t_1")).user_text == "I live in Porto."


async def test_a_note_is_ended_and_stands_again(workspace):
    """Called done it is open no more, a second time that is said; reopened it is as before."""
    await notes.end(workspace, CHAT, "2", "done")
    assert 2 not in await standing(workspace)
    with pytest.raises(OpsError, match="ended already"):
        await notes.end(workspace, CHAT, "2", "dropped")

    await notes.reopen(workspace, CHAT, "2")

    assert (await standing(workspace))[2] == "Call Ana"


async def test_two_notes_that_say_the_same_become_one(workspace):
    """The one that stays rests on the messages of both."""
    kept = await notes.merge(workspace, CHAT, "3", "2")

    assert (kept.number, kept.turn_ids) == (2, ("t_2", "t_3"))
    assert await standing(workspace) == {1: "Lives in Porto", 2: "Call Ana"}


async def test_a_reminder_rings_at_another_time_of_its_own_clock(workspace):
    """Its new time must be to come, and be one."""
    moved = await notes.move(workspace, CHAT, "2", "2023-11-21T10:30")

    assert moved.rings_at_ms == at_ms_of("2023-11-21T10:30", "Europe/Lisbon")
    for local, why in (("2023-11-01T10:30", "still to come"), ("tomorrow", "2026-12-01 09:00")):
        with pytest.raises(OpsError, match=why):
            await notes.move(workspace, CHAT, "2", local)
    assert (await workspace.memory.notes(CHAT)).notes[2] == moved


async def test_a_note_is_forgotten_with_what_it_rests_on(workspace):
    """What will go is shown first; afterwards neither note nor message is there, nor a trace in the files."""
    asked = await notes.to_forget(workspace, CHAT, "1")
    forgotten, proof = await notes.forget(workspace, CHAT, "1")

    assert (asked.quoted, asked.turns) == (("I live in Porto.",), 1)
    assert (forgotten.counts.turns, forgotten.counts.notes, proof.found) == (1, 1, 0)
    assert await workspace.memory.store.turn("t_1") is None
    with pytest.raises(OpsError, match="no note #1"):
        await notes.forget(workspace, CHAT, "1")


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (lambda at: notes.correct(at, CHAT, "1", " \n"), "needs words"),
        (lambda at: notes.correct(at, CHAT, "1", "Lives in Porto"), "reads so already"),
        (lambda at: notes.correct(at, CHAT, "first", "x"), "no number of a note"),
        (lambda at: notes.history(at, CHAT, "9"), "no note #9"),
        (lambda at: notes.reopen(at, CHAT, "9"), "no note #9"),
        (lambda at: notes.forget(at, "tg:5:1:0", "1"), "no note #1"),
        (lambda at: notes.end(at, "tg:5:1:0", "1", "done"), "no note #1"),
        (lambda at: notes.correct(at, "tg:5:1:0", "1", "x"), "no note #1"),
        (lambda at: notes.merge(at, "tg:5:1:0", "1", "2"), "no note #1"),
    ],
)
async def test_what_cannot_be_done_is_said_and_changes_nothing(workspace, wanted, why):
    """No words, the same words, no such number, another conversation."""
    before = await workspace.memory.notes(CHAT)
    with pytest.raises(OpsError, match=why):
        await wanted(workspace)

    assert await workspace.memory.notes(CHAT) == before


async def test_a_part_that_was_refused_is_sent_again_or_dropped(workspace):
    """Retry puts it back into the outbox, Drop takes it away with its text; neither finds it a second time."""
    memory = workspace.memory
    outbox = Outbox(memory.db, memory.clock, SequentialIds(), HighestMessageIds())
    parts = []
    for text in ("one", "two"):
        (part,), rows = outbox.compose(Target(5, CHAT, 987654321), OutgoingMessage(text))
        await memory.db.write(*rows, Statement("outbox_failed", {"part_id": part.part_id, "error": "refused"}))
        parts.append(part)

    again = await quarantine.retry_part(workspace, parts[0].part_id)
    await quarantine.drop_part(workspace, parts[1].part_id)

    assert (again.text, again.state) == ("one", "queued")
    assert [part.text for part in await outbox.unsent(5)] == ["one"]
    assert await quarantine.list_failed_parts(workspace) == []
    with pytest.raises(OpsError):
        await quarantine.retry_part(workspace, parts[1].part_id)
