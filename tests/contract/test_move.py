"""A database is moved to PostgreSQL and back: everything, proven, gone on with after a crash, never beside a bot."""

from __future__ import annotations

import asyncio
import subprocess
from functools import partial
from hashlib import sha256

import pytest
from servers import postgres_programs
from test_files_shared import BYTES, wanted

from bot.files import store
from bot.files.store import FolderBlobs, TableBlobs
from bot.ops.copies.move import move
from bot.ops.workspace import OpsError
from bot.settings import Settings
from bot.tables import BOT_TABLES, DIGESTS, MIGRATIONS
from memory.errors import SchemaMismatch, StorageError
from memory.ledger.types import Actor, Add
from memory.ports import Statement
from memory.privacy.plan import ForgetRequest
from memory.storage import copying, migrate
from memory.storage.engine import lock_alone, open_schema
from memory.testing import make_exchange, open_memory

HERE, THERE = "tg:1:7:0", "tg:1:8:0"
pytestmark = pytest.mark.postgres


def settings_of(database):
    url = database if isinstance(database, str) else f"sqlite:///{database}"
    return Settings(_env_file=None, continuity_database_url=url)


@pytest.fixture
async def file(tmp_path):
    """Return a database with the talk of two people, notes, and something forgotten."""
    async with open_memory(tmp_path, extensions=[BOT_TABLES]) as memory:
        for conversation, number in ((HERE, 0), (THERE, 100)):
            session = await memory.recorder.open_session(conversation, 7, "first")
            for n in range(1, 13):
                said = make_exchange(
                    number + n,
                    session_id=session.session_id,
                    conversation_id=conversation,
                    user_text=f"The boat number {n} lies in harbour {n} — ünïcode 🛶",
                )
                await memory.recorder.record(said, None)
            note = Add(kind="fact", text=f"A boat of {conversation}", note_id=f"n_{conversation}")
            await memory.change(conversation, [note], Actor("person", 1))
        await memory.settle()
        await memory.forget(ForgetRequest(HERE, turn_ids=("t_3",)))
    return tmp_path / "continuity.db"


@pytest.fixture
def bare(postgres_databases):
    return postgres_databases.bare()


async def what_it_knows(place):
    """Return what a memory finds and gives out there."""
    async with open_memory(place, extensions=[BOT_TABLES], checkpoints=None) as memory:
        found = await memory.search(HERE, "Where does boat number 5 lie?")
        document = await memory.export(HERE)
        return [(item.ref, item.score, item.text) for item in found], document["sessions"], document["notes"]


def ledger(database):
    with open_schema(database, {}, read_only=True) as schema:
        return [number for (number,) in schema.rows("SELECT number FROM schema_migrations ORDER BY number")]


async def test_everything_is_there_and_comes_back(file, bare, tmp_path, monkeypatch):
    """Turns, search, notes and receipts are the same on the server, and the same again in a new file."""
    monkeypatch.chdir(tmp_path)
    before = await what_it_knows(tmp_path)
    told = []
    rows = await move(settings_of(file), bare, lambda done, of: told.append((done, of)))
    there = await what_it_knows(bare)
    back = tmp_path / "back" / "continuity.db"
    again = await move(settings_of(bare), f"sqlite:///{back}")

    assert there == before == await what_it_knows(tmp_path / "back")
    assert rows == again > 24
    assert told[-1] == (3 * rows, 3 * rows)
    assert told == sorted(told)
    assert migrate.COPYING not in ledger(bare) + ledger(back)


@pytest.mark.parametrize("batches", [1, 4, 9])
@pytest.mark.sweep
async def test_an_interrupted_move_goes_on(file, bare, monkeypatch, batches):
    """Ended between two batches it has a mark with which no bot starts on it; the same command finishes it."""
    monkeypatch.setattr(copying, "BATCH", 5)
    put, done = copying._End.put, []

    def cut(self, table, rows):
        if len(done) == batches:
            raise KeyboardInterrupt
        done.append(table.name)
        put(self, table, rows)

    monkeypatch.setattr(copying._End, "put", cut)
    with pytest.raises(KeyboardInterrupt):
        copying.copy(file, bare, MIGRATIONS, DIGESTS)
    with pytest.raises(SchemaMismatch, match="was not finished; run the same `continuity-bot move` again"):
        migrate.migrate(bare, MIGRATIONS, DIGESTS)
    monkeypatch.setattr(copying._End, "put", put)

    assert copying.copy(file, bare, MIGRATIONS, DIGESTS) > 24
    assert migrate.pending(bare, MIGRATIONS) == ()


async def test_a_source_that_changed_meanwhile_is_noticed(file, bare, monkeypatch):
    """What was copied before the change is not taken for the whole: the copy is emptied, and begun again."""
    finish = copying._End.finish

    def cut(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(copying._End, "finish", cut)
    with pytest.raises(KeyboardInterrupt):
        copying.copy(file, bare, MIGRATIONS, DIGESTS)
    monkeypatch.setattr(copying._End, "finish", finish)
    with open_schema(file, DIGESTS) as schema:
        schema.write(("UPDATE conversation_turns SET user_text = 'another' WHERE turn_id = 't_1'", [{}]))

    with pytest.raises(copying.CopyChanged, match="conversation_turns"):
        copying.copy(file, bare, MIGRATIONS, DIGESTS)
    assert copying.copy(file, bare, MIGRATIONS, DIGESTS) > 24


async def test_nothing_is_mixed(file, postgres, bare):
    """A target with turns of its own is refused, and so are the same database and an address of another kind."""
    await move(settings_of(file), postgres)

    with pytest.raises(StorageError, match="is not empty"):
        await move(settings_of(file), postgres)
    with pytest.raises(OpsError, match="is the database that is used now"):
        await move(settings_of(file), f"sqlite:///{file}")
    with pytest.raises(OpsError, match="name where to"):
        await move(settings_of(file), "mysql://host/name")


async def test_a_running_bot_is_not_copied(file, bare):
    """While somebody works on either end nothing is moved, and it is said what to do."""
    lock = lock_alone(file)
    with pytest.raises(OpsError, match=r"the bot is running on .*; stop it first"):
        await move(settings_of(file), bare)
    lock.release()
    lock = lock_alone(bare)
    with pytest.raises(OpsError, match="another process works on"):
        await move(settings_of(file), bare)
    lock.release()


@pytest.mark.sweep
async def test_a_dump_of_the_server_brings_everything_back(file, postgres, postgres_databases, tmp_path, monkeypatch):
    """As docs/how-to/postgres.md says it: pg_dump, pg_restore into a new database, and every digest holds."""
    monkeypatch.chdir(tmp_path)
    await move(settings_of(file), postgres)
    programs = postgres_programs()
    dump = tmp_path / "continuity.dump"
    run = partial(subprocess.run, check=True, capture_output=True)
    run([programs / "pg_dump", "--format=custom", "--no-owner", f"--file={dump}", postgres_databases.url])
    with postgres_databases.another() as restored:
        run([programs / "pg_restore", "--no-owner", f"--dbname={restored}", dump])
        address = restored + postgres.partition("?")[1] + postgres.partition("?")[2]

        assert await what_it_knows(address) == await what_it_knows(postgres)
        async with open_memory(address, extensions=[BOT_TABLES]) as memory:
            reports = [await memory.hydrator.hydrate(each, dry_run=True) for each in await memory.store.session_ids()]
            assert [each.report.warnings for each in reports] == [(), ()]


@pytest.mark.sweep
async def test_files_that_people_sent_go_along(file, bare, tmp_path):
    """Bytes of a folder lie in rows on a server, and come back as files; a second file lies beside its database."""
    folder, digest = tmp_path / "continuity.db.files", sha256(BYTES).hexdigest()
    folder.mkdir(mode=0o700)
    (folder / digest).write_bytes(BYTES)
    fetched = Statement("file_fetched", {"file_id": "1:7:5", "digest": digest, "size_bytes": 9, "media_type": "x|x"})
    async with open_memory(tmp_path, extensions=[BOT_TABLES]) as memory:
        await memory.db.write(wanted(7), fetched)
    back, beside = tmp_path / "back" / "continuity.db", tmp_path / "beside" / "continuity.db"
    await move(settings_of(file), bare)
    await move(settings_of(bare), f"sqlite:///{back}")
    await move(settings_of(file), f"sqlite:///{beside}")

    async with (
        open_memory(bare, extensions=[BOT_TABLES], checkpoints=None) as memory,
        TableBlobs(memory.db, tmp_path / "passing").at(digest) as path,
    ):
        assert path.read_bytes() == BYTES
    for place in (back, beside):
        async with open_memory(place.parent, extensions=[BOT_TABLES], checkpoints=None) as memory:
            blobs = FolderBlobs(memory.db, settings_of(place).files_dir)
            async with blobs.at(digest) as path:
                assert path.read_bytes() == BYTES
            assert await blobs.sweep() == 0
            assert [each.name for each in blobs._folder.iterdir()] == [digest]


@pytest.mark.parametrize("to_server", [True, False])
async def test_a_move_that_dies_while_files_are_copied_goes_on(file, bare, tmp_path, monkeypatch, to_server):
    """Ended behind the rows, between two files: no bot starts on it, and the same command brings them all."""
    folder = tmp_path / "continuity.db.files"
    folder.mkdir(mode=0o700)
    names = {sha256(data).hexdigest(): data for data in (BYTES, BYTES[1:])}
    for name, data in names.items():
        (folder / name).write_bytes(data)
    async with open_memory(tmp_path, extensions=[BOT_TABLES]) as memory:
        for number, digest in enumerate(names):
            values = {"file_id": f"1:{number}:5", "digest": digest, "size_bytes": 9, "media_type": "x|x"}
            await memory.db.write(wanted(number), Statement("file_fetched", values))
    there = tmp_path / "there"
    address = bare if to_server else f"sqlite:///{there / 'continuity.db'}"
    seen, real = [], store.digest_at if to_server else store.shutil.copyfileobj

    def cut(*arguments):
        seen.append(arguments)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(*((store, "digest_at", cut) if to_server else (store.shutil, "copyfileobj", cut)))
        with pytest.raises(KeyboardInterrupt):
            await asyncio.to_thread(asyncio.run, move(settings_of(file), address))
    with pytest.raises(SchemaMismatch, match="run the same `continuity-bot move` again"):
        migrate.migrate(bare if to_server else there / "continuity.db", MIGRATIONS, DIGESTS)
    await move(settings_of(file), address)

    async with open_memory(bare if to_server else there, extensions=[BOT_TABLES], checkpoints=None) as memory:
        blobs = TableBlobs(memory.db, there) if to_server else FolderBlobs(memory.db, there / "continuity.db.files")
        blobs.clean()
        for digest, data in names.items():
            async with blobs.at(digest) as path:
                assert path.read_bytes() == data
