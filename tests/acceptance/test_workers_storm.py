"""Traffic over several workers that are killed, stopped and cut off, and a server that is killed too."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

import psycopg
import pytest
from loopback.bot_process import is_stopped
from servers import Cluster, NoServer
from story import PERSON, TURN_POINTS, answered, bot_texts, reply, rows

from bot.delivery.sender import UNPROVEN_MARK

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.postgres, pytest.mark.sweep]

STOPPED_S = 4.0
"""Longer than others wait before they take a stopped worker for dead."""
AFTER_S = 1.0
"""So long it may take a worker that wakes to learn that others have done its work, a request of one that was killed to
come in, and one that was cut off to find its connections dead: it may ask the model before it needs one again."""
LOST_S = 600.0
"""An answer that has not come after so long is taken for lost: two hundred people may wait for one core."""
WATCH_S = 0.05
"""How often is looked whether a worker has stopped at its point."""


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
_COMMIT = TURN_POINTS.index("after_commit")
POINTS = [*TURN_POINTS[:_COMMIT], "db_before_sync", "db_before_commit", "db_after_commit", *TURN_POINTS[_COMMIT:]]
NTH = 40
"""A worker that is to stop at a point stops when it passes it for the first to so manieth time."""

SEVER = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = 'storm' AND pid <> pg_backend_pid()"""


@dataclass(slots=True)
class Strike:
    """What happened, where, and how many requests the model had got when it began and when it was over."""

    kind: str
    where: str
    begun: int
    over: int | None = None

    def meets(self, first: int, again: int) -> bool:
        """Return whether it can be why the request with number `again` repeats the one with number `first`."""
        return self.begun <= again and (self.over is None or self.over >= first)


class Storm:
    """Workers that are started again whenever they end, and what happens to them meanwhile."""

    def __init__(
        self,
        seed: int,
        bots: list,
        cluster: Cluster,
        database: str,
        model,
        *,
        stopped_s: float,
        points: Sequence[str],
        armed: int | None,
        kinds: Sequence[str],
    ) -> None:
        """With `points` every life of a worker comes to one of them, and something happens to it there.

        So it is with the first `armed` workers, all of them by default.
        """
        self.chance = random.Random(seed)
        self.bots = bots
        self.strikes: list[Strike] = []
        self._model = model
        self._points = points
        self._to_arm = bots[:armed] if points else []
        self._kinds = kinds
        self._cluster = cluster
        self._restarts = asyncio.Lock()
        self._database = database
        self._stopped_s = stopped_s
        self._over = asyncio.Event()
        self._tasks: list[asyncio.Task] = []
        self._watches: list[asyncio.Task] = []
        self._up = {bot: asyncio.Event() for bot in bots}
        """Set while it runs."""
        self._armed: dict[object, str] = {}
        """The point that it is to stop at."""
        self._struck: set[object] = set()
        """Those that something is happening to."""
        self._due: list[asyncio.Event] = []
        self._begun: list[asyncio.Event] = []

    async def begin(self, *, in_step: int | None) -> None:
        """Start the workers; what happens to them begins with so many messages, or without it at any time."""
        for bot in self.bots:
            await self._launch(bot)
        self._tasks = [asyncio.create_task(self._tend(bot)) for bot in self.bots]
        self._watches = [asyncio.create_task(self._watch(bot)) for bot in self._to_arm]
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
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)

    async def _launch(self, bot) -> None:
        env = {}
        if bot in self._to_arm:
            self._armed[bot] = self.chance.choice(self._points)
            nth = self.chance.randint(1, NTH)
            env = {"CONTINUITY_FAULT": f"{self._armed[bot]}:{nth}", "CONTINUITY_FAULT_SIGNAL": "STOP"}
        await bot.launch(**env)
        self._up[bot].set()

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
                await self._launch(bot)

    async def _watch(self, bot) -> None:
        """Let something happen to it when it has stopped at its point, and then let it go on."""
        while True:
            if bot not in self._struck and bot.is_running and is_stopped(bot.pid):
                if not self._over.is_set():
                    await self._strike(self.chance.choice(self._kinds), bot, where=self._armed[bot])
                signalled(bot.pid, signal.SIGCONT)
            await asyncio.sleep(WATCH_S)

    async def _blow(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.chance.uniform(0.5, 4.0)):
                    await self._over.wait()
                    return
            await self._strike(self.chance.choice(self._kinds), await self._any())

    async def _blow_in_step(self) -> None:
        """Let each kind happen, in any order, and then any of them."""
        kinds = self.chance.sample(self._kinds, len(self._kinds))
        for number, (due, begun) in enumerate(zip(self._due, self._begun, strict=True)):
            await due.wait()
            if not self._over.is_set():
                kind = kinds[number] if number < len(kinds) else self.chance.choice(self._kinds)
                await self._strike(kind, await self._any(), begun=begun)
            begun.set()

    async def _any(self):
        """Return a worker that runs."""
        bot = self.chance.choice(self.bots)
        await self._up[bot].wait()
        return bot

    async def _strike(self, kind: str, bot, *, where: str = "", begun: asyncio.Event | None = None) -> None:
        strike = Strike(kind, where, len(self._model.requests))
        self.strikes.append(strike)
        self._struck.add(bot)
        if begun is not None:
            begun.set()
        await getattr(self, kind)(bot)
        self._struck.discard(bot)
        await asyncio.sleep(AFTER_S)
        strike.over = len(self._model.requests)

    async def kill(self, bot) -> None:
        """Kill -9."""
        signalled(bot.pid, signal.SIGKILL)

    async def stop(self, bot) -> None:
        """Let it sleep so long that it is taken for dead, and wake it."""
        pid = bot.pid
        signalled(pid, signal.SIGSTOP)
        await asyncio.sleep(self._stopped_s)
        signalled(pid, signal.SIGCONT)

    async def cut(self, _) -> None:
        """Sever every connection, in the middle of whatever they do."""
        with suppress(psycopg.OperationalError):  # the server is down: they are severed
            await asyncio.to_thread(self._on_server, SEVER)

    async def crash(self, _) -> None:
        """Let the server die as in a power cut, and start again."""
        async with self._restarts:
            await asyncio.to_thread(self._cluster.restart)

    def _on_server(self, sql: str) -> None:
        with psycopg.connect(self._database, autocommit=True) as connection:
            connection.execute(sql)


def signalled(pid: int, number: int) -> None:
    """Send a signal to a process, if it is there still."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def screen(api, chat_id: int) -> list[str]:
    """Return what is shown, without what is marked as perhaps said before and was."""
    shown: list[str] = []
    for line in api.view(chat_id).lines:
        text = line.text.removesuffix(UNPROVEN_MARK)
        if text == line.text or text not in shown:
            shown.append(text)
    return shown


def marked(api, people) -> int:
    """Return how many lines are marked as perhaps said before."""
    return sum(line.text.endswith(UNPROVEN_MARK) for person in people for line in api.view(person).lines)


async def talk(api, storm, chat_id: int, count: int) -> None:
    """Say `count` things, each after the answer to the one before and into the storm."""
    for number in range(1, count + 1):
        text = f"chat {chat_id} message {number}"
        api.people.says(chat_id, text)
        await storm.said(number)
        await api.until(lambda text=text: f"You said: {text}" in screen(api, chat_id), LOST_S)


async def survive(api, model, storm, *, chats: int, messages: int, in_step: bool = False) -> None:
    """Let people talk while it storms, and check the promises."""
    await storm.begin(in_step=messages if in_step else None)
    people = [5000 + number for number in range(chats)]
    try:
        await asyncio.gather(*(talk(api, storm, person, messages) for person in people))
    finally:
        await storm.end()

    told(storm, chats * messages, len(model.requests), marked(api, people))
    stored = rows(storm.bots[0], "SELECT conversation_id, user_text FROM conversation_turns ORDER BY session_id, seq")
    for person in people:
        said = [f"chat {person} message {number}" for number in range(1, messages + 1)]
        assert screen(api, person) == [line for text in said for line in (text, f"You said: {text}")]
        assert [text for key, text in stored if key.split(":")[2] == str(person)] == said
    for request in model.requests:
        chat, number = request.said.split(" message ")
        before = f"{chat} message {int(number) - 1}"
        if int(number) > 1:
            assert any(role == "user" and text.endswith(before) for role, text in request.messages)
    asked: dict[str, int] = {}
    for again, request in enumerate(model.requests):
        first = asked.get(request.said)
        assert first is None or any(strike.meets(first, again) for strike in storm.strikes), (
            f"request {first} was repeated by {again} without a reason: {storm.strikes}"
        )
        asked[request.said] = again


def told(storm, messages: int, requests: int, marks: int) -> None:
    """Print what happened, for the page of faults."""
    counts = Counter(f"{strike.kind} {strike.where and 'at a point'}".strip() for strike in storm.strikes)
    points = sorted({(strike.kind, strike.where) for strike in storm.strikes if strike.where})
    happened = f"{dict(counts)}, {len(points)} pairs of kind and point"
    print(f"{messages} messages, {requests} model calls, {marks} marked, {happened}")  # noqa: T201


@pytest.fixture
async def storm(bot_process, cluster, database, model):
    """Offer a factory of storms over so many workers."""

    async def make(
        seed: int,
        workers: int,
        *,
        stopped_s: float = STOPPED_S,
        points: Sequence[str] = (),
        armed: int | None = None,
        kinds: Sequence[str] = KINDS,
        **env: str,
    ) -> Storm:
        bots = [
            await bot_process(start=False, folder=f"worker{n}", CONTINUITY_DATABASE_URL=database, **env)
            for n in range(workers)
        ]
        for bot in bots:
            bot.database = database
        return Storm(seed, bots, cluster, database, model, stopped_s=stopped_s, points=points, armed=armed, kinds=kinds)

    return make


@pytest.mark.timeout(400)
async def test_two_workers_lose_repeat_and_forget_nothing(api, model, storm):
    """Six chats, six messages each, and with each message a worker killed, stopped or cut off, or the server killed."""
    made = await storm(1, 2, CONTINUITY_MAX_CONCURRENT_TURNS="3")

    await survive(api, model, made, chats=6, messages=6, in_step=True)

    assert {strike.kind for strike in made.strikes} == {*KINDS}


@pytest.mark.soak
@pytest.mark.parametrize("point", [point for point in POINTS if point != "checkpoint_renamed"])
async def test_a_server_that_dies_at_any_point_of_a_turn_costs_nothing(api, model, cluster, storm, point):
    """As in a power cut, and it starts again: nothing is lost, nothing twice, no model call more."""
    (bot,) = (await storm(1, 1)).bots
    api.people.says(PERSON, "only once")
    await bot.launch(CONTINUITY_FAULT=point, CONTINUITY_FAULT_SIGNAL="STOP")
    await api.until(lambda: is_stopped(bot.pid))
    await asyncio.to_thread(cluster.restart)
    signalled(bot.pid, signal.SIGCONT)
    await answered(api, PERSON, "only once")
    await reply(api, "and again")

    assert bot_texts(api) == ["You said: only once", "You said: and again"]
    assert rows(bot, "SELECT user_text FROM conversation_turns ORDER BY seq") == [("only once",), ("and again",)]
    assert len(model.requests) == 2


SEEDS = range(int(os.environ.get("CONTINUITY_SOAK_SEEDS", "3")))


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("seed", SEEDS)
async def test_long_storms_over_workers(api, model, storm, seed, workers):
    """Two hundred chats, stops of ten seconds, at any moment and at every point of a turn."""
    made = await storm(100 + seed, workers, stopped_s=10.0, points=POINTS, CONTINUITY_LOG_LEVEL="INFO")

    await survive(api, model, made, chats=200, messages=2)


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("fence", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
async def test_without_the_fence_the_same_storm_says_something_twice(api, model, storm, seed, fence):
    """Workers that are stopped just before a send, and wake: with the fence nothing happens twice, without it does.

    Two of four come to that point, and one at a time is stopped anywhere: somebody is always there to take over.
    """
    without = {} if fence else {"CONTINUITY_FAULT_WITHOUT": "fence"}
    before_send = ["outbox_marked_sending"]
    made = await storm(200 + seed, 4, stopped_s=10.0, points=before_send, armed=2, kinds=["stop"], **without)

    with nullcontext() if fence else pytest.raises(AssertionError):
        await survive(api, model, made, chats=50, messages=12)
