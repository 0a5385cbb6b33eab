"""Several processes on one PostgreSQL: turns per second, takeover, and what a turn costs against a file. Prints JSON.

    python -m benchmarks.workers [--workers 1 2 4] [--chats 200] [--delay-s 0] [--takeovers 10] [--turns 25]

It starts a server of its own, the bots, and the servers that stand in for Telegram and the model, all on this machine:
with as many cores as processes the figures grow with the workers, with fewer they show what the sharing costs. A turn
counts when it is stored. `--delay-s 2 --chats 1000` shows many people who wait for a slow model. `--turns 25` lets
twenty people say so much each, for what a turn leaves behind: bytes, log, statements, without an idle worker's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from loopback.bot_process import BotProcess
from loopback.model import LoopbackModel
from servers import Cluster

from benchmarks.turns import ASSISTANT, USER
from bot.playground.bot_api.server import LoopbackBotApi

SETTINGS = {
    "CONTINUITY_MODEL": "openai-chat:loopback",
    "OPENAI_API_KEY": "sk-loopback",
    "CONTINUITY_STREAMING": "off",
    "CONTINUITY_LOG_LEVEL": "WARNING",
    "CONTINUITY_MERGE_WINDOW_MS": "0",
}
COUNT = "SELECT COUNT(*) FROM conversation_turns"
CHATS = 20
LOOKS_S = 10.0
"""So long an idle worker is watched."""
SIZES = """SELECT relname, pg_total_relation_size(oid) AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY bytes DESC"""
COSTS = """SELECT (SELECT SUM(calls) FROM pg_stat_statements WHERE dbid = d.datid),
        d.xact_commit, d.tup_inserted, d.tup_updated, w.wal_bytes
    FROM pg_stat_database d, pg_stat_wal w WHERE d.datname = current_database()"""
OF_COST = ("statements", "transactions", "rows_inserted", "rows_updated", "log_bytes")
LOOK_S = 0.05
STATISTICS = "-c shared_preload_libraries=pg_stat_statements"


def count(address: str) -> int:
    """Return how many turns are stored."""
    if address.startswith("postgresql"):
        with psycopg.connect(address) as server:
            return int(server.execute(COUNT).fetchone()[0])  # type: ignore[index]
    with closing(sqlite3.connect(f"file:{address}?mode=ro", uri=True)) as file:
        return int(file.execute(COUNT).fetchone()[0])


def cpu_s(pid: int) -> float:
    """Return the processor time that a process took so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_cpu_s(address: str) -> float:
    """Return the processor time of a server's processes that work for this database now."""
    with psycopg.connect(address) as server:
        pids = server.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()").fetchall()
    return sum(cpu_s(pid) for (pid,) in pids)


def size(address: str) -> int:
    """Return how many bytes the tables take with their indexes, once what was deleted is free."""
    if address.startswith("postgresql"):
        with psycopg.connect(address, autocommit=True) as server:
            server.execute("VACUUM")
            return sum(int(row[1]) for row in server.execute(SIZES).fetchall())
    with closing(sqlite3.connect(f"file:{address}?mode=ro", uri=True)) as file:
        pages, each = file.execute("PRAGMA page_count").fetchone(), file.execute("PRAGMA page_size").fetchone()
        return int(pages[0]) * int(each[0])


def largest(address: str) -> dict[str, int]:
    """Return the five largest tables and their bytes."""
    with psycopg.connect(address) as server:
        return dict(server.execute(SIZES).fetchall()[:5])


def costs(address: str) -> list[int]:
    """Return what a database did so far, as `OF_COST` names it; [] for a file."""
    if not address.startswith("postgresql"):
        return []
    with psycopg.connect(address) as server:
        return [int(figure) for figure in server.execute(COSTS).fetchone() or ()]


class Bench:
    """Servers, and bots on an empty database."""

    def __init__(self, folder: Path, cluster: Cluster, api: LoopbackBotApi, model: LoopbackModel) -> None:
        self.folder = folder
        self.cluster = cluster
        self.api = api
        self.model = model
        self.person = 10_000
        self.runs = 0

    def address(self) -> str:
        """Return an empty database on the server."""
        self.runs += 1
        with psycopg.connect(self.cluster.url, autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE bench_{self.runs}")
        return self.cluster.url.rpartition("/")[0] + f"/bench_{self.runs}"

    async def bots(self, number: int, address: str | None) -> list[BotProcess]:
        """Start so many bots and let each of them answer something."""
        self.runs += 1
        settings = SETTINGS | {"OPENAI_BASE_URL": self.model.url}
        made: list[BotProcess] = []
        for n in range(number):
            bot = BotProcess(self.api, self.folder / f"{self.runs}_{n}", settings, None, address)
            await (bot.start() if n == 0 else bot.launch())
            made.append(bot)
        if address:
            await self.until(lambda: self.joined(address) == number)
        where = address or str(made[0].database)
        self.say(8 * number)
        await self.until(lambda: count(where) == 8 * number)
        return made

    @staticmethod
    def joined(address: str) -> int:
        """Return how many workers are there."""
        with psycopg.connect(address) as server:
            return len(server.execute("SELECT worker FROM workers").fetchall())

    def say(self, chats: int) -> list[int]:
        """Let so many new people say something, all at once."""
        people = list(range(self.person, self.person + chats))
        self.person += chats
        for person in people:
            self.api.people.says(person, f"hello from {person}")
        return people

    @staticmethod
    async def until(found: Any, limit_s: float = 300) -> None:
        """Wait until it is so."""
        async with asyncio.timeout(limit_s):
            while not await asyncio.to_thread(found):  # noqa: ASYNC110 - rows are no event
                await asyncio.sleep(LOOK_S)

    async def throughput(self, number: int, chats: int, *, shared: bool) -> dict[str, Any]:
        """Return turns per second, and the processor time of a turn, when so many people wait."""
        address = self.address() if shared else None
        bots = await self.bots(number, address)
        where = address or str(bots[0].database)
        before, used = count(where), sum(cpu_s(bot.pid) for bot in bots)
        started = time.perf_counter()
        self.say(chats)
        await self.until(lambda: count(where) == before + chats)
        elapsed = time.perf_counter() - started
        used = sum(cpu_s(bot.pid) for bot in bots) - used
        for bot in bots:
            await bot.kill()
        return self.shown(
            {
                "database": "postgresql" if shared else "sqlite",
                "workers": number,
                "chats": chats,
                "turns_per_second": round(chats / elapsed, 1),
                "bot_cpu_ms_per_turn": round(used / chats * 1000, 1),
            }
        )

    @staticmethod
    def shown(found: dict[str, Any]) -> dict[str, Any]:
        """Tell whoever watches, and return it."""
        print(json.dumps(found), file=sys.stderr, flush=True)
        return found

    async def takeovers(self, number: int) -> list[float]:
        """Kill the worker that is answering, so often; return the seconds until another one asks the model, sorted."""
        address = self.address()
        bots = await self.bots(2, address)
        found = sorted([await self.takeover(address, bots) for _ in range(number)])
        for bot in bots:
            await bot.kill()
        return found

    async def takeover(self, address: str, bots: list[BotProcess]) -> float:
        """Kill the worker that is answering and start it again; return the seconds until another one asks the model."""
        self.model.pause_s = 600.0
        asked, stored = len(self.model.requests), count(address)
        self.say(1)
        await self.model.until(lambda: len(self.model.requests) == asked + 1)
        await self.until(lambda: self.holder(address) is not None)
        killed = next(bot for bot in bots if bot.pid == self.holder(address))
        self.model.pause_s = 0.0
        killed_at = time.perf_counter()
        os.kill(killed.pid, signal.SIGKILL)
        await self.model.until(lambda: len(self.model.requests) > asked + 1)
        elapsed = time.perf_counter() - killed_at
        await killed.wait()
        await self.until(lambda: count(address) == stored + 1)
        await killed.launch()
        await self.until(lambda: self.joined(address) == len(bots))
        self.shown({"takeover_s": round(elapsed, 2)})
        return elapsed

    # --- what a turn leaves behind ----------------------------------------------------------------------------------

    async def cost(self, turns: int, *, shared: bool) -> dict[str, Any]:
        """Return what a turn of a talk costs: bytes in the database, and on a server its log and statements."""
        address = self.address() if shared else None
        if address:
            with psycopg.connect(address, autocommit=True) as server:
                server.execute("CREATE EXTENSION pg_stat_statements")
        (bot,) = await self.bots(1, address)
        where = address or str(bot.database)
        idle = await self.idle(where) if shared else []
        bytes_before, cost_before, used = size(where), costs(where), cpu_s(bot.pid)
        server_used = server_cpu_s(where) if shared else 0.0
        started = time.perf_counter()
        self.model.reply = lambda _: ASSISTANT
        people = list(range(self.person, self.person + CHATS))
        self.person += CHATS
        for number in range(1, turns + 1):
            before = count(where)
            for person in people:
                self.api.people.says(person, f"{USER} ({number})")
            await self.until(lambda before=before: count(where) == before + CHATS)  # type: ignore[misc]
        elapsed, n = time.perf_counter() - started, turns * CHATS
        found: dict[str, Any] = {
            "database": "postgresql" if shared else "sqlite",
            "turns": n,
            "bot_cpu_ms_per_turn": round((cpu_s(bot.pid) - used) / n * 1000, 1),
        }
        if shared:
            found["server_cpu_ms_per_turn"] = round((server_cpu_s(where) - server_used) / n * 1000, 1)
        spent = [after - before for before, after in zip(cost_before, costs(where), strict=True)]
        for name, much, each_s in zip(OF_COST, spent, idle, strict=False):
            found[f"{name}_per_turn"] = round((much - each_s * elapsed) / n, 1)
            found[f"{name}_per_idle_second"] = round(each_s, 1)
        await bot.terminate(30)
        found["bytes_per_turn"] = round((size(where) - bytes_before) / n)
        if shared:
            found["largest_tables"] = largest(where)
        return self.shown(found)

    @staticmethod
    async def idle(address: str) -> list[float]:
        """Return what an idle worker costs in a second."""
        before = costs(address)
        await asyncio.sleep(LOOKS_S)
        return [(after - start) / LOOKS_S for start, after in zip(before, costs(address), strict=True)]

    @staticmethod
    def holder(address: str) -> int | None:
        """Return the process that is answering."""
        query = """SELECT w.place FROM workers w JOIN inbox i ON i.boot_id = w.boot_id WHERE i.state = 'claimed'"""
        with psycopg.connect(address) as server:
            row = server.execute(query).fetchone()
        return int(row[0].split()[-1]) if row else None


async def measure(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure what was asked for."""
    cluster = Cluster(STATISTICS)
    try:
        async with AsyncExitStack() as open_:
            api = await open_.enter_async_context(LoopbackBotApi())
            model = await open_.enter_async_context(LoopbackModel())
            bench = Bench(folder, cluster, api, model)
            found: dict[str, Any] = {"cores": os.cpu_count(), "model_delay_s": asked.delay_s, "throughput": []}
            model.pause_s = asked.delay_s
            if asked.file:
                found["throughput"].append(await bench.throughput(1, asked.chats, shared=False))
            for number in asked.workers:
                found["throughput"].append(await bench.throughput(number, asked.chats, shared=True))
            model.pause_s = 0.0
            if asked.takeovers:
                times = await bench.takeovers(asked.takeovers)
                found["takeover_s"] = {
                    "n": len(times),
                    "p50": round(statistics.median(times), 2),
                    "p99": round(times[int(len(times) * 0.99)], 2),
                    "worst": round(times[-1], 2),
                }
            if asked.turns:
                found["cost"] = [await bench.cost(asked.turns, shared=shared) for shared in (False, True)]
            return found
    finally:
        cluster.remove()


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--delay-s", type=float, default=0.0)
    parser.add_argument("--takeovers", type=int, default=10)
    parser.add_argument("--turns", type=int, default=25)
    parser.add_argument("--file", action=argparse.BooleanOptionalAction, default=True, help="measure SQLite too")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="workers-bench-"))
    try:
        print(json.dumps(asyncio.run(measure(asked, folder)), indent=2))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
