"""A byte that flips on the disk in a row that is no turn: it is named, left out or made again, and never believed."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing

import pytest

from bot.tables import DIGESTS, MIGRATIONS, QUERY_FILES
from memory.ports import Statement
from memory.storage.migrate import migrate
from memory.storage.sqlite import rows as sqlite_rows
from memory.storage.sqlite.connection import connect_reader, connect_writer
from memory.storage.sqlite.database import SqliteDatabase
from memory.storage.sqlite.rows import COLUMN, guarded
from memory.testing import CONVERSATION_ID, make_exchange, open_memory

pytestmark = pytest.mark.sweep

TABLES = {
    "buttons", "chat_moves", "compactions", "continuity_arcs", "continuity_bootstrap_cache", "continuity_choices",
    "continuity_preferences", "continuity_relationship_states", "conversation_sessions", "conversations", "inbox",
    "jobs", "ledgers", "memories", "note_changes", "notes", "occurrences", "outbox", "people", "session_lines",
    "session_notes",
}  # fmt: skip
CHOSEN = {"user_id": 7, "settings_json": '{"language": "de"}', "created_at_ms": 1}


@pytest.fixture
def path(tmp_path):
    """Make an empty database of a bot."""
    migrate(tmp_path / "bot.db", MIGRATIONS, DIGESTS)
    return tmp_path / "bot.db"


@pytest.fixture
async def database(path):
    """Open it."""
    database = await SqliteDatabase.open(path, QUERY_FILES, DIGESTS)
    yield database
    await database.close()


def on_disk(path, sql, *values):
    """Change the file as a failing disk would: no trigger, no digest."""
    with closing(sqlite3.connect(path)) as raw, raw:
        return raw.execute(sql, values).fetchall()


def filled(table, kind):
    """Return a value for each column of a row; texts where the table has texts, states that are still read."""
    return {c: "queued" if c == "state" else 1.5 if c in table.real else 41 if kind[c] == "BIGINT" else f"{c} said"
            for c in table.columns}  # fmt: skip


def kinds(connection, table):
    return {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table.name})")}


def flips(value):
    """Return the value with one bit changed, at its beginning, in its middle, at its end."""
    if isinstance(value, int):
        return [value ^ 1, value ^ (1 << 40)]
    if isinstance(value, float):
        return [value * 2]
    places = {0, len(value) // 2, len(value) - 1}
    return ["".join(chr(ord(c) ^ 1) if at == place else c for at, c in enumerate(value)) for place in sorted(places)]


def test_every_table_with_a_digest_says_what_counts(path):
    """A table of which nothing is told would be believed, whatever the disk made of it."""
    found = on_disk(path, "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE ?", f"%{COLUMN}%")

    assert {name for (name,) in found} == set(DIGESTS) == TABLES


def test_a_flipped_byte_in_any_column_of_any_row_is_noticed(path, caplog):
    """Every guarded table, every column, several bits: the row is left out or shown as unreadable, and named."""
    caplog.set_level(logging.WARNING)
    tried = 0
    with closing(connect_writer(path, DIGESTS)) as writer, closing(connect_reader(path, DIGESTS)) as reader:
        tables = guarded(writer, DIGESTS)
        assert {table.name for table in tables} == TABLES
        for table in tables:
            row = filled(table, kinds(writer, table))
            names = ", ".join(row)
            writer.execute(f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()])  # noqa: S608 - names of ours
            for column, sound in row.items():
                if column not in table.covered:
                    continue
                for value in flips(sound):
                    on_disk(path, f"UPDATE {table.name} SET {column} = ?", value)  # noqa: S608
                    assert seen(reader, table) == [], f"{table.name}.{column}"
                    tried += 1
                on_disk(path, f"UPDATE {table.name} SET {column} = ?", sound)  # noqa: S608
            assert len(seen(reader, table)) == 1

    assert tried > 200
    assert {record.args[1] for record in caplog.records} == TABLES


def seen(reader, table):
    """Return the rows of a table that a reader believes."""
    rows = reader.execute(f"SELECT * FROM {table.name}").fetchall()  # noqa: S608
    return [row for row in rows if all(row[column] for column in table.digested.made_again)]


def test_no_question_makes_a_sound_row_look_altered(path, caplog):
    """Whichever column a query asks for by value, rows with another value are left out in silence."""
    with closing(connect_writer(path, DIGESTS)) as writer, closing(connect_reader(path, DIGESTS)) as reader:
        for table in guarded(writer, DIGESTS):
            first = filled(table, kinds(writer, table))
            other = {c: v if c == "state" else f"other {v}" if isinstance(v, str) else v + 1 for c, v in first.items()}
            marks = ", ".join("?" for _ in first)
            for row in (first, other):
                writer.execute(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({marks})", [*row.values()])  # noqa: S608
            for column in set(first) - {"state", *table.digested.made_again}:
                asked = f"SELECT {', '.join(table.key)} FROM {table.name} WHERE {column} = ?"  # noqa: S608
                found = reader.execute(asked, [first[column]]).fetchall()
                assert found == [{name: first[name] for name in table.key}], (table.name, column)

    assert caplog.messages == []


def test_without_the_digests_a_flipped_byte_is_believed(path, monkeypatch):
    """Negative control."""
    with closing(connect_writer(path, DIGESTS)) as writer:
        writer.execute("INSERT INTO people (user_id, allowed, settings_json, created_at_ms) VALUES (7, 0, '{}', 1)")
    on_disk(path, "UPDATE people SET allowed = 1")
    monkeypatch.setattr(sqlite_rows, "digest_of_row", lambda *_: on_disk(path, f"SELECT {COLUMN} FROM people")[0][0])  # noqa: S608

    with closing(connect_reader(path, DIGESTS)) as reader:
        assert reader.execute("SELECT allowed FROM people").fetchall() == [{"allowed": 1}]


async def test_what_flipped_is_no_choice_and_a_new_choice_is_sound_again(database, path):
    """A choice that was altered is none; a change of one column makes it no better, a new choice does."""
    await database.write(Statement("person_choose", CHOSEN))
    on_disk(path, "UPDATE people SET settings_json = ?", '{"language": "ee"}')
    assert await database.read("person_choices", user_id=7) == []
    assert await database.altered_rows() == ("row '7' of people does not match its digest",)

    await database.write(Statement("person_choose", CHOSEN))

    assert await database.read("person_choices", user_id=7) == [{"settings_json": '{"language": "de"}'}]
    assert await database.altered_rows() == ()


async def test_a_change_does_not_make_an_altered_row_sound(database, path):
    """What flipped is moved on by somebody who saw it before: it stays left out, and is named."""
    with closing(connect_writer(path, DIGESTS)) as writer:
        values = "'o_1', 99, 'tg:99:7:0', 7, 1, 0, 'notice', 'vet', '[]', 'queued', 0, 1"
        columns = (
            "part_id, bot_id, conversation_id, chat_id, position, part_no, kind, text, entities_json, state, attempts, "
            "created_at_ms"
        )
        writer.execute(f"INSERT INTO outbox ({columns}) VALUES ({values})")  # noqa: S608 - written here
    on_disk(path, "UPDATE outbox SET text = 'vat'")
    with closing(connect_writer(path, DIGESTS)) as writer:
        writer.execute("UPDATE outbox SET attempts = 1")

    assert await database.read("outbox_unsent", bot_id=99) == []
    await database.accept_altered_rows()
    assert [row["text"] for row in await database.read("outbox_unsent", bot_id=99)] == ["vat"]


async def test_a_row_that_we_change_when_its_work_is_done_is_no_altered_one(database, path, caplog):
    """Answered updates lose their text, failed parts are emptied: no query names them, whichever state it asks for."""
    caplog.set_level(logging.WARNING)
    with closing(connect_writer(path, DIGESTS)) as writer, closing(connect_reader(path, DIGESTS)) as reader:
        for table in guarded(writer, DIGESTS):
            if table.name not in {"inbox", "outbox"}:
                continue
            row = filled(table, kinds(writer, table))
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            writer.execute(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", [*row.values()])  # noqa: S608 - names of ours
        writer.execute("UPDATE inbox SET state = 'done', payload = ''")
        writer.execute("UPDATE outbox SET state = 'failed', text = ''")
        for state in ("parked", "claimed", "queued", "sending"):
            assert reader.execute(f"SELECT * FROM inbox WHERE state = '{state}'").fetchall() == []  # noqa: S608
            assert reader.execute(f"SELECT * FROM outbox WHERE state = '{state}'").fetchall() == []  # noqa: S608
        writer.execute("UPDATE outbox SET state = 'queued'")
        assert len(reader.execute("SELECT * FROM outbox WHERE state = 'queued'").fetchall()) == 1

    assert await database.altered_rows() == ()
    assert caplog.records == []


async def test_what_was_altered_is_forgotten_like_the_rest(database, path):
    """Queries of forgetting see altered rows, or they would stay (P13)."""
    with closing(connect_writer(path, DIGESTS)) as writer:
        row = "'m_1', 'tg:1:7:0', 7, 's', 't', 'fact', 'dog', 'Rex', 0.5, 'active', NULL, 1, NULL"
        writer.execute(f"INSERT INTO memories VALUES ({row})")  # noqa: S608 - written here
    on_disk(path, "UPDATE memories SET text = 'Rey'")

    assert await database.read("memory_by_id", memory_id="m_1") == []
    assert [row["text"] for row in await database.read("erased_memories", conversation_id="tg:1:7:0")] == ["Rey"]


async def test_a_state_is_made_again_from_the_turns(tmp_path):
    """The state of a session was altered: the next look has the same as before."""
    async with open_memory(tmp_path) as memory:
        await memory.recorder.open_session(CONVERSATION_ID, 7, "first")
        for number, said in enumerate(("I have to call the plumber tomorrow.", "My sister is called Anna."), 1):
            ids = {"conversation_id": CONVERSATION_ID, "session_id": "s_1", "user_id": 7}
            await memory.recorder.record(make_exchange(number, **ids, user_text=said, assistant_text="I see."), None)
        state = await memory.recorder.session("s_1")
        await memory.recorder.settle()
    on_disk(tmp_path / "continuity.db", "UPDATE conversation_sessions SET title = 'x' || title")

    async with open_memory(tmp_path) as memory:
        assert len(await memory.db.altered_rows()) == 1
        hydrated = await memory.hydrator.hydrate("s_1")
        assert hydrated.state.model_copy(update={"status": state.status}) == state
        assert any("is damaged" in warning for warning in hydrated.report.warnings)
