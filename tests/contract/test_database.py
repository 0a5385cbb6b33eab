"""What every database behind the `Database` port promises; a new backend is one more parameter of the fixture."""

import asyncio
import contextlib

import pytest

from memory.errors import Conflict, StorageError, StorageUnavailable, Unstorable
from memory.ports import Database, Statement
from memory.storage.ahead import apart, read_ahead
from memory.storage.store import Store, insert_session, update_session
from memory.storage.turn_rows import insert_turn
from memory.testing import make_state, make_turn, open_memory


@pytest.fixture
async def database(place):
    async with open_memory(place) as memory:
        yield memory.db


def turn(seq, **overrides):
    return insert_turn(make_turn(seq=seq, **overrides), f"digest {seq}")


async def seqs(database: Database):
    return [logged.seq for logged in await Store(database).last_turns("s_1", 1000)]


async def test_a_write_can_be_read(database):
    """What was written is there for the next read, as a mapping of column names."""
    await database.write(turn(1), turn(2))

    row = await database.read_one("get_turn", turn_id="t_2")
    assert row
    assert row["user_text"] == "question 2"
    assert await seqs(database) == [1, 2]


async def test_no_row_is_none(database):
    """A query that finds nothing returns None or an empty list."""
    assert await database.read_one("get_turn", turn_id="nobody") is None
    assert await database.read("last_turns", session_id="nobody", limit=3) == []


async def test_reads_that_follow_from_each_other_are_answered_in_turn(database):
    """Each read is chosen by what the one before found; what the chain returns comes back."""
    await database.write(turn(1), turn(2))

    def reads():
        last = yield Statement("last_turns", {"session_id": "s_1", "limit": 1})
        first = yield Statement(
            "turns_between", {"session_id": "s_1", "from_seq": 1, "through_seq": last[0]["seq"] - 1, "limit": 9}
        )
        nobody = yield Statement("get_turn", {"turn_id": "nobody"})
        return [last[0]["turn_id"], *[row["turn_id"] for row in first], *nobody]

    def nothing():
        return "at hand"
        yield

    assert await database.read_chain(reads()) == ["t_2", "t_1"]
    assert await database.read_chain(nothing()) == "at hand"


async def test_reads_that_do_not_follow_from_each_other_are_made_in_one_visit(database):
    """Each has its rows, in the order in which they were asked; a refused one refuses all."""
    await database.write(turn(1), turn(2))
    first, none = Statement("get_turn", {"turn_id": "t_1"}), Statement("get_turn", {"turn_id": "nobody"})
    found = await database.read_all(first, none, Statement("last_turns", {"session_id": "s_1", "limit": 5}))

    assert [[row["turn_id"] for row in rows] for rows in found] == [["t_1"], [], ["t_2", "t_1"]]
    assert await database.read_all() == []
    with pytest.raises(StorageError, match="get_turn"):
        await database.read_all(first, Statement("get_turn", {}))
    assert (await database.read_one("get_turn", turn_id="t_1"))["seq"] == 1


async def test_what_was_read_ahead_is_handed_out_once(database):
    """A read of the same query finds its rows as they were, the next one asks; another query asks anyway."""
    await database.write(turn(1))
    ahead = await read_ahead(database, Statement("last_turns", {"session_id": "s_1", "limit": 5}))
    with apart():
        await database.write(turn(2))
    with ahead.at_hand():
        other = await database.read("last_turns", session_id="s_1", limit=9)
        first = await database.read("last_turns", session_id="s_1", limit=5)
        again = await database.read("last_turns", session_id="s_1", limit=5)

    assert [len(rows) for rows in (other, first, again)] == [2, 1, 2]


async def test_what_was_read_ahead_is_forgotten_with_the_next_write(database):
    """Nobody reads what was before their own write, unless that was made apart; behind the end nothing is at hand."""
    asked = Statement("last_turns", {"session_id": "s_1", "limit": 5})
    ahead, later = await read_ahead(database, asked), await read_ahead(database, asked)
    with ahead.at_hand():
        await database.write(turn(1))
        assert len(await database.read("last_turns", session_id="s_1", limit=5)) == 1
    with later.at_hand():
        with apart():
            await database.write(turn(2))
        task = asyncio.create_task(read_late(database))
    assert len(await task) == 2


async def read_late(database):
    """Read in a task that began while something was at hand, and runs behind it."""
    return await database.read("last_turns", session_id="s_1", limit=5)


async def test_what_cannot_be_read_ahead_is_asked_for_later(database):
    """A failure is that of whoever asks, not of the look ahead."""
    ahead = await read_ahead(database, Statement("get_turn", {}))
    with ahead.at_hand():
        assert await database.read("get_turn", turn_id="t_1") == []


async def test_what_goes_wrong_in_a_chain_of_reads_comes_through(database):
    """A mistake of the chain's own is raised as it is, a refused query as ours; the next read works."""

    def mistaken():
        yield Statement("get_turn", {"turn_id": "t_1"})
        raise LookupError("mine")

    def refused():
        yield Statement("get_turn", {})

    with pytest.raises(LookupError, match="mine"):
        await database.read_chain(mistaken())
    with pytest.raises(StorageError, match="get_turn"):
        await database.read_chain(refused())
    assert await database.read("get_turn", turn_id="t_1") == []


async def test_a_write_is_all_or_nothing(database):
    """When the last of three statements meets a row that exists, the first two are not stored either."""
    await database.write(turn(1))

    with pytest.raises(Conflict, match="insert_turn"):
        await database.write(turn(2), turn(3), turn(1))
    assert await seqs(database) == [1]


async def test_a_dedupe_key_starts_one_turn(database):
    """Two turns of one update cannot both be stored (P2)."""
    await database.write(insert_turn(make_turn(seq=1), "a", dedupe_key="tg:5:9"))

    with pytest.raises(Conflict):
        await database.write(insert_turn(make_turn(seq=2), "b", dedupe_key="tg:5:9"))


async def test_an_expectation_that_is_not_met_is_a_conflict(database):
    """A state that was decided upon an older version is refused, with what was met and what was expected."""
    state = make_state()
    await database.write(insert_session(state, user_id=7, origin="first", created_at_ms=1))
    await database.write(update_session(state, version=1, title="", at_ms=1))

    with pytest.raises(Conflict, match="met 0 rows, expected 1"):
        await database.write(turn(1), update_session(state, version=1, title="", at_ms=1))
    assert await seqs(database) == []


async def test_many_writers_share_a_commit_and_fail_alone(database):
    """In a group of 64 calls those that conflict fail alone, all others are stored whole."""
    await database.write(turn(1000))
    clash = turn(1000)
    calls = [database.write(turn(seq), *([clash] if seq % 8 == 0 else [])) for seq in range(1, 65)]

    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    failed = {seq for seq, outcome in enumerate(outcomes, 1) if isinstance(outcome, Conflict)}
    assert failed == set(range(8, 65, 8))
    assert await seqs(database) == [*(seq for seq in range(1, 65) if seq % 8), 1000]


async def test_of_concurrent_calls_for_one_place_one_wins(database):
    """For each of thirty places one of eight calls is stored, the others are conflicts; in a file the first wins."""
    calls = [(seq, number) for seq in range(1, 31) for number in range(8)]
    outcomes = await asyncio.gather(
        *(database.write(turn(seq, turn_id=f"t_{seq}_{number}")) for seq, number in calls), return_exceptions=True
    )

    won = [call for call, outcome in zip(calls, outcomes, strict=True) if not isinstance(outcome, BaseException)]
    assert [seq for seq, _ in won] == [*range(1, 31)]
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == len(calls) - len(won)
    assert database.shared or {number for _, number in won} == {0}
    stored = await Store(database).last_turns("s_1", 50)
    assert [logged.turn_id for logged in stored] == [f"t_{seq}_{number}" for seq, number in won]


async def test_whoever_is_cancelled_while_it_reads_ends(database):
    """In whatever moment: a driver that waits for a connection, or for an answer, may lose the cancel."""

    async def read_for_ever():
        while True:
            await seqs(database)

    for moment in range(60):
        readers = [asyncio.create_task(read_for_ever()) for _ in range(12)]
        for _ in range(moment):
            await asyncio.sleep(0)
        for reader in readers:
            reader.cancel()
        ended, _ = await asyncio.wait(readers, timeout=5)
        assert len(ended) == len(readers)


async def test_a_reader_sees_no_half_transaction(database):
    """While hundreds of pairs are written, a reader never sees one of a pair without the other."""
    writing = asyncio.gather(*(database.write(turn(2 * n + 1), turn(2 * n + 2)) for n in range(100)))

    while not writing.done():
        assert len(await seqs(database)) % 2 == 0
    await writing
    assert len(await seqs(database)) == 200


async def test_an_unknown_query_says_its_name(database):
    """A name that no file has is our error, not a driver's."""
    with pytest.raises(StorageError, match="no query named 'insert_tern'"):
        await database.write(Statement("insert_tern"))
    with pytest.raises(StorageError, match="no query named 'turns'"):
        await database.read("turns")


@pytest.mark.parametrize("text", ["\ud83d", "half \udc00"], ids=["high", "low"])
async def test_a_text_the_driver_refuses_is_our_error(database, text):
    """A lone surrogate does not leak the driver's exception, and the next write works."""
    with pytest.raises(StorageError, match="insert_turn"):
        await database.write(turn(1, user_text=text))
    await database.write(turn(1))


ODD = {
    "a high half": {"user_text": "\ud83d"},
    "a low half": {"user_text": "half \udc00"},
    "beyond 64 bits": {"created_at_ms": 1 << 63},
    "far beyond": {"user_tokens": 10**400},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_a_value_that_no_database_takes_is_its_callers_alone(database, odd):
    """Written or asked for, it is refused as such: nothing is stored of it, and nobody hears that storage fails."""
    params = {**turn(1).params, **odd}
    value = next(iter(odd.values()))

    with pytest.raises(Unstorable, match="insert_turn"):
        await database.write(Statement("insert_turn", params))
    with pytest.raises(Unstorable, match="last_turns"):
        await database.read("last_turns", session_id="s_1", limit=1 << 63)
    if isinstance(value, str):
        with pytest.raises(Unstorable, match="get_turn"):
            await database.read("get_turn", turn_id=value)
        with pytest.raises(Unstorable, match="get_turn"):
            await database.read_all(Statement("get_turn", {"turn_id": value}))

    assert database.trouble() is None
    await database.write(turn(1))
    assert await seqs(database) == [1]


async def test_nul_is_taken_or_refused_and_is_no_outage(database):
    """SQLite takes it, PostgreSQL does not: either way the next caller finds a database that works."""
    with contextlib.suppress(Unstorable):
        await database.read("get_turn", turn_id="t\x00")
    with contextlib.suppress(Unstorable):
        await database.write(Statement("insert_turn", {**turn(1).params, "user_text": "a\x00b"}))

    assert database.trouble() is None
    await database.write(turn(2))


async def test_one_odd_value_in_a_group_takes_nobody_along(database):
    """Of writers that share a commit only the one with the odd value is refused."""
    odd = Statement("insert_turn", {**turn(3).params, "user_text": "\ud83d"})

    done = await asyncio.gather(*map(database.write, (turn(1), odd, turn(2))), return_exceptions=True)

    assert [isinstance(each, Unstorable) for each in done] == [False, True, False]
    assert await seqs(database) == [1, 2]
    assert database.trouble() is None


async def test_a_missing_argument_is_our_error(database):
    """A query that is called without one of its parameters is refused with its name."""
    with pytest.raises(StorageError, match="get_turn"):
        await database.read("get_turn")


async def test_a_cancelled_caller_does_not_stop_the_others(database):
    """When one of the waiting callers is cancelled the rest of its group is stored."""
    calls = [asyncio.ensure_future(database.write(turn(seq))) for seq in range(1, 6)]
    await asyncio.sleep(0)
    calls[2].cancel()

    await asyncio.gather(*calls, return_exceptions=True)
    assert {1, 2, 4, 5} <= set(await seqs(database))


async def test_closing_finishes_what_was_accepted(database):
    """Calls made before close are stored; calls after it are refused; a second close does nothing."""
    calls = [asyncio.ensure_future(database.write(turn(seq))) for seq in range(1, 20)]
    await asyncio.sleep(0)
    await database.close()
    outcomes = await asyncio.gather(*calls)

    assert [result[0].changed for result in outcomes] == [1] * 19
    with pytest.raises(StorageUnavailable, match="closed"):
        await database.write(turn(50))
    with pytest.raises(StorageUnavailable, match="closed"):
        await database.read("get_turn", turn_id="t_1")
    await database.close()
