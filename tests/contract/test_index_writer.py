"""The search index behind the replies: what was said is found at once, and after any death, on every database."""

import asyncio

import psycopg
import pytest

from memory.errors import StorageUnavailable
from memory.privacy.plan import ForgetRequest
from memory.search.query import Query
from memory.sessions.index_writer import IndexWriter
from memory.storage.store import Store
from memory.storage.turn_rows import LoggedTurn, insert_turn, turn_digest
from memory.testing import make_exchange, make_turn, open_memory

HERE, ELSEWHERE = "tg:1:1:0", "tg:1:2:0"
OLD, NEW = "The dentist is at three on Tuesday.", "The orthodontist is at five on Friday."


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
async def session_id(memory):
    return (await memory.recorder.open_session(HERE, 7, "first")).session_id


@pytest.fixture
def say(memory, session_id):
    async def record(number, text):
        given = {"session_id": session_id, "conversation_id": HERE, "user_text": text, "assistant_text": "Noted."}
        return await memory.recorder.record(make_exchange(number, **given), None)

    return record


@pytest.fixture
async def say_elsewhere(memory):
    session = await memory.recorder.open_session(ELSEWHERE, 8, "first")

    async def record(number, text):
        given = {"session_id": session.session_id, "conversation_id": ELSEWHERE, "user_text": text}
        return await memory.recorder.record(make_exchange(number, **given), None)

    return record


async def left_by_a_death(memory, session_id, text=OLD):
    """Store a turn that nothing has indexed: the process died behind its commit."""
    turn = make_turn(turn_id="t_left", session_id=session_id, conversation_id=HERE, user_text=text)
    await memory.db.write(insert_turn(turn, turn_digest("", turn)))
    return turn


async def unindexed(memory, conversation_id=HERE):
    rows = await memory.db.read("turns_unindexed", conversation_id=conversation_id, most=99)
    return [row["turn_id"] for row in rows]


async def found(memory, text):
    return [item.ref for item in await memory.searcher.search(Query(HERE, text))]


class Refusing:
    """A database that takes no write while `failure` is set."""

    def __init__(self, db):
        self.db, self.read, self.read_one = db, db.read, db.read_one
        self.failure = None

    async def write(self, *statements):
        if self.failure:
            raise self.failure
        return await self.db.write(*statements)


async def test_a_search_finds_the_turn_that_was_stored_a_moment_ago(memory, say):
    """It does not wait for the work behind the reply: it brings the index up to date itself."""
    await say(1, OLD)

    assert await found(memory, "When is the dentist?") == ["t_1"]


async def test_what_is_behind_the_reply_indexes_each_turn_once(memory, say):
    """Settled, nothing waits any more; a search then has nothing to add."""
    await say(1, OLD)
    await say(2, "The cat is asleep.")
    await memory.settle()

    assert await memory.db.read("turns_unindexed", conversation_id=HERE, most=9) == []
    assert (await found(memory, "Where is the cat?"))[0] == "t_2"


async def test_a_turn_without_its_index_is_found_by_the_first_search(memory, session_id):
    """A process that died between a commit and its index has lost nothing, even if no session was opened since."""
    turn = await left_by_a_death(memory, session_id)

    assert await found(memory, "When is the dentist?") == [turn.turn_id]


async def test_a_conversation_is_compared_with_its_index_once(memory, session_id, say):
    """Later searches ask nothing; after another process had the conversation they do again."""
    await say(1, "The cat is asleep.")
    await found(memory, "cat")
    turn = await left_by_a_death(memory, "s_other")
    assert await found(memory, "dentist") == []

    memory.recorder.evict(lambda each: each == HERE)

    assert await found(memory, "dentist") == [turn.turn_id]


async def test_a_turn_that_was_withdrawn_stays_out_of_the_index(memory, say):
    """Its message was edited and answered again: comparing does not bring the old answer back."""
    await say(1, OLD)
    await memory.withdraw("t_1")
    await memory.settle()
    memory.recorder.evict(lambda each: each == HERE)

    assert await found(memory, "When is the dentist?") == []


async def test_words_that_were_edited_before_they_were_indexed_are_never_found(memory, say):
    """Only the new ones come into the index, whichever is written first."""
    await say(1, OLD)
    await memory.edited("t_1", NEW)
    await memory.settle()

    assert await found(memory, "dentist") == []
    assert await found(memory, "orthodontist") == ["t_1"]


async def test_an_index_that_comes_too_late_is_dropped(memory, session_id):
    """Another process has rewritten the turn meanwhile: its old words do not come back."""
    turn = await left_by_a_death(memory, session_id, NEW)
    old = turn.model_copy(update={"user_text": OLD})
    memory.recorder.index.later(LoggedTurn(old, turn_digest("", old)))
    await memory.recorder.index.flush()

    assert await found(memory, "dentist") == []
    assert await found(memory, "orthodontist") == [turn.turn_id]


async def test_an_index_waits_for_whoever_is_rewriting_the_turn(memory, session_id):
    """On a server: the old words were taken out by the other process, and its commit is under way."""
    if not memory.db.shared:
        return
    turn = await left_by_a_death(memory, session_id)
    memory.recorder.index.later(LoggedTurn(turn, turn_digest("", turn)))
    blocked = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    async with await psycopg.AsyncConnection.connect(memory.db.address) as other:
        await other.execute("UPDATE conversation_turns SET digest = 'new'")
        flush = asyncio.create_task(memory.recorder.index.flush())
        while not (flush.done() or await (await other.execute(blocked)).fetchone()):  # noqa: ASYNC110 - asks the server
            await asyncio.sleep(0)
        await other.commit()
    await flush

    assert await unindexed(memory) == [turn.turn_id]


async def test_a_disk_that_refuses_the_index_keeps_nobody_from_searching(memory, session_id):
    """The turn waits, the search finds the others; as soon as there is room it is found too."""
    db = Refusing(memory.db)
    writer = IndexWriter(Store(db), memory.hydrator.indexed)
    turn = await left_by_a_death(memory, session_id)
    writer.later(LoggedTurn(turn, turn_digest("", turn)))
    db.failure = StorageUnavailable("the disk is full")

    with pytest.raises(StorageUnavailable):
        await writer.flush()
    await writer.catch_up(HERE)
    db.failure = None
    await writer.catch_up(HERE)

    assert await memory.db.read("turns_unindexed", conversation_id=HERE, most=9) == []


async def test_a_turn_stored_while_a_checkpoint_is_written_is_indexed_too(memory, say, say_elsewhere, monkeypatch):
    """Its session may be written to already: all the same nothing waits once the work behind the replies is done."""
    save, waits = memory.recorder._behind.now, [1]

    async def now(session_id, make):
        if waits:
            waits.clear()
            await say_elsewhere(2, OLD)
            memory.recorder._behind.take_back((await memory.store.turn("t_2")).session_id)
        return await save(session_id, make)

    monkeypatch.setattr(memory.recorder._behind, "now", now)
    await say(1, "The cat is asleep.")
    await memory.recorder.settle()

    assert await unindexed(memory, ELSEWHERE) == []


async def test_a_death_with_many_turns_waiting_leaves_none_out(memory, session_id):
    """A burst waits behind one slow checkpoint: all of it is found by the first search."""
    digest = ""
    for seq in range(1, 41):
        given = {"turn_id": f"t_{seq}", "seq": seq, "created_at_ms": seq, "user_text": f"The zebra has number {seq}."}
        turn = make_turn(session_id=session_id, conversation_id=HERE, **given)
        before, digest = digest, turn_digest(digest, turn)
        await memory.db.write(insert_turn(turn, turn_digest(before, turn)))

    await found(memory, "zebra")

    assert await unindexed(memory) == []


@pytest.mark.parametrize("failure", [asyncio.CancelledError(), StorageUnavailable("the answer was lost")])
async def test_a_turn_whose_commit_is_unsure_is_looked_for_again(memory, say, monkeypatch, failure):
    """It was stored, and whoever stored it was told otherwise: the next search finds it."""
    await say(1, "The cat is asleep.")
    await found(memory, "cat")
    write = memory.db.write

    async def unsure(*statements):
        await write(*statements)
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(memory.db, "write", unsure)
        with pytest.raises(type(failure)):
            await say(2, OLD)

    assert (await found(memory, "When is the dentist?"))[0] == "t_2"


@pytest.fixture
def unindexable(memory):
    """Return the failures with which a turn is kept out of the index, by the turn."""
    make, failures = memory.hydrator.indexed, {}

    async def indexed(turn):
        if turn.turn_id in failures:
            raise failures[turn.turn_id]
        return await make(turn)

    memory.recorder.index._indexed = indexed
    return failures


async def test_a_turn_that_cannot_be_indexed_holds_nothing_up(memory, say, unindexable):
    """It is left out with a line in the log: what was said behind it is found, and can be forgotten."""
    unindexable["t_1"] = ValueError("no stem")
    await say(1, "The cat is asleep.")
    await say(2, OLD)
    await memory.recorder.index.flush()

    assert await found(memory, "When is the dentist?") == ["t_2"]
    assert (await memory.forgetter.forget(ForgetRequest(HERE, everything=True))).counts.turns == 2


async def test_who_forgets_or_withdraws_waits_for_the_index_of_that_conversation_alone(
    memory, say, say_elsewhere, unindexable
):
    """Turns of another one may wait for as long as they must."""
    unindexable["t_1"] = StorageUnavailable("not now")
    await say(1, OLD)
    await say_elsewhere(2, OLD)
    await memory.withdraw("t_2")

    assert (await memory.forgetter.forget(ForgetRequest(ELSEWHERE, everything=True))).counts.turns == 1
    assert await unindexed(memory) == ["t_1"]


async def test_what_waits_of_a_conversation_that_moved_on_is_dropped(memory, say):
    """The other process indexed the turn and withdrew it: this one does not bring it back."""
    turn = await say(1, OLD)
    await memory.withdraw("t_1")
    memory.recorder.index.later(LoggedTurn(turn, turn_digest("", turn)))
    memory.recorder.evict(lambda each: each == HERE)
    await memory.recorder.index.flush()

    assert await found(memory, "When is the dentist?") == []


async def test_a_conversation_that_moves_on_during_a_flush_is_let_go_at_once(memory, say):
    """The flush indexes none of its other turns that waited."""
    first, second = await say(1, "The cat is asleep."), await say(2, OLD)
    await memory.settle()
    index, seen = memory.recorder.index, []
    for turn in (first, second):
        index.later(LoggedTurn(turn, turn_digest("", turn)))

    async def indexed(turn):
        seen.append(turn.turn_id)
        memory.recorder.evict(lambda each: each == HERE)
        return ()

    index._indexed = indexed
    await index.flush()

    assert seen == ["t_1"]
