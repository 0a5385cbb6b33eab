"""Rows and contracts: what goes in comes out, lists are in order, a damaged row is still read."""

import pytest

from memory.storage.store import insert_session, point_conversation
from memory.storage.turn_rows import chain, insert_turn, read_turn_row, turn_digest, turn_params
from memory.testing import START_MS, make_state, make_turn, open_memory
from memory.types import BY_CLOCK, ToolCall

CONVERSATION = "tg:1:1:0"
FULL_TURN = make_turn(
    seq=3,
    user_id=None,
    user_text="'; DROP TABLE conversation_turns; -- 👋\n\t\u202eסוף",
    assistant_text="",
    intent="request",
    action_name="remind",
    response_type="action",
    job_refs=("j_1", 'j_"2"'),
    tool_calls=(ToolCall(call_id="c1", name="t", arguments='{"a":1}', result="{}"),),
    third_party=True,
    authored="Noted.",
    language="he",
    user_tokens=1,
    assistant_tokens=2,
    tool_tokens=3,
)


@pytest.fixture
async def memory(tmp_path):
    async with open_memory(tmp_path) as opened:
        yield opened


def session(number, *, turns=1, at_ms=0, conversation_id=CONVERSATION):
    state = make_state(
        session_id=f"s_{number}", conversation_id=conversation_id, turn_count=turns, last_turn_at_ms=START_MS + at_ms
    )
    return insert_session(state, user_id=7, origin="first", created_at_ms=START_MS, title=f"Title {number}")


@pytest.mark.parametrize("turn", [make_turn(), FULL_TURN], ids=["plain", "full"])
async def test_a_turn_comes_back_as_it_went_in(memory, turn):
    """Every field survives, and the digest of what is read is the digest that was stored."""
    await memory.db.write(insert_turn(turn, turn_digest("before", turn)))
    (logged,) = await memory.store.last_logged("s_1", 5)

    assert logged.turn == turn
    assert turn_digest("before", logged.turn) == logged.digest


def test_a_digest_covers_every_field_and_all_earlier_turns():
    """A change of any field, or of the digest before, changes the digest."""
    plain = turn_digest("", make_turn())
    changed = [
        make_turn(**{name: getattr(FULL_TURN, name)})
        for name in type(FULL_TURN).model_fields
        if name not in SAME_BY_PURPOSE
    ]
    digests = {turn_digest("", turn) for turn in changed}

    assert len(digests) == len(changed)
    assert plain not in digests
    assert turn_digest("x", make_turn()) != plain


SAME_BY_PURPOSE = {"schema_version", "session_id", "conversation_id", "seq", "turn_id", "created_at_ms"}
"""The maker of turns derives these from seq, or they are equal in both."""


@pytest.mark.parametrize("name", ["turn_id", "session_id", "conversation_id"])
def test_a_digest_covers_the_ids(name):
    """A turn that was moved elsewhere does not match."""
    assert turn_digest("", make_turn(**{name: "other"})) != turn_digest("", make_turn())


def test_a_chain_is_the_digests_one_after_the_other():
    """Each digest is made over the one before it."""
    turns = [make_turn(seq=1), make_turn(seq=2)]
    first, second = chain("", turns)

    assert first.digest == turn_digest("", turns[0])
    assert second.digest == turn_digest(first.digest, turns[1])


@pytest.mark.parametrize(
    "damage",
    [
        {"job_refs": "[tor"},
        {"tool_calls_json": "{}"},
        {"response_type": "???"},
        {"user_tokens": "many"},
        {"user_text": 5},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_a_damaged_row_is_still_read(damage):
    """What cannot be read is left at its default; the digest no longer matches, which is how it is found."""
    turn = make_turn(job_refs=("j_1",), user_tokens=4, response_type="question", tool_calls=FULL_TURN.tool_calls)
    row = {**turn_params(turn, turn_digest("", turn)), **damage}
    logged = read_turn_row(row)

    assert logged.turn.turn_id == turn.turn_id
    assert turn_digest("", logged.turn) != logged.digest


async def test_stretches_of_a_log(memory):
    """The last n, those after a seq, those between two, one by its id, and how many there are."""
    await memory.db.write(
        *(insert_turn(each.turn, each.digest) for each in chain("", [make_turn(seq=n) for n in range(1, 11)]))
    )
    store = memory.store

    assert [turn.seq for turn in await store.last_turns("s_1", 3)] == [8, 9, 10]
    assert [turn.seq for turn in await store.turns_after("s_1", 7)] == [8, 9, 10]
    assert [turn.seq for turn in await store.turns_after("s_1", 2, limit=2)] == [3, 4]
    assert [turn.seq for turn in await store.turns_between("s_1", 4, 6)] == [4, 5, 6]
    assert (await store.turn("t_5")).seq == 5
    assert await store.turn("t_50") is None
    assert await store.count_turns("s_1") == (10, 10)


async def test_sessions_of_a_conversation_the_latest_first(memory):
    """Empty sessions and those of others are left out; pages follow one another."""
    await memory.db.write(
        session(1, at_ms=1), session(2, at_ms=3), session(3, at_ms=2), session(4, turns=0, at_ms=9),
        session(5, at_ms=9, conversation_id="tg:1:2:0"), point_conversation(CONVERSATION, "s_2", 1),
    )  # fmt: skip
    store = memory.store

    assert [row.session_id for row in await store.sessions(CONVERSATION)] == ["s_2", "s_3", "s_1"]
    assert [row.title for row in await store.sessions(CONVERSATION, limit=1, offset=1)] == ["Title 3"]
    assert await store.current_session_id(CONVERSATION) == "s_2"
    assert len(await store.all_sessions()) == 5
    assert await store.session_ids() == {f"s_{n}" for n in range(1, 6)}


async def test_a_talk_is_a_session_in_which_a_person_said_something(memory):
    """One that holds runs of tasks alone is none, nor is a private one; a turn of the person's makes it one."""
    runs = [make_turn(session_id="s_2", seq=1, action_name=BY_CLOCK)]
    both = [
        make_turn(session_id="s_1", turn_id="t_a", seq=1),
        make_turn(session_id="s_1", turn_id="t_b", seq=2, action_name=BY_CLOCK),
    ]
    await memory.db.write(
        session(1, turns=2, at_ms=1), session(2, at_ms=2),
        *(insert_turn(each.turn, each.digest) for turns in (runs, both) for each in chain("", turns)),
    )  # fmt: skip

    assert [row.session_id for row in await memory.store.talks(CONVERSATION, limit=8)] == ["s_1"]
    assert [await memory.store.said_in(each) for each in ("s_1", "s_2")] == [1, 0]
