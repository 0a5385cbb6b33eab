"""Traffic over several workers that are killed, stopped and cut off, and a server that is killed too."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from contextlib import suppress

import psycopg
import pytest
from servers import Cluster, NoServer
from story import answered, rows

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.postgres]

STOPPED_S = 4.0
"""Longer than others wait before they take a stopped worker for dead."""


@pytest.fixture(scope="module")
def cluster():
    """Return a PostgreSQL server of this module's own, which may be killed."""
    try:
        made = Cluster()
    except NoServer as exc:
        pytest.skip(str(exc))
    yield made
    made.remove()


@pytest.fixture
def database(cluster):
    """Return an empty database on it."""
    with psycopg.connect(cluster.url, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS storm WITH (FORCE)")
        admin.execute("CREATE DATABASE storm TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'")
    return cluster.url.rpartition("/")[0] + "/storm"


KINDS = ["kill", "stop", "cut", "crash"]

SEVER = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = 'storm' AND pid <> pg_backend_pid()"""


class Storm:
    """Workers that are started again whenever they end, and what happens to them meanwhile."""

    def __init__(self, seed: int, bots: list, cluster: Cluster, database: str, *, stopped_s: float) -> None:
        self.chance = random.Random(seed)
        self.bots = bots
        self.happened: list[str] = []
        self._cluster = cluster
        self._database = database
        self._stopped_s = stopped_s
        self._over = asyncio.Event()
        self._tasks: list[asyncio.Task] = []
        self._up = {bot: asyncio.Event() for bot in bots}
        """Set while it runs."""
        self._due: list[asyncio.Event] = []
        self._begun: list[asyncio.Event] = []

    async def begin(self, *, in_step: int | None) -> None:
        """Start the workers; what happens to them begins with so many messages, or without it at any time."""
        for bot in self.bots:
            await bot.launch()
            self._up[bot].set()
        self._tasks = [asyncio.create_task(self._tend(bot)) for bot in self.bots]
        if in_step is None:
            self._tasks.append(asyncio.create_task(self._blow()))
            return
        self._due = [asyncio.Event() for _ in range(in_step)]
        self._begun = [asyncio.Event() for _ in range(in_step)]
        self._tasks.append(asyncio.create_task(self._blow_in_step()))

    async def said(self, number: int) -> None:
        """Let what belongs to this message begin, if anything does, and return when it has begun."""
        if self._due:
            self._due[number - 1].set()
            await self._begun[number - 1].wait()

    async def end(self) -> None:
        self._over.set()
        for due in self._due:
            due.set()
        await asyncio.gather(*self._tasks)
        for bot in self.bots:
            await bot.terminate(30)

    async def _tend(self, bot) -> None:
        """Start it again whenever it has ended, as systemd would."""
        over = asyncio.ensure_future(self._over.wait())
        while not over.done():
            ended = asyncio.ensure_future(bot.wait(3600))
            await asyncio.wait({over, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                ended.cancel()
            elif not over.done():
                self._up[bot].clear()
                await bot.launch()
                self._up[bot].set()

    async def _blow(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.chance.uniform(0.5, 4.0)):
                    await self._over.wait()
                    return
            await self._strike(self.chance.choice(KINDS))

    async def _blow_in_step(self) -> None:
        """Let each kind happen, in any order, and then any of them."""
        kinds = self.chance.sample(KINDS, len(KINDS))
        for number, (due, begun) in enumerate(zip(self._due, self._begun, strict=True)):
            await due.wait()
            if not self._over.is_set():
                kind = kinds[number] if number < len(kinds) else self.chance.choice(KINDS)
                await self._strike(kind, begun)
            begun.set()

    async def _strike(self, kind: str, begun: asyncio.Event | None = None) -> None:
        bot = self.chance.choice(self.bots)
        await self._up[bot].wait()
        self.happened.append(kind)
        if begun is not None:
            begun.set()
        await getattr(self, kind)(bot)

    async def kill(self, bot) -> None:
        """Kill -9."""
        with suppress(ProcessLookupError):
            os.kill(bot.pid, signal.SIGKILL)

    async def stop(self, bot) -> None:
        """Let it sleep so long that it is taken for dead, and wake it."""
        pid = bot.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(self._stopped_s)
            os.kill(pid, signal.SIGCONT)

    async def cut(self, _) -> None:
        """Sever every connection, in the middle of whatever they do."""
        await asyncio.to_thread(self._on_server, SEVER)

    async def crash(self, _) -> None:
        """Let the server die as in a power cut, and start again."""
        await asyncio.to_thread(self._cluster.restart)

    def _on_server(self, sql: str) -> None:
        with psycopg.connect(self._database, autocommit=True) as connection:
            connection.execute(sql)


async def talk(api, storm, chat_id: int, count: int) -> None:
    """Say `count` things, each after the answer to the one before and into the storm."""
    for number in range(1, count + 1):
        text = f"chat {chat_id} message {number}"
        api.people.says(chat_id, text)
        await storm.said(number)
        await answered(api, chat_id, text, 240)


async def survive(api, model, storm, *, chats: int, messages: int, in_step: bool = False) -> None:
    """Let people talk while it storms, and check the promises."""
    await storm.begin(in_step=messages if in_step else None)
    people = [5000 + number for number in range(chats)]
    try:
        await asyncio.gather(*(talk(api, storm, person, messages) for person in people))
    finally:
        await storm.end()

    stored = rows(storm.bots[0], "SELECT conversation_id, user_text FROM conversation_turns ORDER BY session_id, seq")
    for person in people:
        said = [f"chat {person} message {number}" for number in range(1, messages + 1)]
        shown = [line.text for line in api.view(person).lines]
        assert shown == [line for text in said for line in (text, f"You said: {text}")]
        assert [text for key, text in stored if key.split(":")[2] == str(person)] == said
    for request in model.requests:
        chat, number = request.said.split(" message ")
        before = f"{chat} message {int(number) - 1}"
        if int(number) > 1:
            assert any(role == "user" and text.endswith(before) for role, text in request.messages)
    answered_twice = len(model.requests) - chats * messages
    assert answered_twice <= len(storm.happened) * chats


@pytest.fixture
async def storm(bot_process, cluster, database):
    """Offer a factory of storms over so many workers."""

    async def make(seed: int, workers: int, *, stopped_s: float = STOPPED_S, **env: str) -> Storm:
        bots = [
            await bot_process(start=False, folder=f"worker{n}", CONTINUITY_DATABASE_URL=database, **env)
            for n in range(workers)
        ]
        for bot in bots:
            bot.database = database
        return Storm(seed, bots, cluster, database, stopped_s=stopped_s)

    return make


@pytest.mark.timeout(400)
async def test_two_workers_lose_repeat_and_forget_nothing(api, model, storm):
    """Six chats, six messages each, and with each message a worker killed, stopped or cut off, or the server killed."""
    made = await storm(1, 2, CONTINUITY_MAX_CONCURRENT_TURNS="3")

    await survive(api, model, made, chats=6, messages=6, in_step=True)

    assert {*made.happened} == {*KINDS}


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("seed", range(int(os.environ.get("CONTINUITY_SOAK_SEEDS", "3"))))
async def test_long_storms_over_workers(api, model, storm, seed, workers):
    """The same with two hundred chats and stops of ten seconds."""
    made = await storm(100 + seed, workers, stopped_s=10.0)

    await survive(api, model, made, chats=200, messages=4)
