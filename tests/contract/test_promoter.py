"""Promotion over a real store: what is kept of what was said, once, with its provenance, and found by the search."""

import asyncio
from pathlib import Path

import pytest

import memory as package
from memory.errors import StorageUnavailable
from memory.language.languages import Languages
from memory.longterm.promoter import Promoter, due, read_memory_row
from memory.search.query import Query
from memory.testing import make_exchange, make_turn, open_memory

ROOM = Path(package.__file__).parent
HERE, SOMEBODY = "tg:1:1:0", 7
LANGUAGES = Languages.load()


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
def promoter(memory):
    return memory.promoter


@pytest.fixture
async def session_id(memory):
    return (await memory.recorder.open_session(HERE, SOMEBODY, "first")).session_id


@pytest.fixture
def say(memory, session_id):
    numbers = iter(range(1, 1000))

    async def said(*texts, **overrides):
        made = []
        for text in texts:
            exchange = make_exchange(next(numbers), session_id=session_id, user_text=text, **overrides)
            made.append(await memory.recorder.record(exchange, None))
        return made

    return said


async def kept(memory):
    rows = await memory.db.read("memories_of_person", conversation_id=HERE, user_id=SOMEBODY, limit=100)
    return [read_memory_row(row) for row in rows]


async def test_a_fact_is_kept_with_its_provenance_and_found(memory, promoter, session_id, say):
    """What the user states becomes a memory that names its turn; the search finds it as a memory."""
    (turn,) = await say("My sister is called Ana.")
    await promoter.promote(await memory.recorder.session(session_id), [turn])

    (stored,) = await kept(memory)
    assert (stored.turn_id, stored.session_id, stored.at_ms) == (turn.turn_id, session_id, turn.created_at_ms)
    found = await memory.searcher.search(Query(HERE, "what is my sister called?"))
    assert ("memory", stored.memory_id) in [(item.source, item.ref) for item in found]


async def test_a_newer_value_supersedes_and_both_stay(memory, promoter, session_id, say):
    """The older value steps back, keeps its own turn, names the newer one, and is not found any more."""
    turns = await say("I live in Rome.", "I live in Berlin.")
    await promoter.promote(await memory.recorder.session(session_id), turns)

    new, old = await kept(memory)
    assert (new.text, new.status, new.turn_id) == ("I live in Berlin", "active", "t_2")
    assert (old.text, old.status, old.turn_id, old.superseded_by) == (
        "I live in Rome",
        "superseded",
        "t_1",
        new.memory_id,
    )
    found = await memory.searcher.search(Query(HERE, "where do I live?"))
    assert old.memory_id not in [item.ref for item in found]


async def test_the_same_turns_again_change_nothing(memory, promoter, session_id, say):
    """Promotion is repeated over overlapping turns, also at the same time, also by another process: nothing doubles."""
    turns = await say("I live in Rome.", "I live in Berlin.", "I prefer tea.")
    state = await memory.recorder.session(session_id)
    await asyncio.gather(
        promoter.promote(state, turns),
        promoter.promote(state, turns),
        Promoter(memory.db, LANGUAGES).promote(state, turns),
    )
    before = await kept(memory)
    await promoter.promote(state, turns)

    assert await kept(memory) == before
    assert len(before) == 3


async def test_others_words_are_never_kept(memory, promoter, session_id, say):
    """A forwarded text states nothing about the user."""
    turns = await say("I live in Rome.", third_party=True)
    await promoter.promote(await memory.recorder.session(session_id), turns)

    assert await kept(memory) == []


async def test_people_of_one_chat_do_not_compete(memory, promoter, session_id, say):
    """In a group each person's home is their own."""
    turns = [*await say("I live in Rome."), *await say("I live in Berlin.", user_id=8)]
    await promoter.promote(await memory.recorder.session(session_id), turns)

    assert [each.status for each in await kept(memory)] == ["active"]


async def test_a_turn_that_is_gone_is_not_remembered(memory, promoter, session_id):
    """A turn that was forgotten while its candidates waited leaves no memory behind (P13)."""
    gone = make_turn(turn_id="t_gone", session_id=session_id, user_text="I live in Rome.")
    await promoter.promote(await memory.recorder.session(session_id), [gone])

    assert await kept(memory) == []


@pytest.mark.parametrize(
    ("seq", "text", "is_due"),
    [(1, "hm", False), (5, "hm", True), (10, "hm", True), (2, "My name is Ana.", True), (4, "I live in Rome?", False)],
)
def test_when_promotion_is_due(seq, text, is_due):
    """Every fifth turn, and at once when something is stated that is surely worth keeping."""
    assert due(make_turn(seq=seq, user_text=text), LANGUAGES) is is_due


async def test_the_recorder_promotes_behind_the_reply_and_at_rest(place):
    """A sure fact is kept soon after its turn, the others with the fifth turn, at shutdown or when a session opens."""
    async with open_memory(place, promoting=True) as memory:
        recorder = memory.recorder
        opened = await recorder.open_session(HERE, SOMEBODY, "first")
        await recorder.record(make_exchange(1, session_id=opened.session_id, user_text="My name is Ana."), None)
        await recorder.settle()
        assert len(await kept(memory)) == 1

        decided = make_exchange(2, session_id=opened.session_id, user_text="We have decided to paint it.")
        await recorder.record(decided, None)
        following = await recorder.open_session(HERE, SOMEBODY, "gap")
        await recorder.record(make_exchange(3, session_id=following.session_id, user_text="I prefer tea."), None)
        await recorder.shutdown(5)
        assert {each.turn_id for each in await kept(memory)} == {"t_1", "t_2", "t_3"}
        assert {each.session_id for each in await kept(memory)} == {opened.session_id, following.session_id}


async def test_a_disk_that_refuses_loses_no_turn(place, monkeypatch):
    """When promotion fails the turn is stored all the same, and nothing is raised behind the reply."""

    async def refuse(state, turns):
        raise StorageUnavailable

    async with open_memory(place, promoting=True) as memory:
        monkeypatch.setattr(memory.promoter, "notice", refuse)
        opened = await memory.recorder.open_session(HERE, SOMEBODY, "first")
        turn = await memory.recorder.record(make_exchange(1, session_id=opened.session_id), None)
        await memory.recorder.settle()

    assert turn.seq == 1


async def test_a_correction_counts_also_after_the_clock_jumped_back(memory, promoter, session_id, say):
    """Whichever way the clock jumps, within a session and between two, the value that was stored last is active."""
    first = await say("I live in Rome.", created_at_ms=2_000_000)
    await promoter.promote(await memory.recorder.session(session_id), first)
    second = await say("I live in Berlin.", created_at_ms=1_000)
    await promoter.promote(await memory.recorder.session(session_id), second)
    other = await memory.recorder.open_session(HERE, SOMEBODY, "fresh")
    exchange = make_exchange(99, session_id=other.session_id, user_text="I live in Oslo.", created_at_ms=10)
    third = await memory.recorder.record(exchange, None)
    await promoter.promote(await memory.recorder.session(other.session_id), [third])
    await promoter.promote(await memory.recorder.session(session_id), [*first, *second])

    assert [each.text for each in await kept(memory) if each.status == "active"] == ["I live in Oslo"]


async def test_a_turn_that_is_promoted_late_does_not_undo_a_correction(memory, promoter, session_id, say):
    """A turn whose promotion a crash had left out is older than what was said since, whatever the clock says."""
    (old,) = await say("I live in Rome.", created_at_ms=2_000_000)
    (new,) = await say("I live in Berlin.", created_at_ms=1_000)
    state = await memory.recorder.session(session_id)
    await promoter.promote(state, [new])
    await promoter.promote(state, [old])

    assert [each.text for each in await kept(memory) if each.status == "active"] == ["I live in Berlin"]
