"""Packets and compactions over a real database: what is gathered, stored, undone, and what may fail."""

import asyncio
from datetime import UTC, datetime

import pytest

from memory.context.assembler import MIN_RETRIEVED, YOUNG_TURNS, Assembler
from memory.context.budget import Budget
from memory.context.compactor import Compactor
from memory.context.context_builder import prompt, reference_text
from memory.errors import StorageUnavailable
from memory.language.languages import Languages
from memory.ports import Statement
from memory.storage.store import Store, insert_session, insert_turn, update_session
from memory.testing import (
    ManualClock,
    SequentialIds,
    WordCounter,
    make_exchange,
    make_state,
    make_turn,
    open_memory,
)
from memory.types import JobProgress, OpenLoop, RetrievedItem, SessionState

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

    async def session(self, session_id, texts, *, ended_at_ms, **state):
        turns = [
            make_turn(
                turn_id=f"{session_id}_{seq}",
                session_id=session_id,
                seq=seq,
                user_text=text,
                assistant_text="I see, thank you for telling me.",
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

    async def search(self, query):
        self.asked.append(query)
        return self.found


class BrokenSearcher:
    """The index is damaged."""

    async def search(self, *_, **__):
        raise StorageUnavailable("the index is damaged")


@pytest.fixture
def desk(store):
    return Workspace(store)


def assembler(store, searcher=None, budget=BUDGET):
    return Assembler(store, searcher, budget, LANGUAGES, COUNTER)


def compactor(store, write_summary=None, **overrides):
    return Compactor(
        store,
        budget=BUDGET,
        languages=LANGUAGES,
        counter=COUNTER,
        clock=ManualClock(NOW_MS),
        ids=SequentialIds(),
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
    """For gaps of 1 to 12 hours (003 AC-2.4)."""
    await desk.session("s_0", ["We decided to buy the red boat."], ended_at_ms=NOW_MS - hours * HOUR_MS)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hello", now_ms=NOW_MS)

    assert "red boat" in packet.today
    assert "about boats" in packet.today
    assert packet.last_conversation == ""


async def test_today_is_the_users_day(store, desk):
    """What is today in Honolulu is yesterday in Tokyo."""
    await desk.session("s_0", ["We decided to buy the red boat."], ended_at_ms=NOW_MS - 2 * HOUR_MS)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    gatherer = assembler(store)
    at_ms = NOW_MS + HOUR_MS  # 16:00 UTC is 01:00 in Tokyo, 06:00 in Honolulu

    assert (await gatherer.packet(state, "hi", now_ms=at_ms, time_zone="Pacific/Honolulu")).today
    assert not (await gatherer.packet(state, "hi", now_ms=at_ms, time_zone="Asia/Tokyo")).today
    assert (await gatherer.packet(state, "hi", now_ms=at_ms, time_zone="No/Such")).today


async def test_only_todays_turns_of_a_longer_session_count_as_today(store, desk):
    """A session may span midnight."""
    await desk.session("s_0", ["We decided to buy the red boat.", "My uncle is Karl."], ended_at_ms=NOW_MS)
    midnight = datetime(2026, 3, 4, tzinfo=UTC).timestamp() * 1000
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    await desk.session("s_2", ["We decided to sell the van.", "My aunt is Vera."], ended_at_ms=int(midnight) + 30_000)
    packet = await assembler(store).packet(state, "hi", now_ms=NOW_MS)

    assert "Vera" in packet.today
    assert "van" not in packet.today


async def test_the_session_before_is_told_after_a_day(store, desk):
    """Its summary, at most 300 tokens, with its date (003 US-4)."""
    texts = [f"My locker {n} is in Hall {n}." for n in range(80)]
    await desk.session("s_0", texts, ended_at_ms=NOW_MS - 30 * HOUR_MS, rolling_summary="- Decided: to sail to Bergen")
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hello", now_ms=NOW_MS)

    assert packet.last_conversation.startswith("From 2026-03-03, about boats:")
    assert "Bergen" in packet.last_conversation
    assert receipt(packet, "last_conversation").used_tokens <= 300
    assert packet.today == ""


async def test_open_loops_of_earlier_sessions_are_surfaced(store, desk):
    """003 US-3; the closed ones are not."""
    loops = tuple(
        OpenLoop(
            loop_id=f"t.{n}",
            kind="task",
            owner="user",
            text=text,
            status=status,
            turn_id="t",
            opened_seq=1,
            opened_at_ms=NOW_MS,
            touched_at_ms=NOW_MS,
        )
        for n, (text, status) in enumerate([("renew the passport", "open"), ("buy milk", "done")])
    )
    await desk.session("s_0", ["x"], ended_at_ms=NOW_MS - HOUR_MS, open_loops=loops)
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    packet = await assembler(store).packet(state, "hello", now_ms=NOW_MS)

    assert "renew the passport" in packet.threads
    assert "buy milk" not in packet.threads


class WithJobs(Store):
    """Two jobs run in the conversation."""

    async def active_jobs(self, conversation_id):
        assert conversation_id == "tg:1:1:0"
        return [
            JobProgress(job_id=f"j_{n}", title=f"job number {n}", status="scheduled", progress="half done", due_at_ms=0)
            for n in (1, 2)
        ]


async def test_running_jobs_are_there_with_their_progress(store, desk):
    """002 section 5.4; a session that was started fresh sees only its own."""
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS, active_job_refs=("j_2",))
    gatherer = assembler(WithJobs(store.db))
    packet = await gatherer.packet(state, "hello", now_ms=NOW_MS)
    alone = await gatherer.packet(state, "hello", now_ms=NOW_MS, isolated=True)

    assert "job number 1 (scheduled, half done, due 1970-01-01 00:00 UTC)" in reference_text(packet)
    assert [job.job_id for job in alone.jobs] == ["j_2"]


def found(ref, session_id, text):
    return RetrievedItem(source="turn", ref=ref, session_id=session_id, text=text, at_ms=NOW_MS, score=1)


async def test_a_short_question_is_searched_with_what_it_follows(store, desk):
    """The words "and where?" alone find nothing; what the history shows is excluded."""
    searcher = FixedSearcher(found("m_1", "s_0", "the boat is red"))
    state = await desk.session("s_1", ["tell me of the boat"], ended_at_ms=NOW_MS)
    packet = await assembler(store, searcher).packet(state, "and where?", now_ms=NOW_MS)
    (query,) = searcher.asked

    assert query.text == "and where? tell me of the boat"
    assert query.exclude_turn_ids == ["s_1_1"]
    assert "the boat is red" in reference_text(packet)


@pytest.mark.parametrize("message", ["ok thanks", "yes", "haha, nice"])
async def test_small_talk_searches_nothing(store, desk, message):
    """What it answers is in the history; anything else would only cost tokens."""
    searcher = FixedSearcher(found("m_1", "s_0", "the boat is red"))
    state = await desk.session("s_1", ["tell me of the boat"], ended_at_ms=NOW_MS)

    assert (await assembler(store, searcher).packet(state, message, now_ms=NOW_MS)).retrieved == ()
    assert searcher.asked == []


async def test_what_is_far_behind_the_best_is_left_out(store, desk):
    """A tail of weak hits is no context; the first six are shown whatever they are worth."""
    good = [found(f"m_{n}", "s_0", f"the boat number {n} is red") for n in range(MIN_RETRIEVED)]
    weak = found("m_9", "s_0", "something else").model_copy(update={"score": 0.4})
    state = await desk.session("s_1", [], ended_at_ms=NOW_MS)
    full = await assembler(store, FixedSearcher(*good, weak)).packet(state, "what colour is the boat?", now_ms=NOW_MS)
    short = await assembler(store, FixedSearcher(good[0], weak)).packet(state, "which colour is it?", now_ms=NOW_MS)

    assert [item.ref for item in full.retrieved] == [item.ref for item in good]
    assert [item.ref for item in short.retrieved] == ["m_0", "m_9"]


async def test_a_statement_brings_only_what_is_close(store, desk):
    """In the middle of a talk what is said without a question has its context in front of it."""
    state = await desk.session("s_1", ["we painted it"] * YOUNG_TURNS, ended_at_ms=NOW_MS)
    weak = found("m_9", "s_0", "something else").model_copy(update={"score": 0.4})
    searcher = FixedSearcher(found("m_1", "s_0", "the boat is red"), weak)
    packet = await assembler(store, searcher).packet(state, "the boat was red before", now_ms=NOW_MS)

    assert [item.ref for item in packet.retrieved] == ["m_1"]


async def test_nothing_of_other_sessions_reaches_a_fresh_one(store, desk):
    """/fresh: no tier, no memory, no bootstrap (DESIGN section 9)."""
    loop = OpenLoop(
        loop_id="t.1",
        kind="task",
        owner="user",
        text="SECRET loop",
        turn_id="t",
        opened_seq=1,
        opened_at_ms=NOW_MS,
        touched_at_ms=NOW_MS,
    )
    await desk.session("s_0", ["My SECRET is 42."], ended_at_ms=NOW_MS - HOUR_MS, open_loops=(loop,))
    await desk.session("s_9", ["Our SECRET is 43."], ended_at_ms=NOW_MS - 40 * HOUR_MS)
    state = await desk.session("s_1", ["hello"], ended_at_ms=NOW_MS, isolated=True)
    searcher = FixedSearcher(found("m_1", "s_0", "SECRET memory"), found("t_1", "s_1", "of my own"))
    packet = await assembler(store, searcher).packet(state, "and what else?", now_ms=NOW_MS, bootstrap="SECRET arc")
    control = await assembler(store, searcher).packet(
        state, "and what else?", now_ms=NOW_MS, bootstrap="SECRET arc", isolated=False
    )

    assert "SECRET" not in reference_text(packet) + packet.bootstrap
    assert "of my own" in reference_text(packet)
    assert searcher.asked[0].session_ids == ["s_1"]
    assert (reference_text(control) + control.bootstrap).count("SECRET") >= 5


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

    assert {each.tier for each in packet.receipts if each.error} == {"history", "today", "last_conversation"}
    assert packet.rolling_session_summary == "- Stated: x"


async def test_no_text_of_anybody_is_logged(store, desk, caplog):
    """Numbers only (DESIGN section 12)."""
    state = await desk.session("s_1", ["my PIN is 9876"], ended_at_ms=NOW_MS)
    with caplog.at_level("DEBUG", logger="memory"):
        await assembler(store).packet(state, "what is my PIN", now_ms=NOW_MS)

    assert "1 of 1 turns" in caplog.text
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
    assert (record.from_seq, record.previous) == (2, None)
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
        return "They talked about the whole matter."

    after = await compactor(store, write).compact_if_due(state, same(turns), desk.edit)

    assert (await store.compactions("s_1"))[0].method == "model"
    assert after.compaction.summary.endswith("They talked about the whole matter.")


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
