"""Migrations: whole or absent, recorded with themselves, and together the same as schema.sql."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import memory
from memory.errors import SchemaMismatch, StorageError
from memory.storage import migrate as migrations
from memory.storage.migrate import available, migrate, pending, status

ROOT = Path(memory.__file__).parent.parent
COLUMN = re.compile(
    r"^(?:ALTER TABLE (?P<altered>\w+) ADD COLUMN )?\s*(?P<column>[a-z]\w*) [A-Z][^-]*--\s*(?P<why>.+)$"
)


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
        if created := re.match(r"CREATE TABLE (\w+)", line):
            table = created[1]
        match = COLUMN.match(line.replace(";", ""))
        if match:
            found[match["altered"] or table, match["column"]] = match["why"]
    return found


def portable():
    return "\n".join(
        file.read_text() for file in sorted(migrations.FOLDER.glob("????_*.sql")) if file.name.count(".") == 1
    )


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
    names = [str(step) for step in available()]

    assert list(pending(path)) == names
    assert list(migrate(path, now_ms=1)) == names
    assert pending(path) == ()
    assert migrate(path, now_ms=2) == ()
    assert status(path).current == status(path).newest


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

    assert migrate(tmp_path / "x.db", folder=folder) == ("0001_a", "0002_c")


def test_a_step_that_fails_leaves_the_ones_before_it(tmp_path):
    """A migration that breaks in the middle is rolled back whole; the next run goes on from there."""
    folder = folder_with(
        tmp_path, **{"0001_a": "CREATE TABLE a (b);", "0002_c": "CREATE TABLE c (d); CREATE TABLE a (b);"}
    )
    path = tmp_path / "x.db"

    with pytest.raises(StorageError, match="already exists"):
        migrate(path, folder=folder)
    assert pending(path, folder=folder) == ("0002_c",)
    folder_with(tmp_path, **{"0002_c": "CREATE TABLE c (d);"})
    assert migrate(path, folder=folder) == ("0002_c",)


def test_a_newer_database_is_not_touched(tmp_path):
    """A database of a later version says so and what to do."""
    folder = folder_with(tmp_path, **{"0001_a": "CREATE TABLE a (b);", "0002_c": "CREATE TABLE c (d);"})
    path = tmp_path / "x.db"
    migrate(path, folder=folder)
    (folder / "0002_c.sql").unlink()

    with pytest.raises(SchemaMismatch, match=r"has schema 0002, this program knows up to 0001; upgrade"):
        migrate(path, folder=folder)


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
    migrate(path, folder=old)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for session_id, turns in (("s_1", 3), ("s_2", 0)):
            values = (session_id, "c", 7, "first", "active", "{}", "", turns, turns, 1, 5, 9, "")
            db.execute(f"INSERT INTO conversation_sessions VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608

    migrate(path)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT session_id, last_seq, due_at_ms FROM readings").fetchall() == [("s_1", 3, 9)]
