"""The front door of the memory: what `ConversationMemory.open` and its methods promise."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest

from memory import (
    Actor,
    Add,
    Applied,
    Conflict,
    ConversationMemory,
    End,
    Extension,
    ForgetRequest,
    Locked,
    Refusal,
    Statement,
    StorageUnavailable,
)
from memory.context.budget import Budget
from memory.context.occasion import Occasion, Prepared, Reserved
from memory.sessions.exchange import Deed
from memory.storage.place import places
from memory.testing import START_MS, ManualClock, SequentialIds, WordCounter, open_memory

HERE, THERE = "shop:42", "shop:43"

ORDERS_SQL = """
-- name: insert_order
-- Of a shop that keeps its orders beside the turns.
INSERT INTO orders (order_id, conversation_id) VALUES (:order_id, :conversation_id);

-- name: orders
-- All of them.
SELECT order_id FROM orders;

-- name: erase_orders
-- They go with the conversation.
DELETE FROM orders WHERE conversation_id = :conversation_id;
"""


async def erase_orders(_, going):
    return [Statement("erase_orders", {"conversation_id": going.conversation_id})] if going.everything else []


@pytest.fixture
def shop(tmp_path):
    """Return an extension with a table, its queries, and what forgetting means for it."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "2001_orders.sql").write_text("CREATE TABLE orders (order_id TEXT, conversation_id TEXT);")
    (tmp_path / "orders.sql").write_text(ORDERS_SQL)
    return Extension((tmp_path / "orders.sql",), tmp_path / "shop", erase_orders)


@pytest.fixture
async def memory(place, shop):
    async with open_memory(place, extensions=[shop]) as opened:
        yield opened


async def say(memory, text, answer="Noted.", **about):
    turn = await memory.begin(HERE, text, **about)
    await turn.record(answer)
    return turn


def contents(turn):
    return [each["content"] for each in turn.messages]


@pytest.mark.sweep
async def test_a_second_process_is_kept_out(place):
    """The lock is held as long as the memory is open, and not a moment longer; looking needs none."""
    async with await ConversationMemory.open(place, counter=WordCounter()) as memory:
        with pytest.raises(Locked, match=r"another process (\(\d+\) )?works on"):
            await ConversationMemory.open(place)
        await say(memory, "My order is 7781.")
        looking = await ConversationMemory.open(place, read_only=True)
        assert [each.turn_count for each in await looking.sessions(HERE)] == [1]
        with pytest.raises(StorageUnavailable, match="open for reading only"):
            await say(looking, "And one more.")
        await looking.close()
    async with await ConversationMemory.open(
        place if isinstance(place, str) else f"sqlite:///{place}/continuity.db", counter=WordCounter()
    ) as memory:
        assert (memory.found.resuming, memory.found.applied) == (0, ())
    await memory.close()


async def test_what_a_killed_process_left_is_told(place):
    """A session that was at work when the process died is found, and goes on."""
    async with open_memory(place) as killed:
        await say(killed, "My order is 7781.")
    async with open_memory(place, recover=True) as memory:
        assert memory.found.resuming == 1
        assert memory.found.applied == ()
        assert "[Tue 2023-11-14 22:13] My order is 7781." in contents(await memory.begin(HERE, "Where is it?"))


async def test_a_message_is_answered_once(memory):
    """The second begin with a key tells the answer that was given; whoever records it again gets a conflict."""
    first = await memory.begin(HERE, "Where is it?", dedupe_key="hook:1")
    rival = await memory.begin(HERE, "Where is it?", dedupe_key="hook:1")
    assert (first.recorded, rival.recorded) == (None, None)
    stored = await first.record("On its way.")

    with pytest.raises(Conflict):
        await rival.record("In the mail.")
    again = await memory.begin(HERE, "Where is it?", dedupe_key="hook:1")
    assert again.recorded == first.recorded == stored


async def test_a_message_is_prepared_within_the_budget(place):
    """Every prompt of a long talk keeps to the cap, and older turns are folded into a summary by themselves."""
    budget = Budget(history_tokens=200, cap_tokens=700)
    async with open_memory(place, budget=budget) as memory:
        for number in range(40):
            turn = await memory.begin(HERE, f"Tell me about tower {number}, please.")
            words = sum(map(WordCounter().count, contents(turn)))
            assert words <= budget.cap_tokens
            await turn.record(f"Tower {number} is {number} metres high. " + "It is old. " * 8)
        assert await memory.compactor.last(turn.state.session_id)


async def test_what_the_rest_of_the_prompt_takes_is_left_free(place):
    """Instructions, tools and what is carried forward count against the cap, before old turns are folded and after."""
    budget = Budget(history_tokens=2000, cap_tokens=2600)
    async with open_memory(place, budget=budget) as memory:
        for number in range(8):
            await say(memory, f"Tower {number}. " + "It is old. " * 66)
        roomy = await memory.begin(HERE, "And?")
        assert await memory.compactor.last(roomy.state.session_id) is None
        tight = await memory.begin(
            HERE, "And?", reserved=Reserved(tokens=1200, tools_tokens=50, bootstrap="About towers.")
        )
        assert await memory.compactor.last(roomy.state.session_id)
        words = sum(map(WordCounter().count, contents(tight)))
        assert words + 1200 <= budget.cap_tokens < 1200 + sum(map(WordCounter().count, contents(roomy)))


async def test_a_turn_is_stored_as_it_was_begun(memory):
    """The turn has the id and the session that the caller chose, and what it did to session and notes holds."""
    state = await memory.session(HERE, 7)
    prepared, occasion = Prepared(turn_id="t_mine", state=state), Occasion(time_zone="Asia/Tokyo")
    turn = await memory.begin(HERE, "I'll call Ana by Friday.", occasion=occasion, prepared=prepared)
    call = Add(kind="task", text="Call Ana", note_id="n_1", fields={"owner": "user"})
    stored = await turn.record(
        "Noted.",
        deed=Deed("note"),
        operations=[call],
        change=lambda now: now.model_copy(update={"undone": ("t_0",)}),
    )
    assert (stored.turn_id, stored.session_id, stored.action_name) == ("t_mine", state.session_id, "note")
    after = await memory.session(HERE)
    assert (after.time_zone, after.undone) == ("Asia/Tokyo", ("t_0",))
    assert [(note.text, note.turn_ids) for note in await memory.notes(HERE)] == [("Call Ana", ("t_mine",))]
    assert (await say(memory, "And Bo.")).time_zone == "Asia/Tokyo"


async def test_sessions_begin_end_and_come_back(place):
    """Silence opens a new session, `fresh` one that knows nothing, `resume` takes up an earlier one."""
    clock = ManualClock()
    async with open_memory(place, clock=clock, session_gap_s=600) as memory:
        first = await say(memory, "My boat is called Fram.")
        clock.advance(s=601)
        second = await say(memory, "Good morning.")
        fresh = await memory.fresh(HERE)
        turn = await memory.begin(HERE, "What is my boat called?")
        assert len({first.state.session_id, second.state.session_id, fresh.session_id}) == 3
        assert (turn.state.session_id, len(turn.messages)) == (fresh.session_id, 1)
        await memory.resume(HERE, first.state.session_id)
        given = contents(await memory.begin(HERE, "And?"))
        assert any(content.endswith("My boat is called Fram.") for content in given)
        assert {each.session_id for each in await memory.sessions(HERE)} == {
            first.state.session_id,
            second.state.session_id,
        }


async def test_what_is_known_can_be_asked_for(memory):
    """Search, notes and the receipt answer for one conversation, and not for another."""
    await say(memory, "Good morning.", user_id=7)
    await say(memory, "I prefer email to phone calls.", user_id=7)
    papers = Add(kind="task", text="Send the papers to Ana", note_id="n_1", fields={"owner": "user"})
    (noted,) = await memory.change(HERE, [papers], Actor("person", START_MS))
    assert isinstance(noted, Applied)

    (best, *_) = await memory.search(HERE, "How do I like to be reached: phone or email?")
    assert "I prefer email" in best.text
    assert any("papers" in content for content in contents(await memory.begin(HERE, "What is left?")))
    (done,) = await memory.change(HERE, [End(number=1)], Actor("person", START_MS))
    assert isinstance(done, Applied)
    assert [(note.number, note.status) for note in await memory.notes(HERE)] == [(1, "done")]
    assert {tier.tier for tier in await memory.receipt(HERE) if tier.used_tokens} >= {"history"}
    assert (await memory.search(THERE, "email"), list(await memory.notes(THERE))) == ([], [])
    assert await memory.receipt(THERE) == ()
    (refused,) = await memory.change(THERE, [End(number=1)], Actor("person", START_MS))
    assert refused == Refusal("unknown", 1)


async def test_rows_of_the_caller_come_and_go_with_turns(memory):
    """A statement given to `record` is stored with the turn or not at all, and goes when all is forgotten."""
    order = Statement("insert_order", {"order_id": "7781", "conversation_id": HERE})
    await (await memory.begin(HERE, "Buy it.", dedupe_key="k")).record("Done.", order)
    with pytest.raises(Conflict):
        await (await memory.begin(HERE, "Buy it.", dedupe_key="k")).record("Done.", order)
    assert await memory.db.read("orders") == [{"order_id": "7781"}]

    exported = await memory.export(HERE)
    assert [each["user_text"] for each in exported["sessions"][0]["turns"]] == ["Buy it."]
    gone = await memory.forget(ForgetRequest(HERE, everything=True))
    assert (gone.counts.turns, await memory.db.read("orders"), (await memory.export(HERE))["sessions"]) == (1, [], [])


@pytest.mark.parametrize("where", ["sqlite://", "sqlite:///", "mysql:///x"])
def test_an_address_of_another_kind_is_refused(where):
    """It says what a memory opens."""
    with pytest.raises(ValueError, match=r"opens in a folder, at sqlite:///path"):
        places(where)


async def test_ids_and_clock_are_the_callers(place):
    """What was handed in is used."""
    clock = ManualClock(5_000)
    async with open_memory(place, clock=clock, ids=SequentialIds()) as memory:
        turn = await say(memory, "Hello.")
    assert (turn.recorded.turn_id, turn.recorded.created_at_ms) == ("t_2", 5_000)


async def test_room_for_the_next_turn_is_made_behind_the_reply(memory):
    """A long talk is compacted between its turns: no message waits for it, and a session that is gone is no fault."""
    marks = []
    for number in range(14):
        pending = await memory.begin("c", f"What about matter {number}?")
        marks.append(pending.state.compaction)
        await pending.record(f"Matter {number}: " + "a word, then another one, " * 60)
        held = (await memory.recorder.session(pending.state.session_id)).compaction
        assert held == marks[-1]
        await memory.make_room(pending)
        marks.append((await memory.recorder.session(pending.state.session_id)).compaction)

    assert marks[0] is None
    assert marks[-1] is not None
    assert marks[1:-1:2] == marks[2::2]
    await memory.make_room(replace(pending, state=pending.state.model_copy(update={"session_id": "gone"})))


SECOND = (
    "import sys; from pathlib import Path; from memory.storage.place import take_lock; take_lock(Path(sys.argv[1]))"
)


@pytest.mark.file
@pytest.mark.parametrize("gone", ["nothing", "*.lock"], ids=["while it is there", "removed"])
@pytest.mark.parametrize("there", [False, True], ids=["a new database", "one that was there"])
@pytest.mark.sweep
async def test_no_second_process_comes_in_whatever_becomes_of_the_lock_file(tmp_path, there, gone):
    """The database's own file is held, too: a second process ends in a sentence, also in this one."""
    if there:
        async with open_memory(tmp_path):
            pass
    async with await ConversationMemory.open(tmp_path) as memory:
        for file in tmp_path.glob(gone):
            file.unlink()
        second = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", SECOND, tmp_path / "continuity.db"], capture_output=True, text=True
        )
        with pytest.raises(Locked):
            await ConversationMemory.open(tmp_path)

        assert second.returncode
        assert "Locked: another process" in second.stderr
        assert memory.db.trouble() is None
    async with await ConversationMemory.open(tmp_path):
        pass
