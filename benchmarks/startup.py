"""Start, restart and memory beside a stock bot, in turns within one run: `python -m benchmarks.startup`.

Seconds from process start until the first poll, and after a kill until a waiting message is answered, by the clock and
of the processor, which what else runs there changes less; megabytes when idle and after 30 messages; and the same with
many sessions on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks import svg
from benchmarks.answer import UNPACED
from benchmarks.beside import OURS, STOCK, WAYS, Beside, bot, ours_over
from bot.tables import BOT_TABLES
from memory.clock import RandomIds, SystemClock
from memory.testing import open_memory

IDLE_S = 4.0
"""So long after an answer what runs behind it has come to an end."""
MESSAGES = 30
MANY_SESSIONS = 10_000
GOALS = {"start_s": 1.0, "restart_s": 1.5, "idle_mb": 130.0}


async def fill(folder: Path, sessions: int, bot_id: int) -> None:
    """Make sessions of one turn each, all of them active, as a killed process leaves them."""
    async with open_memory(
        f"sqlite:///{folder / 'continuity.db'}",
        checkpoints=folder / "checkpoints",
        clock=SystemClock(),
        ids=RandomIds(),
        max_live_sessions=sessions + 1,
        extensions=[BOT_TABLES],
    ) as memory:
        for number in range(sessions):
            turn = await memory.begin(f"tg:{bot_id}:{10_000 + number}:0", "hello", user_id=10_000 + number)
            await turn.record("Hello.")


async def starts(beside: Beside) -> dict[str, float]:
    """Start it with nothing to do and kill it; start it with a message waiting, and see when that is answered."""
    start_s = await beside.life.start()
    await beside.until_answered(beside.says())  # what is imported at the first message is compiled and cached by now
    await beside.life.kill()
    number, began_s = beside.says(), time.perf_counter()
    polled_s = await beside.life.start()
    await beside.until_answered(number)
    restart_s, cpu_s = time.perf_counter() - began_s, beside.cpu_s()
    await beside.life.kill()
    return {"start_s": min(start_s, polled_s), "restart_s": restart_s, "restart_cpu_s": cpu_s}


async def memory(beside: Beside) -> dict[str, float]:
    """Return what it holds when nobody has spoken, and after some messages."""
    await beside.life.start()
    await asyncio.sleep(IDLE_S)
    idle = beside.memory_mb()
    for _ in range(MESSAGES):
        await beside.until_answered(beside.says())
    await asyncio.sleep(IDLE_S)
    after = beside.memory_mb()
    await beside.life.kill()
    return {"idle_mb": round(idle, 1), "after_messages_mb": round(after, 1)}


async def many_sessions(folder: Path, sessions: int) -> dict[str, float]:
    """Return start and memory of ours with so many sessions on disk, all of them interrupted."""
    async with bot(OURS, folder, CONTINUITY_CHECKPOINT_DIR=str(folder / "checkpoints"), **UNPACED) as ours:
        await fill(folder, sessions, int(ours.api.token.split(":")[0]))
        start_s = await ours.life.start()
        await asyncio.sleep(IDLE_S)
        return {"sessions": sessions, "start_s": round(start_s, 2), "idle_mb": round(ours.memory_mb(), 1)}


async def main(runs: int, sessions: int) -> dict[str, Any]:
    """Take turns, so that a busy machine slows all."""
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        ours = [await opened.enter_async_context(bot(ours_over(each), folder / each, **UNPACED)) for each in WAYS]
        everybody = [*ours, await opened.enter_async_context(bot(STOCK, folder / "stock"))]
        times: dict[str, list[dict[str, float]]] = {each.name: [] for each in everybody}
        for _ in range(runs + 1):
            for each in everybody:
                times[each.name].append(await starts(each))
        figures: dict[str, dict[str, Any]] = {
            each: {key: round(statistics.median(one[key] for one in taken[1:]), 2) for key in taken[0]}
            for each, taken in times.items()
        }
        for each in everybody:
            figures[each.name] |= await memory(each)
        many = await many_sessions(folder / "many", sessions) if sessions else None
    stocks = figures["stock"]
    ratios = {each: {key: round(figures[each][key] / stocks[key], 2) for key in stocks} for each in WAYS}
    return {
        "benchmark": "start, restart, memory",
        "runs": runs,
        **figures,
        "ratios": ratios,
        "goals": GOALS,
        "many": many,
    }


def pictures(found: dict[str, Any]) -> None:
    """Draw the plots."""

    def rows(labels: dict[str, str]) -> dict[str, dict[str, float]]:
        return {label: {name: found[name][key] for name in (*WAYS, "stock")} for label, key in labels.items()}

    times = {"start → first poll": "start_s", "restart → message answered": "restart_s"}
    goals = {label: GOALS[key] for label, key in times.items()}
    svg.save("speed-start.svg", svg.bars("Start and restart", "s", rows(times), goals=goals, note="medians"))
    sizes = {"idle": "idle_mb", f"after {MESSAGES} messages": "after_messages_mb"}
    table = rows(sizes)
    if found["many"]:
        table[f"idle, {found['many']['sessions']:,} sessions"] = {"openai-chat": found["many"]["idle_mb"]}
    svg.save("speed-memory.svg", svg.bars("Memory (resident)", "MB", table, goals={"idle": GOALS["idle_mb"]}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=MANY_SESSIONS, help="0 leaves that part out")
    given = parser.parse_args()
    measured = asyncio.run(main(given.runs, given.sessions))
    pictures(measured)
    print(json.dumps(measured))
