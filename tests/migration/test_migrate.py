"""Migrations: whole or absent, recorded with themselves, and together the same as schema.sql."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import memory
from bot.tables import BOT_MIGRATIONS, BOT_TABLES, DIGESTS, MIGRATIONS
from memory.errors import SchemaMismatch, StorageError
from memory.storage import migrate as migrations
from memory.storage.migrate import MEMORY_ONLY, available, migrate, pending, status
from memory.storage.sqlite.connection import connect_reader
from memory.storage.sqlite.rows import look
from memory.testing import START_MS, lay_tables

ROOT = Path(memory.__file__).parent.parent
COLUMN = re.compile(
    r"^(?:ALTER TABLE (?P<altered>\w+) ADD COLUMN )?\s*(?P<column>[a-z]\w*) [A-Z][^-]*--\s*(?P<why>.+)$"
)
PORTABLE_OBJECTS = """
    SELECT sql FROM sqlite_master
    WHERE sql IS NOT NULL AND type IN ('table', 'index') AND name <> 'schema_migrations'
        AND tbl_name NOT LIKE 'search_%' AND tbl_name NOT LIKE 'embeddings' AND tbl_name NOT LIKE 'sqlite_%'
    ORDER BY type DESC
"""


def folder_with(tmp_path, **files):
    folder = tmp_path / "migrations"
    folder.mkdir(exist_ok=True)
    for name, sql in files.items():
        (folder / f"{name.replace('__', '.')}.sql").write_text(sql)
    return folder


def structure(script):
    """Return tables and indexes of a script as SQLite understands them, however they came about."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(script)
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            table: (
                db.execute(f"PRAGMA table_info('{table}')").fetchall(),
                sorted(
                    (unique, origin, tuple(db.execute(f"PRAGMA index_info('{name}')").fetchall()))
                    for _, name, unique, origin, _ in db.execute(f"PRAGMA index_list('{table}')")
                ),
            )
            for table in tables
        }


def comments(script):
    """Return (table, column) → its comment, from CREATE TABLE and ALTER TABLE lines."""
    found, table = {}, None
    for line in script.splitlines():
        if created := re.match(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", line):
            table = created[1]
        if renamed := re.match(r"ALTER TABLE (\w+) RENAME TO (\w+)", line):
            here = {key: found.pop(key) for key in list(found) if key[0] in renamed.groups()}
            found |= {(renamed[2], column): why for (old, column), why in here.items() if old == renamed[1]}
        match = COLUMN.match(line.replace(";", ""))
        if match:
            found[match["altered"] or table, match["column"]] = match["why"]
    return found


def portable():
    files = sorted(file for folder in MIGRATIONS for file in folder.glob("????_*.sql"))
    return "\n".join(file.read_text() for file in files if file.name.count(".") == 1)


def test_schema_equals_all_migrations():
    """schema.sql is what a database has after every portable migration: tables, columns, indexes."""
    assert structure((ROOT / "schema.sql").read_text()) == structure(portable())


def test_schema_has_the_comments_of_the_migrations():
    """Every column says its meaning and unit, the same in both places."""
    schema = (ROOT / "schema.sql").read_text()
    described = comments(schema)

    assert described == comments(portable())
    columns = {(table, column[1]) for table, (info, _) in structure(schema).items() for column in info}
    assert columns - set(described) == set()


def test_a_new_database_gets_everything(tmp_path):
    """All migrations are applied in order and nothing is pending afterwards; a second run does nothing."""
    path = tmp_path / "new.db"
    names = [str(step) for folder in MIGRATIONS for step in available(folder)]

    assert list(pending(path, MIGRATIONS)) == names
    assert list(migrate(path, MIGRATIONS, DIGESTS, now_ms=1)) == names
    assert pending(path, MIGRATIONS) == ()
    assert migrate(path, MIGRATIONS, DIGESTS, now_ms=2) == ()
    found = status(path, MIGRATIONS)
    assert found.newest_applied == (found.current, available(BOT_MIGRATIONS)[-1].number)
    assert found.current == found.newest


def test_a_memory_alone_has_no_table_of_the_bot(tmp_path):
    """The memory's own migrations know nothing of updates, parts, buttons and people; and it opens a bot's database."""
    migrate(tmp_path / "alone.db")
    with closing(sqlite3.connect(tmp_path / "alone.db")) as db:
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "conversation_turns" in tables
    assert not tables & {"inbox", "outbox", "buttons", "people", "usage_days", "unreachable_chats", "boots"}

    migrate(tmp_path / "bot.db", MIGRATIONS, DIGESTS)
    assert status(tmp_path / "bot.db").ahead == ()


def test_a_database_from_before_the_split_keeps_all(tmp_path):
    """Its tables of the bot stay as they are, its turns keep their place and are known by a key of one column."""
    path, old = tmp_path / "old.db", tmp_path / "old"
    old.mkdir()
    for file in migrations.FOLDER.glob("000[1234]_*.sql"):
        bot = (BOT_MIGRATIONS / "1001_bot.sql").read_text() if file.name == "0001_initial.sql" else ""
        (old / file.name).write_text(file.read_text() + bot)
    migrate(path, [old])
    with closing(sqlite3.connect(path)) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(conversation_turns)")]
        for seq, update_id in ((1, 77), (2, None)):
            values = dict.fromkeys(names, "") | {"turn_id": f"t_{seq}", "session_id": "s_1", "seq": seq}
            values |= {"bot_id": 5 if update_id else None, "update_id": update_id}
            db.execute(f"INSERT INTO conversation_turns VALUES ({', '.join('?' * len(names))})", [*values.values()])  # noqa: S608 - placeholders
        db.execute("INSERT INTO inbox VALUES (5, 77, 1, 'c', '{}', 'parked', 1, 'b', 't_1', NULL, 1, NULL)")
        db.execute("INSERT INTO search_docs VALUES (1, 'c', 'turn', 't_1', 's_1', 1, 1, 7, '', '', '', 1)")
        db.commit()

    own = tuple(name for name in migrate(path, MIGRATIONS, DIGESTS) if name.startswith("1"))
    assert own[:3] == ("1001_bot", "1002_chat_moves", "1003_no_text_of_nobody")

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT turn_id, dedupe_key FROM conversation_turns ORDER BY seq").fetchall() == [
            ("t_1", "tg:5:77"),
            ("t_2", None),
        ]
        assert db.execute("SELECT COUNT(*) FROM inbox").fetchone() == (1,)
        with pytest.raises(sqlite3.IntegrityError):
            db.execute("UPDATE conversation_turns SET dedupe_key = 'tg:5:77'")
        db.execute("DELETE FROM conversation_turns WHERE turn_id = 't_1'")
        assert db.execute("SELECT COUNT(*) FROM search_docs").fetchone() == (0,)
        made = "\n".join(row[0].replace(", row_digest TEXT", "") + ";" for row in db.execute(PORTABLE_OBJECTS))
    assert structure(made) == structure((ROOT / "schema.sql").read_text())


def test_looking_does_not_create(tmp_path):
    """`status` of a database that does not exist leaves nothing behind."""
    status(tmp_path / "none.db")

    assert list(tmp_path.iterdir()) == []


def test_the_own_file_of_a_dialect_runs_after_the_portable_one(tmp_path):
    """Both files of a number are one step: applied together, recorded once; another dialect's is left alone."""
    folder = folder_with(
        tmp_path,
        **{
            "0001_a": "CREATE TABLE a (b TEXT);",
            "0001_a__sqlite": "CREATE INDEX a_b ON a (b);",
            "0001_a__postgres": "this is not for us;",
            "0002_c__sqlite": "CREATE TABLE c (d TEXT);",
        },
    )

    assert migrate(tmp_path / "x.db", [folder]) == ("0001_a", "0002_c")


def test_a_step_that_fails_leaves_the_ones_before_it(tmp_path):
    """A migration that breaks in the middle is rolled back whole; the next run goes on from there."""
    folder = folder_with(
        tmp_path, **{"0001_a": "CREATE TABLE a (b);", "0002_c": "CREATE TABLE c (d); CREATE TABLE a (b);"}
    )
    path = tmp_path / "x.db"

    with pytest.raises(StorageError, match="already exists"):
        migrate(path, [folder])
    assert pending(path, [folder]) == ("0002_c",)
    folder_with(tmp_path, **{"0002_c": "CREATE TABLE c (d);"})
    assert migrate(path, [folder]) == ("0002_c",)


def test_a_newer_database_is_not_touched(tmp_path):
    """A database of a later version says so and what to do."""
    folder = folder_with(tmp_path, **{"0001_a": "CREATE TABLE a (b);", "0002_c": "CREATE TABLE c (d);"})
    path = tmp_path / "x.db"
    migrate(path, [folder])
    (folder / "0002_c.sql").unlink()

    with pytest.raises(SchemaMismatch, match=r"has schema 0002, which this program does not know yet; upgrade"):
        migrate(path, [folder])


@pytest.mark.parametrize("name", ["1_a", "0001-a", "0001_a.oracle"])
def test_a_file_name_that_cannot_be_read_is_refused(tmp_path, name):
    """A misnamed file would be silently skipped otherwise."""
    folder = folder_with(tmp_path)
    (folder / f"{name}.sql").write_text("CREATE TABLE a (b);")

    with pytest.raises(StorageError, match="NNNN_name"):
        available(folder)


def test_a_number_used_twice_is_refused(tmp_path):
    """Two people who took the same number learn of it."""
    folder = folder_with(tmp_path, **{"0001_a": "SELECT 1;", "0001_b": "SELECT 1;"})

    with pytest.raises(StorageError, match="every number has one name"):
        available(folder)


def test_what_was_said_before_there_were_readings_waits_to_be_read(tmp_path):
    """An upgrade leaves a reading for each session that holds turns."""
    old = folder_with(tmp_path)
    for file in sorted(migrations.FOLDER.glob("000[1-3]_*.sql")):
        (old / file.name).write_text(file.read_text())
    path = tmp_path / "x.db"
    migrate(path, [old])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for session_id, turns in (("s_1", 3), ("s_2", 0)):
            values = (session_id, "c", 7, "first", "active", "{}", "", turns, turns, 1, 5, 9, "")
            db.execute(f"INSERT INTO conversation_sessions VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608

    migrate(path)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT session_id, last_seq, due_at_ms FROM readings").fetchall() == [("s_1", 3, 9)]


def test_a_table_that_a_step_makes_again_keeps_digests(tmp_path):
    """Its triggers go with it and come again: what the next step writes there is sound."""
    path, folder = tmp_path / "x.db", tmp_path / "steps"
    folder.mkdir()
    migrate(path)
    with closing(sqlite3.connect(path)) as db:
        (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'session_notes'").fetchone()
    aside = "CREATE TABLE copied AS SELECT * FROM session_notes; DROP TABLE session_notes;"
    back = "INSERT INTO session_notes SELECT * FROM copied; DROP TABLE copied;"
    steps = (
        "INSERT INTO session_notes VALUES ('s_1', 'c', '{}', '', 0, 0, 1, 1, NULL);",
        f"{aside} {made}; {back}",
        "INSERT INTO session_notes VALUES ('s_2', 'c', '{}', '', 0, 0, 1, 2, NULL);",
    )
    for number, step in enumerate(steps, 2001):
        (folder / f"{number}_step.sql").write_text(step)
    migrate(path, [*MEMORY_ONLY, folder])

    with closing(connect_reader(path, DIGESTS)) as db:
        assert look(db, DIGESTS) == []
        assert db.execute("SELECT COUNT(row_digest) AS digests FROM main.session_notes").fetchone() == {"digests": 2}


def test_a_copied_database_is_a_migrated_one(tmp_path):
    """Tests begin on a copy: it has the same tables, indices and steps."""
    migrate(tmp_path / "migrated.db", MIGRATIONS, DIGESTS, now_ms=START_MS)
    lay_tables(tmp_path / "copied.db", [BOT_TABLES])

    dumps = []
    for name in ("migrated.db", "copied.db"):
        with closing(sqlite3.connect(tmp_path / name)) as db:
            dumps.append(list(db.iterdump()))
    assert dumps[0] == dumps[1]
    assert (tmp_path / "copied.db").stat().st_mode & 0o777 == 0o600
