"""Does the idle generation of bootstraps delay a message? 1,000 users are generated while messages come in.

A message here is what a turn does with the database: read the session, store a turn. Its time is taken with the
heartbeat resting, with a heartbeat that knows nothing of messages (the worst case), and with one that yields.
Prints figures as JSON; fails when the 99th percentile grows by more than 50 ms. (The maximum belongs to whatever else
the machine does: compare it with the resting one.)

    .venv/bin/python benchmarks/bootstrap.py [users] [messages]
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import memory
from memory.context.tokens import TiktokenCounter
from memory.continuity.bootstrap import Bootstrap
from memory.continuity.heartbeat import Heartbeat, HeartbeatReport
from memory.continuity.staleness import Workload
from memory.storage.sqlite.database import SqliteDatabase
from memory.storage.store import insert_session
from memory.storage.turn_rows import insert_turn
from memory.testing import (
    START_MS,
    ManualClock,
    make_loop,
    make_persona,
    make_state,
    make_topic,
    make_turn,
    start_memory,
)

HERE = Path(memory.__file__).parent
DELAY_MAX_MS = 50.0
SESSIONS_PER_USER = 8
WORDS = (
    *("garden", "report", "lisbon", "budget", "piano", "kitchen", "train", "museum", "recipe", "contract"),
    *("invoice", "novel", "bicycle", "summer", "übung", "müll", "jardín", "café", "chapter", "deadline"),
    *("sister", "doctor", "school", "flat", "paint", "lease", "hotel", "release", "plan", "notes"),
)


def phrase(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


async def fill(db: SqliteDatabase, users: int) -> None:
    """Store eight sessions per user: loops, topics and a summary each."""
    chance = random.Random(1)
    for user in range(1, users + 1):
        await db.write(*(session(chance, user, number) for number in range(SESSIONS_PER_USER)))


def session(chance: random.Random, user: int, number: int):  # noqa: ANN201 - a Statement
    name = f"s_{user}_{number}"
    loops = tuple(
        make_loop(f"I will {phrase(chance, 6)}", loop_id=f"t_{name}_{n}.1", turn_id=f"t_{name}_{n}") for n in range(3)
    )
    state = make_state(
        session_id=name,
        conversation_id=f"tg:1:{user}:0",
        turn_count=12,
        last_turn_at_ms=START_MS + number,
        open_loops=loops,
        active_topics=tuple(make_topic(phrase(chance, 2), chance.random()) for _ in range(8)),
        rolling_summary=". ".join(phrase(chance, 12) for _ in range(6)),
    )
    return insert_session(state, user_id=user, origin="gap", created_at_ms=START_MS, title=phrase(chance, 3))


class Messages:
    """Messages that come at odd moments; each is timed from the moment it was due."""

    def __init__(self, db: SqliteDatabase) -> None:
        self.db = db
        self.seq = 0
        self.present = 0
        self.arrived = None

    async def one(self) -> None:
        """Do what a turn does with the database."""
        self.seq += 1
        if self.arrived:
            self.arrived()
        self.present += 1
        await self.db.read_one("get_session", session_id="s_1_0")
        await self.db.write(insert_turn(make_turn(turn_id=f"t_{self.seq}", session_id="s_m", seq=self.seq), "d"))
        self.present -= 1

    async def run(self, count: int) -> list[float]:
        """Send messages at odd moments and return how long each took from the moment it was due."""
        chance, loop, delays = random.Random(2), asyncio.get_running_loop(), []
        for _ in range(count):
            due = loop.time() + chance.uniform(0.002, 0.03)
            await asyncio.sleep(due - loop.time())
            await self.one()
            delays.append((loop.time() - due) * 1000)
        return delays


async def until(done: asyncio.Task[list[float]], heartbeat: Heartbeat) -> HeartbeatReport:
    """Beat until the messages are through, as a scheduler would."""
    total = HeartbeatReport()
    while not done.done():
        total.generated += (await heartbeat.run()).generated
        await asyncio.sleep(0.01)
    return total


async def measure(users: int, count: int, *, mode: str) -> dict[str, float]:
    """Return the delay of messages in one mode: resting, blind, yielding."""
    with tempfile.TemporaryDirectory() as folder:
        memory = await start_memory(Path(folder))
        db = memory.db
        counter = TiktokenCounter()
        counter.count("warm")
        await fill(db, users)
        messages = Messages(db)

        async def persona_of(_: int):  # noqa: ANN202 - a Persona
            return make_persona()

        yields = mode == "yielding"
        heartbeat = Heartbeat(
            db,
            Bootstrap(db, ManualClock(START_MS * 2), counter),
            persona_of=persona_of,
            workload=lambda: Workload(waiting_messages=messages.present if yields else 0),
            busy=lambda: yields and messages.present > 0,
        )
        messages.arrived = heartbeat.message_arrived if yields else None
        coming = asyncio.create_task(messages.run(count))
        started = time.perf_counter()
        report = HeartbeatReport() if mode == "resting" else await until(coming, heartbeat)
        delays = sorted(await coming)
        took_s = time.perf_counter() - started
        if mode != "resting":
            report.generated += (await heartbeat.run()).generated
        await memory.close()
    return {
        "p50_ms": round(statistics.median(delays), 2),
        "p99_ms": round(delays[int(len(delays) * 0.99)], 2),
        "max_ms": round(delays[-1], 2),
        "generated": report.generated,
        "seconds": round(took_s, 1),
    }


async def main() -> None:
    users = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    figures = {mode: await measure(users, count, mode=mode) for mode in ("resting", "blind", "yielding")}
    added = {
        f"added_{name}": round(figures["yielding"][name] - figures["resting"][name], 2)
        for name in ("p50_ms", "p99_ms", "max_ms")
    }
    print(json.dumps({"users": users, "messages": count, **figures, **added}))
    assert figures["blind"]["generated"] == users, "every user gets a bootstrap"
    assert added["added_p99_ms"] <= DELAY_MAX_MS, f"one message in a hundred is delayed by {added['added_p99_ms']} ms"


if __name__ == "__main__":
    asyncio.run(main())
