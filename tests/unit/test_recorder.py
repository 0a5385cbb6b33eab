"""The recorder: one commit per turn, live sessions that follow the disk, checkpoints behind the reply, a good end."""

import asyncio
import threading
from threading import get_ident

import orjson
import pytest

from memory.errors import Conflict, StorageUnavailable, UnknownSession
from memory.ledger.ledgers import Ledgers
from memory.packets import ConversationContextPacket, TierReceipt
from memory.ports import Statement
from memory.sessions.hydrator import Beside, Hydrator
from memory.sessions.measures import Measures
from memory.sessions.recorder import Recorder
from memory.storage.store import Store, point_conversation
from memory.storage.turn_rows import insert_turn
from memory.testing import make_exchange, make_turn, open_memory, start_memory
from memory.text import clean
from memory.types import ToolCall

CONVERSATION = "tg:1:1:0"


@pytest.fixture
async def memory(tmp_path):
    async with open_memory(tmp_path) as opened:
        yield opened


@pytest.fixture
async def session_id(memory):
    return (await memory.recorder.open_session(CONVERSATION, 7, "first")).session_id


def exchange(session_id, number=1, **overrides):
    return make_exchange(number, session_id=session_id, **overrides)


def measures_of(memory):
    return Measures(clock=memory.clock, ids=memory.ids, languages=memory.languages, counter=memory.counter)


def recorder_over(memory, *, db=None, checkpoints=None, **options):
    """Return a second recorder over the same memory, with one part replaced."""
    store = Store(db or memory.db)
    files = checkpoints or memory.checkpoints
    measures = measures_of(memory)
    hydrator = Hydrator(store, files, measures)
    ledgers = Ledgers(db or memory.db)
    return Recorder(store, hydrator, files, measures, ledgers, **options)


class RefusingDatabase:
    """A database whose disk refuses while `failure` is set."""

    def __init__(self, db):
        self.db = db
        self.read, self.read_one, self.read_chain = db.read, db.read_one, db.read_chain
        self.failure = None

    async def write(self, *statements):
        if self.failure:
            raise self.failure
        return await self.db.write(*statements)


class HeldCheckpoints:
    """Checkpoint files that wait for a signal before they write, and count."""

    def __init__(self, files):
        self.files = files
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.saved = []

    def save(self, snapshot):
        self.begun.set()
        self.go_on.wait(10)
        self.saved.append(snapshot.last_seq)
        self.files.save(snapshot)

    def __getattr__(self, name):
        return getattr(self.files, name)


async def test_a_turn_is_stored_whole(memory, session_id):
    """Texts, reading, tokens, usage and update id are in the row; the turn comes back as it was stored."""
    call = ToolCall(call_id="c1", name="remember", arguments="{}", result="done")
    said = exchange(
        session_id, user_text="Please book a table.", assistant_text="Which day?", tool_calls=(call,),
        job_refs=("j_1",), model="m", input_tokens=11, output_tokens=12, dedupe_key="tg:1:99",
    )  # fmt: skip
    turn = await memory.recorder.record(said, None)

    assert await memory.store.turn("t_1") == turn
    assert (turn.seq, turn.intent, turn.response_type, turn.language) == (1, "chat", "question", "en")
    assert (turn.user_tokens, turn.assistant_tokens, turn.tool_calls) == (4, 2, (call,))
    row = await memory.db.read_one("get_turn", turn_id="t_1")
    assert (row["model"], row["input_tokens"], row["output_tokens"], row["dedupe_key"]) == ("m", 11, 12, "tg:1:99")


async def test_a_first_message_too_short_to_tell_has_no_language(memory, session_id):
    """“estás aí?” in a group was English, and so were the lists of who had written nothing else there."""
    spoken = [("estás aí?", None), ("Amanhã às oito ligo à minha avó.", "pt"), ("ok", "pt")]
    for number, (text, language) in enumerate(spoken, 1):
        turn = await memory.recorder.record(exchange(session_id, number, user_text=text), None)
        assert turn.language == language


async def test_state_row_and_turn_move_together(memory, session_id):
    """After each turn the session row holds the state that is live, one version further."""
    for number in range(1, 4):
        await memory.recorder.record(exchange(session_id, number), None)
        row, state = await memory.store.session(session_id), await memory.recorder.session(session_id)
        assert (row.last_seq, row.turn_count, row.version) == (number, number, number + 1)
        assert row.state_json == state.model_dump_json()
        assert row.last_turn_at_ms == state.last_turn_at_ms


async def test_what_the_model_was_given_is_kept_with_the_turn(memory, session_id):
    """The context snapshot of 003 FR-006 is a row of the same commit."""
    packet = ConversationContextPacket(
        conversation_id=CONVERSATION, session_id=session_id, session_status="active", today="earlier", history=(),
        receipts=(
            TierReceipt(tier="history", budget_tokens=3000, used_tokens=40, cut_items=2),
            TierReceipt(tier="summary", budget_tokens=1000, used_tokens=7),
        ), context_compiled_at_ms=5,
    )  # fmt: skip
    await memory.recorder.record(exchange(session_id), packet)

    (row,) = await memory.store.context_snapshots(session_id)
    assert (row["turn_id"], row["message_history_tokens"], row["messages_truncated"]) == ("t_1", 40, 2)
    assert (row["today_summary_present"], row["last_conversation_present"], row["total_tokens"]) == (1, 0, 47)
    assert orjson.loads(row["receipts_json"])[1]["tier"] == "summary"


async def test_what_else_belongs_to_the_turn_is_stored_with_it_or_not_at_all(memory, session_id):
    """When one of the caller's statements conflicts, the turn is not stored either, and the session goes on."""
    clash = insert_turn(make_turn(turn_id="t_x", session_id="s_9", seq=1), "x")
    await memory.db.write(clash)

    with pytest.raises(Conflict):
        await memory.recorder.record(exchange(session_id), None, clash)
    assert await memory.store.count_turns(session_id) == (0, 0)
    assert (await memory.recorder.record(exchange(session_id), None, point_conversation("x", "y", 1))).seq == 1
    assert await memory.store.current_session_id("x") == "y"


async def test_an_update_is_answered_once(memory, session_id):
    """The second turn of one update id is a conflict and leaves the session as it was (P2)."""
    await memory.recorder.record(exchange(session_id, 1, dedupe_key="tg:1:5"), None)

    with pytest.raises(Conflict):
        await memory.recorder.record(exchange(session_id, 2, dedupe_key="tg:1:5"), None)
    assert (await memory.recorder.session(session_id)).last_seq == 1


async def test_another_writer_is_noticed_and_followed(memory, session_id):
    """When somebody else moved the session on, the turn is stored upon what they wrote, not lost and not over it."""
    await memory.recorder.record(exchange(session_id, 1), None)
    other = recorder_over(memory)
    await other.record(exchange(session_id, 2), None)
    await other.settle()

    assert (await memory.recorder.session(session_id)).last_seq == 1
    assert (await memory.recorder.record(exchange(session_id, 3), None)).seq == 3
    assert [each.turn_id for each in await memory.store.turns_after(session_id, 0)] == ["t_1", "t_2", "t_3"]


async def test_an_edit_after_another_writer_keeps_both(memory, session_id):
    """A change decided upon a stale state is decided again upon the new one."""
    await memory.recorder.record(exchange(session_id, 1), None)
    other = recorder_over(memory)
    await other.record(exchange(session_id, 2), None)
    await other.settle()
    state = await memory.recorder.edit(session_id, lambda s: s.model_copy(update={"rolling_summary": "short"}))

    assert (state.last_seq, state.rolling_summary) == (2, "short")


async def test_a_disk_that_refuses_leaves_the_live_session_as_it_was(memory, session_id):
    """Nothing is stored, nothing moves; when the disk is back the same exchange is stored."""
    db = RefusingDatabase(memory.db)
    recorder = recorder_over(memory, db=db)
    await recorder.record(exchange(session_id, 1), None)
    before = await recorder.session(session_id)
    db.failure = StorageUnavailable("the disk is full")

    with pytest.raises(StorageUnavailable, match="full"):
        await recorder.record(exchange(session_id, 2), None)
    assert await recorder.session(session_id) is before
    db.failure = None
    assert (await recorder.record(exchange(session_id, 2), None)).seq == 2
    await recorder.settle()


async def test_a_reading_that_fails_never_loses_the_turn(memory, session_id, caplog, monkeypatch):
    """When nothing can be read from a turn it is still stored, counted and followed by the next."""
    monkeypatch.setattr("memory.state.state_manager._asked", lambda _turn: 1 / 0)
    turn = await memory.recorder.record(exchange(session_id), None)

    assert turn.seq == 1
    assert (await memory.recorder.session(session_id)).turn_count == 1
    assert "nothing could be read from it" in caplog.text


async def test_conversations_are_recorded_side_by_side(memory):
    """Turns of many conversations at once: each session has its own in order."""
    opened = await asyncio.gather(*(memory.recorder.open_session(f"tg:1:{n}:0", 7, "first") for n in range(20)))

    async def talk(state):
        for n in range(5):
            said = exchange(
                state.session_id, n, turn_id=f"{state.session_id}.{n}", conversation_id=state.conversation_id
            )
            await memory.recorder.record(said, None)

    await asyncio.gather(*map(talk, opened))
    for state in opened:
        turns = await memory.store.turns_after(state.session_id, 0)
        assert [turn.turn_id for turn in turns] == [f"{state.session_id}.{n}" for n in range(5)]


async def test_turns_of_one_session_never_overlap(memory, session_id):
    """Two turns recorded at the same moment get two places, one after the other."""
    turns = await asyncio.gather(*(memory.recorder.record(exchange(session_id, n), None) for n in range(1, 9)))

    assert [turn.seq for turn in turns] == list(range(1, 9))


async def test_the_checkpoint_follows_behind_the_reply(memory, session_id):
    """`record` returns before the checkpoint is written; soon after, the file holds the turn."""
    held = HeldCheckpoints(memory.checkpoints)
    recorder = recorder_over(memory, checkpoints=held)
    await recorder.record(exchange(session_id), None)

    assert held.saved == []
    held.go_on.set()
    await recorder.settle()
    assert memory.checkpoints.load(session_id).last_turns[0].turn_id == "t_1"


async def test_waiting_checkpoints_of_a_session_become_one(memory, session_id):
    """While one is being written, five more turns ask for one: the newest state is written once."""
    held = HeldCheckpoints(memory.checkpoints)
    recorder = recorder_over(memory, checkpoints=held)
    await recorder.record(exchange(session_id, 1), None)
    await asyncio.to_thread(held.begun.wait, 10)
    for number in range(2, 7):
        await recorder.record(exchange(session_id, number), None)
    held.go_on.set()
    await recorder.settle()

    assert held.saved == [1, 6]


async def test_a_checkpoint_that_cannot_be_written_does_not_disturb(memory, session_id, tmp_path):
    """The turn stands, the fault is kept for `/health`, and is gone once a checkpoint can be written again."""
    folder = memory.checkpoints.folder
    folder.rename(tmp_path / "away") if folder.exists() else None
    folder.write_text("in the way")
    await memory.recorder.record(exchange(session_id, 1), None)
    await memory.recorder.settle()

    assert "could not be written" in memory.recorder.checkpoint_error
    folder.unlink()
    await memory.recorder.record(exchange(session_id, 2), None)
    await memory.recorder.settle()
    assert memory.recorder.checkpoint_error is None
    assert memory.checkpoints.load(session_id).last_seq == 2


async def test_a_checkpoint_carries_the_last_turns_in_their_chain(memory, session_id):
    """It holds the last 13 turns and the digest before them, so that a log that fell behind can be healed."""
    for number in range(1, 21):
        await memory.recorder.record(exchange(session_id, number), None)
    await memory.recorder.settle()

    snapshot = memory.checkpoints.load(session_id)
    assert [turn.seq for turn in snapshot.last_turns] == list(range(8, 21))
    assert snapshot.previous_digest == (await memory.store.logged_between(session_id, 7, 7))[0].digest


async def test_an_edit_is_stored_and_counted(memory, session_id):
    """A change between turns is in row, checkpoint and live state; a change that changes nothing writes nothing."""
    await memory.recorder.record(exchange(session_id), None)
    edited = await memory.recorder.edit(session_id, lambda s: s.model_copy(update={"rolling_summary": "short"}))
    await memory.recorder.settle()

    assert (edited.edits, edited.rolling_summary) == (1, "short")
    assert (await memory.store.session(session_id)).rolling_summary == "short"
    assert memory.checkpoints.load(session_id).state == edited
    assert await memory.recorder.edit(session_id, lambda s: s) == edited
    assert (await memory.store.session(session_id)).version == 3


async def test_an_edit_that_fails_changes_nothing(memory, session_id):
    """What the change raises comes through."""

    def refuse(state):
        raise KeyError("no such loop")

    with pytest.raises(KeyError):
        await memory.recorder.edit(session_id, refuse)
    assert (await memory.recorder.session(session_id)).edits == 0


async def test_a_fresh_session_pauses_the_one_before_and_both_go_on(memory, session_id):
    """/fresh opens a new current session, /continue switches back; turns can be recorded in both afterwards."""
    await memory.recorder.record(exchange(session_id, 1), None)
    fresh = await memory.recorder.open_session(CONVERSATION, 7, "fresh")

    assert (await memory.recorder.current(CONVERSATION)).session_id == fresh.session_id
    assert (await memory.store.session(session_id)).status == "paused"
    await memory.recorder.record(exchange(fresh.session_id, 2), None)
    back = await memory.recorder.switch(CONVERSATION, session_id)
    assert (back.session_id, back.status) == (session_id, "resuming")
    assert (await memory.recorder.record(exchange(session_id, 3), None)).seq == 2
    assert (await memory.store.session(fresh.session_id)).status == "paused"
    assert (await memory.recorder.current(CONVERSATION)).status == "active"


async def test_nobody_switches_to_a_session_of_another_conversation(memory, session_id):
    """A session id from elsewhere is refused and the conversation stays where it is."""
    other = await memory.recorder.open_session("tg:1:2:0", 8, "first")

    with pytest.raises(UnknownSession, match="is not one of conversation"):
        await memory.recorder.switch(CONVERSATION, other.session_id)
    assert await memory.store.current_session_id(CONVERSATION) == session_id


async def test_a_conversation_without_a_session_has_none(memory):
    """Before the first message there is nothing to load."""
    assert await memory.recorder.current("tg:1:404:0") is None


async def test_only_so_many_sessions_stay_in_memory(tmp_path):
    """The least recently used one leaves and is hydrated again when it is needed, unchanged."""
    async with open_memory(tmp_path, max_live_sessions=3) as memory:
        ids = [(await memory.recorder.open_session(f"tg:1:{n}:0", 7, "first")).session_id for n in range(6)]
        for n, session_id in enumerate(ids):
            await memory.recorder.record(exchange(session_id, n, conversation_id=f"tg:1:{n}:0"), None)

        assert len(memory.recorder._live) == 3
        turn = await memory.recorder.record(exchange(ids[0], 50, conversation_id="tg:1:0:0"), None)
        assert turn.seq == 2
        assert sorted(await memory.recorder.shutdown(10)) == ids


async def test_reading_beside_writing_never_disturbs(tmp_path):
    """Sessions that leave memory and come back while turns are stored in them stay whole and are never healed."""
    async with open_memory(tmp_path, max_live_sessions=2) as memory:
        opened = await asyncio.gather(*(memory.recorder.open_session(f"tg:1:{n}:0", 7, "first") for n in range(6)))

        async def talk(state):
            for n in range(12):
                said = exchange(
                    state.session_id, n, turn_id=f"{state.session_id}.{n}", conversation_id=state.conversation_id
                )
                await memory.recorder.record(said, None)

        async def look():
            for state in opened * 10:
                await memory.recorder.session(state.session_id)

        await asyncio.gather(*map(talk, opened), look(), look())
        for state in opened:
            found = await memory.hydrator.hydrate(state.session_id)
            assert (found.state.last_seq, found.report.warnings) == (12, ())


async def test_texts_that_no_database_takes_are_made_storable(memory, session_id):
    """NUL and half emoji go, whole emoji and other scripts stay; also in tool calls."""
    call = ToolCall(call_id="c", name="n", result="a\x00\udfff")
    turn = await memory.recorder.record(
        exchange(session_id, user_text="a\x00b 👋 \ud83d", assistant_text="Привет", tool_calls=(call,)), None
    )

    assert (turn.user_text, turn.assistant_text, turn.tool_calls[0].result) == ("ab 👋 \ufffd", "Привет", "a\ufffd")
    assert clean("плохо\x00") == "плохо"


async def test_an_orderly_end_marks_what_was_changed(tmp_path):
    """Changed sessions get a clean checkpoint and `shutdown_clean`; a session that was only read is not rewritten."""
    async with open_memory(tmp_path) as memory:
        ids = [(await memory.recorder.open_session(f"tg:1:{n}:0", 7, "first")).session_id for n in range(2)]
        for n, each in enumerate(ids):
            await memory.recorder.record(exchange(each, n, conversation_id=f"tg:1:{n}:0"), None)
        assert await memory.recorder.shutdown(10) == ids
    async with open_memory(tmp_path) as memory:
        before = memory.checkpoints.path(ids[1]).stat().st_mtime_ns
        version = (await memory.store.session(ids[1])).version
        assert (await memory.hydrator.survey()).resuming == 0
        assert (await memory.recorder.session(ids[1])).status == "resuming"
        await memory.recorder.record(exchange(ids[0], 5, conversation_id="tg:1:0:0"), None)
        assert await memory.recorder.shutdown(10) == ids[:1]

        assert memory.checkpoints.path(ids[1]).stat().st_mtime_ns == before
        assert (await memory.store.session(ids[1])).version == version
        snapshot = memory.checkpoints.load(ids[0])
        assert snapshot.clean
        assert "Person: question 5" in snapshot.summary_delta
        assert (await memory.store.session_counts())["shutdown_clean"] == (2, 3)


async def test_a_deadline_leaves_what_a_crash_would_leave(memory, session_id):
    """When the end takes too long the rest is not marked; the next start hydrates it as after a crash."""
    held = HeldCheckpoints(memory.checkpoints)
    recorder = recorder_over(memory, checkpoints=held)
    await recorder.record(exchange(session_id), None)

    assert await recorder.shutdown(0) == []
    held.go_on.set()
    await recorder.settle()
    assert (await memory.store.session(session_id)).status == "active"


async def test_a_released_session_writes_no_checkpoint_any_more(memory, session_id):
    """What is to be forgotten does not come back from a checkpoint that was still waiting (P13)."""
    await memory.recorder.record(exchange(session_id), None)
    await memory.recorder.release(session_id)
    memory.checkpoints.remove(session_id)
    await memory.db.write(Statement("set_session_status", {"session_id": session_id, "status": "paused"}))
    await memory.recorder.settle()

    assert memory.checkpoints.session_ids() == []


async def test_a_restart_is_not_noticed(tmp_path):
    """Turns before and after a restart fold to the same state as without one."""
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    states = {}
    for folder, restarts in ((broken, True), (whole, False)):
        memory = await start_memory(folder)
        session_id = (await memory.recorder.open_session(CONVERSATION, 7, "first")).session_id
        for number in range(1, 31):
            if restarts and number % 4 == 0:
                await memory.close()
                memory = await start_memory(folder)
            said = exchange(session_id, number, user_text=f"Let us plan trip {number}. What about Rome?")
            await memory.recorder.record(said, None)
        states[folder] = await memory.recorder.session(session_id)
        await memory.close()

    assert states[broken] == states[whole]


async def test_a_long_turn_is_indexed_beside_the_loop(memory, session_id):
    """What belongs to a pasted book is made in a thread; a usual turn is done on the spot."""
    threads = []
    memory.hydrator.beside = Beside(index=lambda _: threads.append(get_ident()) or ())

    await memory.recorder.record(exchange(session_id, 1, user_text="short"), None)
    await memory.recorder.record(exchange(session_id, 2, user_text="word " * 80_000), None)
    await memory.settle()

    assert threads[0] == get_ident() != threads[1]
