"""The search index behind the replies: what was said is found at once, and after any death, on every database."""

import pytest

from memory.errors import StorageUnavailable
from memory.search.query import Query
from memory.sessions.index_writer import IndexWriter
from memory.storage.store import Store
from memory.storage.turn_rows import LoggedTurn, insert_turn, turn_digest
from memory.testing import make_exchange, make_turn, open_memory

HERE = "tg:1:1:0"
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


async def left_by_a_death(memory, session_id, text=OLD):
    """Store a turn that nothing has indexed: the process died behind its commit."""
    turn = make_turn(turn_id="t_left", session_id=session_id, conversation_id=HERE, user_text=text)
    await memory.db.write(insert_turn(turn, turn_digest("", turn)))
    return turn


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
