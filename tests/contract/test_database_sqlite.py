"""What SQLite promises beyond the port: safe settings, private files, and that it comes back when the disk does."""

import asyncio
import os
import sqlite3
import stat
from contextlib import closing

import pytest

from memory.errors import StorageDamaged, StorageError, StorageUnavailable, UnsafeSettings
from memory.ports import Statement
from memory.storage.extension import Extension
from memory.storage.migrate import migrate
from memory.storage.named_queries import QUERY_FILES, load_queries
from memory.storage.sqlite.connection import connect_writer, secure
from memory.storage.sqlite.database import SqliteDatabase
from memory.storage.sqlite.digests import MEMORY_DIGESTS
from memory.storage.sqlite.schema import split_script
from memory.storage.store import Store
from memory.storage.turn_rows import insert_turn
from memory.testing import make_turn, open_memory

EXTRA = """
-- name: delete_turns
-- Makes text that must leave the files.
DELETE FROM conversation_turns;
-- name: make_parent
-- With make_child: a transaction whose fault shows at COMMIT.
CREATE TABLE parent (id INTEGER PRIMARY KEY);
-- name: make_child
-- See make_parent.
CREATE TABLE child (id INT REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
-- name: make_orphan
-- See make_parent.
INSERT INTO child VALUES (7);
"""


@pytest.fixture
async def database(tmp_path):
    (tmp_path / "extra.sql").write_text(EXTRA)
    async with open_memory(tmp_path / "data", extensions=[Extension(queries=(tmp_path / "extra.sql",))]) as opened:
        yield opened.db


def turn(seq, **overrides):
    return insert_turn(make_turn(seq=seq, **overrides), f"digest {seq}")


async def seqs(database):
    return [logged.seq for logged in await Store(database).last_turns("s_1", 1000)]


async def pragma(database, text):
    return await database._writer.call(lambda connection: connection.execute(f"PRAGMA {text}").fetchone())


async def test_it_runs_with_wal_and_full_sync(database):
    """The settings that a commit's promise rests upon are those of the real connection."""
    found = await database.settings()

    assert (found["journal_mode"], found["synchronous"], found["secure_delete"]) == ("wal", 2, 1)


def test_a_database_that_cannot_do_wal_is_refused(tmp_path):
    """When the PRAGMA does not take (here: a database in memory) nothing is opened."""
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(UnsafeSettings, match="journal_mode=memory"):
        secure(connection, tmp_path / "x.db")


async def test_files_are_private(database):
    """Database, WAL and shared memory are 0600, the folder that we made is 0700."""
    await database.write(turn(1))

    files = [file for file in database.path.parent.iterdir() if file.is_file()]
    assert len(files) == 3
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(database.path.parent.stat().st_mode) == 0o700


async def test_a_database_that_others_could_read_is_closed_to_them(tmp_path):
    """A file that was made with the usual mode is set to 0600 when it is opened."""
    path = tmp_path / "open.db"
    path.touch(mode=0o644)
    connect_writer(path, MEMORY_DIGESTS).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_full_disk_stores_nothing_and_recovers_by_itself(database):
    """Each waiting caller learns that nothing was stored; when there is room again the next write works."""
    await database.write(turn(1))
    pages = (await pragma(database, "page_count"))[0]
    await pragma(database, f"max_page_count={pages}")
    large = [database.write(turn(seq, user_text="x" * 100_000)) for seq in range(2, 5)]

    outcomes = await asyncio.gather(*large, return_exceptions=True)
    assert all(isinstance(outcome, StorageUnavailable) for outcome in outcomes)
    assert "the disk is full; make room" in str(outcomes[0])
    assert str(database.path) in str(outcomes[0])
    await pragma(database, "max_page_count=100000")
    await database.write(turn(2))
    assert await seqs(database) == [1, 2]


async def test_a_commit_that_fails_leaves_a_usable_connection(database):
    """When COMMIT itself fails, nothing is stored and the next write works."""
    await database.write(Statement("make_parent"), Statement("make_child"))

    with pytest.raises(StorageError, match="COMMIT"):
        await database.write(turn(1), Statement("make_orphan"))
    await database.write(turn(2))
    assert await seqs(database) == [2]


async def test_a_lock_of_another_process_is_named(database):
    """A database that somebody else is writing to is unavailable, not broken."""
    await pragma(database, "busy_timeout=0")
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageUnavailable, match="another process holds its lock"):
            await database.write(turn(1))
        other.execute("ROLLBACK")
    await database.write(turn(1))


async def test_a_tool_reads_beside_the_bot_and_cannot_write(database):
    """A second opening for reading sees what is committed, also later, and its writes are refused."""
    tool = await SqliteDatabase.open(database.path, QUERY_FILES, MEMORY_DIGESTS, read_only=True)
    await database.write(turn(1))

    assert await seqs(tool) == [1]
    with pytest.raises(StorageUnavailable, match="open for reading only"):
        await tool.write(turn(2))
    assert (await tool.settings())["journal_mode"] == "wal"
    await tool.close()
    await database.write(turn(2))
    assert await seqs(database) == [1, 2]


async def test_a_file_that_is_no_database_says_so(tmp_path):
    """Opening something else is our error with the path."""
    path = tmp_path / "letter.db"
    path.write_text("Dear reader, " * 100)

    with pytest.raises(StorageUnavailable, match=r"letter\.db: it is not an SQLite database"):
        await SqliteDatabase.open(path, QUERY_FILES, MEMORY_DIGESTS)


async def test_reading_a_database_that_does_not_exist_says_so(tmp_path):
    """A tool never creates the database."""
    with pytest.raises(StorageUnavailable, match=r"no\.db: it cannot be opened"):
        await SqliteDatabase.open(tmp_path / "no.db", QUERY_FILES, MEMORY_DIGESTS, read_only=True)
    assert list(tmp_path.iterdir()) == []


async def test_an_unmigrated_database_says_what_to_do(tmp_path):
    """A missing table points to the migration."""
    database = await SqliteDatabase.open(tmp_path / "new.db", QUERY_FILES, MEMORY_DIGESTS)

    with pytest.raises(StorageError, match="migrate it"):
        await database.read("get_turn", turn_id="t_1")
    await database.close()


async def test_a_backup_is_a_whole_database(database, tmp_path):
    """A backup taken while writes go on opens as a database, is private, and never replaces a file."""
    writing = asyncio.gather(*(database.write(turn(seq)) for seq in range(1, 50)))
    await database.backup_to(tmp_path / "copy.db")
    await writing
    await database.backup_to(tmp_path / "later.db")

    copy = await SqliteDatabase.open(tmp_path / "later.db", QUERY_FILES, MEMORY_DIGESTS, read_only=True)
    assert len(await seqs(copy)) == 49
    assert await copy.integrity() == ()
    await copy.close()
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    with pytest.raises(StorageError, match="exists already"):
        await database.backup_to(tmp_path / "copy.db")


async def test_deleted_text_leaves_the_files(database):
    """After a delete and `wal_truncate` the text is in none of the files (P13)."""
    await database.write(turn(1, user_text="xyzzy secret"))
    await database.write(Statement("delete_turns"))
    await database.wal_truncate()
    await database.close()

    files = [file for file in database.path.parent.iterdir() if file.is_file()]
    assert not [file for file in files if b"xyzzy" in file.read_bytes()]


async def test_the_wal_keeps_deleted_text_until_it_is_truncated(database):
    """Without `wal_truncate` the same text is still in a file: the guard above is what removes it."""
    await database.write(turn(1, user_text="xyzzy secret"))
    await database.write(Statement("delete_turns"))

    wal = database.path.with_name(database.path.name + "-wal")
    descriptor = os.open(wal, os.O_RDONLY)
    try:
        assert b"xyzzy" in os.read(descriptor, 10_000_000)
    finally:
        os.close(descriptor)


def test_a_script_is_split_at_whole_statements():
    """Semicolons in strings, comments and triggers part nothing; two statements on a line are two."""
    script = """
        CREATE TABLE a (b TEXT DEFAULT ';'); CREATE TABLE c (d INT); -- a comment; with a semicolon
        CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO c VALUES (1); INSERT INTO c VALUES (2); END;
        /* the end; */
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in split_script(script):
            connection.execute(statement)
        connection.execute("INSERT INTO a (b) VALUES ('x')")
        assert connection.execute("SELECT d FROM c").fetchall() == [(1,), (2,)]


def test_a_statement_without_an_end_is_refused():
    """A script that stops in the middle is not half applied."""
    with pytest.raises(ValueError, match="semicolon"):
        split_script("CREATE TABLE a (b); CREATE TABLE c (d)")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-- name: a\n-- why\nSELECT 1;\n-- name: a\n-- why\nSELECT 2;", "exists already"),
        ("-- name: a\nSELECT 1;", "says why"),
        ("-- name: a\n-- why\n", "SQL below"),
    ],
    ids=["twice", "no reason", "no text"],
)
def test_a_query_file_is_checked(tmp_path, text, problem):
    """A name used twice, a query without a reason and one without SQL are refused at start."""
    file = tmp_path / "queries.sql"
    file.write_text(text)

    with pytest.raises(ValueError, match=problem):
        load_queries([file])


async def test_every_query_of_the_library_runs(tmp_path):
    """Each named query is valid SQL over the migrated schema."""
    migrate(tmp_path / "all.db")
    with closing(sqlite3.connect(tmp_path / "all.db")) as connection:
        for name, text in load_queries(QUERY_FILES).items():
            params = dict.fromkeys(["limit", "offset"], 1)
            try:
                connection.execute(f"EXPLAIN {text}", _Any(params))
            except sqlite3.Error as exc:
                pytest.fail(f"{name}: {exc}")


class _Any(dict):
    def __missing__(self, key):
        return None


async def test_a_refused_call_is_trouble_until_it_works(database):
    """While a large write is refused, a small one that fits does not make all well; the large one does (P10)."""
    await database.write(turn(1))
    pages = (await pragma(database, "page_count"))[0]
    await pragma(database, f"max_page_count={pages}")
    with pytest.raises(StorageUnavailable):
        await database.write(turn(2, user_text="x" * 100_000), Statement("make_parent"))
    assert "disk is full" in database.trouble()
    assert database.trouble(besides=("insert_turn make_parent",)) is None

    await pragma(database, "max_page_count=1000000")
    await database.write(turn(3))
    assert "disk is full" in database.trouble()
    await database.write(turn(2, user_text="x" * 100_000), Statement("make_parent"))
    assert database.trouble() is None


async def test_a_conflict_is_no_trouble(database):
    """Somebody else was first: the database works."""
    await database.write(turn(1))
    with pytest.raises(StorageError):
        await database.write(turn(1))

    assert database.trouble() is None


@pytest.mark.parametrize("ending", ["", "-wal"])
@pytest.mark.parametrize("accident", ["moved", "replaced"])
async def test_a_file_that_is_taken_away_is_noticed_and_takes_nothing_more(database, ending, accident):
    """Without opening it: a write that would be lost is refused, and that stays so."""
    await database.write(turn(1))
    assert database.trouble() is None
    file = database.path.with_name(database.path.name + ending)
    file.rename(file.with_name("elsewhere"))
    if accident == "replaced":
        file.write_bytes(b"something else")

    assert "moved, replaced or deleted" in database.trouble()
    with pytest.raises(StorageDamaged):
        await database.write(turn(2))
    if accident == "moved":
        file.with_name("elsewhere").rename(file)
    assert database.trouble() is not None


async def test_closing_does_not_wait_for_a_lock_of_somebody_else(database):
    """What waits for the lock is given up, and the process can end (P11)."""
    await database.write(turn(1))
    with closing(sqlite3.connect(database.path, isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        waits = asyncio.ensure_future(database.write(turn(2)))
        await asyncio.sleep(0)
        async with asyncio.timeout(9):
            await database.close()
        waits.cancel()
