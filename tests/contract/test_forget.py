"""Forgetting over a real store (P13): what is forgotten stands in no file any more, and the rest is as it was."""

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import memory as package
from bot.tables import BOT_TABLES
from memory.continuity.types import BootstrapOwner, Persona
from memory.errors import Conflict
from memory.ledger.types import Actor, Add, End
from memory.packets import ConversationContextPacket
from memory.ports import Statement
from memory.privacy.plan import ForgetRequest
from memory.search.query import Query
from memory.storage.postgres.connection import placeholders
from memory.testing import make_exchange, open_memory
from memory.types import CompactionMark

ROOM = Path(package.__file__).parent
HERE, THERE, SOMEBODY, FRIEND = "tg:1:7:0", "tg:1:8:0", 7, 8
PERSONA = Persona(name="assistant", role="assistant", tone=("warm", "clear"), instructions="Be kind.")


@pytest.fixture
async def memory(place):
    async with open_memory(place, extensions=[BOT_TABLES]) as opened:
        yield opened


@pytest.fixture
def bootstrap(memory):
    return memory.bootstrap


@pytest.fixture
def forgetter(memory):
    return memory.forgetter


@pytest.fixture
def say(memory):
    numbers = iter(range(1, 10_000))

    async def said(session, *texts, answer="Noted: {}", noted=False, **overrides):
        made = []
        for text in texts:
            number = next(numbers)
            note = Add(kind="fact", text=text, note_id=f"n_{number}", fields={"turn_ids": (f"t_{number}",)})
            fields = {
                "operations": (note,) if noted else (),
                "session_id": session.session_id,
                "conversation_id": session.conversation_id,
                "user_text": text,
                "assistant_text": answer.format(text),
            }
            packet = ConversationContextPacket(
                conversation_id=session.conversation_id,
                session_id=session.session_id,
                session_status="active",
                context_compiled_at_ms=number,
            )
            made.append(await memory.recorder.record(make_exchange(number, **(fields | overrides)), packet))
        return made

    return said


async def opened(memory, conversation=HERE, user=SOMEBODY, origin="first"):
    return await memory.recorder.open_session(conversation, user, origin)


def run_sql(memory, sql, **params):
    """Do what another part of the program does, from outside."""
    if memory.db.shared:
        return all_of(memory, placeholders(sql), params)
    with closing(sqlite3.connect(memory.db.path, isolation_level=None)) as connection:
        return connection.execute(sql, params).fetchall()


def raw_bytes(memory):
    """Return every byte of the database, its log and the checkpoint folder, as they lie on the disk.

    Of a server, whose files are not ours to read, every row of every table.
    """
    files = [*memory.db.files, *memory.checkpoints.folder.iterdir()]
    query = "SELECT t::TEXT FROM {} t"
    found = [all_of(memory, query.format(table)) for table in tables(memory)]
    rows = "\n".join(row for each in found for (row,) in each)
    there = [str(file) for file in files if file.is_file()]
    there = there or ["/dev/null"]
    found = subprocess.run(["/bin/cat", *there], check=True, capture_output=True)  # a child: see memory.traces
    return rows.encode() + found.stdout


def all_of(memory, sql, params=None):
    with psycopg.connect(memory.db.address, autocommit=True) as connection:
        cursor = connection.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def tables(memory):
    if not memory.db.shared:
        return []
    found = all_of(memory, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return [name for (name,) in found]


def stays(memory, word):
    """Say whether a word can still be read in the files, in any case."""
    return word.lower().encode() in raw_bytes(memory).lower()


async def clutter(memory, bootstrap, session, words):
    """Put the words wherever the program may put them beside the turns."""
    owner = BootstrapOwner(conversation_id=session.conversation_id, user_id=SOMEBODY, persona=PERSONA)
    await bootstrap.refresh(owner)
    await bootstrap.choose(owner, session.session_id, "use")
    mark = CompactionMark(compaction_id="c_1", history_from_seq=2, summary=f"They spoke of {words}.", summary_tokens=4)
    await memory.recorder.edit(
        session.session_id,
        lambda state: state.model_copy(update={"compaction": mark}),
        Statement(
            "insert_compaction",
            {
                "compaction_id": "c_1", "session_id": session.session_id, "reason": "full", "method": "deterministic",
                "from_seq": 1, "through_seq": 2, "tokens_before": 9, "tokens_after": 3, "previous_json": "null",
                "mark_json": mark.model_dump_json(), "undone_at_ms": None, "created_at_ms": 1,
            },
        ),
    )  # fmt: skip
    await memory.recorder.settle()
    place = {"c": session.conversation_id, "w": words}
    for statement in CLUTTER.split(";"):
        run_sql(memory, statement, s=session.session_id, **place)
    copy = memory.checkpoints.path(session.session_id)
    copy.with_name(f"{copy.name}.corrupt-17").write_bytes(copy.read_bytes())


CLUTTER = """
    INSERT INTO outbox (part_id, bot_id, conversation_id, chat_id, position, turn_id, part_no, kind, text,
        entities_json, markup_json, state, attempts, created_at_ms)
    VALUES ('o_1', 1, :c, 7, 1, 't_1', 0, 'reply', 'Noted: ' || :w, '[]', '{"text": "' || :w || '"}', 'sent', 1, 1);
    INSERT INTO buttons (button_id, conversation_id, user_id, group_id, action, payload_json, used_at_ms, expires_at_ms,
        created_at_ms) VALUES ('b_1', :c, 7, 'g', 'answer_again', '{"text": "' || :w || '"}', NULL, 9, 1);
    INSERT INTO inbox (bot_id, update_id, position, conversation_id, payload, state, attempts, boot_id, turn_id, error,
        received_at_ms, done_at_ms, waits)
    VALUES (1, 1, 1, :c, '{"text": "' || :w || '"}', 'parked', 1, 'b', 't_9', :w, 1, NULL, 0);
    INSERT INTO jobs (job_id, conversation_id, session_id, user_id, turn_id, call_key, kind, title, status, progress,
        due_at_ms, time_zone, created_at_ms, updated_at_ms, repeats)
    VALUES ('j_1', :c, :s, 7, 't_1', 'k', 'reminder', 'call ' || :w, 'scheduled', '', 1, 'UTC', 1, 1, '')
"""
SECRET = "The codeword is zebrafish"
SMALL_TALK = ("How are you?", "What is the weather like in Lisbon?", "I prefer tea.", "Please remind me of the lamp.")


async def test_a_forgotten_turn_can_be_read_nowhere(memory, bootstrap, forgetter, say):
    """Row, summary, state, note, arcs, packet, compaction, texts, payloads, job, checkpoints and copies: clean."""
    session = await opened(memory)
    turns = await say(session, "My dog is called Zebrafish.", noted=True)
    await say(session, *SMALL_TALK * 4)
    await clutter(memory, bootstrap, session, "My dog is called Zebrafish")
    assert stays(memory, "zebrafish")

    done = await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[0].turn_id,)))

    assert (done.counts.turns, done.counts.notes, done.counts.summaries, done.counts.jobs) == (1, 1, 1, 1)
    assert done.log_emptied
    assert not stays(memory, "zebrafish")
    assert (await forgetter.prove(done)).found == 0


async def test_the_rest_of_the_session_goes_on(memory, forgetter, say):
    """The turns that are left count 1, 2, 3 …, chain again, are found, and a restart finds nothing to repair."""
    session = await opened(memory)
    turns = await say(session, "Where is the ferry?", SECRET, *SMALL_TALK * 3)
    await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[1].turn_id,)))

    left = await memory.store.logged_between(session.session_id, 1)
    assert [logged.turn.seq for logged in left] == list(range(1, 14))
    assert [logged.turn.turn_id for logged in left] == [turn.turn_id for turn in turns if turn != turns[1]]
    state = await memory.recorder.session(session.session_id)
    assert (state.turn_count, state.last_seq, state.last_turn_digest) == (13, 13, left[-1].digest)
    assert "zebrafish" not in state.model_dump_json().lower()
    found = await memory.hydrator.hydrate(session.session_id, dry_run=True)
    assert (found.report.warnings, found.report.turns_healed) == ((), 0)
    items = await memory.searcher.search(Query(HERE, "where is the ferry?"))
    assert items[0].ref == turns[0].turn_id
    (later,) = await say(session, "And the ferry back?")
    assert later.seq == 14


async def test_the_refolded_state_is_as_if_the_turn_had_never_been(memory, forgetter, say):
    """State and summary equal those of a session in which only the other turns were said."""
    texts = ["I will paint the fence.", *SMALL_TALK * 5]
    plain, session = await opened(memory, THERE), await opened(memory)
    await say(plain, *texts)
    turns = await say(session, texts[0], SECRET, *texts[1:])
    await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[1].turn_id,)))

    one, other = [await memory.recorder.session(each.session_id) for each in (plain, session)]
    assert other.rolling_summary == one.rolling_summary != ""
    assert [topic.name for topic in other.active_topics] == [topic.name for topic in one.active_topics]


async def test_what_a_button_decided_stays_decided(memory, forgetter, say):
    """A note that was ended by hand does not stand again when another turn is forgotten."""
    session = await opened(memory)
    await say(session, "I will paint the fence tomorrow.", noted=True)
    (turn,) = await say(session, SECRET)
    await memory.change(HERE, [End(number=1)], Actor("person", 5, "b_1"))
    await forgetter.forget(ForgetRequest(HERE, turn_ids=(turn.turn_id,)))

    assert [note.status for note in await memory.notes(HERE)] == ["done"]


async def test_a_session_is_forgotten_and_the_others_stay(memory, bootstrap, forgetter, say):
    """Its row, checkpoint and pointer are gone; another session of the conversation is untouched."""
    before = await opened(memory)
    await say(before, "Where is the ferry?")
    session = await opened(memory, origin="gap")
    await say(session, SECRET, *SMALL_TALK)
    await clutter(memory, bootstrap, session, SECRET)
    done = await forgetter.forget(ForgetRequest(HERE, session_ids=(session.session_id,)))

    assert (done.counts.sessions, done.counts.turns) == (1, 5)
    assert not stays(memory, "zebrafish")
    assert await memory.recorder.current(HERE) is None
    assert [turn.user_text for turn in await memory.store.last_turns(before.session_id, 5)] == ["Where is the ferry?"]


async def test_everything_is_forgotten_and_others_keep_theirs(memory, bootstrap, forgetter, say):
    """No row of the conversation is left in any table that names it; somebody else's conversation stays whole."""
    other = await opened(memory, THERE, FRIEND)
    await say(other, "I live in Lima.", user_id=FRIEND)
    for origin in ("first", "gap", "fresh"):
        session = await opened(memory, origin=origin)
        await say(session, SECRET, "I live in Reykjavik.", noted=True)
        await say(session, *SMALL_TALK)
    await clutter(memory, bootstrap, session, "zebrafish")
    done = await forgetter.forget(ForgetRequest(HERE, everything=True))

    assert (done.counts.sessions, done.counts.turns) == (3, 18)
    assert not stays(memory, "zebrafish")
    assert not stays(memory, "reykjavik")
    tables = ("conversations", "conversation_sessions", "conversation_turns", "notes", "note_changes", "ledgers")
    tables += ("jobs", "buttons")
    left = " UNION ALL ".join(f"SELECT conversation_id FROM {table}" for table in tables)  # noqa: S608 - names of ours
    assert HERE not in {row[0] for row in run_sql(memory, left)}
    assert stays(memory, "lima")
    assert (await memory.recorder.current(THERE)).turn_count == 1
    assert (await opened(memory)).turn_count == 0


async def test_in_a_group_only_ones_own_words_go(memory, forgetter, say):
    """What others said stays, in their sessions too."""
    session = await opened(memory)
    await say(session, SECRET, answer="Fine.")
    await say(session, "I live in Lima.", user_id=FRIEND, answer="Fine.")
    done = await forgetter.forget(ForgetRequest(HERE, everything=True, user_id=SOMEBODY))

    assert done.counts.turns == 1
    assert not stays(memory, "zebrafish")
    assert [turn.user_text for turn in await memory.store.last_turns(session.session_id, 5)] == ["I live in Lima."]


async def test_a_fresh_session_that_becomes_empty_stays_fresh(memory, forgetter, say):
    """Forgetting its only turn does not open the door to earlier sessions."""
    session = await opened(memory, origin="fresh")
    turns = await say(session, SECRET)
    await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[0].turn_id,)))

    state = await memory.recorder.current(HERE)
    assert (state.session_id, state.isolated, state.turn_count) == (session.session_id, True, 0)


async def test_forgetting_twice_or_nothing_does_no_harm(memory, forgetter, say):
    """A repeated request finds nothing more; an unknown turn, too."""
    session = await opened(memory)
    turns = await say(session, SECRET, "How are you?")
    request = ForgetRequest(HERE, turn_ids=(turns[0].turn_id, "t_unknown"))
    await forgetter.forget(request)

    assert (await forgetter.forget(request)).counts.turns == 0
    assert (await memory.recorder.session(session.session_id)).turn_count == 1


async def test_the_callers_statements_share_the_transaction(memory, forgetter, say):
    """When the button was used already nothing is forgotten."""
    session = await opened(memory)
    turns = await say(session, SECRET)
    used = Statement("button_use", {"group_id": "g", "at_ms": 1}, expect=1)
    used = Statement("undo_compaction", {"compaction_id": "none", "undone_at_ms": 1}, expect=1)
    with pytest.raises(Conflict):
        await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[0].turn_id,)), first=[used])

    assert (await memory.recorder.session(session.session_id)).turn_count == 1


async def test_a_turn_being_answered_meanwhile_is_stored_upon_what_is_left(memory, forgetter, say):
    """The recorder has nothing of the old session in memory: the next turn takes the seq that is free now."""
    session = await opened(memory)
    turns = await say(session, SECRET, "How are you?")
    await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[0].turn_id,)))
    (later,) = await say(session, "Where is the ferry?")

    assert later.seq == 2
    assert (await memory.hydrator.hydrate(session.session_id)).report.warnings == ()


async def test_the_proof_finds_what_is_left(memory, forgetter, say):
    """Negative control: with a copy of the old checkpoint lying about, the proof says so."""
    session = await opened(memory)
    turns = await say(session, SECRET, "How are you?")
    await memory.recorder.settle()
    old = memory.checkpoints.path(session.session_id).read_bytes()
    done = await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[0].turn_id,)))
    (memory.checkpoints.folder / "stray.json").write_bytes(old)

    assert (await forgetter.prove(done)).found > 0


async def test_the_proof_allows_what_others_said(memory, forgetter, say):
    """Words that stand in a turn of somebody who did not ask are no trace."""
    theirs = await opened(memory, THERE, FRIEND)
    await say(theirs, SECRET, user_id=FRIEND)
    mine = await opened(memory)
    turns = await say(mine, SECRET)
    done = await forgetter.forget(ForgetRequest(HERE, turn_ids=(turns[0].turn_id,)))

    assert (await forgetter.prove(done)).found == 0
