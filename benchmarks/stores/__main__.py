"""A durable turn beside other stores: `python -m benchmarks.stores [--install] [--rounds 60]`; prints JSON, draws.

The others are downloaded into `.peers/stores` by `--install` and left out where they are not there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import svg
from benchmarks.peers.setups import PLACE, ROOT

KEEP = Path(__file__).with_name("keep.py")
ENVIRONMENT = PLACE / "stores"
PACKAGES = (
    "agno==3.1.10",
    "greenlet",
    "langgraph-checkpoint-sqlite==3.1.2",
    "openai-agents==0.24.0",
    "python-telegram-bot==22.8",
    "sqlalchemy",
)
HISTORIES = (10, 1_000, 10_000)
OTHERS = {
    "langgraph": "langgraph-checkpoint-sqlite",
    "openai-agents": "openai-agents SQLiteSession",
    "agno": "agno SqliteDb",
    "pickle": "PicklePersistence",
}
SECONDS = 600
"""A store that takes longer for one history is left out of it."""


def install() -> None:
    """Download the others. Raises `subprocess.CalledProcessError` when the registry does not give one."""
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)  # noqa: S603 - words of ours
    subprocess.run([str(ENVIRONMENT / "bin" / "pip"), "install", "--quiet", *PACKAGES], check=True)  # noqa: S603 - words of ours


def measure(name: str, history: int, rounds: int) -> dict[str, float]:
    """Return the figures of one store, measured in a process of its own."""
    python = sys.executable if name == "ours" else str(ENVIRONMENT / "bin" / "python")
    paths = os.environ | {"PYTHONPATH": str(ROOT) if name == "ours" else "", "AGNO_TELEMETRY": "false"}
    with tempfile.TemporaryDirectory() as folder:
        words = [python, str(KEEP), name, str(history), str(rounds), folder]
        done = subprocess.run(words, check=True, capture_output=True, text=True, env=paths, timeout=SECONDS)  # noqa: S603 - words of ours
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def picture(figures: dict[str, dict[int, dict[str, Any]]]) -> str:
    """Return the plot: what a turn takes over the length of the conversation."""
    series = {name: [(turns, each["turn_ms"]) for turns, each in found.items()] for name, found in figures.items()}
    return svg.lines(
        "A durable turn", "ms", series, along="turns in the conversation",
        note="medians; read back what the next prompt is made of, store the exchange",
    )  # fmt: skip


def main() -> None:
    """Measure all that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="download the other stores first")
    parser.add_argument("--rounds", type=int, default=60)
    asked = parser.parse_args()
    if asked.install:
        install()
    names = ["ours", *(OTHERS if ENVIRONMENT.exists() else ())]
    figures = {
        OTHERS.get(name, name): {history: measure(name, history, asked.rounds) for history in HISTORIES}
        for name in names
    }
    if len(names) > 1:
        svg.save("speed-stores.svg", picture(figures))
    grows = {
        name: round(found[HISTORIES[-1]]["turn_ms"] / found[HISTORIES[0]]["turn_ms"], 1)
        for name, found in figures.items()
    }
    print(
        json.dumps({"benchmark": "durable turn beside other stores", "rounds": asked.rounds, **figures, "grows": grows})
    )


if __name__ == "__main__":
    main()
