"""Hydration: whatever is left of a session is enough, what differs is healed, and the report says so."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass

import pytest

from memory.errors import UnknownSession
from memory.opening import ConversationMemory
from memory.state.state_manager import new_state
from memory.storage.sqlite.digests import MEMORY_DIGESTS
from memory.storage.sqlite.rows import keep
from memory.storage.turn_rows import chain, turn_digest
from memory.testing import make_exchange, start_memory

CONVERSATION = "tg:1:1:0"


@dataclass
class Session:
    """A session of some turns on disk, and the memory that it is looked at with."""

    memory: ConversationMemory
    session_id: str
    state: object

    @property
    def checkpoint(self):
        return self.memory.checkpoints.path(self.session_id)

    def sql(self, statement, *args):
        with closing(sqlite3.connect(self.memory.db.path)) as db, db:
            keep(db, MEMORY_DIGESTS)
            return db.execute(statement, args).fetchall()

    def empty_database(self):
        self.sql("DELETE FROM conversation_turns")
        self.sql("DELETE FROM conversation_sessions")
        self.sql("DELETE FROM conversations")

    async def hydrate(self, **options):
        return await self.memory.hydrator.hydrate(self.session_id, **options)

    async def turns(self):
        return await self.memory.store.turns_after(self.session_id, 0)


async def say(memory, session_id, numbers):
    for number in numbers:
        texts = {"user_text": f"Please plan day {number} in Rome.", "assistant_text": f"Day {number}: the Forum."}
        await memory.recorder.record(make_exchange(number, session_id=session_id, **texts), None)


async def make_session(folder, turns):
    memory = await start_memory(folder)
    state = await memory.recorder.open_session(CONVERSATION, 7, "first")
    await say(memory, state.session_id, range(1, turns + 1))
    await memory.recorder.settle()
    return Session(memory, state.session_id, await memory.recorder.session(state.session_id))


@pytest.fixture
async def session(tmp_path):
    made = await make_session(tmp_path, 5)
    yield made
    await made.memory.close()


@pytest.fixture
async def long_session(tmp_path):
    made = await make_session(tmp_path, 30)
    yield made
    await made.memory.close()


async def test_a_healthy_session_comes_from_its_checkpoint(session):
    """Nothing is folded, healed, written or warned about, and the last three turns are at hand."""
    before = session.checkpoint.stat().st_mtime_ns
    found = await session.hydrate()

    assert found.state == session.state
    assert (found.report.base, found.report.checkpoint) == ("checkpoint", "used")
    assert (found.report.turns_folded, found.report.turns_healed, found.report.warnings) == (0, 0, ())
    assert [logged.turn.seq for logged in found.tail[-3:]] == [3, 4, 5]
    assert session.checkpoint.stat().st_mtime_ns == before


async def test_a_missing_checkpoint_is_written_again(session):
    """The session row has the same state; the file is there again afterwards."""
    session.checkpoint.unlink()
    found = await session.hydrate()

    assert found.state == session.state
    assert (found.report.base, found.report.checkpoint) == ("session", "missing")
    assert session.memory.checkpoints.load(session.session_id).state == session.state


@pytest.mark.parametrize("data", [b"", b"\x00\xff garbage", b"{}"], ids=["empty", "garbage", "object"])
async def test_a_useless_checkpoint_is_moved_aside_and_rebuilt(session, data):
    """The damaged file is kept for the operator, the session is whole, and a good file is in its place."""
    session.checkpoint.write_bytes(data)
    found = await session.hydrate()

    assert found.state == session.state
    assert found.report.checkpoint == "damaged"
    assert "s_1.json" in found.report.warnings[0]
    assert found.report.quarantined == str(session.checkpoint) + ".corrupt-1700000000000"
    assert session.memory.checkpoints.load(session.session_id).state == session.state


async def test_a_checkpoint_torn_at_every_byte_never_changes_the_session(session):
    """Whatever length of the file a crash left, the state is the same."""
    data = session.checkpoint.read_bytes()
    cuts = range(0, len(data) - 2, 97)
    for cut in cuts:
        session.checkpoint.write_bytes(data[:cut])
        found = await session.hydrate(dry_run=True)
        assert found.state == session.state, f"cut at {cut}"
        assert found.report.checkpoint == "damaged"


async def test_a_checkpoint_of_another_session_is_moved_aside(session):
    """A file copied from elsewhere is not believed."""
    other = await session.memory.recorder.open_session("tg:1:2:0", 8, "first")
    await session.memory.recorder.record(
        make_exchange(50, session_id=other.session_id, conversation_id="tg:1:2:0"), None
    )
    await session.memory.recorder.settle()
    session.checkpoint.write_bytes(session.memory.checkpoints.path(other.session_id).read_bytes())
    found = await session.hydrate()

    assert found.state == session.state
    assert (found.report.checkpoint, found.report.base) == ("foreign", "session")
    assert found.report.quarantined


async def test_a_checkpoint_of_another_history_is_moved_aside(session):
    """A checkpoint whose turns are not the log's (a backup was restored and talked on) does not overwrite the log."""
    session.sql("DELETE FROM conversation_turns WHERE seq = 5")
    (state_json,) = session.sql("SELECT state_json FROM conversation_sessions")[0]
    fourth = (await session.turns())[-1]
    base = {"turn_id": "t_other", "seq": 5, "user_text": "Something else."}
    other = fourth.model_copy(update=base)
    session.sql(
        "INSERT INTO conversation_turns SELECT 't_other', session_id, conversation_id, 5, user_id, 'Something else.', "
        "assistant_text, intent, action_name, response_type, job_refs, tool_calls_json, third_party, language, "
        "user_tokens, assistant_tokens, tool_tokens, model, input_tokens, output_tokens, dedupe_key, ?, "
        "created_at_ms, authored FROM conversation_turns WHERE seq = 4",
        turn_digest((await session.memory.store.last_logged(session.session_id, 1))[0].digest, other),
    )
    assert state_json
    found = await session.hydrate()

    assert found.report.checkpoint == "foreign"
    assert "another history" in found.report.warnings[0]
    assert [turn.turn_id for turn in await session.turns()][-1] == "t_other"


async def test_a_checkpoint_older_than_the_log_is_brought_up_to_date(session):
    """A crash between commit and checkpoint: the row's state is newer, and the file follows."""
    old = session.checkpoint.read_bytes()
    await say(session.memory, session.session_id, [6, 7])
    await session.memory.recorder.settle()
    session.checkpoint.write_bytes(old)
    found = await session.hydrate()

    assert (found.report.base, found.report.checkpoint, found.state.last_seq) == ("session", "older", 7)
    assert session.memory.checkpoints.load(session.session_id).last_seq == 7


async def test_the_turn_log_tail_is_folded_upon_an_old_checkpoint(session):
    """When the row's state is useless too, the turns after the checkpoint are folded: 002 section 7."""
    old = session.checkpoint.read_bytes()
    await say(session.memory, session.session_id, [6, 7])
    await session.memory.recorder.settle()
    wanted = await session.memory.recorder.session(session.session_id)
    session.checkpoint.write_bytes(old)
    session.sql("UPDATE conversation_sessions SET state_json = 'torn {'")
    found = await session.hydrate()

    assert found.state == wanted
    assert (found.report.base, found.report.turns_folded) == ("checkpoint", 2)
    assert "stored state" in found.report.warnings[0]


async def test_without_checkpoint_and_state_the_whole_log_is_folded(long_session):
    """The turn log alone gives the same state, with the same rolling summary."""
    long_session.checkpoint.unlink()
    long_session.sql("UPDATE conversation_sessions SET state_json = '{}'")
    found = await long_session.hydrate()

    assert found.state == long_session.state
    assert found.state.rolling_summary
    assert (found.report.base, found.report.turns_folded) == ("empty", 30)
    assert [logged.turn.seq for logged in found.tail] == list(range(18, 31))


async def test_a_log_behind_the_checkpoint_is_healed(session):
    """A restored backup lost turns 4 and 5: they come back from the checkpoint, the chain whole, and it is said."""
    whole = await session.turns()
    session.sql("DELETE FROM conversation_turns WHERE seq > 3")
    session.sql("UPDATE conversation_sessions SET last_seq = 3, state_json = ?", older_state(session, whole[:3]))
    found = await session.hydrate()

    assert found.state.model_copy(update={"status": "active"}) == session.state
    assert (found.report.checkpoint, found.report.turns_healed) == ("newer", 2)
    assert found.report.warnings == ("the log ended at turn 3; turns 4-5 come from the checkpoint",)
    assert await session.turns() == whole
    again = await session.hydrate()
    assert (again.report.checkpoint, again.report.warnings, again.version) == ("used", (), found.version)


async def test_a_gap_that_cannot_be_healed_is_said(long_session):
    """Turns that neither the log nor the checkpoint has stay lost; everything else comes back and work goes on."""
    long_session.sql("DELETE FROM conversation_turns WHERE seq > 5")
    long_session.sql("UPDATE conversation_sessions SET last_seq = 5, state_json = '{}'")
    found = await long_session.hydrate()

    assert found.state.last_seq == 30
    assert "turns 6-17 are neither in the log nor in the checkpoint" in " ".join(found.report.warnings)
    assert [turn.seq for turn in await long_session.turns()] == [1, 2, 3, 4, 5, *range(18, 31)]
    again = await long_session.hydrate()
    assert (again.report.checkpoint, again.report.turns_healed, again.report.warnings) == ("used", 0, ())


async def test_an_emptied_database_gets_its_session_back(session):
    """Session row, turns and the conversation's pointer are made again from the checkpoint."""
    whole = await session.turns()
    session.empty_database()
    survey = await session.memory.hydrator.survey()
    reports = await session.memory.hydrator.adopt(survey.orphans)

    assert survey.orphans == (session.session_id,)
    assert (reports[0].session_restored, reports[0].turns_healed) == (True, 5)
    assert await session.turns() == whole
    assert await session.memory.store.current_session_id(CONVERSATION) == session.session_id
    assert (await session.memory.store.session(session.session_id)).user_id == 7


async def test_the_latest_of_several_returned_sessions_is_current(session):
    """Whatever the order in which they are found, the conversation goes on where it was."""
    later = await session.memory.recorder.open_session(CONVERSATION, 7, "fresh")
    await say(session.memory, later.session_id, [40])
    await session.memory.recorder.settle()
    session.empty_database()
    await session.memory.hydrator.adopt([later.session_id, session.session_id])

    assert await session.memory.store.current_session_id(CONVERSATION) == later.session_id


async def test_a_returned_session_without_a_turn_is_current_when_it_was_opened_last(session):
    """Whoever began a private conversation and lost the database goes on in it, not in the one before."""
    session.memory.clock.advance(s=3_600)
    later = await session.memory.recorder.open_session(CONVERSATION, 7, "private")
    await session.memory.recorder.edit(later.session_id, lambda state: state.model_copy(update={"language": "de"}))
    await session.memory.recorder.settle()
    session.empty_database()
    await session.memory.hydrator.adopt([later.session_id, session.session_id])

    assert await session.memory.store.current_session_id(CONVERSATION) == later.session_id


async def test_an_orphan_that_is_damaged_does_not_stop_the_start(session):
    """A checkpoint that brings nothing back is reported and moved aside; it is no orphan any more."""
    (session.memory.checkpoints.folder / "s_gone.json").write_bytes(b"half a che")
    reports = await session.memory.hydrator.adopt((await session.memory.hydrator.survey()).orphans)

    assert "there is no session 's_gone'" in reports[0].warnings[0]
    assert (await session.memory.hydrator.survey()).orphans == ()


async def test_an_altered_row_is_healed_from_the_checkpoint(session):
    """A byte that flipped in a text is found by the digest and restored."""
    whole = await session.turns()
    session.sql("UPDATE conversation_turns SET user_text = replace(user_text, 'Rome', 'Rune') WHERE seq = 4")
    found = await session.hydrate()

    assert await session.turns() == whole
    assert found.report.warnings == ("turn 4 was altered in the log; it is restored from the checkpoint",)
    assert (await session.hydrate()).report.warnings == ()


async def test_text_that_is_no_text_any_more_is_healed(session):
    """A byte that makes a text undecodable neither stops the hydration nor stays."""
    whole = await session.turns()
    session.sql("UPDATE conversation_turns SET assistant_text = CAST(x'ff41' AS TEXT), job_refs = '[' WHERE seq = 2")
    await session.hydrate()

    assert await session.turns() == whole


async def test_an_altered_row_without_a_copy_is_said(long_session):
    """A damaged turn that no checkpoint holds is used as it is, and the operator is told which one."""
    long_session.checkpoint.unlink()
    long_session.sql("UPDATE conversation_turns SET user_text = 'altered' WHERE seq = 28")
    found = await long_session.hydrate()

    assert any("turn 28 (t_28) does not match its digest" in warning for warning in found.report.warnings)
    assert found.state == long_session.state


async def test_a_turn_that_was_taken_out_stays_out(session):
    """A hole within the log is somebody's will, not damage: no warning, no healing, and the next turn goes on."""
    await session.memory.recorder.release(session.session_id)
    session.memory.checkpoints.remove(session.session_id)
    session.sql("DELETE FROM conversation_turns WHERE seq = 3")
    found = await session.hydrate()
    await say(session.memory, session.session_id, [6])
    await session.memory.recorder.settle()
    again = await session.hydrate()

    assert [turn.seq for turn in await session.turns()] == [1, 2, 4, 5, 6]
    assert (found.report.warnings, again.report.warnings, again.report.turns_healed) == ((), (), 0)
    assert [turn.seq for turn in session.memory.checkpoints.load(session.session_id).last_turns] == [5, 6]


async def test_a_missing_row_whose_turns_are_there_is_made_again(session):
    """Log without session row and without checkpoint: the fold of the log is the session."""
    session.sql("DELETE FROM conversation_sessions")
    session.checkpoint.unlink()
    found = await session.hydrate()

    assert found.state.model_copy(update={"status": "active"}) == session.state
    assert (found.report.session_restored, found.state.status) == (True, "resuming")
    assert found.version == (await session.memory.store.session(session.session_id)).version


async def test_an_edit_between_turns_outranks_an_equal_seq(session):
    """Of two states after the same turn the one with more edits is newer."""
    old = session.checkpoint.read_bytes()
    wanted = await session.memory.recorder.edit(
        session.session_id, lambda state: state.model_copy(update={"rolling_summary": "edited"})
    )
    await session.memory.recorder.settle()
    session.checkpoint.write_bytes(old)
    found = await session.hydrate()

    assert found.state == wanted
    assert (found.report.base, found.report.checkpoint) == ("session", "older")


async def test_a_dry_run_changes_nothing(session):
    """An operator sees what would be used; files and rows stay as they are."""
    session.sql("DELETE FROM conversation_turns WHERE seq = 5")
    session.sql("UPDATE conversation_sessions SET state_json = '{}'")
    files = {file.name: file.read_bytes() for file in session.checkpoint.parent.iterdir()}
    found = await session.hydrate(dry_run=True)

    assert found.report.turns_healed == 1
    assert len(await session.turns()) == 4
    assert {file.name: file.read_bytes() for file in session.checkpoint.parent.iterdir()} == files
    session.checkpoint.write_bytes(b"garbage")
    assert (await session.hydrate(dry_run=True)).report.quarantined is None
    assert session.checkpoint.read_bytes() == b"garbage"


async def test_an_unknown_session_says_how_to_find_the_right_one(session):
    """Neither row, log nor checkpoint: the id is wrong."""
    with pytest.raises(UnknownSession, match="no session 's_nobody'"):
        await session.memory.hydrator.hydrate("s_nobody")


async def test_a_start_marks_what_was_at_work(session):
    """Sessions that were active become resuming in one statement; those at rest stay as they are."""
    rested = await session.memory.recorder.open_session("tg:1:9:0", 7, "first")
    session.sql("UPDATE conversation_sessions SET status = 'shutdown_clean' WHERE session_id = ?", rested.session_id)
    survey = await session.memory.hydrator.survey()

    assert (survey.resuming, survey.orphans, survey.leftovers) == (1, (), 0)
    assert (await session.hydrate()).state.status == "resuming"
    assert (await session.memory.store.session(rested.session_id)).status == "shutdown_clean"


def older_state(session, turns):
    """Return the state row of a backup that was taken after some turns."""
    fold = session.memory.hydrator.fold
    state = new_state(session.session_id, CONVERSATION)
    for index, logged in enumerate(chain("", turns)):
        state = fold.advance(state, logged, turns[:index])
    return state.model_dump_json()
