"""A database that the last version wrote, opened by this one: what people, tools and models wrote is in the ledger."""

import asyncio
import json

import pytest
from last_version import HERE, NINE, LastVersion, lasting, loop, matter

from memory.errors import Conflict
from memory.keeper.session_lines import stored_lines
from memory.ledger import series, views
from memory.ledger.ledgers import Ledgers
from memory.ledger.migration.carry_over import note_id_of, rrule_of
from memory.ledger.migration.old_stores import OldStores
from memory.ledger.rules import LOCAL, rule_of
from memory.ledger.undo import rebuilt
from memory.ports import Statement
from memory.testing import START_MS, open_memory

THERE = "tg:1:8:0"
DAY = views.DAY_MS


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
def old(memory):
    return LastVersion(memory)


async def opened(memory):
    return await memory.ledgers.read(HERE)


async def left(memory):
    return {row["conversation_id"]: json.loads(row["left_json"]) for row in await memory.db.read("ledgers_left")}


def lines(ledger):
    return [(note.kind, note.text, note.status, note.source) for note in ledger]


async def test_what_tools_noted_is_carried_over_and_what_rules_noted_is_left(memory, old):
    """Stored tool calls tell who wrote a memory; the other is counted, and neither row lives on."""
    await old.session()
    await old.turn("t_1", "Remember that I'm allergic to nuts.", ("remember", "I'm allergic to nuts."))
    await old.turn("t_2", "I live in Lima.")
    await old.memory_of("t_1", "I'm allergic to nuts.", kind="preference")
    await old.memory_of("t_2", "I live in Lima.", subject="user.home")
    await old.memory_of("t_2", "I live in Oslo.", status="superseded", subject="user.home")

    [note] = await opened(memory)
    assert (note.kind, note.text, note.source, note.turn_ids) == (
        "preference", "I'm allergic to nuts.", "model", ("t_1",),
    )  # fmt: skip
    assert (note.user_id, note.session_id, note.confidence) == (7, "s_1", 0.9)
    assert await left(memory) == {HERE: {"rules": 1, "older_value": 1}}
    assert await memory.db.read("old_memories", conversation_id=HERE) == []


async def test_loops_of_tools_and_of_hands_are_carried_over(memory, old):
    """What a tool opened stands; what a tap ended stays ended; what rules read is left."""
    await old.turn("t_1", "…", ("open_loop", "Call the landlord"), ("open_loop", "Send the slides"))
    await old.session(
        loop("Call the landlord", due_at_ms=NINE, due_exact=False),
        loop("Send the slides", "t_1.2", kind="commitment", owner="assistant", status="done", closed_turn_id="t_9"),
        loop("um 9 bin ich noch da", "t_1.3"),
        loop("Buy milk", "t_1.4", status="dropped"),
        loop("Renew the pass", "t_1.5", status="snoozed", snoozed_until_ms=NINE),
    )

    ledger = await opened(memory)
    assert lines(ledger) == [
        ("task", "Call the landlord", "open", "model"),
        ("promise", "Send the slides", "done", "model"),
        ("task", "Buy milk", "dropped", "person"),
        ("task", "Renew the pass", "open", "person"),
    ]
    assert (ledger.notes[1].due_at_ms, ledger.notes[1].due_exact) == (NINE, False)
    assert ledger.notes[4].snoozed_until_ms == NINE
    assert await left(memory) == {HERE: {"rules": 1}}


async def test_what_a_model_worded_is_carried_over_and_quotes_are_left(memory, old):
    """Matters and lasting notes, an operator's words above all; a corrected one is dropped; titles come along."""
    await old.session()
    await old.session(session_id="s_2")
    await old.notes(
        matter("Anna's surgery is on Friday", kind="event", due_at_ms=NINE, due_exact=True),
        matter("blood memory", "t_1.b", quoted="user"),
        matter("The move to Ulm", "t_1.c", kind="theme", faint=True),
        lasting=[lasting("Lives in Lima", subject="user.home"), lasting("Anna is the sister", "t_1.2",
                 kind="relationship", by_hand=True, quoted="user")],
        title="Surgery", standing="Anna is operated on.", standing_turn_ids=["t_1"],
    )  # fmt: skip
    await old.notes(
        matter("Anna's surgery is on Monday", "t_2.a", kind="event", said_at_ms=START_MS + 5, replaces=["t_1.a"]),
        lasting=[lasting("Lives in Oslo", "t_2.1", subject="user.home", said_at_ms=START_MS + 5)], session_id="s_2",
    )  # fmt: skip

    ledger = await opened(memory)
    assert {(note.kind, note.text, note.status, note.source) for note in ledger} == {
        ("fact", "Lives in Lima", "replaced", "keeper"),
        ("person", "Anna is the sister", "open", "operator"),
        ("event", "Anna's surgery is on Friday", "dropped", "keeper"),
        ("project", "The move to Ulm", "open", "keeper"),
        ("event", "Anna's surgery is on Monday", "open", "keeper"),
        ("fact", "Lives in Oslo", "open", "keeper"),
    }
    sure = {note.text: note.confidence for note in ledger}
    assert (sure["Anna is the sister"], sure["Lives in Oslo"], sure["The move to Ulm"]) == (1.0, 0.7, 0.5)
    assert await left(memory) == {HERE: {"rules": 1}}
    assert (await stored_lines(memory.db, HERE))["s_1"].standing == "Anna is operated on."


async def test_notes_that_rules_wrote_over_a_models_keep_what_the_model_worded(memory, old):
    """Where rules stood in for the model since, its own notes tell which words were its."""
    await old.session()
    model = {"matters": [matter("Anna's surgery is on Friday")], "reader": "keeper-model"}
    await old.notes(matter("Anna's surgery is on Friday"), matter("Oh no", "t_2.a"), reader="rules", model=model)

    assert [note.text for note in await opened(memory)] == ["Anna's surgery is on Friday"]
    assert await left(memory) == {HERE: {"rules": 1}}


async def test_reminders_ring_on(memory, old):
    """Single ones, series with what rang of them, what rang once; what ended is counted."""
    await old.session()
    await old.turn("t_1")
    await old.job("call Ana")
    await old.job("water the plants", NINE - 7 * DAY, "delivered", repeats="week@09:00")
    await old.job("water the plants", repeats="week@09:00", turn_id=None)
    await old.job("the oven", NINE - DAY, "delivered")
    await old.job("the interview", kind="follow_up")
    await old.job("long gone", NINE - DAY, "done")

    ledger = await opened(memory)
    notes = {note.text: note for note in ledger}
    assert notes["call Ana"].rings_at_ms == NINE
    plants = notes["water the plants"]
    assert (plants.repeats, plants.rings_at_ms) == ("FREQ=WEEKLY;BYDAY=MO", NINE)
    assert views.waits_for_word(plants)
    assert (notes["the oven"].rings_at_ms, views.waits_for_word(notes["the oven"])) == (None, True)
    assert (notes["the interview"].kind, notes["the interview"].owner) == ("question", "assistant")
    assert await left(memory) == {HERE: {"reminder_ended": 1}}
    assert await memory.db.read("old_jobs", conversation_id=HERE) == []
    due = await memory.db.read("notes_ringing", now_ms=NINE, prefix="tg:1:%", limit=9)
    assert len(due) == 3


async def test_a_reminder_that_was_put_off_comes_when_it_was_put_off_to(memory, old):
    """Of a series, the hour of the rule stays; this one date was moved."""
    await old.session()
    await old.job("water the plants", NINE + 3_600_000, repeats="day@09:00")

    [note] = await opened(memory)
    assert (note.rings_at_ms, note.rings_from[11:]) == (NINE + 3_600_000, "09:00")


@pytest.mark.parametrize(
    ("rule", "due", "rrule"),
    [
        ("hour@00:15", "2027-01-18T10:15", "FREQ=HOURLY"),
        ("day@09:00", "2027-01-18T09:00", "FREQ=DAILY"),
        ("3day@09:00", "2027-01-18T09:00", "FREQ=DAILY;INTERVAL=3"),
        ("weekday@07:45", "2027-01-18T07:45", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("2week@18:30", "2027-01-19T18:30", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"),
        ("week135@07:00", "2027-01-18T07:00", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
        ("month@09:00/31", "2027-02-28T09:00", "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1"),
        ("year@09:00/3", "2027-05-03T09:00", "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=3"),
        ("soon", "2027-05-03T09:00", ""),
    ],
)
def test_rules_become_rrules(rule, due, rrule):
    """Each rule of before, with the date at which it comes next as the first of its dates."""
    found, _ = rrule_of(rule, series.at_ms_of(due, "Europe/Berlin"), "Europe/Berlin")

    assert found == rrule
    if found:
        assert f"{next(iter(rule_of(found, due))):{LOCAL}}" == due


async def test_what_was_taken_off_the_preview_or_taken_back_does_not_return(memory, old):
    """An arc dropped by hand ends the note that it stood on; what was undone is left; who was asked is not again."""
    await old.session(undone=["t_2"])
    await old.notes(
        matter("The old flat"), matter("The wrong one", "t_2.a", turn_ids=["t_2"]), matter("The exam", "t_1.x")
    )
    await old.row(
        "continuity_arcs", arc_id="a_1", owner_key=f"{HERE}|7|assistant", kind="project", title="", summary="",
        confidence="high", stickiness="normal", status="dropped", sources_json='["t_1.a"]', last_touched_at_ms=1,
        created_at_ms=1,
    )  # fmt: skip
    await old.job("", None, "done", kind="asked", call_key="t_1.x:asked")

    notes = {note.text: note for note in await opened(memory)}
    assert notes["The old flat"].status == "dropped"
    assert notes["The exam"].offered
    assert not notes["The old flat"].offered
    assert await left(memory) == {HERE: {"taken_back": 1}}


async def test_it_is_carried_over_once_whoever_comes_second(memory, old):
    """Several that open it at once, again after a restart: one note, and the changes rebuild it."""
    await old.session()
    await old.turn("t_1", "…", ("remember", "I like tea"))
    await old.memory_of("t_1", "I like tea")
    rivals = [Ledgers(memory.db, OldStores(memory.db)) for _ in range(4)]

    found = await asyncio.gather(*(each.read(HERE) for each in rivals))

    assert all(each == found[0] for each in found)
    assert [note.note_id for note in found[0]] == [note_id_of("m_1")] or len(found[0].notes) == 1
    assert rebuilt(HERE, await rivals[0].since(HERE, 0)) == found[0]
    assert await Ledgers(memory.db, OldStores(memory.db)).read(HERE) == found[0]


async def test_a_crash_before_the_commit_leaves_all_as_it_was(memory, old):
    """Opening and letting go are one transaction: what fails in it is done by the next opening."""
    await old.session()
    await old.turn("t_1", "…", ("remember", "I like tea"))
    await old.memory_of("t_1", "I like tea")

    async def dies(conversation_id):
        carried = await OldStores(memory.db)(conversation_id)
        impossible = Statement("set_session_status", {"session_id": "nobody", "status": "active"}, expect=1)
        return type(carried)(carried.ledger, carried.changes, [*carried.also, impossible], carried.left)

    with pytest.raises(Conflict):
        await Ledgers(memory.db, dies).read(HERE)
    assert len(await memory.db.read("old_memories", conversation_id=HERE)) == 1
    assert len((await opened(memory)).notes) == 1


async def test_other_conversations_keep_theirs(memory, old):
    """Opening one carries over and deletes nothing of another."""
    await old.session()
    await old.session(loop("Call the landlord", status="dropped"), session_id="s_9", conversation=THERE)

    assert lines(await opened(memory)) == []
    assert len((await memory.ledgers.read(THERE)).notes) == 1


async def test_who_only_looks_carries_nothing_over(place, memory, old):
    """A reader beside a running bot sees the notes, and writes none."""
    await old.session()
    await old.turn("t_1", "…", ("remember", "I like tea"))
    await old.memory_of("t_1", "I like tea")
    reader = Ledgers(memory.db, OldStores(memory.db), read_only=True)

    assert [note.text for note in await reader.read(HERE)] == ["I like tea"]
    assert len(await memory.db.read("old_memories", conversation_id=HERE)) == 1


async def test_what_cannot_be_read_is_counted(memory, old):
    """Rows that hold no JSON stop nothing."""
    await old.session()
    await old.row(
        "session_notes", session_id="s_1", conversation_id=HERE, notes_json="{", model_json="", read_through_seq=1,
        model_seq=0, version=1, written_at_ms=1,
    )  # fmt: skip

    assert lines(await opened(memory)) == []
    assert await left(memory) == {HERE: {"unreadable": 1}}
