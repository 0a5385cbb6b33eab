"""A database that is damaged, gone, full or held by somebody else: nothing is confirmed, and everybody sees why."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from loopback.model import Gate
from story import PERSON, answered

from bot.playground.keeper import free_port

pytestmark = [pytest.mark.acceptance, pytest.mark.file, pytest.mark.sweep]


@pytest.fixture
def port():
    """A port that no other test is handed between two starts of a bot."""
    return free_port()


async def failing(port):
    """Wait until /health says 503; return what it says is wrong."""
    async with httpx.AsyncClient() as client, asyncio.timeout(30):
        while True:
            answer = await client.get(f"http://127.0.0.1:{port}/health")
            if answer.status_code == 503:
                return answer.json()["problems"]
            await asyncio.sleep(0.05)


def moved(database: Path):
    database.rename(database.with_name("elsewhere.db"))
    return lambda: database.with_name("elsewhere.db").rename(database)


def replaced(database: Path):
    copy = database.with_name("copy.db")
    shutil.copy(database, copy)
    database.rename(database.with_name("elsewhere.db"))
    copy.rename(database)
    return lambda: database.with_name("elsewhere.db").rename(database)


def folder_moved(database: Path):
    database.parent.rename(database.parent.with_name("elsewhere"))
    return lambda: database.parent.with_name("elsewhere").rename(database.parent)


def log_deleted(database: Path):
    log = database.with_name(database.name + "-wal")
    kept = log.read_bytes()
    log.unlink()
    return lambda: log.write_bytes(kept)


@pytest.mark.parametrize("accident", [moved, replaced, folder_moved, log_deleted])
async def test_a_database_that_is_taken_away_is_noticed(api, bot_process, port, tmp_path, accident):
    """/health says 503, the next message stays with Telegram, the process ends; put back, the message is answered."""
    (tmp_path / "data").mkdir()
    database = tmp_path / "data" / "continuity.db"
    slow = {"TEST_PAUSES": "0.3"}  # it has to be alive long enough to be asked
    bot = await bot_process(CONTINUITY_DATABASE_URL=f"sqlite:///{database}", CONTINUITY_HTTP_PORT=str(port), **slow)
    api.people.says(PERSON, "before")
    await answered(api, PERSON, "before")

    undo = accident(database)
    assert await failing(port) == ["storage"]
    said = api.people.says(PERSON, "after")
    assert await bot.wait(40) == 1
    assert not api.is_confirmed(said.update_id)
    assert "was moved, replaced or deleted" in bot.log

    undo()
    await bot.start()
    await answered(api, PERSON, "after")


def damage(database: Path, table: str) -> None:
    """Overwrite the page on which a table begins."""
    with closing(sqlite3.connect(database)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


@pytest.mark.parametrize("table", ["conversation_turns", "conversation_sessions", "outbox"])
async def test_a_damaged_page_ends_in_a_refusal(api, bot_process, port, table):
    """At the start or at the first message that needs it: one clear sentence, exit 1, nothing confirmed and lost."""
    bot = await bot_process()
    api.people.says(PERSON, "before")
    await answered(api, PERSON, "before")
    assert await bot.terminate() == 0
    damage(bot.database, table)
    said = api.people.says(PERSON, "after")
    await bot.launch(CONTINUITY_HTTP_PORT=str(port))

    assert await bot.wait(60) == 1
    assert "it is damaged; stop, keep a copy and restore a backup" in bot.log.splitlines()[-1]
    assert not api.is_confirmed(said.update_id) or "waiting" in waiting(bot.database)


def waiting(database):
    """Return "waiting" for each update that the damaged database still holds unfinished."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return ["waiting" for _ in connection.execute("SELECT 1 FROM inbox WHERE state NOT IN ('done', 'quarantined')")]


@pytest.mark.parametrize("at_work", [False, True])
async def test_a_stop_is_quick_while_somebody_holds_the_lock(api, model, bot_process, at_work):
    """SIGTERM ends the process with 0 within ten seconds, idle or with an answer that cannot be stored."""
    bot = await bot_process()
    api.people.says(PERSON, "before")
    await answered(api, PERSON, "before")
    with closing(sqlite3.connect(bot.database, isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        if at_work:
            api.people.says(PERSON, "after")
            await api.until(lambda: "its lock" in bot.log, 30)
        assert await bot.terminate(10) == 0

    await bot.start()
    api.people.says(PERSON, "and now")
    await api.until(lambda: any("and now" in text for text in api.texts(PERSON)), 40)


@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount for a tiny file system")
async def test_a_disk_that_fills_up_under_an_answer_takes_nothing_more(api, model, bot_process, port, tmp_path):
    """While an answer waits for room, a message that would still fit stays with Telegram; then both are answered."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)], check=False)  # noqa: ASYNC221
    if mounted.returncode:
        pytest.skip("this machine does not let us mount a tmpfs")
    try:
        await bot_process(CONTINUITY_DATABASE_URL=f"sqlite:///{small}/continuity.db", CONTINUITY_HTTP_PORT=str(port))
        model.gate = Gate()
        api.people.says(PERSON, "a long story")
        await api.until(lambda: model.requests)
        ballast = small / "ballast"
        subprocess.run(["dd", "if=/dev/zero", f"of={ballast}", "bs=4096"], check=False, capture_output=True)  # noqa: ASYNC221
        model.gate.open()
        assert await failing(port) == ["storage"]
        said = api.people.says(PERSON, "short")
        await asyncio.sleep(1)
        assert not api.is_confirmed(said.update_id)

        ballast.unlink()
        await answered(api, PERSON, "a long story", 60)
        await answered(api, PERSON, "short", 60)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)  # noqa: ASYNC221
