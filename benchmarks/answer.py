"""Message to final text beside a stock bot, in turns within one run: `python -m benchmarks.answer [--rounds 60]`."""

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
from benchmarks.beside import STOCK, WAYS, Beside, bot, ours_over

WARM_UP = 8
GOAL_RATIO = 1.3
UNPACED = {"CONTINUITY_SEND_GAP_MS": "0"}
"""Messages follow each other quicker than Telegram allows here; stock keeps to no pace either."""


async def one(beside: Beside) -> dict[str, float]:
    """Say something; return the milliseconds until the model was asked, after it had answered, and in all."""
    began_s = time.perf_counter()
    await beside.until_answered(beside.says())
    ended_s = time.perf_counter()
    model = beside.model
    return {
        "before_the_model_ms": (model.asked_at_s - began_s) * 1000,
        "after_the_model_ms": (ended_s - model.answered_at_s) * 1000,
        "all_ms": (ended_s - began_s) * 1000,
    }


def summary(times: list[dict[str, float]]) -> dict[str, float]:
    """Return medians and the slowest of twenty."""
    middle = {key: round(statistics.median(each[key] for each in times), 1) for key in times[0]}
    slow = statistics.quantiles([each["all_ms"] for each in times], n=20)[-1]
    return middle | {"all_p95_ms": round(slow, 1)}


async def main(rounds: int) -> dict[str, Any]:
    """Talk to all in turn; a pause between lets each bring its work behind the reply to an end."""
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        stock = await opened.enter_async_context(bot(STOCK, folder / "stock"))
        ours = [await opened.enter_async_context(bot(ours_over(each), folder / each, **UNPACED)) for each in WAYS]
        everybody = [*ours, stock]
        times: dict[str, list[dict[str, float]]] = {each.name: [] for each in everybody}
        for each in everybody:
            await each.life.start()
        before = {}
        for number in range(rounds + WARM_UP):
            if number == WARM_UP:
                before = {each.name: each.cpu_s() for each in everybody}
            for each in everybody:
                took = await one(each)
                await asyncio.sleep(0.05)
                if number >= WARM_UP:
                    times[each.name].append(took)
        cpu = {each.name: (each.cpu_s() - before[each.name]) / rounds for each in everybody}
    figures: dict[str, dict[str, Any]] = {
        each: summary(taken) | {"cpu_ms": round(cpu[each] * 1000, 1)} for each, taken in times.items()
    }
    stocks = figures["stock"]
    return {
        "benchmark": "message to final text, model without delay",
        "rounds": rounds,
        **figures,
        "ratios": {each: round(figures[each]["all_ms"] / stocks["all_ms"], 2) for each in WAYS},
        "cpu_ratios": {each: round(figures[each]["cpu_ms"] / stocks["cpu_ms"], 2) for each in WAYS},
        "goal_ratio": GOAL_RATIO,
    }


def picture(found: dict[str, Any]) -> str:
    """Return the plot."""
    stages = {
        "message → final text": "all_ms",
        "before the model is asked": "before_the_model_ms",
        "after its last byte": "after_the_model_ms",
        "processor time, all of it": "cpu_ms",
    }
    rows = {label: {name: found[name][key] for name in (*WAYS, "stock")} for label, key in stages.items()}
    goal = {"message → final text": found["stock"]["all_ms"] * GOAL_RATIO}
    return svg.bars("Message to final text", "ms", rows, goals=goal, note="medians; a model that answers at once")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    measured = asyncio.run(main(parser.parse_args().rounds))
    svg.save("speed-answer.svg", picture(measured))
    print(json.dumps(measured))
