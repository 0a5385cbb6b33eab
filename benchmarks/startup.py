"""Seconds from process start until the bot polls, with many sessions on disk: `python benchmarks/startup.py`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bot.playground.server import LoopbackBotApi
from bot.tables import BOT_TABLES
from memory.clock import RandomIds, SystemClock
from memory.testing import open_memory


async def fill(database: Path, checkpoints: Path, sessions: int, bot_id: int) -> None:
    """Make sessions of one turn each, all of them active, as a killed process leaves them."""
    clock = SystemClock()
    async with open_memory(
        f"sqlite:///{database}",
        checkpoints=checkpoints,
        clock=clock,
        ids=RandomIds(),
        max_live_sessions=sessions + 1,
        extensions=[BOT_TABLES],
    ) as memory:
        for number in range(sessions):
            turn = await memory.begin(f"tg:{bot_id}:{10_000 + number}:0", "hello", user_id=10_000 + number)
            await turn.record("Hello.")


async def ready_s(api: LoopbackBotApi, env: dict[str, str], folder: Path) -> float:
    """Start the bot; return the seconds until its first getUpdates arrives."""
    polls, started = api.poll_count, time.perf_counter()
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run", cwd=folder, env=env, stderr=asyncio.subprocess.DEVNULL
    )
    await api.until(lambda: api.poll_count > polls, 60)
    took = time.perf_counter() - started
    child.kill()
    await child.wait()
    return took


async def main(sizes: list[int], runs: int) -> dict[str, object]:
    figures: dict[str, object] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            async with LoopbackBotApi() as api:
                await fill(folder / "c.db", folder / "checkpoints", size, int(api.token.split(":")[0]))
                env = os.environ | {
                    "TELEGRAM_BOT_TOKEN": api.token,
                    "TELEGRAM_API_URL": api.url,
                    "CONTINUITY_DATABASE_URL": f"sqlite:///{folder / 'c.db'}",
                    "CONTINUITY_CHECKPOINT_DIR": str(folder / "checkpoints"),
                    "CONTINUITY_ALLOWED_USERS": "*",
                    "CONTINUITY_MODEL": "openai-chat:none",
                    "OPENAI_API_KEY": "none",
                }
                times = [await ready_s(api, env, folder) for _ in range(runs)]
        figures[f"{size} sessions"] = {"median_s": round(statistics.median(times), 2), "max_s": round(max(times), 2)}
    return {"benchmark": "startup", "goal_s": 2.0, **figures}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 1000])
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(main(arguments.sizes, arguments.runs))))
