"""What PostgreSQL adds to the promises of the port: connections that break, and commits whose answer is lost."""

import asyncio
import re
from functools import partial

import psycopg
import pytest
from servers import Cluster, NoServer

from bot.tables import DIGESTS, MIGRATIONS
from bot.tables import QUERY_FILES as ALL_QUERY_FILES
from memory.errors import Conflict, Fenced, Locked, StorageError, StorageUnavailable, UnsafeSettings
from memory.ports import Observers, Statement
from memory.privacy.plan import ForgetRequest
from memory.storage.engine import is_held, lock_alone, open_database
from memory.storage.migrate import FOLDER, available, migrate, pending
from memory.storage.named_queries import QUERY_FILES
from memory.storage.place import shown
from memory.storage.postgres import commit as postgres_commit
from memory.storage.postgres import pool as postgres_pool
from memory.storage.postgres import presence as postgres_presence
from memory.storage.postgres.connection import place, placeholders
from memory.storage.sqlite import rows as sqlite_rows
from memory.storage.store import Store
from memory.storage.turn_rows import insert_turn
from memory.testing import make_exchange, make_turn, open_memory

pytestmark = pytest.mark.postgres
HERE = "tg:1:7:0"


def turn(seq, **overrides):
    return insert_turn(make_turn(seq=seq, **overrides), f"digest {seq}")


@pytest.fixture
async def db(postgres):
    database = await open_database(postgres, QUERY_FILES, DIGESTS)
    yield database
    await database.close()


async def seqs(database):
    return [logged.seq for logged in await Store(database).last_turns("s_1", 1000)]


def sever(address):
    """Cut every connection of this database but our own, as a broken network would, and wait until each is gone."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name LIKE 'continuity%' AND pid <> pg_backend_pid()"
        )


async def test_a_connection_that_breaks_before_commit_is_not_noticed(db, postgres, monkeypatch):
    """The transaction is begun again on another connection, and is stored once."""
    cuts = iter([True, False])

    def cut(name):
        if name == "db_before_commit" and next(cuts):
            sever(postgres)

    monkeypatch.setattr(postgres_commit, "point", cut)

    await db.write(turn(1), turn(2))

    assert await seqs(db) == [1, 2]
    assert db.trouble() is None


async def test_a_query_that_stood_behind_one_that_failed_is_asked_again(db):
    """The server prepared nothing behind the error; the connection that believes it did is given up."""
    await db.write(turn(1))
    good, bad = Statement("get_turn", {"turn_id": "t_1"}), Statement("last_turns", {"session_id": "s_1", "limit": -1})
    for _ in range(6):
        with pytest.raises(StorageError, match="LIMIT"):
            await db.read_all(bad, good)
        assert [[row["turn_id"] for row in rows] for rows in await db.read_all(good)] == [["t_1"]]


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "not stored"])
async def test_a_commit_whose_answer_is_lost_is_looked_up(db, monkeypatch, stored):
    """It is done once, whether the server had carried it out or not: the caller never sees the difference."""
    lost = []
    execute = postgres_pool.Connection.execute

    async def broken(self, query, *args, **more):
        if query != "COMMIT" or lost:
            return await execute(self, query, *args, **more)
        lost.append(True)
        if stored:
            await execute(self, query)
        await self.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(postgres_pool.Connection, "execute", broken)
    await db.write(turn(1))

    assert lost
    assert await seqs(db) == [1]
    with pytest.raises(Conflict):
        await db.write(turn(1))


async def test_reads_go_on_over_another_connection(db, postgres):
    """A connection that broke while nobody used it is replaced without a word."""
    await db.write(turn(1))
    sever(postgres)

    assert await seqs(db) == [1]


@pytest.mark.sweep
async def test_a_server_that_is_away_is_trouble_until_it_answers(monkeypatch):
    """Nothing is stored meanwhile, it is said why without the password, and work goes on by itself."""
    monkeypatch.setattr(postgres_pool, "WAIT_FOR_CONNECTION_S", 0.5)
    try:
        cluster = Cluster()
    except NoServer as why:
        pytest.skip(str(why))
    try:
        migrate(cluster.url)
        db = await open_database(cluster.url.replace("postgres@", "postgres:secret@"), QUERY_FILES, DIGESTS)
        await db.write(turn(1))
        cluster.stop()
        with pytest.raises(StorageUnavailable, match="the server cannot be reached") as refused:
            await db.write(turn(2))
        assert "secret" not in str(refused.value) + str(db.trouble())
        assert "the server cannot be reached" in db.trouble()
        async with asyncio.TaskGroup() as group:
            recovered = group.create_task(db.condition.recovered())
            await asyncio.to_thread(cluster.start)
            await recovered
        assert db.trouble() is None
        await db.write(turn(3))
        assert await seqs(db) == [1, 3]
        await db.close()
    finally:
        cluster.remove()


async def test_a_write_without_its_fence_stores_nothing(db):
    """What every write checks first is checked in the same transaction."""
    await db.write(turn(1))
    db.fence = lambda: Statement("get_turn", {"turn_id": "t_1"})
    await db.write(turn(2))
    db.fence = lambda: Statement("get_turn", {"turn_id": "somebody else's"})

    with pytest.raises(Fenced):
        await db.write(turn(3))
    assert await seqs(db) == [1, 2]


async def test_of_two_writers_one_wins(db):
    """Two calls for one seq at the same time: one is stored, the other is told."""
    calls = [db.write(turn(1, turn_id=name)) for name in ("one", "other")]

    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [isinstance(each, Conflict) for each in outcomes].count(True) == 1


async def test_a_server_that_may_forget_is_refused(postgres):
    """Without synchronous commits a power cut takes what was confirmed (P1)."""
    with pytest.raises(UnsafeSettings, match="synchronous_commit=off"):
        await open_database(postgres + "%20-csynchronous_commit%3Doff", QUERY_FILES, DIGESTS)


async def test_an_address_that_leads_nowhere_says_so():
    """A wrong port and a wrong name are told apart, and the password is never shown."""
    with pytest.raises(StorageUnavailable, match="the server cannot be reached") as refused:
        await open_database("postgresql://me:secret@127.0.0.1:1/nothing", QUERY_FILES, DIGESTS)
    assert "secret" not in str(refused.value)
    assert shown("postgresql://me:secret@db.example:5433/bot?sslmode=require") == "postgresql://db.example:5433/bot"


def test_a_query_keeps_its_strings_and_casts():
    """Only parameters are replaced; a percent sign means itself."""
    query = "SELECT ':no', a::text, '%' || :one || '%' -- :not this\nFROM t WHERE b = :two"

    assert placeholders(query) == (
        "SELECT ':no', a::text, '%%' || %(one)s || '%%' -- :not this\nFROM t WHERE b = %(two)s"
    )


def test_both_databases_have_the_same_tables(postgres, tmp_path):
    """Every table and column of one is on the other, but for what each needs for itself."""
    own = {"search_index", "search_hits", "search_counts", "commit_marks", "search_docs", "workers", "leases"}
    with psycopg.connect(postgres) as connection:
        found = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
        ).fetchall()
    there = {tuple(each) for each in found if each[0] not in own}
    migrate(tmp_path / "bot.db", MIGRATIONS, DIGESTS)
    from contextlib import closing
    from sqlite3 import connect

    with closing(connect(tmp_path / "bot.db")) as file:
        names = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        here = {
            (name, column[1])
            for name in names
            if name not in own and not name.startswith(("search_index_", "sqlite_"))
            for column in file.execute(f"PRAGMA table_info({name})")
            if column[1] != sqlite_rows.COLUMN
        }
    assert here == there


def test_migrations_are_applied_once_by_two_at_once(postgres_databases):
    """Two processes that start together: each step is applied by one of them, and recorded."""
    from concurrent.futures import ThreadPoolExecutor

    address = postgres_databases.bare()
    with ThreadPoolExecutor(2) as pool:
        done = [each.result() for each in [pool.submit(migrate, address) for _ in range(2)]]

    assert sorted(done[0] + done[1]) == [str(step) for step in available(FOLDER, "postgres")]
    assert pending(address) == ()


async def test_a_session_is_the_same_on_another_machine(postgres, tmp_path):
    """Hydrated from the rows alone it equals what the first process has in memory, turn for turn."""
    async with open_memory(postgres, checkpoints=tmp_path / "one") as one:
        session = await one.recorder.open_session(HERE, 7, "first")
        for number in range(1, 31):
            await one.recorder.record(make_exchange(number, session_id=session.session_id), None)
        await one.settle()
        async with open_memory(postgres, checkpoints=tmp_path / "other") as other:
            there = await other.hydrator.hydrate(session.session_id)
        here = await one.recorder.session(session.session_id)
        assert there.state == here.model_copy(update={"status": there.state.status})
        assert [logged.turn for logged in there.tail] == list(await one.recorder.recent_turns(session.session_id))


async def test_a_stale_copy_brings_nothing_back(postgres, tmp_path):
    """What was forgotten on one machine is not healed from a checkpoint that another one had kept (P13)."""
    async with open_memory(postgres, checkpoints=tmp_path / "one") as one:
        session = await one.recorder.open_session(HERE, 7, "first")
        for number, text in enumerate(["I live in Reykjavik.", "Nice weather.", "The code is zebrafish."], 1):
            await one.recorder.record(make_exchange(number, session_id=session.session_id, user_text=text), None)
        await one.settle()
        async with open_memory(postgres, checkpoints=tmp_path / "other") as other:
            await other.forget(ForgetRequest(HERE, turn_ids=("t_3",)))
    assert b"zebrafish" in next((tmp_path / "one").glob("*.json")).read_bytes()

    async with open_memory(postgres, checkpoints=tmp_path / "one") as one:
        turns = (await one.hydrator.hydrate(session.session_id)).tail
        assert [logged.turn.user_text for logged in turns] == ["I live in Reykjavik.", "Nice weather."]
        assert not [file for file in (tmp_path / "one").iterdir() if b"zebrafish" in file.read_bytes()]


def test_what_differs_is_there_for_both():
    """A query that SQLite has in a file of its own has a counterpart of the same name on PostgreSQL."""
    assert names_in(".sqlite") <= names_in(".postgres") | names_in("")


def names_in(dialect):
    files = [file for file in ALL_QUERY_FILES if "".join(file.suffixes[:-1]) == dialect]
    return {name for file in files for name in re.findall(r"^-- name: (\w+)$", file.read_text(), re.MULTILINE)}


async def test_what_was_declared_dead_is_refused(postgres):
    """A process that others have declared dead stores nothing any more; without the fence it would."""
    first, second = [await open_database(postgres, ALL_QUERY_FILES, DIGESTS) for _ in range(2)]
    locks = [lock_alone(postgres, shared=True) for _ in range(2)]
    assert await first.join(locks[0], alone=False)
    assert not await second.join(locks[1], alone=False)
    await first.write(turn(1))
    (row,) = [row for row in await second.workers() if row["worker"] == first.worker]
    assert not row["is_dead"]
    await second.write(Statement("worker_bury", await seen(second, first), expect=1))

    with pytest.raises(Fenced, match="declared this process dead"):
        await first.write(turn(3))
    assert "declared this process dead" in first.trouble()
    assert await seqs(second) == [1]
    first.condition.beyond_repair = None
    lease = {"name": "tg:1:7", "worker": first.worker, "at_ms": 1}
    with pytest.raises(Fenced, match="declared this process dead"):  # not that it names a worker that is not there
        await first.write(Statement("lease_take", lease))
    first.condition.beyond_repair = None
    first.fence = lambda: None
    await first.write(turn(3))
    assert await seqs(second) == [1, 3]  # the guard is what keeps it out
    await first.close()
    await second.close()
    for lock in locks:
        lock.release()


async def seen(by, of):
    """Return what is known of a worker, as `worker_bury` wants it."""
    rows = await by.workers()
    return next({"worker": row["worker"], "alive_at": row["alive_at"]} for row in rows if row["worker"] == of.worker)


async def test_who_has_renewed_itself_meanwhile_is_not_declared_dead(postgres):
    """What was seen of it is old by then: nothing changes."""
    one, other = [await open_database(postgres, QUERY_FILES, DIGESTS) for _ in range(2)]
    locks = [lock_alone(postgres, shared=True) for _ in range(2)]
    await one.join(locks[0], alone=False)
    await other.join(locks[1], alone=False)
    old = await seen(other, one)
    await one.write(Statement("worker_renew", {"worker": one.worker, "excused_json": "[]"}, expect=1))

    with pytest.raises(Conflict):
        await other.write(Statement("worker_bury", old, expect=1))
    await one.write(turn(1))
    await one.close()
    await other.close()
    for lock in locks:
        lock.release()


GONE = """INSERT INTO workers (boot_id, place, excused_json, started_at_ms, alive_at)
    VALUES ('gone', %s, '[]', 1, clock_timestamp()) RETURNING worker, CAST(alive_at AS TEXT)"""
RESTING = """SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'continuity % %'
    AND state = 'idle in transaction' AND state_change < clock_timestamp() - INTERVAL '1 second'
    AND datname = current_database()"""


async def test_only_the_dead_workers_transactions_are_ended(postgres):
    """Another one with its host's name and process id, as containers have them, goes on."""
    one = await open_database(postgres, QUERY_FILES, DIGESTS)
    async with await psycopg.AsyncConnection.connect(postgres, autocommit=True) as outside:
        worker, alive_at = await (await outside.execute(GONE, (place(),))).fetchone()
        names = [f"continuity {start} {place()}" for start in ("gone", "alive")]
        gone, alive = [await psycopg.AsyncConnection.connect(postgres, application_name=name) for name in names]
        for each in (gone, alive):
            await each.execute("SELECT 1")

        async def rest():
            return len(await (await outside.execute(RESTING)).fetchall()) == 2

        await until(rest)
        await one.write(Statement("worker_cut_off", {"worker": worker, "alive_at": alive_at}))

    await alive.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        await gone.execute("SELECT 1")
    await alive.close()
    await gone.close()
    await one.close()


SILENT = """INSERT INTO workers (boot_id, place, excused_json, started_at_ms, alive_at)
    VALUES ('gone', 'elsewhere', '[]', 1, clock_timestamp() - INTERVAL '1 hour')"""


async def until(check):
    """Wait until something is true on the server, which tells nobody."""
    async with asyncio.timeout(30):
        while not await check():  # noqa: ASYNC110 - nobody could set an event
            await asyncio.sleep(0.02)


async def takes_for_dead(db):
    """Return whether a worker takes another one for dead."""
    return any(row["is_dead"] for row in await db.workers())


async def is_certain(db):
    return db.owned()


async def is_cut_off(db):
    return not db.owned()


@pytest.mark.sweep
async def test_who_was_cut_off_itself_takes_nobody_for_dead_at_once(postgres):
    """When the network comes back, the first one to be back waits for the others, which may be about to follow."""
    lock = lock_alone(postgres, shared=True)
    one = await open_database(postgres, QUERY_FILES, DIGESTS)
    await one.join(lock, alone=False)
    async with await psycopg.AsyncConnection.connect(postgres) as outside:
        await outside.execute(SILENT)
        await outside.commit()
        await until(partial(takes_for_dead, one))
        await outside.execute("SELECT worker FROM workers WHERE worker = %s FOR UPDATE", (one.worker,))
        await until(partial(is_cut_off, one))
        await outside.rollback()
        await until(partial(is_certain, one))

    assert not await takes_for_dead(one)
    await until(partial(takes_for_dead, one))
    await one.close()
    lock.release()


async def test_nobody_was_silent_while_the_server_was_away(monkeypatch):
    """After a start of the server every worker has as long as ever to say that it is alive."""
    monkeypatch.setattr(postgres_presence, "SILENT_S", 600.0)
    monkeypatch.setattr(postgres_presence, "GONE_S", 600.0)
    try:
        cluster = Cluster()
    except NoServer as exc:
        pytest.skip(str(exc))
    try:
        migrate(cluster.url)
        with psycopg.connect(cluster.url, autocommit=True) as outside:
            outside.execute(SILENT)
        lock = lock_alone(cluster.url, shared=True)
        one = await open_database(cluster.url, QUERY_FILES, DIGESTS)
        await one.join(lock, alone=False)
        taken = await takes_for_dead(one)
        await one.close()
        lock.release()
    finally:
        cluster.remove()

    assert not taken


async def test_what_one_tells_all_others_hear(postgres):
    """News come over a connection of their own, also after that was severed."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    watches = (Observers(), Observers(news=heard.put_nowait))
    one, other = [await open_database(postgres, QUERY_FILES, DIGESTS, observers=each) for each in watches]
    locks = [lock_alone(postgres, shared=True) for _ in range(2)]
    await one.join(locks[0], alone=False)
    await other.join(locks[1], alone=False)
    async with asyncio.timeout(20):
        assert await heard.get() == ""
        await one.tell("first")
        assert await heard.get() == "first"
        sever(postgres)
        assert await heard.get() == ""  # something may have been missed
        await one.tell("second")
        assert await heard.get() == "second"
    await one.close()
    await other.close()
    for lock in locks:
        lock.release()


async def test_whoever_wants_it_alone_is_refused_while_workers_are_there(postgres):
    """Workers share the lock with each other, not with a program that repairs."""
    locks = [lock_alone(postgres, shared=True) for _ in range(2)]

    with pytest.raises(Locked):
        lock_alone(postgres)
    for lock in locks:
        lock.release()
    lock_alone(postgres).release()


async def test_a_lock_whose_connection_broke_is_taken_again(postgres):
    """A restart of the server costs the owner nothing, unless somebody was faster."""
    lock = lock_alone(postgres)
    sever(postgres)
    assert not is_held(postgres)
    lock.keep()

    assert is_held(postgres)
    sever(postgres)
    other = lock_alone(postgres)
    with pytest.raises(Locked):
        lock.keep()
    other.release()


@pytest.mark.sweep
async def test_a_table_that_somebody_keeps_locked_is_trouble_and_then_none(db, postgres):
    """Whoever reads or writes there hears so, as long as it lasts; when it is free again, work goes on."""
    await db.write(turn(1))
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE conversation_turns")
        with pytest.raises(StorageUnavailable, match="another session holds its lock"):
            await db.read("get_turn", turn_id="t_1")
        with pytest.raises(StorageUnavailable, match="another session holds its lock"):
            await db.write(turn(2))

        assert db.trouble() is not None

    assert await db.read("get_turn", turn_id="t_1")
    await db.write(turn(2))
    assert db.trouble() is None
