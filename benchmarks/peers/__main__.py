"""Kill several assistants under the same traffic and print a table: `python -m benchmarks.peers --help`."""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.peers.setups import SETUPS, Setup
from benchmarks.peers.traffic import Outcome, Plan, run

PACES = {"quick": 0.5, "slow": 4.0}
"""Seconds from the first to the last word of the model."""
ROWS = (
    ("messages lost", "lost"),
    ("answers cut off on the screen", "cut_off"),
    ("answers shown twice", "repeated"),
    ("answered without the message before", "forgot"),
    ("extra notices", "notices"),
    ("model calls", "model_calls"),
    ("kills (while somebody waited)", "kills"),
)


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", default=",".join(SETUPS), help="names, separated by commas (default: all)")
    parser.add_argument("--seeds", default="1,2,3", help="one run for each (default: 1,2,3)")
    parser.add_argument("--paces", default="quick,slow", help="quick (0.5 s an answer) and slow (4 s)")
    parser.add_argument("--install", action="store_true", help="download what is missing first")
    parser.add_argument("--out", type=Path, help="add each outcome to this file, as a line of JSON")
    parser.add_argument("--table", type=Path, help="run nothing, print the table of such a file")
    wanted = parser.parse_args(arguments)
    unknown = {*wanted.only.split(",")} - {*SETUPS}
    if unknown:
        parser.error(f"--only knows {', '.join(SETUPS)}, not {', '.join(sorted(unknown))}")
    return wanted


def ready(names: Sequence[str], *, install: bool) -> Iterator[Setup]:
    """Return what can be started; say what cannot, and why."""
    for name in names:
        setup = SETUPS[name]
        if install and not setup.is_there():
            try:
                setup.install()
            except OSError as exc:
                print(f"{name}: not installed ({exc})", file=sys.stderr)
        if setup.is_there():
            yield setup
        else:
            print(f"{name}: not here, so left out; `make bench-peers` downloads it", file=sys.stderr)


async def outcomes(setups: Sequence[Setup], seeds: Sequence[int], paces: Sequence[str]) -> AsyncIterator[Outcome]:
    """Run every assistant through every plan, one after the other."""
    for pace in paces:
        for seed in seeds:
            for setup in setups:
                plan = replace(Plan(seed), pace_s=PACES[pace])
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                    yield await run(setup, plan, Path(folder))


def table(found: Sequence[dict]) -> str:
    """Return the outcomes as a table in Markdown: sums over the seeds, quick / slow; and the median start."""
    names = [name for name in SETUPS if any(each["name"] == name for each in found)]
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {label} | " + " | ".join(_cell(found, name, key) for name in names) + " |" for label, key in ROWS]
    boots = [_boots(found, name) for name in names]
    return "\n".join([*lines, "| start → first poll, median s | " + " | ".join(boots) + " |"])


def _boots(found: Sequence[dict], name: str) -> str:
    medians = [each["boot_median_s"] for each in found if each["name"] == name and each["boot_median_s"]]
    return f"{statistics.median(medians):.1f}" if medians else "-"


def _cell(found: Sequence[dict], name: str, key: str) -> str:
    cells = []
    for pace_s in PACES.values():
        mine = [each for each in found if each["name"] == name and each["plan"]["pace_s"] == pace_s]
        if not mine:
            cells.append("-")
            continue
        total = sum(each[key] for each in mine)
        said, at_work = sum(each["said"] for each in mine), sum(each["kills_at_work"] for each in mine)
        beside = f" of {said}" if key == "lost" else f" ({at_work})" if key == "kills" else ""
        cells.append(f"{total}{beside}{' *' * any(each['failed'] for each in mine)}")
    return " / ".join(cells)


async def main(wanted: argparse.Namespace) -> None:
    """Run, and print each outcome as it comes and the table in the end."""
    if wanted.table:
        print(table([json.loads(line) for line in wanted.table.read_text(encoding="utf-8").splitlines()]))
        return
    setups = list(ready(wanted.only.split(","), install=wanted.install))
    seeds = [int(seed) for seed in wanted.seeds.split(",")]
    found = []
    async for outcome in outcomes(setups, seeds, wanted.paces.split(",")):
        found.append(outcome.as_json())
        print(json.dumps(found[-1]), flush=True)
        if wanted.out:
            with wanted.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found[-1]) + "\n")
    print(f"\n{platform.python_implementation()} {platform.python_version()}, {platform.platform()}\n\n{table(found)}")


if __name__ == "__main__":
    asyncio.run(main(options()))
