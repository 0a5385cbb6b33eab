"""What finds cost and bring in the prompts of people who come back: counts, tokens, and the answers that stand there.

    CONTINUITY_PERFECT_READER=FILE PYTHONPATH=.:tests python benchmarks/finds_told.py DATA [--half 0]

DATA holds `returning/*.json`. Each person is told to the real bot, with the keeper that the variable names behind it.
Prints, for messages of the talk and for the questions at the return: finds and their tokens for one message, the share
of messages without any, the share of finds that a note rests on, and the questions whose answer stands in the prompt,
with the finds and without them. `--half` takes every second person: choose on one half, report both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.prompts import Prompt, prompts
from benchmarks.quality.plugin_returning import stage_of
from memory.context.packet_text import FOUND
from memory.context.tokens import TiktokenCounter

SECTION: Final = re.compile(rf"{re.escape(FOUND)}:\n(.*?)(?=\n</data)", re.DOTALL)
FIND: Final = re.compile(r"^- \w{3} \d{1,2} \w{3}[^(:]* \d\d:\d\d(?P<notes> \([^)]*#\d+)?", re.MULTILINE)
COUNTER: Final = TiktokenCounter()
Tally = dict[str, list[float]]


def has_answer(text: str, answers: Sequence[str]) -> bool:
    low = text.lower().replace("\u2019", "'")
    return any(answer.lower().replace("\u2019", "'") in low for answer in answers)


def weigh(given: Prompt, answers: Sequence[str], tally: Tally) -> None:
    """Count the finds of one prompt, and whether it holds an answer; what was said last stands behind, alone."""
    before = [str(each["content"]) for each in given[:-1]]
    section = SECTION.search(before[-1])
    found = list(FIND.finditer(section[1])) if section else []
    tally["finds"].append(len(found))
    tally["tokens"].append(COUNTER.count(section[1]) if section else 0)
    tally["none"].append(not found)
    tally["noted"].extend(bool(each["notes"]) for each in found)
    if answers:
        tally["with"].append(has_answer("\n".join(before), answers))
        tally["without"].append(has_answer("\n".join((*before[:-1], SECTION.sub("", before[-1]))), answers))


async def measure(case: Mapping[str, Any], tallies: Mapping[str, Tally]) -> None:
    """Play one person; the last prompts are those of the questions."""
    asked = case["expect"]["callbacks"]
    with tempfile.TemporaryDirectory() as folder:
        async with stage_of(case, Path(folder)) as stage:
            given = [prompt async for _, prompt in prompts(case, stage)]
    for prompt in given[: -len(asked)]:
        weigh(prompt, (), tallies["talk"])
    for prompt, question in zip(given[-len(asked) :], asked, strict=True):
        weigh(prompt, question["answer_any_of"], tallies["questions"])


def lines(tallies: Mapping[str, Tally]) -> Iterator[str]:
    for kind, tally in tallies.items():
        mean = {name: statistics.fmean(values) for name, values in tally.items() if values}
        yield (
            f"{kind} {len(tally['finds'])}: finds {mean['finds']:.2f}, tokens {mean['tokens']:.0f}, "
            f"none {mean['none']:.2f}, with notes {mean.get('noted', 0):.2f}"
            + (
                f", answers {sum(tally['with']):.0f}, without finds {sum(tally['without']):.0f}"
                if tally["with"]
                else ""
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1))
    chosen = parser.parse_args()
    files = sorted((chosen.data / "returning").glob("*.json"))
    tallies: dict[str, Tally] = {kind: defaultdict(list) for kind in ("talk", "questions")}
    for file in files if chosen.half is None else files[chosen.half :: 2]:
        asyncio.run(measure(json.loads(file.read_text(encoding="utf-8")), tallies))
    print("\n".join(lines(tallies)))


if __name__ == "__main__":
    main()
