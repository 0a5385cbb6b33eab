"""What a durable turn costs: the recorder against bare SQLite, group commit, one cold hydration. Prints JSON.

    python benchmarks/turns.py [--rounds 300] [--folder DIR]

The floor is the same rows in one sqlite3 transaction (WAL, synchronous=FULL); it and the recorder take turns within
one run, so that a busy machine slows both. Where an fsync costs 1 ms, a turn takes its processor time and 1 ms more:
`ratio_at_1_ms`, which neither the disk nor other programs change. `--folder` names a place on the disk that is to be
measured.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory.opening import ConversationMemory
from memory.packets import ConversationContextPacket, TierReceipt
from memory.ports import Statement
from memory.sessions.exchange import Exchange
from memory.state import state_manager
from memory.storage.migrate import migrate
from memory.storage.named_queries import QUERY_FILES, load_queries
from memory.storage.sqlite.connection import secure
from memory.storage.store import insert_session, point_conversation, snapshot_row, update_session
from memory.storage.turn_rows import insert_turn, turn_digest
from memory.testing import START_MS, make_exchange, make_state, make_turn, open_memory, start_memory

HISTORIES = (10, 1_000, 10_000)
SIDE_BY_SIDE = (1, 8, 64, 256)
TIERS = ("history", "summary", "retrieved", "today", "threads", "last_conversation")
USER = "Could you look at the budget for the trip to Rome in May? We said 900 euros, but the hotel alone is 540 now."
ASSISTANT = (
    "With the hotel at 540 euros, 360 are left for three days. I suggest 120 a day: 60 for food, 30 for museums, 20 "
    "for the train and 10 in reserve. The Borghese gallery has to be booked ahead. Shall I put that on the list?"
)


TIMES = ("recorder", "floor", "reading", "without_reading", "recorder_cpu", "floor_cpu")
FSYNC_MS = 1.0
"""What an fsync costs on an ordinary disk; both sides wait for one."""


def said(session_id: str, number: int, conversation_id: str = "tg:1:1:0") -> Exchange:
    turn_id = f"t_{session_id}_{number}"
    return make_exchange(
        number, turn_id=turn_id, session_id=session_id, conversation_id=conversation_id,
        user_text=f"{USER} ({number})", assistant_text=ASSISTANT, model="bench", input_tokens=900, output_tokens=80,
    )  # fmt: skip


def packet(session_id: str) -> ConversationContextPacket:
    return ConversationContextPacket(
        conversation_id="tg:1:1:0", session_id=session_id, session_status="active", context_compiled_at_ms=START_MS,
        receipts=tuple(TierReceipt(tier=tier, budget_tokens=900, used_tokens=300, items=3) for tier in TIERS),
    )  # fmt: skip


async def with_history(folder: Path, turns: int) -> tuple[ConversationMemory, str]:
    """Return a memory with one session of so many turns."""
    memory = await start_memory(folder)
    rows: list[Statement] = []
    digest = ""
    for seq in range(1, turns + 1):
        turn = make_turn(seq=seq, turn_id=f"h_{seq}", user_text=f"{USER} ({seq})", assistant_text=ASSISTANT)
        digest = turn_digest(digest, turn)
        rows.append(insert_turn(turn, digest))
    state = make_state(
        turn_count=turns, last_seq=turns, last_turn_id=f"h_{turns}", last_turn_digest=digest,
        last_turn_at_ms=START_MS + turns, summarized_through_seq=turns,
    )  # fmt: skip
    rows.append(insert_session(state, user_id=7, origin="first", created_at_ms=START_MS, title="Rome"))
    rows.append(point_conversation("tg:1:1:0", "s_1", START_MS))
    for start in range(0, len(rows), 500):
        await memory.db.write(*rows[start : start + 500])
    return memory, "s_1"


class Floor:
    """The same rows of the same history through a bare connection."""

    def __init__(self, database: Path) -> None:
        self.queries = load_queries(QUERY_FILES)
        self.connection = sqlite3.connect(database, isolation_level=None, cached_statements=256)
        secure(self.connection, database)  # without the digests of rows, which are the recorder's own

    def store(self, statements: list[Statement]) -> None:
        """Run them as one transaction."""
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        for statement in statements:
            execute(self.queries[statement.name], statement.params)  # type: ignore[arg-type]
        execute("COMMIT")


class Reading:
    """Stands in for the pure part of a turn (what the text means, the fold) and times it where it really happens."""

    def __init__(self, memory: ConversationMemory) -> None:
        self.spent_s = 0.0
        self.state: Any = None
        self._fold = memory.hydrator.fold
        self._read_turn = state_manager.read_turn
        memory.hydrator.fold = self  # type: ignore[assignment]
        state_manager.read_turn = self.read_turn

    def read_turn(self, *args: Any, **named: Any) -> Any:
        """Time `state_manager.read_turn`."""
        elapsed, signs = timed(lambda: self._read_turn(*args, **named))
        self.spent_s = elapsed
        return signs

    def advance(self, *args: Any) -> Any:
        """Time `Fold.advance`."""
        elapsed, self.state = timed(lambda: self._fold.advance(*args))
        self.spent_s += elapsed
        return self.state

    def close(self) -> None:
        """Put the real function back."""
        state_manager.read_turn = self._read_turn


async def durable_turn(folder: Path, turns: int, rounds: int) -> dict[str, Any]:
    """Time one turn of the recorder and the same rows at the floor, one after the other, again and again."""
    memory, session_id = await with_history(folder / "recorder", turns)
    await memory.db.backup_to(folder / "floor.db")
    floor, reading = Floor(folder / "floor.db"), Reading(memory)
    times: dict[str, list[float]] = {name: [] for name in TIMES}
    for number in range(rounds + 20):
        exchange, shown = said(session_id, number), packet(session_id)
        before = await memory.recorder.session(session_id)
        gc.disable()
        started, busy = time.perf_counter(), time.process_time()
        turn = await memory.recorder.record(exchange, shown)
        recorded, recorded_cpu = time.perf_counter() - started, time.process_time() - busy
        gc.enable()
        await memory.recorder.settle()
        rows = [
            insert_turn(
                turn, turn_digest(before.last_turn_digest, turn), model="bench", input_tokens=900, output_tokens=80
            ),
            snapshot_row(shown, turn.turn_id),
            update_session(reading.state, version=number + 1, title="Trip to Rome", at_ms=START_MS),
        ]
        busy = time.process_time()
        bare, _ = timed(lambda: floor.store(rows))  # noqa: B023 - called at once
        bare_cpu = time.process_time() - busy
        if number >= 20:  # the first ones warm caches
            spent = (recorded, bare, reading.spent_s, recorded - reading.spent_s, recorded_cpu, bare_cpu)
            for values, value in zip(times.values(), spent, strict=True):
                values.append(value * 1000)
    reading.close()
    floor.connection.close()
    await memory.close()
    return summary(turns, times)


def summary(turns: int, times: dict[str, list[float]]) -> dict[str, Any]:
    """Return medians and ratios; the lower quartile is what remains when other programs use the machine too."""
    middle = {name: statistics.median(values) for name, values in times.items()}
    quarter = {name: statistics.quantiles(values, n=4)[0] for name, values in times.items()}
    figures = {f"{name}_ms": round(value, 3) for name, value in middle.items()}
    return {
        "history": turns,
        **figures,
        "ratio": round(middle["recorder"] / middle["floor"], 2),
        "ratio_at_1_ms": round((middle["recorder_cpu"] + FSYNC_MS) / (middle["floor_cpu"] + FSYNC_MS), 2),
        "ratio_without_reading": round(middle["without_reading"] / middle["floor"], 2),
        "ratio_without_reading_lower_quartile": round(quarter["without_reading"] / quarter["floor"], 2),
        "recorder_p95_ms": round(statistics.quantiles(times["recorder"], n=20)[-1], 3),
        "floor_p95_ms": round(statistics.quantiles(times["floor"], n=20)[-1], 3),
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.disable()
    started = time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - started
    gc.enable()
    return elapsed, result


async def side_by_side(folder: Path, conversations: int, turns: int) -> dict[str, float]:
    """Return turns per second: through the recorder, and of the same rows through the database alone."""
    async with open_memory(folder, max_live_sessions=512) as memory:
        keys = [f"tg:1:{n}:0" for n in range(conversations)]
        opened = await asyncio.gather(*(memory.recorder.open_session(key, 7, "first") for key in keys))
        each = max(1, turns // conversations)

        async def talk(session_id: str, key: str) -> None:
            for number in range(each):
                await memory.recorder.record(said(session_id, number, key), packet(session_id))

        async def write(rows: list[tuple[Statement, ...]]) -> None:
            for statements in rows:
                await memory.db.write(*statements)

        recorded = await rate(each, [talk(state.session_id, key) for state, key in zip(opened, keys, strict=True)])
        await memory.recorder.settle()
        prepared = [await same_rows(memory, state.session_id, each) for state in opened]
        written = await rate(each, [write(rows) for rows in prepared])
        return {"recorder_turns_per_s": recorded, "database_turns_per_s": written}


async def same_rows(memory: ConversationMemory, session_id: str, turns: int) -> list[tuple[Statement, ...]]:
    """Return the statements of further turns of a session, ready to be written."""
    row = await memory.store.session(session_id)
    assert row
    state, shown = await memory.recorder.session(session_id), packet(session_id)
    rows = []
    for number in range(turns):
        turn = make_turn(
            seq=number + 1_000_000, turn_id=f"w_{session_id}_{number}", session_id=session_id, user_text=USER,
            assistant_text=ASSISTANT,
        )  # fmt: skip
        update = update_session(state, version=row.version + number, title="", at_ms=1)
        rows.append((insert_turn(turn, "d"), snapshot_row(shown, turn.turn_id), update))
    return rows


async def rate(each: int, work: list[Any]) -> float:
    started = time.perf_counter()
    await asyncio.gather(*work)
    return round(each * len(work) / (time.perf_counter() - started), 1)


async def cold_hydration(folder: Path, turns: int) -> dict[str, Any]:
    """Return how long one session takes with nothing in memory, from its checkpoint and from its row."""
    memory, session_id = await with_history(folder, turns)
    for number in range(15):
        await memory.recorder.record(said(session_id, number), packet(session_id))
    await memory.close()
    found: dict[str, Any] = {"history": turns}
    for source in ("checkpoint", "row"):
        times = []
        for _ in range(15):
            async with open_memory(folder) as memory:
                if source == "row":
                    memory.checkpoints.path(session_id).unlink()
                started = time.perf_counter()
                await memory.hydrator.hydrate(session_id)
                times.append((time.perf_counter() - started) * 1000)
        found[f"from_{source}_ms"] = round(statistics.median(times), 2)
        found[f"from_{source}_max_ms"] = round(max(times), 2)
    return found


async def start_survey(folder: Path, sessions: int) -> dict[str, Any]:
    """Return how long the look around at start takes with so many sessions on disk, one in ten of them interrupted."""
    async with open_memory(folder) as memory:
        memory.checkpoints.folder.mkdir(exist_ok=True)
        rows = []
        for number in range(sessions):
            state = make_state(session_id=f"s_{number}", status="shutdown_clean" if number % 10 else "active")
            rows.append(insert_session(state, user_id=7, origin="first", created_at_ms=START_MS))
            memory.checkpoints.path(state.session_id).write_bytes(b"{}")
        for start in range(0, len(rows), 500):
            await memory.db.write(*rows[start : start + 500])
        started = time.perf_counter()
        survey = await memory.hydrator.survey()
        elapsed = time.perf_counter() - started
        return {"sessions": sessions, "survey_ms": round(elapsed * 1000, 1), "resuming": survey.resuming}


async def only_turns(folder: Path, turns: int) -> None:
    """Record so many turns one by one; what is run under strace."""
    async with open_memory(folder) as memory:
        opened = await memory.recorder.open_session("tg:1:1:0", 7, "first")
        for number in range(turns):
            await memory.recorder.record(said(opened.session_id, number), packet(opened.session_id))
            await memory.recorder.settle()


def syncs_and_bytes(folder: Path, turns: int = 50) -> dict[str, Any]:
    """Count fsyncs per turn under strace and the bytes that a turn leaves; the index is a commit behind the reply."""
    counts: dict[str, int] = {}
    for label, number in (("none", 1), ("some", turns + 1)):
        place, trace = folder / label, folder / f"{label}.trace"
        child = [sys.executable, __file__, "--only-turns", str(number), "--folder", str(place)]
        if shutil.which("strace"):
            child = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,pwrite64", "-o", str(trace), *child]
        subprocess.run(child, check=True)  # noqa: S603 - this very file
        lines = trace.read_text().splitlines() if trace.exists() else []
        counts[f"{label}_wal"] = sum("sync(" in line and "-wal>" in line for line in lines)
        counts[f"{label}_bytes"] = sum(
            int(line.rsplit("= ", 1)[1].split()[0]) for line in lines if "pwrite64(" in line and "-wal>" in line
        )
        counts[f"{label}_checkpoint"] = sum("sync(" in line and "checkpoints" in line for line in lines)
    checkpoint = next((folder / "some" / "checkpoints").glob("*.json")).stat().st_size
    return {
        "database_syncs_per_turn": (counts["some_wal"] - counts["none_wal"]) / turns,
        "checkpoint_syncs_per_turn": (counts["some_checkpoint"] - counts["none_checkpoint"]) / turns,
        "wal_bytes_written_per_turn": round((counts["some_bytes"] - counts["none_bytes"]) / turns),
        "database_bytes_per_turn": round(file_bytes(folder) / turns),
        "checkpoint_bytes": checkpoint,
    }


def file_bytes(folder: Path) -> int:
    empty = folder / "empty.db"
    migrate(empty)
    return (folder / "some" / "continuity.db").stat().st_size - empty.stat().st_size


async def main(folder: Path, rounds: int) -> dict[str, Any]:
    turns = [await durable_turn(folder / f"turns-{count}", count, rounds) for count in HISTORIES]
    groups = {count: await side_by_side(folder / f"group-{count}", count, 1024) for count in SIDE_BY_SIDE}
    one = groups[1]
    for figures in groups.values():
        figures["recorder_gain"] = round(figures["recorder_turns_per_s"] / one["recorder_turns_per_s"], 1)
        figures["database_gain"] = round(figures["database_turns_per_s"] / one["database_turns_per_s"], 1)
    hydrations = [await cold_hydration(folder / f"cold-{count}", count) for count in HISTORIES]
    starts = [await start_survey(folder / f"start-{count}", count) for count in (1_000, 10_000)]
    return {"durable_turn": turns, "side_by_side": groups, "cold_hydration": hydrations, "start": starts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only-turns", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_turns:
        asyncio.run(only_turns(options.folder, options.only_turns))
    else:
        with tempfile.TemporaryDirectory(dir=options.folder) as place:
            figures = asyncio.run(main(Path(place), options.rounds)) | {"disk": syncs_and_bytes(Path(place))}
        print(json.dumps(figures, indent=2))
