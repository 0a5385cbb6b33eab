"""One store under the same turns, beside a bare SQLite row: `python keep.py NAME HISTORY ROUNDS FOLDER` prints JSON.

It runs in the environment of the store that it measures and imports nothing else of this project, but for `ours`. A
turn is what the library does for one: read back what the next prompt is made of, store the exchange. Every other turn
is one of the floor: the exchange as one row, WAL, synchronous=FULL. So a busy machine slows both.
"""

# ruff: noqa: D102 - `Store` tells what its methods do; each store is imported in its own environment alone
from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path

USER = "Could you look at the budget for the trip to Rome in May? We said 900 euros, but the hotel alone is 540 now."
ASSISTANT = (
    "With the hotel at 540 euros, 360 are left for three days. I suggest 120 a day: 60 for food, 30 for museums, 20 "
    "for the train and 10 in reserve. The Borghese gallery has to be booked ahead. Shall I put that on the list?"
)
WARM_UP = 5


class Store(ABC):
    """A place where one conversation is kept."""

    @abstractmethod
    async def open(self, folder: Path, history: int) -> None:
        """Make it, with so many turns in it."""

    @abstractmethod
    async def turn(self, number: int) -> None:
        """Read back what the next prompt is made of, and store one exchange."""

    async def rest(self) -> None:
        """Bring to an end what is done behind the reply."""
        return


def said(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{USER} ({number})"}, {"role": "assistant", "content": ASSISTANT}]


class Ours(Store):
    """The recorder: the session is in memory, its turn, state and snapshot are one transaction."""

    async def open(self, folder: Path, history: int) -> None:
        from benchmarks.turns import with_history

        self.memory, self.session_id = await with_history(folder, history)
        await self.memory.recorder.session(self.session_id)

    async def turn(self, number: int) -> None:
        from benchmarks.turns import packet
        from benchmarks.turns import said as exchange

        state = await self.memory.recorder.session(self.session_id)
        await self.memory.assembler.history(state)
        await self.memory.recorder.record(exchange(self.session_id, number), packet(self.session_id))

    async def rest(self) -> None:
        await self.memory.recorder.settle()


class LangGraph(Store):
    """`SqliteSaver`: a checkpoint holds every message; one a turn is the least that a graph makes."""

    async def open(self, folder: Path, history: int) -> None:
        from langgraph.checkpoint.base import empty_checkpoint
        from langgraph.checkpoint.sqlite import SqliteSaver

        self.saver = SqliteSaver(sqlite3.connect(folder / "langgraph.db", check_same_thread=False))
        self.config = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
        self.empty, self.step = empty_checkpoint, 0
        self._put([message for number in range(history) for message in said(number)])

    def _put(self, messages: list[dict[str, str]]) -> None:
        checkpoint = self.empty()
        self.step += 1
        checkpoint["channel_values"] = {"messages": messages}
        checkpoint["channel_versions"] = {"messages": self.step}
        self.saver.put(self.config, checkpoint, {"source": "loop", "step": self.step, "parents": {}}, {})

    async def turn(self, number: int) -> None:
        found = self.saver.get_tuple(self.config)
        self._put([*found.checkpoint["channel_values"]["messages"], *said(number)])


class OpenAiAgents(Store):
    """`SQLiteSession`: all items are read before a run unless a limit is set, two are added after it."""

    async def open(self, folder: Path, history: int) -> None:
        from agents import SQLiteSession

        self.session = SQLiteSession("1", folder / "agents.db")
        await self.session.add_items([item for number in range(history) for item in said(number)])

    async def turn(self, number: int) -> None:
        await self.session.get_items()
        await self.session.add_items(said(number))


class Agno(Store):
    """`SqliteDb`: the session is read with its runs, then the run and the session are written."""

    async def open(self, folder: Path, history: int) -> None:
        from agno.db.base import SessionType
        from agno.db.sqlite import SqliteDb
        from agno.models.message import Message
        from agno.run.agent import RunOutput
        from agno.session import AgentSession

        self.kind, self.run, self.message = SessionType.AGENT, RunOutput, Message
        self.db = SqliteDb(db_file=str(folder / "agno.db"))
        self.history = history
        self.db.upsert_session(AgentSession(session_id="1", agent_id="a", runs=[]))
        for number in range(history):
            self.db.upsert_run(self._made(-1 - number), session_id="1", run_index=number)

    def _made(self, number: int) -> object:
        messages = [self.message(**each) for each in said(number)]
        return self.run(run_id=f"r{number}", session_id="1", agent_id="a", content=ASSISTANT, messages=messages)

    async def turn(self, number: int) -> None:
        session = self.db.get_session("1", self.kind)
        made = self._made(number)
        session.upsert_run(made)
        self.db.upsert_run(made, session_id="1", run_index=self.history + number)
        self.db.upsert_session(session)


class Pickle(Store):
    """`PicklePersistence` of python-telegram-bot: everything is in memory, each change writes the whole file."""

    async def open(self, folder: Path, history: int) -> None:
        from telegram.ext import PicklePersistence

        self.kept = PicklePersistence(folder / "bot.pickle", update_interval=0)
        await self.kept.get_chat_data()
        self.messages = [message for number in range(history) for message in said(number)]

    async def turn(self, number: int) -> None:
        self.messages += said(number)
        await self.kept.update_chat_data(1, {"messages": list(self.messages)})


STORES = {"ours": Ours, "langgraph": LangGraph, "openai-agents": OpenAiAgents, "agno": Agno, "pickle": Pickle}


class Floor:
    """One row an exchange through a bare connection."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.connection.execute("CREATE TABLE turns (seq INTEGER PRIMARY KEY, said TEXT NOT NULL)")

    def turn(self, number: int) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute("INSERT INTO turns (said) VALUES (?)", (json.dumps(said(number)),))
        self.connection.execute("COMMIT")


async def measure(name: str, history: int, rounds: int, folder: Path) -> dict[str, float]:
    """Return medians in milliseconds, and how many times the floor a turn takes (the median of neighbours' ratios)."""
    store = STORES[name]()
    await store.open(folder, history)
    floor = Floor(folder / "floor.db")
    times: list[tuple[float, float]] = []
    for number in range(rounds + WARM_UP):
        began_s = time.perf_counter()
        await store.turn(number)
        stored_s = time.perf_counter()
        await store.rest()
        bare_s = time.perf_counter()
        floor.turn(number)
        times.append((stored_s - began_s, time.perf_counter() - bare_s))
    times = times[WARM_UP:]
    return {
        "turn_ms": round(1000 * statistics.median(one for one, _ in times), 3),
        "floor_ms": round(1000 * statistics.median(bare for _, bare in times), 3),
        "ratio": round(statistics.median(one / bare for one, bare in times), 2),
    }


if __name__ == "__main__":
    which, turns_before, repeats, place = sys.argv[1:]
    print(json.dumps(asyncio.run(measure(which, int(turns_before), int(repeats), Path(place)))))
