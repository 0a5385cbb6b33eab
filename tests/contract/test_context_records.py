"""Packets and compactions over a real database: what is gathered, stored, undone, and what may fail."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.context.assembler import Assembler
from memory.context.budget import Budget
from memory.context.compaction.compactor import Compactor
from memory.context.context_builder import prompt, reference_text, stable_text
from memory.context.occasion import Occasion
from memory.errors import StorageUnavailable
from memory.keeper.session_lines import SessionLine, put_session_line
from memory.ledger.ledgers import Ledgers
from memory.ledger.lines import model_line
from memory.ledger.types import Actor, Add, Change, End, Move, Ring
from memory.ledger.views import Scope
from memory.packets import RetrievedItem
from memory.ports import Statement
from memory.privacy.notes import NotesPlanner
from memory.search.languages import Languages
from memory.search.relevance import BEST, MORE_FROM, SURE
from memory.sessions.measures import Measures
from memory.sessions.summarizer import HEADER
from memory.state.notes_marks import marked
from memory.storage.store import insert_session, update_session
from memory.storage.turn_rows import insert_turn
from memory.testing import (
    ManualClock,
    SequentialIds,
    WordCounter,
    make_exchange,
    make_state,
    make_turn,
    open_memory,
)
from memory.types import BY_CLOCK, CARE, CompactionMark, SessionState, ToolCall

LANGUAGES = Languages.load()
COUNTER = WordCounter()
BUDGET = Budget(history_tokens=600, cap_tokens=3000)
HOUR_MS = 3_600_000
NOW_MS = int(datetime(2026, 3, 4, 15, 0, tzinfo=UTC).timestamp() * 1000)
TALK = "what would you say about the whole matter and why does it go like that every single time?"


@pytest.fixture
async def store(place):
    async with open_memory(place) as memory:
        yield memory.store


class Workspace:
    """Stores sessions as the recorder does, with `edit` for what happens between turns."""

    def __init__(self, store):
        self.store = store

    async def session(self, session_id, texts, *, ended_at_ms, answer="I see, thank you for telling me.", **state):
        turns = [
            make_turn(
                turn_id=f"{session_id}_{seq}",
                session_id=session_id,
                seq=seq,
                user_text=text,
                assistant_text=answer,
                language="en",
                created_at_ms=ended_at_ms - (len(texts) - seq) * 60_000,
            )
            for seq, text in enumerate(texts, 1)
        ]
        values = {"last_seq": len(texts), "turn_count": len(texts), "last_turn_at_ms": ended_at_ms}
        made = make_state(session_id=session_id, **(values | state))
        opened = turns[0].created_at_ms if turns else ended_at_ms
        await self.store.db.write(
            insert_session(made, user_id=7, origin="first", created_at_ms=opened, title="boats"),
            *(insert_turn(turn, "d") for turn in turns),
        )
        return made

    async def edit(self, session_id, change, *statements: Statement) -> SessionState:
        row = await self.store.session(session_id)
        after = change(SessionState.model_validate_json(row.state_json))
        await self.store.db.write(update_session(after, version=row.version, title="", at_ms=0), *statements)
        return after

    async def state(self, session_id):
        return SessionState.model_validate_json((await self.store.session(session_id)).state_json)


class FixedSearcher:
    """Finds what it was given, and remembers what it was asked."""

    def __init__(self, *found):
        self.found = list(found)
        self.asked = []

    async def search(self, query, choose=list):
        self.asked.append(query)
        return choose(self.found)


class BrokenSearcher:
    """The index is damaged."""

    async def search(self, *_, **__):
        raise StorageUnavailable("the index is damaged")


@pytest.fixture
def desk(store):
    return Workspace(store)


def assembler(store, searcher=None, budget=BUDGET, *, shared=False):
    return Assembler(store, searcher, budget, COUNTER, Ledgers(store.db, shared=shared))


async def note(store, *operations, hand="person", cause="tap", at_ms=NOW_MS):
    """Change the conversation's ledger as another part of the program does."""
    return await Ledgers(store.db).change("tg:1:1:0", operations, Actor(hand, at_ms, cause))


def compactor(store, write_summary=None, **overrides):
    return Compactor(
        store,
        Measures(clock=ManualClock(NOW_MS), ids=SequentialIds(), languages=LANGUAGES, counter=COUNTER),
        budget=BUDGET,
        write_summary=write_summary,
        **overrides,
    )


def receipt(packet, tier):
    return next(each for each in packet.receipts if each.tier == tier)


# --- the assembler --------------------------------------------------------------------------------------------------


async def test_the_history_of_a_session_is_in_its_packet(store, desk):
    """The same turns after a restart: nothing of it lives only in memory (003 AC-1)."""
    state = await desk.session("s_1", ["my cat is Tom", "and a dog"], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "yes", now_ms=NOW_MS)

    assert [turn.user_text for turn in packet.history] == ["my cat is Tom", "and a dog"]
    assert [message.role for message in prompt(packet, "yes")] == ["user", "assistant", "user", "assistant", "user"]


async def test_a_session_in_use_is_read_only_where_it_has_grown(store, desk):
    """The second packet reads one turn; one that is not there is not made up."""
    state = await desk.session("s_1", [TALK] * 5, ended_at_ms=NOW_MS)
    gatherer = assembler(store)
    before = await gatherer.history(state)
    turn = make_turn(turn_id="s_1_6", seq=6, user_text="new")
    await store.db.write(insert_turn(turn, "d"))
    after = await gatherer.history(state.model_copy(update={"last_seq": 6}))

    assert after == [*before, turn]
    assert all(old is new for old, new in zip(before, after, strict=False))


async def test_what_was_forgotten_is_not_served_from_memory(store, desk):
    """/forget clears what is kept at hand (P13)."""
    state = await desk.session("s_1", [TALK], ended_at_ms=NOW_MS)
    gatherer = assembler(store)
    kept = await gatherer.history(state)
    gatherer.clear_cache()
    again = await gatherer.history(state)

    assert again == kept
    assert again[0] is not kept[0]


@pytest.mark.parametrize("hours", [1, 6, 12])
async def test_what_was_said_earlier_today_is_there(store, desk, hours):
    """For gaps of 1 to 12 hours (003 AC-2.4): in the keeper's words."""
    await desk.session("s_0", ["We decided to buy the red boat."], ended_at_ms=NOW_MS - hours * HOUR_MS)
    line = SessionLine("s_0", "tg:1:1:0", "the boat", "You decided on the red boat. The price is open.")
    await store.db.write(put_session_line(line))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hello", now_ms=NOW_MS)

    assert packet.today.endswith(", the boat: You decided on the red boat. The price is open.")
    assert packet.last_conversation == ""


async def test_a_session_that_no_keeper_read_is_told_by_its_first_words(store, desk):
    """With its day; nothing of it is summed up by rules."""
    long = "We decided to buy the red boat. " * 9
    await desk.session("s_0", [long, "And paint it."], ended_at_ms=NOW_MS - 30 * HOUR_MS)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hello", now_ms=NOW_MS)

    assert packet.last_conversation == (
        "- Tue 3 Mar 08:59: began with “We decided to buy the red boat. We decided to buy the red boat. …”"
    )
    assert packet.rolling_session_summary == ""
    assert packet.today == ""


OFFER = "I noted Friday. Shall I wake you the night before as well?"


async def test_a_question_that_a_session_ended_with_is_there_in_the_next_one(store, desk):
    """Word for word, for the whole of that session, so that "yes please" has something to answer; then no more."""
    await desk.session("s_0", ["The oven comes on Friday."], ended_at_ms=NOW_MS - 9 * HOUR_MS, answer=OFFER)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    gatherer = assembler(store)
    first = await gatherer.packet(state, "yes please", now_ms=NOW_MS)
    alone = await gatherer.packet(state.model_copy(update={"isolated": True}), "yes please", now_ms=NOW_MS)
    await desk.session("s_1b", ["yes please"], ended_at_ms=NOW_MS - HOUR_MS)
    then = await gatherer.packet(state, "hello", now_ms=NOW_MS)

    assert first.today.splitlines()[-1] == f"- Wed 4 Mar 06:00, your last words: “{OFFER}”"
    assert "last words" not in alone.today + then.today


async def test_no_question_stands_that_was_put_to_other_words(store, desk):
    """The message was edited behind it: an answer asked about five o'clock, and she moved it to seven."""
    of = {"ended_at_ms": NOW_MS - 9 * HOUR_MS, "answer": OFFER}
    await desk.session("s_0", ["The oven comes on Friday."], **of, edited=("s_0_1",))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)

    assert "last words" not in (await assembler(store).packet(state, "yes please", now_ms=NOW_MS)).today


async def test_a_question_of_an_answer_that_was_taken_back_is_asked_no_more(store, desk):
    """The message was edited, and answered again in the next session."""
    ended = {"ended_at_ms": NOW_MS - HOUR_MS, "answer": OFFER, "undone": ("s_0_1",)}
    await desk.session("s_0", ["The oven comes on Friday."], **ended)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)

    assert (await assembler(store).packet(state, "hello", now_ms=NOW_MS)).today == ""


async def test_no_question_tells_again_what_was_forgotten(store, desk):
    """Its turn may rest on no note; what it speaks of is not said any more (P13)."""
    await desk.session("s_0", ["hm"], ended_at_ms=NOW_MS - HOUR_MS, answer="Shall I keep the code of the harbour gate?")
    add = Add(kind="fact", text="Code of the harbour gate: 4711", note_id="n_1")
    await note(store, add, Change(number=1, fields={"confidence": 0.0}), End(number=1, how="dropped"))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)

    assert (await assembler(store).packet(state, "hello", now_ms=NOW_MS)).today == ""


async def test_a_session_that_no_keeper_read_is_told_by_its_main_matter(store, desk):
    """Of what stands and no note of the prompt tells, else of what was done; a scrap that names nothing is none."""
    for n, text in enumerate(["back.", "given.", "So, where were we?", "Polish this, please: a long morning"]):
        await desk.session(f"s_{n}", [text], ended_at_ms=NOW_MS - (9 - n) * HOUR_MS)
    of = {"turn_ids": ("s_2_1",), "session_id": "s_2"}
    await note(store, Add(kind="task", text="Pay the tiler", note_id="n_2", fields=of | {"weight": 0.9}), End(number=1))
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)

    async def told():
        today = (await assembler(store).packet(state, "hi", now_ms=NOW_MS)).today
        return [line.split(" ", 5)[5] for line in today.splitlines()]

    began = "began with “Polish this, please: a long morning”"
    assert await told() == ["Pay the tiler", began]
    await note(store, Add(kind="task", text="Buy rollers.", note_id="n_1", fields=of | {"weight": 0.3}))
    assert await told() == [began]


@pytest.mark.parametrize(("title", "told"), [("Boats", 2), ("", 5)])
async def test_how_older_sessions_began_is_told_only_where_nothing_says_more(store, desk, title, told):
    """Of the latest two at any time; of those before only in a memory without a keeper and without notes."""
    for n in range(5):
        await desk.session(f"s_{n}", [f"red paint for room {n}"], ended_at_ms=NOW_MS - (9 - n) * HOUR_MS)
    if title:
        await store.db.write(put_session_line(SessionLine("s_0", "tg:1:1:0", title=title)))
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert len(packet.today.splitlines()) == told


async def test_today_is_the_users_day(store, desk):
    """What is today in Honolulu is yesterday in Tokyo."""
    await desk.session("s_0", ["We decided to buy the red boat."], ended_at_ms=NOW_MS - 2 * HOUR_MS)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    gatherer = assembler(store)
    at_ms = NOW_MS + HOUR_MS  # 16:00 UTC is 01:00 in Tokyo, 06:00 in Honolulu

    async def at(zone):
        return await gatherer.packet(state, "hi", now_ms=at_ms, occasion=Occasion(time_zone=zone))

    assert (await at("Pacific/Honolulu")).today
    assert not (await at("Asia/Tokyo")).today
    assert (await at("No/Such")).today


@pytest.mark.parametrize(
    ("known", "told"), [(True, "(Asia/Tokyo)"), (False, "(Asia/Tokyo; their time zone is not known)")]
)
async def test_the_time_is_the_persons_or_said_not_to_be(store, desk, known, told):
    """Day, date, hour and zone before the message; nobody's clock is claimed to be theirs."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    occasion = Occasion(time_zone="Asia/Tokyo", zone_known=known, person="Ana")
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS, user_id=7, occasion=occasion)

    assert prompt(packet, "hi")[-1].text == f"[From Ana. It is Thu 2026-03-05 00:00 {told}.]\n\nhi"


async def test_the_notes_stay_as_they_were_at_the_first_reply(store, desk):
    """What is noted later is told before the message, in its newest form; a restart gives the same bytes."""
    await note(store, Add(kind="fact", text="Lia is allergic to nuts", note_id="n_1"))
    await note(store, Add(kind="task", text="Call Ana", note_id="n_2"))
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark)
    await note(store, End(number=2), Add(kind="task", text="Paint the boat", note_id="n_3"))
    await note(store, Change(number=1, fields={"text": "Lia is allergic to peanuts"}))
    gatherer = assembler(store)
    later = await gatherer.packet(state, "hi", now_ms=NOW_MS + HOUR_MS)
    again = await assembler(store).packet(state, "hi", now_ms=NOW_MS + HOUR_MS)

    assert stable_text(later) == stable_text(first) == stable_text(again)
    assert first.notes_block == "#1 fact: Lia is allergic to nuts\n#2 task: Call Ana"
    assert later.notes_changed.splitlines() == [
        "#2 task: Call Ana (done)", "#3 task: Paint the boat", "#1 now fact: Lia is allergic to peanuts",
    ]  # fmt: skip
    assert later == again == await gatherer.packet(state, "hi", now_ms=NOW_MS + HOUR_MS)


async def test_behind_a_compaction_the_notes_are_taken_anew(store, desk):
    """So they are for another clock; what changed before is then no news."""
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark)
    await note(store, Add(kind="fact", text="Lia is allergic to nuts", note_id="n_1"))
    mark = CompactionMark(compaction_id="c_1", history_from_seq=1, summary="- x", summary_tokens=2)
    compacted = await assembler(store).packet(state.model_copy(update={"compaction": mark}), "hi", now_ms=NOW_MS)
    moved = await assembler(store).packet(state, "hi", now_ms=NOW_MS, occasion=Occasion(time_zone="Asia/Tokyo"))

    for packet in (compacted, moved):
        assert (packet.notes_block, packet.notes_changed) == ("#1 fact: Lia is allergic to nuts", "")
    assert marked(marked(state, moved.notes_mark), moved.notes_mark).notes_marks == (first.notes_mark, moved.notes_mark)


RING = Ring(number=1, occurrence="2026-03-04T15:30", rings_at_ms=NOW_MS + HOUR_MS // 2)
BINS = Add(kind="task", text="Bins", note_id="n_1", fields={"rings_from": "2026-03-04T15:30", "time_zone": "UTC"})


async def test_what_a_tool_did_is_not_told_twice(store, desk):
    """Its result stands in the messages."""
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    await note(store, BINS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark).model_copy(update={"last_seq": 2})
    call = ToolCall(call_id="c", name="note", result="#2 task: Call Ana")
    turn = make_turn(turn_id="t_tool", session_id="s_1", seq=2, tool_calls=(call,), created_at_ms=NOW_MS)
    await store.db.write(insert_turn(turn, "d"))
    await note(store, Add(kind="task", text="Call Ana", note_id="n_2"), hand="model", cause="t_tool")
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS + HOUR_MS)

    assert (packet.notes_changed, packet.notes_events) == ("", "")


async def test_what_rang_stands_before_the_first_message_of_a_new_session_with_its_words(store, desk):
    """“How did the operation go?” rang at 21:00 and was answered at 21:08 with “beautifully!” (a trial)."""
    asks = "So, how did it go with your mother's operation on both of her eyes at the hospital?"
    ring = {"rings_from": "2026-03-04T15:30", "time_zone": "UTC", "owner": "assistant"}
    await note(store, Add(kind="promise", text=asks, note_id="n_1", fields=ring))
    await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    await note(store, RING, hand="operator", at_ms=NOW_MS + HOUR_MS // 2)
    state = await desk.session("s_2", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "beautifully!", now_ms=NOW_MS + HOUR_MS)

    assert packet.notes_events == f"#1 {asks}: rang at 15:30"
    assert asks in packet.threads


async def test_what_rang_before_a_tasks_run_stands_before_the_next_message_still(store, desk):
    """The run was told of it, and had nothing to say to it: the person answers the ring."""
    await note(store, BINS)
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    state = marked(state, (await assembler(store).packet(state, "hi", now_ms=NOW_MS)).notes_mark)
    await note(store, RING, hand="operator", at_ms=NOW_MS + HOUR_MS // 2)
    ran = NOW_MS + HOUR_MS
    run = make_turn(turn_id="s_1_2", session_id="s_1", seq=2, action_name=BY_CLOCK, created_at_ms=ran)
    await store.db.write(insert_turn(run, "d"))
    state = state.model_copy(update={"last_seq": 2, "turn_count": 2, "last_turn_at_ms": ran})
    packet = await assembler(store).packet(state, "done", now_ms=NOW_MS + 2 * HOUR_MS)

    assert packet.notes_events == "#1 Bins: rang at 15:30"


@pytest.mark.parametrize("is_marked", [True, False])
async def test_what_rang_before_a_run_in_a_new_session_stands_before_the_next_message(store, desk, is_marked):
    """Nobody was answered in a session that a task's run began: the last answer is that of the session before."""
    await note(store, BINS)
    await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    state = await desk.session("s_2", [], ended_at_ms=NOW_MS)
    mark = (await assembler(store).packet(state, "hi", now_ms=NOW_MS)).notes_mark
    state = marked(state, mark) if is_marked else state
    await note(store, RING, hand="operator", at_ms=NOW_MS + HOUR_MS // 2)
    ran = NOW_MS + HOUR_MS
    await store.db.write(
        insert_turn(make_turn(turn_id="s_2_1", session_id="s_2", action_name=BY_CLOCK, created_at_ms=ran), "d")
    )
    state = state.model_copy(update={"last_seq": 1, "turn_count": 1, "last_turn_at_ms": ran})
    packet = await assembler(store).packet(state, "done", now_ms=NOW_MS + 2 * HOUR_MS)

    assert packet.notes_events == "#1 Bins: rang at 15:30"


async def test_what_was_taken_back_says_how_the_note_stands_now(store, desk):
    """The messages tell the change still, and the block the note before it: which holds, nobody knew (a trial)."""
    await note(store, BINS)
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    state = marked(state, (await assembler(store).packet(state, "hi", now_ms=NOW_MS)).notes_mark)
    await note(store, Change(number=1, fields={"text": "Both bins"}), hand="model", cause="s_1_1", at_ms=NOW_MS + 1)
    ledgers = Ledgers(store.db)
    undone = Actor("person", NOW_MS + 60_000, "b_1")
    await ledgers.undo("tg:1:1:0", (await ledgers.since("tg:1:1:0", 1)), undone)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS + HOUR_MS)

    assert packet.notes_events.startswith("#1: taken back at 15:01; now #1 task: Bins")
    assert packet.notes_changed == ""


async def test_what_rang_and_was_tapped_is_told_once_with_its_time_then_as_it_stands(store, desk):
    """An event of the moment between two answers; behind the next one only the note's line says how it is."""
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    await note(store, BINS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark)
    await note(store, RING, hand="operator", at_ms=NOW_MS + HOUR_MS // 2)
    rang = await assembler(store).packet(state, "hi", now_ms=NOW_MS + HOUR_MS)
    later = state.model_copy(update={"last_turn_at_ms": NOW_MS + HOUR_MS})
    then = await assembler(store).packet(later, "hi", now_ms=NOW_MS + 2 * HOUR_MS)
    snooze = Move(number=1, occurrence="2026-03-04T15:30", to_ms=NOW_MS + 24 * HOUR_MS)
    await note(store, snooze, hand="person", cause="b_1", at_ms=NOW_MS + 2 * HOUR_MS)
    put_off = await assembler(store).packet(later, "hi", now_ms=NOW_MS + 2 * HOUR_MS)
    await note(store, End(number=1), hand="person", cause="b_1", at_ms=NOW_MS + 25 * HOUR_MS)
    tapped = await assembler(store).packet(later, "hi", now_ms=NOW_MS + 26 * HOUR_MS)

    assert (rang.notes_changed, rang.notes_events) == ("", "#1 Bins: rang at 15:30")
    assert (then.notes_changed, then.notes_events) == ("#1 now task: Bins (rang Wed 4 Mar 15:30, not called done)", "")
    assert put_off.notes_events == "#1 Bins: put off at 17:00 until Thu 5 Mar 15:00"
    assert (tapped.notes_changed, tapped.notes_events) == (
        "", "#1 Bins: put off on Wed 4 Mar 17:00 until Thu 5 Mar 15:00, ticked off at 16:00",
    )  # fmt: skip
    assert stable_text(put_off) == stable_text(rang)
    assert stable_text(tapped) == "", "after a day the notes are taken anew: no cache has the old ones still"


async def test_a_session_begins_with_the_events_that_its_notes_do_not_tell(store, desk):
    """What was ticked off since stands in no block; what rang the message may answer. /fresh hears of neither."""
    await desk.session("s_0", ["hello"], ended_at_ms=NOW_MS)
    await note(store, BINS)
    await note(store, Add(kind="task", text="Call Ana", note_id="n_2"))
    await note(store, RING, hand="operator", at_ms=NOW_MS + HOUR_MS // 2)
    await note(store, End(number=2), hand="person", cause="b_1", at_ms=NOW_MS + HOUR_MS)
    await note(store, Change(number=1, fields={"weight": 0.9}), hand="keeper", at_ms=NOW_MS + HOUR_MS)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS + 30 * HOUR_MS)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS + 24 * HOUR_MS)
    apart = state.model_copy(update={"isolated": True})

    assert packet.notes_events.splitlines() == [
        "#1 Bins: rang on Wed 4 Mar 15:30", "#2 Call Ana: ticked off on Wed 4 Mar 16:00",
    ]  # fmt: skip
    assert "rang Wed 4 Mar 15:30" in packet.threads
    assert (await assembler(store).packet(apart, "hi", now_ms=NOW_MS + 24 * HOUR_MS)).notes_events == ""


async def test_an_open_note_that_a_block_has_no_room_for_comes_with_the_message_that_speaks_of_it(store, desk):
    """Twenty of 22 are told; of the others the one that the message is about, and no other."""
    tasks = ["Call Ana", "Bins", "Tax form", "Paint the fence", "Cat food", "Piano tuner", "Shed roof", "Choir"]
    tasks += ["Roses", "Library", "Passport", "Boiler", "Gutters", "Dentist", "Bike"]
    tasks += ["Skates", "Curtains", "Oven", "Lamp", "Scarf", "Globe"]
    for at, text in enumerate(tasks, 1):
        await note(store, Add(kind="task", text=text, note_id=f"n_{at}", fields={"weight": 0.9}))
    await note(store, Add(kind="promise", text="Andrés owes 300 euros", note_id="n_22", fields={"weight": 0.1}))
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "andres me ha dado 120", now_ms=NOW_MS)

    assert "#22 promise" not in packet.notes_block + packet.threads
    assert packet.notes_changed.splitlines() == ["#22 promise: Andrés owes 300 euros"]


async def test_what_a_search_returned_is_no_find_any_more(store, desk):
    """Its result stands in the messages: the same words are not told once more."""
    words = "The supplier's contract ends on 31 January of next year, with a notice of three months before that day."
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(found("t_old", "s_0", words))
    before = await assembler(store, searcher).packet(state, "When does the contract end?", now_ms=NOW_MS)
    call = ToolCall(call_id="c", name="search", result=f"Mon: “{words}”")
    turn = make_turn(turn_id="t_tool", session_id="s_1", seq=2, tool_calls=(call,), created_at_ms=NOW_MS)
    await store.db.write(insert_turn(turn, "d"))
    state = state.model_copy(update={"last_seq": 2})
    after = await assembler(store, searcher).packet(state, "When does the contract end?", now_ms=NOW_MS)

    assert [len(before.retrieved), len(after.retrieved)] == [1, 0]


async def test_only_what_belongs_to_the_session_reaches_one_that_is_fresh(store, desk):
    """/fresh, mode off, another user of a group: no block, no earlier session, no find of others (DESIGN section 9)."""
    await desk.session("s_0", ["My SECRET is 42."], ended_at_ms=NOW_MS - HOUR_MS)
    await note(store, Add(kind="fact", text="a SECRET fact", note_id="n_1", fields={"session_id": "s_0"}))
    await note(store, Add(kind="fact", text="of this talk", note_id="n_2", fields={"session_id": "s_1"}))
    story = {"about": "the tale", "persona": "storyteller"}
    await note(store, Add(kind="story", text="a SECRET tale", note_id="n_3", fields=story))
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(found("t_0", "s_0", "SECRET words"), found("t_1", "s_1", "of my own"))
    fresh = state.model_copy(update={"isolated": True})
    scoped = Occasion(scope=Scope(session_id="s_1"))
    alone = [
        await assembler(store, searcher).packet(fresh, "and what else?", now_ms=NOW_MS),
        await assembler(store, searcher).packet(state, "and what else?", now_ms=NOW_MS, occasion=scoped),
    ]
    control = await assembler(store, searcher).packet(state, "and what else?", now_ms=NOW_MS)
    told = Occasion(scope=Scope(persona="storyteller"))
    in_story = await assembler(store, searcher).packet(state, "and what else?", now_ms=NOW_MS, occasion=told)

    for packet in alone:
        assert "SECRET" not in reference_text(packet)
        assert "of my own" in reference_text(packet)
        assert "of this talk" in packet.notes_block
    assert searcher.asked[0].session_ids == ["s_1"]
    assert reference_text(control).count("SECRET") == 2
    assert "SECRET tale" in reference_text(in_story)
    assert "SECRET tale" not in reference_text(control)


def found(ref, session_id, text, **values):
    about = {"at_ms": NOW_MS, "score": 1, "share": SURE} | values
    return RetrievedItem(source="turn", ref=ref, session_id=session_id, text=text, **about)


async def test_what_stands_in_the_messages_is_not_looked_for(store, desk):
    """What the history shows is excluded, and the message is searched as it was said."""
    searcher = FixedSearcher(found("m_1", "s_0", "the boat is red"))
    state = await desk.session("s_1", ["tell me of the boat"], ended_at_ms=NOW_MS)
    packet = await assembler(store, searcher).packet(state, "and where is the boat?", now_ms=NOW_MS)
    (query,) = searcher.asked

    assert query.text == "and where is the boat?"
    assert query.exclude_turn_ids == ["s_1_1"]
    assert "the boat is red" in reference_text(packet)


async def test_no_find_tells_again_what_was_forgotten(store, desk):
    """The messages stay; an answer that said it once more, in a turn the note never rested on, tells it to nobody."""
    await note(
        store,
        Add(kind="constraint", text="Nele takes no lactose", note_id="n_1"),
        Add(kind="constraint", text="Nelly takes no lactose", note_id="n_2"),
        Change(number=2, fields={"confidence": 0.0}),
        End(number=2, how="dropped"),
    )
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    again = found("m_1", "s_0", "No lactose: that is Nele and Nelly of your group", share=0.9)
    other = found("m_2", "s_0", "Nele's parents brought the note about lactose", share=0.8)
    packet = await assembler(store, FixedSearcher(again, other)).packet(state, "who takes no lactose?", now_ms=NOW_MS)

    assert [item.ref for item in packet.retrieved] == ["m_2"]


async def test_nothing_below_the_floor_is_told(store, desk):
    """Where nothing in the past is close nothing is told; else the best, and what is not far behind them."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    best = [found(f"m_{n}", "s_0", f"the boat number {n} is red") for n in range(BEST)]
    weak = found("m_9", "s_0", "something else", share=0.01)
    several = await assembler(store, FixedSearcher(*best, weak)).packet(state, "which boat?", now_ms=NOW_MS)
    none = await assembler(store, FixedSearcher(weak)).packet(state, "I feel so low today", now_ms=NOW_MS)

    assert [item.ref for item in several.retrieved] == [item.ref for item in best]
    assert none.retrieved == ()


@pytest.mark.parametrize(("closest", "told"), [(SURE, BEST), (MORE_FROM, BEST + 1)])
async def test_more_than_the_best_are_told_behind_a_close_find_alone(store, desk, closest, told):
    """Where nothing is close, what stands behind the best answers nothing; and never what has next to none of it."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    first = found("m_0", "s_0", "the boat is red", share=closest)
    others = [found(f"m_{n}", "s_0", f"the boat number {n} is red") for n in range(1, BEST + 1)]
    searcher = FixedSearcher(first, *others, found("m_9", "s_0", "something else", share=0.01))
    packet = await assembler(store, searcher).packet(state, "which boat?", now_ms=NOW_MS)
    nothing = await assembler(store, searcher).packet(state, "so where were we?", now_ms=NOW_MS)

    assert len(packet.retrieved) == told
    assert nothing.retrieved == ()


@pytest.mark.parametrize(("lent", "told"), [(True, ["m_0", "m_1"]), (False, ["m_0", "m_1", "m_2"])])
async def test_what_stands_near_a_find_is_told_where_its_neighbours_say_much(store, desk, lent, told):
    """A reply without a word of the question answers it behind one that has most of them; else it is chance."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    first = found("m_0", "s_0", "the boat is red", share=0.8)
    others = [
        found(f"m_{n}", "s_0", f"matter {n}", share=share).model_copy(update={"lent": lent})
        for n, share in enumerate((0.3, 0.05), 1)
    ]
    packet = await assembler(store, FixedSearcher(first, *others)).packet(state, "which boat?", now_ms=NOW_MS)

    assert [item.ref for item in packet.retrieved] == told


async def test_the_question_at_the_end_of_a_message_is_looked_for_by_itself(store, desk):
    """What stands before it is about something else."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(found("m_1", "s_0", "siobhán borrowed 60", share=0.5))
    message = "form part d done and sent, thats that off my back. Oh what did i say about siobhan the other day"
    await assembler(store, searcher).packet(state, message, now_ms=NOW_MS)

    assert [query.text for query in searcher.asked][:2] == [
        message, "Oh what did i say about siobhan the other day",
    ]  # fmt: skip


async def test_a_find_is_told_with_its_note_in_the_newest_form(store, desk):
    """A decision that was replaced is told as what stands now, beside what it contradicts."""
    grout = {"turn_ids": ("t_0",), "subject": "grout"}
    await note(store, Add(kind="decision", text="Green grout", note_id="n_1", fields=grout))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    await note(store, Add(kind="decision", text="Beige grout", note_id="n_2", fields=grout | {"turn_ids": ("t_9",)}))
    searcher = FixedSearcher(found("t_0", "s_0", "User: green, for 40"), found("t_7", "s_0", "User: grout?"))
    frozen = marked(state, first.notes_mark)
    packet = await assembler(store, searcher).packet(frozen, "which grout?", now_ms=NOW_MS)
    anew = await assembler(store, searcher).packet(state, "which grout?", now_ms=NOW_MS)

    assert "#1 decision: Green grout" in packet.notes_block
    assert packet.notes_changed.splitlines() == [
        "#1 decision: Green grout (replaced) -> #2", "#2 decision: Beige grout",
    ]  # fmt: skip
    assert [item.note for item in packet.retrieved] == ["later changed: #2 decision: Beige grout", ""]
    assert [item.note for item in anew.retrieved] == ["later changed: #2 decision: Beige grout", ""]
    assert anew.notes_block == "#2 decision: Beige grout"


async def test_a_message_is_not_quoted_beside_the_notes_that_tell_it(store, desk):
    """A number that they lack keeps it; so does work on a text, which is more than what was noted of it."""
    key = Add(
        kind="fact", text="The spare key is with Ada", note_id="n_1", fields={"turn_ids": ("t_1", "t_2", "s_0_1")}
    )
    await note(store, key)
    await desk.session("s_0", ["ada has the spare key"], ended_at_ms=NOW_MS - HOUR_MS)
    await store.db.write(put_session_line(SessionLine("s_0", "tg:1:1:0", worked_on=("s_0_1",), read_through_seq=1)))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(
        found("t_1", "s_0", "User: ada has the spare key, fyi\nAssistant: Good to know."),
        found("t_2", "s_0", "User: ada has the spare key, 40 euros\nAssistant: Good to know."),
        found("s_0_1", "s_0", "User: ada has the spare key\nAssistant: Translated: Ada ha la chiave."),
    )
    packet = await assembler(store, searcher).packet(state, "who has the spare key?", now_ms=NOW_MS)

    assert "#1 fact: The spare key is with Ada" in packet.notes_block
    assert [item.ref for item in packet.retrieved] == ["t_2", "s_0_1"]


async def test_a_find_says_how_what_was_noted_of_it_ended(store, desk):
    """What was done or dropped since would be taken for open else: the find has its words, the mark its end."""
    for n, how in enumerate(("done", "dropped"), 1):
        await note(store, Add(kind="task", text=f"Thing {n}", note_id=f"n_{n}", fields={"turn_ids": (f"t_{n}",)}))
        await note(store, End(number=n, how=how, turn_ids=("t_9",)))
    await note(store, Add(kind="task", text="Thing 3", note_id="n_3", fields={"turn_ids": ("t_3", "t_9")}))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(*[found(f"t_{n}", "s_0", f"User: thing {n} of 40") for n in (1, 2, 3)])
    packet = await assembler(store, searcher).packet(state, "which things?", now_ms=NOW_MS)

    assert [item.note for item in packet.retrieved] == ["done: #1", "dropped: #2", "see #3"]


async def test_a_find_says_that_its_note_has_been_given_other_words(store, desk):
    """The note says what holds now; the turn that changed it says so itself."""
    await note(store, Add(kind="event", text="Operation on the 3rd", note_id="n_1", fields={"turn_ids": ("t_1",)}))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(
        *[found(f"t_{n}", "s_0", f"User: the op in room {n}4", share=0.5, at_ms=NOW_MS - HOUR_MS) for n in (1, 2)]
    )
    before = await assembler(store, searcher).packet(state, "when is the operation?", now_ms=NOW_MS)
    await note(store, Change(number=1, fields={"text": "Operation on the 9th", "turn_ids": ("t_2",)}))
    after = await assembler(store, searcher).packet(state, "when is the operation?", now_ms=NOW_MS)

    assert [item.note for item in before.retrieved] == ["see #1", ""]
    assert [item.note for item in after.retrieved] == ["later changed: #1 event: Operation on the 9th", "see #1"]


async def test_what_rang_or_is_due_today_is_not_left_out_of_the_notes(store, desk):
    """Twenty open matters are told: first those that a message is likeliest to be about."""
    later = [
        Add(
            kind="task",
            text=f"Later {n}",
            note_id=f"n_{n}",
            fields={"weight": 0.9, "due_at_ms": NOW_MS + n * 50 * HOUR_MS},
        )
        for n in range(1, 22)
    ]
    today = Add(kind="task", text="Today", note_id="n_99", fields={"weight": 0.1, "due_at_ms": NOW_MS + HOUR_MS})
    await note(store, *later, today)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert "task: Today" in packet.threads
    assert packet.threads.splitlines()[-1].startswith("(and 2 more notes: #")


async def test_a_scene_brings_an_errand_only_where_it_is_spoken_of(store, desk):
    """Notes about the real world stay reachable from every persona (DESIGN), and stand in no scene by themselves."""
    await note(store, Add(kind="task", text="Call the tiler about the grout", note_id="n_1"))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    scene = Occasion(scope=Scope(persona="bard"), plays={"bard"})
    reads = assembler(store)
    played, asked, talk = [
        await reads.packet(state, words, now_ms=NOW_MS, occasion=occasion)
        for words, occasion in (("I draw", scene), ("have I called the tiler?", scene), ("hello", Occasion()))
    ]

    assert "tiler" not in stable_text(played)
    assert "tiler" in asked.notes_changed
    assert "tiler" in talk.notes_block


async def test_a_find_in_text_that_was_worked_on_is_called_so(store, desk):
    """What a pasted letter says is not what the person says."""
    await desk.session("s_0", ["polish this: I am forty and live in Rome"], ended_at_ms=NOW_MS - HOUR_MS)
    line = SessionLine("s_0", "tg:1:1:0", worked_on=("s_0_1",), read_through_seq=1)
    await store.db.write(put_session_line(line))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(found("s_0_1", "s_0", "User: polish this"), found("s_0_2", "s_0", "User: mine"))
    packet = await assembler(store, searcher).packet(state, "where do I live?", now_ms=NOW_MS)

    assert [item.note for item in packet.retrieved] == ["text that was worked on", ""]


STANDING = (
    "The grout will be green. They still have to buy paint rollers, soft and wide ones for the hall. "
    "The tiler comes in March."
)


async def test_an_earlier_session_is_told_by_its_standing_and_not_by_a_title_alone(store, desk):
    """First words are the last resort; a sentence of it that speaks of what is over or replaced is left out.

    Where one stood before the latest two has moved on.
    """
    for n in range(3):
        await desk.session(f"s_{n}", [f"red paint for room {n}"], ended_at_ms=NOW_MS - (9 - n) * HOUR_MS)
    on = {"turn_ids": ("s_1_1",), "session_id": "s_1", "subject": "grout"}
    await note(store, Add(kind="decision", text="Green grout", note_id="n_1", fields=on))
    await note(store, Add(kind="task", text="Buy paint rollers", note_id="n_2", fields=on | {"subject": ""}))
    line = SessionLine("s_1", "tg:1:1:0", "Tiles", STANDING, turn_ids=("s_1_1", "s_1_2"), written_at_ms=NOW_MS)
    await store.db.write(
        put_session_line(line),
        put_session_line(SessionLine("s_0", "tg:1:1:0", title="Boats", standing="The red one is leaking.")),
    )
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    beige = Add(kind="decision", text="Beige grout", note_id="n_3", fields={"subject": "grout"})
    await note(store, beige, End(number=2), at_ms=NOW_MS + 1)
    later = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    frozen = await assembler(store).packet(marked(state, first.notes_mark), "hi", now_ms=NOW_MS)

    assert [line.split(" ", 5)[5] for line in first.today.splitlines()] == [
        f"Tiles: {STANDING}", "began with “red paint for room 2”",
    ]  # fmt: skip
    assert later.today.splitlines()[0].endswith("Tiles: The tiler comes in March.")
    assert stable_text(frozen) == stable_text(first)


async def test_of_an_earlier_session_no_scrap_is_told(store, desk):
    """“It is your move.” was all that a trial's prompt told of a scene whose other sentences stood in the notes."""
    await desk.session("s_0", ["what now?"], ended_at_ms=NOW_MS - HOUR_MS)
    told = "The Krähennest fled from Messing with half of the jetty in tow"
    await note(store, Add(kind="fact", text=told, note_id="n_1", fields={"session_id": "s_7"}))
    line = SessionLine("s_0", "tg:1:1:0", "Flight", f"{told}. It is your move.", written_at_ms=NOW_MS)
    await store.db.write(put_session_line(line))
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert told in stable_text(packet)
    assert "your move" not in packet.today


async def test_an_earlier_session_says_how_a_matter_stands_that_ended_in_a_later_one(store, desk):
    """Its sentence names it in words of its own, and was told for days as if it were still so."""
    await desk.session("s_0", ["who is missing?"], ended_at_ms=NOW_MS - HOUR_MS)
    on = {"turn_ids": ("s_0_1",), "session_id": "s_0"}
    await note(store, Add(kind="task", text="Ask Callum for his figures", note_id="n_1", fields=on))
    standing = "Everything is priced, only Callum is still open."
    line = SessionLine("s_0", "tg:1:1:0", "Offer", standing, turn_ids=("s_0_1", "s_0_2"), written_at_ms=NOW_MS)
    await store.db.write(put_session_line(line))
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    before = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    await note(store, End(number=1), at_ms=NOW_MS + 1)
    after = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert before.today.endswith(f"Offer: {standing}")
    assert after.today.endswith(f"Offer: {standing} Since then: #1 task: Ask Callum for his figures (done).")


async def test_an_earlier_session_tells_times_by_the_clock_of_the_person_and_as_of_now(store, desk):
    """Noted in Berlin and read in New York three weeks later: as the other notes of the prompt say it."""
    await desk.session("s_0", ["who is missing?"], ended_at_ms=NOW_MS - HOUR_MS)
    on = {"turn_ids": ("s_0_1",), "session_id": "s_0", "due_exact": True, "time_zone": "Europe/Berlin"}
    on |= {"due_at_ms": NOW_MS + HOUR_MS}
    await note(store, Add(kind="task", text="Ask Callum for his figures", note_id="n_1", fields=on))
    line = SessionLine("s_0", "tg:1:1:0", "Offer", "Only Callum is open.", turn_ids=("s_0_1",), written_at_ms=NOW_MS)
    await store.db.write(put_session_line(line))
    await note(store, End(number=1), at_ms=NOW_MS + 1)
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    (due,) = await Ledgers(store.db).read("tg:1:1:0")
    reads, later_ms = assembler(store), NOW_MS + 21 * 24 * HOUR_MS

    for zone in ("Europe/Berlin", "America/New_York"):
        packet = await reads.packet(state, "hi", now_ms=later_ms, occasion=Occasion(time_zone=zone))
        told = f"{packet.today or ''}{packet.last_conversation or ''}"
        assert told.endswith(f"Since then: {model_line(due, later_ms, zone, brief=True)}.")


async def test_an_earlier_session_tells_nothing_that_the_notes_tell(store, desk):
    """A sentence with something else stays; where nothing is left the session goes, and no older one comes instead."""
    for n in range(2):
        await desk.session(f"s_{n}", ["hello there"], ended_at_ms=NOW_MS - (9 - n) * HOUR_MS)
    due = {"due_at_ms": int(datetime(2026, 3, 9, tzinfo=UTC).timestamp() * 1000)}
    await note(store, Add(kind="task", text="Send the invoice of 412 to Halden", note_id="n_1", fields=due))
    told, more = "You send Halden the invoice of 412 on 9.3. this year.", "The tiler comes with 40 tiles."
    put = [
        put_session_line(SessionLine(f"s_{n}", "tg:1:1:0", "Work", text, written_at_ms=NOW_MS))
        for n, text in enumerate((told, f"{told} {more}"))
    ]
    await store.db.write(*put)
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    (line,) = packet.today.splitlines()
    assert line.endswith(f"Work: {more}")


async def test_where_one_stood_says_how_much_came_after_it(store, desk):
    """“Offered, no answer yet” stood there for good: the answer had come at the end, which no keeper had read yet."""
    await desk.session("s_0", ["shall I book it?", "yes please", "booked"], ended_at_ms=NOW_MS - HOUR_MS)
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    told = []
    for version, read_through in enumerate((1, 3)):
        line = SessionLine("s_0", "tg:1:1:0", "Hall", "I offered to book the hall.", read_through_seq=read_through)
        await store.db.write(put_session_line(replace(line, version=version, written_at_ms=NOW_MS)))
        told.append((await assembler(store).packet(state, "hi", now_ms=NOW_MS)).today)

    assert [today.endswith("(messages that followed this: 2)") for today in told] == [True, False]


async def test_an_older_session_whose_turns_all_have_a_note_in_the_block_is_not_told_again(store, desk):
    """Nearly every prompt of a trial had it twice, in two wordings; the turns say that it is one matter.

    Of the latest the offer that ended it is told: it stood in no note, and "where were we?" had no answer.
    """
    await desk.session("s_0", ["who is missing?"], ended_at_ms=NOW_MS - 2 * HOUR_MS)
    await desk.session("s_1", ["what would you bake?"], ended_at_ms=NOW_MS - HOUR_MS)
    await note(store, Add(kind="task", text="Call the baker", note_id="n_1", fields={"turn_ids": ("s_0_1",)}))
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)
    told = []
    for version, turn_ids in enumerate((("s_0_1",), ("s_0_1", "s_0_2"))):
        standing, offered = "You still wait for an offer on the cake.", "I offered to write the list of guests."
        line = SessionLine("s_0", "tg:1:1:0", "Cake", standing, turn_ids, version=version, written_at_ms=NOW_MS)
        latest = SessionLine("s_1", "tg:1:1:0", "List", offered, ("s_0_1",), version=version, written_at_ms=NOW_MS)
        await store.db.write(put_session_line(line), put_session_line(latest))
        told.append((await assembler(store).packet(state, "hi", now_ms=NOW_MS)).today)

    assert [standing in today for today in told] == [False, True]
    assert all(offered in today for today in told)


async def test_what_came_since_stands_behind_its_own_sentence_alone(store, desk):
    """“Since then: #1” hung behind a sentence on something else; a note of the block is named by its number."""
    await desk.session("s_0", ["who is missing?"], ended_at_ms=NOW_MS - HOUR_MS)
    on = {"turn_ids": ("s_0_1",), "session_id": "s_0"}
    texts = ("Ask Callum for his figures", "Order marble slabs for Bea", "You wait for Callum and his papers")
    adds = [Add(kind="task", text=text, note_id=f"n_{n}", fields=on) for n, text in enumerate(texts, 1)]
    await note(store, *adds)
    told_by_note, rest = "You wait for Callum, his papers.", "Everything is priced, Bea alone is undecided."
    line = SessionLine("s_0", "tg:1:1:0", "Offer", f"{told_by_note} {rest}", ("s_0_2",), written_at_ms=NOW_MS)
    await store.db.write(put_session_line(line))
    moved = Change(number=2, fields={"text": "Order slate slabs for Bea"})
    await note(store, End(number=1), moved, at_ms=NOW_MS + 1)
    state = await desk.session("s_9", [], ended_at_ms=NOW_MS)

    assert (await assembler(store).packet(state, "hi", now_ms=NOW_MS)).today.endswith(f"{rest} Since then: see #2.")


async def test_what_was_answered_with_care_does_not_say_how_a_session_began(store, desk):
    """It stays in the talk alone: no later prompt repeats its words."""
    first = {"session_id": "s_0", "user_text": "I cannot go on", "created_at_ms": NOW_MS - HOUR_MS}
    await desk.session("s_0", [], ended_at_ms=NOW_MS - HOUR_MS, turn_count=1, last_seq=1)
    await store.db.write(insert_turn(make_turn(turn_id="s_0_1", seq=1, action_name=CARE, **first), "d"))
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert "go on" not in packet.today + packet.last_conversation


async def test_a_message_that_tells_something_brings_few_finds(store, desk):
    """Who asks is looked up for at length; who tells is not handed everything that sounds alike."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    searcher = FixedSearcher(*[found(f"m_{n}", "s_0", f"the boat number {n}", share=0.5 / n) for n in range(1, 6)])
    telling = "so today we took the boat out to the island and had lunch there with everybody"
    told = await assembler(store, searcher).packet(state, telling, now_ms=NOW_MS)
    asked = await assembler(store, FixedSearcher(*[found(f"m_{n}", "s_0", f"the boat {n}") for n in range(5)])).packet(
        state, f"{telling}, or did we?", now_ms=NOW_MS
    )

    greeted = await assembler(store, searcher).packet(state, "the boat!", now_ms=NOW_MS)

    assert [item.ref for item in told.retrieved] == ["m_1", "m_2"]
    assert len(asked.retrieved) == 5
    assert greeted.retrieved == ()


async def test_the_notes_are_taken_anew_when_much_has_changed_since(store, desk):
    """What changed is told again with every message, outside of what a provider's cache keeps."""
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark)
    adds = [Add(kind="fact", text=f"Fact {n} of {' '.join('word' * 9)}", note_id=f"n_{n}") for n in range(12)]
    await note(store, *adds[:4])
    little = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    await note(store, *adds[4:])
    much = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert (little.notes_mark, little.notes_changed.count("\n")) == (first.notes_mark, 3)
    assert much.notes_mark != first.notes_mark
    assert (much.notes_changed, "Fact 4" in much.notes_block) == ("", True)


async def test_the_notes_are_taken_anew_when_four_of_their_lines_hold_no_longer(store, desk):
    """A model that reads the top of its prompt would take what was for what is, wherever the news of it stands."""
    await note(store, *(Add(kind="fact", text=f"Tile {n}: grey", note_id=f"n_{n}") for n in range(1, 6)))
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    first = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark)
    await note(store, *(Change(number=n, fields={"text": f"Tile {n}: blue"}) for n in range(1, 4)))
    three = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    await note(store, Change(number=4, fields={"text": "Tile 4: blue"}))
    four = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert (three.notes_mark, three.notes_changed.count("blue")) == (first.notes_mark, 3)
    assert (four.notes_block.count("blue"), four.notes_changed) == (4, "")


async def test_another_process_tells_nothing_of_a_note_that_was_forgotten(store, desk):
    """The block that it holds is void with the ledger that it was taken from (P13)."""
    await note(
        store, Add(kind="fact", text="a SECRET fact", note_id="n_1"), Add(kind="fact", text="Else", note_id="n_2")
    )
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    gatherer = assembler(store, shared=True)
    first = await gatherer.packet(state, "hi", now_ms=NOW_MS)
    state = marked(state, first.notes_mark)
    await gatherer.packet(state, "hi", now_ms=NOW_MS)
    ledger = await Ledgers(store.db).read("tg:1:1:0")
    plan = await NotesPlanner(store.db).plan(ledger, ["n_1"], (), {}, now_ms=NOW_MS)
    await store.db.write(*plan.statements)
    after = await gatherer.packet(state, "hi", now_ms=NOW_MS)

    assert "SECRET" in first.notes_block
    assert (after.notes_block, after.notes_mark) == ("#2 fact: Else", first.notes_mark)


async def test_a_broken_search_leaves_only_its_tier_out(store, desk, caplog):
    """The turn goes on, the receipt says why, the log too (003 NFR-002)."""
    await desk.session("s_0", ["We decided to buy the red boat."], ended_at_ms=NOW_MS - HOUR_MS)
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS)
    packet = await assembler(store, BrokenSearcher()).packet(state, "boat?", now_ms=NOW_MS)

    assert "the index is damaged" in receipt(packet, "retrieved").error
    assert "the index is damaged" in caplog.text
    assert packet.history
    assert packet.today


async def test_without_a_database_there_is_still_a_packet(store, desk):
    """Every tier that needs it is named; nothing is raised."""
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS, rolling_summary="- Stated: x")
    await store.db.close()
    packet = await assembler(store).packet(state, "boat?", now_ms=NOW_MS)

    assert {each.tier for each in packet.receipts if each.error} == {
        "history", "memories", "threads", "today", "last_conversation",
    }  # fmt: skip
    assert packet.rolling_session_summary == "- Stated: x"


async def test_no_text_of_anybody_is_logged(store, desk, caplog):
    """Numbers only (DESIGN section 12)."""
    state = await desk.session("s_1", ["my PIN is 9876"], ended_at_ms=NOW_MS)
    with caplog.at_level("DEBUG", logger="memory"):
        packet = await assembler(store).packet(state, "what is my PIN", now_ms=NOW_MS)

    [figures] = [each for each in caplog.records if each.msg == "conversation context loaded"]
    assert (figures.total_messages, figures.messages_loaded, figures.messages_truncated) == (2, 2, 0)
    assert (figures.estimated_tokens, figures.history_tokens) == (packet.prompt_tokens, 19)
    assert "9876" not in caplog.text


# --- the compactor --------------------------------------------------------------------------------------------------


def same(turns):
    async def history(_state):
        return turns

    return history


async def long_session(desk, store, facts=("My sister Ida lives in Lyon.",)):
    state = await desk.session("s_1", [*facts, *[TALK] * 30], ended_at_ms=NOW_MS)
    return state, await assembler(store).history(state)


async def test_a_compaction_is_a_stored_record(store, desk):
    """What went in, what came out, tokens before and after, why; the state carries its mark (004)."""
    state, turns = await long_session(desk, store)
    after = await compactor(store).compact_if_due(state, same(turns), desk.edit)
    (record,) = await store.compactions("s_1")

    assert after.compaction == record.mark
    assert await desk.state("s_1") == after
    assert record.method == "deterministic"
    assert record.tokens_after < record.tokens_before
    assert (record.from_seq, record.previous) == (1, None)
    assert "over its budget" in record.reason


async def test_facts_of_compacted_turns_stay_in_the_prompt(store, desk):
    """Verbatim or in the summary, also after several compactions."""
    state, turns = await long_session(desk, store, [f"My locker {n} is number {n}{n}{n}." for n in range(1, 9)])
    gatherer, keeper = assembler(store), compactor(store)
    for _ in range(3):
        state = await keeper.compact_if_due(state, same(turns), desk.edit)
        more = [
            make_turn(turn_id=f"x{seq}", seq=seq, user_text=TALK, assistant_text=TALK, language="en")
            for seq in range(state.last_seq + 1, state.last_seq + 31)
        ]
        state = await desk.edit(
            "s_1",
            lambda now, seq=more[-1].seq: now.model_copy(update={"last_seq": seq}),
            *(insert_turn(turn, "d") for turn in more),
        )
        turns = await gatherer.history(state)
    packet = await gatherer.packet(state, "hi", now_ms=NOW_MS)
    text = " ".join(message.text for message in prompt(packet, "hi"))

    assert [n for n in range(1, 9) if f"{n}{n}{n}" not in text] == []


async def test_what_a_keeper_read_is_summed_up_in_its_words(store, desk):
    """Of a baker's day lines stood that had been taken back since, and a pasted article's as hers (a trial).

    Sentences stand for turns alone that nobody read and no note rests on; all of it stays the same with the notes.
    """
    texts = ["The cake gets 300 pistachios.", "Flour is up 7 percent, a paper says.", "The oven costs 14800 euros."]
    lines = [f"- Person: {text}" for text in (*texts, "My locker is number 512.")]
    state = await desk.session(
        "s_1", [*texts, "My locker is number 512.", *["Hm."] * 6], ended_at_ms=NOW_MS,
        compaction=CompactionMark(
            compaction_id="c_1", history_from_seq=5, summary="\n".join([HEADER, *lines]), summary_tokens=60
        ),
    )  # fmt: skip
    await note(store, Add(kind="question", text="Which oven", note_id="n_1", fields={"turn_ids": ("s_1_3",)}))
    unread = await assembler(store).packet(state, "hi", now_ms=NOW_MS)
    line = SessionLine("s_1", "tg:1:1:0", "Cake", "The cake will be lemon.", ("s_1_1",), 2, written_at_ms=NOW_MS)
    await store.db.write(put_session_line(line))
    gatherer, state = assembler(store), marked(state, unread.notes_mark)
    read = await gatherer.packet(state, "hi", now_ms=NOW_MS)
    later = replace(line, standing="All is well.", version=1)
    await store.db.write(put_session_line(later))

    assert unread.rolling_session_summary.splitlines() == [HEADER, *lines]
    assert (read.standing, read.rolling_session_summary) == ("The cake will be lemon.", f"{HEADER}\n{lines[3]}")
    assert f"The cake will be lemon.\n{lines[3]}\n</data" in stable_text(read)
    assert stable_text(await gatherer.packet(state, "hi", now_ms=NOW_MS)) == stable_text(read)


async def test_turns_that_a_mark_from_before_kept_are_read_with_the_history(store, desk):
    """Its summary does not tell them: without the messages nobody does."""
    mark = CompactionMark(compaction_id="c_1", history_from_seq=5, summary="", summary_tokens=0, kept_seqs=(2,))
    state = await desk.session("s_1", ["hello"] * 6, ended_at_ms=NOW_MS, compaction=mark)

    assert [turn.seq for turn in await assembler(store).history(state)] == [2, 5, 6]


@pytest.mark.parametrize("is_folded", [True, False])
@pytest.mark.parametrize(("persona", "is_told"), [("storyteller", True), ("assistant", False)])
async def test_where_a_story_stands_is_told_to_its_own_persona_alone(store, desk, persona, is_told, is_folded):
    """“At the school of witches I am professor Salseparrilha” was the plain assistant's summary in a trial.

    Neither in place of the messages that are cut, nor of an earlier session; the question of its last turn, too.
    """
    mark = CompactionMark(compaction_id="c_1", history_from_seq=3, summary="", summary_tokens=0)
    played = ["good evening professor, my cauldron ran away", "I promise three frogs", "I pay the goblin"]
    kept = {"compaction": mark if is_folded else None}
    state = await desk.session("s_1", played, ended_at_ms=NOW_MS - HOUR_MS, answer="Where is your broom?", **kept)
    story = {"persona": "storyteller", "session_id": "s_1", "turn_ids": ("s_1_2",), "about": "School of witches"}
    await note(store, Add(kind="story", text="You owe Corva three frogs", note_id="n_1", fields=story))
    standing, turn_ids = "I am professor Salseparrilha.", ("s_1_1", "s_1_2", "s_1_3")
    line = SessionLine("s_1", "tg:1:1:0", "Witches", standing, turn_ids, 3, written_at_ms=NOW_MS, worked_on=turn_ids)
    await store.db.write(put_session_line(line))
    state = state if is_folded else await desk.session("s_9", [], ended_at_ms=NOW_MS)
    occasion = Occasion(scope=Scope(persona=persona))
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS, occasion=occasion)

    assert (standing in stable_text(packet)) is is_told
    assert ("broom" in stable_text(packet)) is (is_told and not is_folded)


async def test_of_where_a_mixed_talk_stands_only_the_sentence_on_a_story_is_left_out(store, desk):
    """Real turns bear the rest out."""
    await desk.session("s_1", ["the tiler comes", "I promise three frogs"], ended_at_ms=NOW_MS - HOUR_MS)
    story = {"persona": "storyteller", "session_id": "s_1", "turn_ids": ("s_1_2",), "about": "School of witches"}
    await note(store, Add(kind="story", text="You owe Corva three frogs", note_id="n_1", fields=story))
    standing = "The tiler comes in March. You owe three frogs to Corva."
    line = SessionLine("s_1", "tg:1:1:0", "Both", standing, ("s_1_1", "s_1_2"), 2, written_at_ms=NOW_MS)
    await store.db.write(put_session_line(line))
    packet = await assembler(store).packet(await desk.session("s_9", [], ended_at_ms=NOW_MS), "hi", now_ms=NOW_MS)

    assert packet.today.endswith("Both: The tiler comes in March.")


async def test_an_undo_brings_the_turns_back_and_holds(store, desk):
    """The previous mark is restored, the record says so, and the next message does not compact again."""
    state, turns = await long_session(desk, store)
    keeper = compactor(store)
    after = await keeper.compact_if_due(state, same(turns), desk.edit)
    undone = await keeper.undo("s_1", desk.edit)
    restored = await desk.state("s_1")

    assert undone.mark == after.compaction
    assert restored.compaction is None
    assert (await store.compactions("s_1"))[0].undone_at_ms == NOW_MS
    assert await keeper.compact_if_due(restored, same(turns), desk.edit) == restored
    assert await keeper.undo("s_1", desk.edit) is None


async def test_a_good_summary_of_the_model_is_used(store, desk):
    """It passes the check and is stored as the model's."""
    state, turns = await long_session(desk, store)

    async def write(segment, previous):
        return "They talked about the whole matter. Their sister Ida lives in Lyon."

    after = await compactor(store, write).compact_if_due(state, same(turns), desk.edit)

    assert (await store.compactions("s_1"))[0].method == "model"
    assert after.compaction.summary.endswith("They talked about the whole matter. Their sister Ida lives in Lyon.")


async def drops(segment, previous):
    return "They talked a little."


async def invents(segment, previous):
    return "The boxes 111 to 777 were mentioned, and Roberto paid 4500."


async def fails(segment, previous):
    raise RuntimeError("no model")


async def hangs(segment, previous):
    await asyncio.Event().wait()


async def rambles(segment, previous):
    return "word " * 5000


@pytest.mark.parametrize("write", [drops, invents, fails, hangs, rambles])
async def test_a_model_that_fails_in_any_way_is_replaced(store, desk, write):
    """Dropped or invented things, errors, silence and length all end with the deterministic summarizer."""
    many = [
        f"{TALK} My box is number {n}{n}{n}, and the label is yellow, so they say, on all of its sides today." * 3
        for n in range(1, 9)
    ]
    state, turns = await long_session(desk, store, many)
    after = await compactor(store, write, limit_s=0.01).compact_if_due(state, same(turns), desk.edit)

    assert (await store.compactions("s_1"))[0].method == "deterministic"
    assert "555" in after.compaction.summary


async def test_a_compaction_that_cannot_be_stored_leaves_everything_as_it_was(store, desk):
    """The packet then cuts the oldest turns; the turn goes on."""
    state, turns = await long_session(desk, store)

    async def refuse(session_id, change, *statements):
        raise StorageUnavailable("disk full")

    assert await compactor(store).compact_if_due(state, same(turns), refuse) is state
    assert await store.compactions("s_1") == []


async def test_a_compaction_goes_through_the_recorder_and_survives_a_restart(place):
    """The live session, its row and the session after a restart have the same mark, and so the same packet."""
    said = [TALK, *[f"My locker {n} is number {n}{n}{n}." for n in range(1, 9)], *[TALK] * 21]
    async with open_memory(place, counter=COUNTER) as before:
        await before.recorder.open_session("tg:1:1:0", 7, "first")
        for number, text in enumerate(said, 1):
            await before.recorder.record(make_exchange(number, user_text=text), None)
        gatherer = assembler(before.store)
        state = await before.recorder.session("s_1")
        state = await compactor(before.store).compact_if_due(state, gatherer.history, before.recorder.edit)
        packet = await gatherer.packet(state, "and now?", now_ms=NOW_MS)
    async with open_memory(place, counter=COUNTER) as after:
        restored = await after.recorder.session("s_1")
        again = await assembler(after.store).packet(restored, "and now?", now_ms=NOW_MS)

    assert restored.compaction == state.compaction
    assert prompt(again, "and now?") == prompt(packet, "and now?")
    assert "222" in str(prompt(again, "and now?"))


async def test_compacting_twice_changes_nothing_more(store, desk):
    """It never loops."""
    state, turns = await long_session(desk, store)
    keeper = compactor(store)
    once = await keeper.compact_if_due(state, same(turns), desk.edit)
    twice = await keeper.compact_if_due(once, same(turns), desk.edit)

    assert twice is once
    assert len(await store.compactions("s_1")) == 1
