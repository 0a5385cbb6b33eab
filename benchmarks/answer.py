"""Message to final text beside a stock bot, in turns within one run: `python -m benchmarks.answer [--rounds 60]`."""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import svg
from benchmarks.beside import OURS, STOCK, Beside, bot, ratio

WARM_UP = 8
GOAL_RATIO = 1.5
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
    """Talk to both in turn; a pause between lets each bring its work behind the reply to an end."""
    times: dict[str, list[dict[str, float]]] = {"ours": [], "stock": []}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        async with bot(OURS, Path(name) / "ours", **UNPACED) as ours, bot(STOCK, Path(name) / "stock") as stock:
            for each in (ours, stock):
                await each.life.start()
            before = {}
            for number in range(rounds + WARM_UP):
                if number == WARM_UP:
                    before = {each.name: each.cpu_s() for each in (ours, stock)}
                for each in (ours, stock):
                    took = await one(each)
                    await asyncio.sleep(0.05)
                    if number >= WARM_UP:
                        times[each.name].append(took)
            cpu = {each.name: (each.cpu_s() - before[each.name]) / rounds for each in (ours, stock)}
    figures: dict[str, dict[str, Any]] = {
        each: summary(taken) | {"cpu_ms": round(cpu[each] * 1000, 1)} for each, taken in times.items()
    }
    return {
        "benchmark": "message to final text, model without delay",
        "rounds": rounds,
        **figures,
        "ratio": ratio(figures, "all_ms"),
        "cpu_ratio": ratio(figures, "cpu_ms"),
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
    rows = {label: {name: found[name][key] for name in ("ours", "stock")} for label, key in stages.items()}
    goal = {"message → final text": found["stock"]["all_ms"] * GOAL_RATIO}
    return svg.bars("Message to final text", "ms", rows, goals=goal, note="medians; a model that answers at once")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    measured = asyncio.run(main(parser.parse_args().rounds))
    svg.save("speed-answer.svg", picture(measured))
    print(json.dumps(measured))
