"""What the model reads, turn by turn: a person of `returning/` is told to the bot, and the prompts are printed.

    PYTHONPATH=.:tests python benchmarks/prompts.py DATA CASE [--every 5]

A keeper that answers from the labels stands behind it when `CONTINUITY_PERFECT_READER` names one. To be read line by
line: what is useless, said twice, wrong, or missing? The messages between the first and the last are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.quality.plugin_returning import ACKNOWLEDGED, Stage, stage_of

Prompt = Sequence[Mapping[str, str]]


async def prompts(case: Mapping[str, Any], stage: Stage) -> AsyncIterator[tuple[str, Prompt]]:
    """Yield what was said and what the model was given, for each message of the case."""
    for session in case["sessions"]:
        stage.clock.set(session["start"])
        await stage.read()
        for turn in session["turns"]:
            stage.clock.advance(turn["after_s"])
            await stage.read()
            await stage.say(turn["user"], turn["assistant"])
            yield turn["user"], stage.given()
    stage.clock.set(case["return_at"])
    await stage.read_all()
    for text in (case["return_message"], *(each["question"] for each in case["expect"]["callbacks"])):
        await stage.say(text, ACKNOWLEDGED)
        yield text, stage.given()
        stage.clock.advance(30)


async def show(case: Mapping[str, Any], every: int) -> None:
    """Print each `every`-th prompt of the talk, and all from the return on."""
    talk = sum(len(session["turns"]) for session in case["sessions"])
    with tempfile.TemporaryDirectory() as folder:
        async with stage_of(case, Path(folder)) as stage:
            number = 0
            async for said, given in prompts(case, stage):
                number += 1
                if number <= talk and number % every:
                    continue
                told = [each["content"] for each in given if each["role"] == "user"]
                left_out = [f"[{len(told) - 3} messages and their answers]"] if len(told) > 3 else []
                print(f"{'=' * 100}\n{number}. {said}\n", *told[:1], *left_out, *told[1:][-2:-1], sep="\n\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("case")
    parser.add_argument("--every", type=int, default=5)
    chosen = parser.parse_args()
    text = (chosen.data / "returning" / f"{chosen.case}.json").read_text(encoding="utf-8")
    asyncio.run(show(json.loads(text), chosen.every))


if __name__ == "__main__":
    main()
