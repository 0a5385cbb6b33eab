"""How long one person's flood lets another wait: `python -m benchmarks.floods [--rounds 3]`.

The bot runs in a process of its own (`benchmarks/slices.py`). One person sends 3,000 tiny messages, or taps 2,000 times
on buttons that nobody knows, or on one that is used up, or pastes 500 messages of 4,096 letters; the moment they all
wait at Telegram, somebody else speaks, five times and until the pile is answered. What counts is the longest wait for
an answer; goal: 2 s. With a model that answers at once and without one. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.answer import UNPACED
from benchmarks.beside import OURS, Beside, bot
from benchmarks.lag import exchange, longest, made, noting, taken

FLOODER, OTHER = 7_000_001, 7_000_002
GOAL_S = 2.0
SAID = 5
"""So often somebody else speaks, from the moment on in which the flood waits at Telegram; the longest wait counts."""
LETTERS = "the quick brown fox jumps over the lazy dog and "


def tiny(ours: Beside) -> None:
    """Send 3,000 messages of a few letters."""
    for number in range(3_000):
        ours.api.people.says(FLOODER, f"m {number}")


def taps(ours: Beside, data: Callable[[int], str], count: int = 2_000) -> None:
    """Tap so often, on buttons with these data."""
    message = next(iter(ours.api.world.chats[FLOODER].messages.values())).message
    who = ours.api.world.users[FLOODER]
    for number in range(count):
        query = {"id": f"q{number}", "from": who, "message": message, "chat_instance": "1", "data": data(number)}
        ours.api.updates.add({"callback_query": query})
    ours.api.world.changed()


def unknown_taps(ours: Beside) -> None:
    """Tap on 2,000 buttons that nobody knows."""
    taps(ours, lambda number: f"b_{number:026d}")


def pile(ours: Beside) -> None:
    """Paste 500 messages of Telegram's full length."""
    text = (LETTERS * 100)[:4096]
    for _ in range(500):
        ours.api.people.says(FLOODER, text)


FLOODS = {"3,000 tiny messages": tiny, "2,000 unknown taps": unknown_taps, "500 full messages": pile}


async def one(folder: Path, flood: Callable[[Beside], None], env: dict[str, str]) -> dict[str, Any]:
    """Flood a fresh bot and return how long somebody else waited, and the longest step of its loop."""
    notes = made(folder)
    async with bot(noting(OURS, notes), folder, **UNPACED, **env) as ours:
        await ours.life.start()
        for person in (FLOODER, OTHER, FLOODER):
            await exchange(ours, person, "My sister Anna comes on Friday.")
        await asyncio.sleep(1.0)
        begin = len(notes.read_text(encoding="utf-8").splitlines())
        flood(ours)
        answers = len(ours.api.texts(FLOODER))
        waits = [await exchange(ours, OTHER, "My dog is called Rex.") for _ in range(SAID)]
        while flood is pile and len(ours.api.texts(FLOODER)) == answers:
            waits.append(await exchange(ours, OTHER, "My dog is called Rex."))
        return {"wait_s": round(max(waits), 2), "longest_step": longest(taken(notes, begin))}


async def main(rounds: int, only: str = "") -> dict[str, Any]:
    """Measure all."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        for way, env in (("with a model", {}), ("without one", {"CONTINUITY_MODEL": ""})):
            for kind, flood in FLOODS.items():
                if only not in f"{kind}, {way}":
                    continue
                made_of = [await one(Path(name) / f"{way} {kind} {n}", flood, env) for n in range(rounds)]
                waits = [each["wait_s"] for each in made_of]
                step = max((each["longest_step"] for each in made_of), key=lambda step: step["wall_ms"])
                row = {"wait_s": statistics.median(waits), "worst_s": max(waits), "longest_step": step}
                found[f"{kind}, {way}"] = row
    return {"benchmark": "seconds that another person waits during a flood", "goal_s": GOAL_S, "floods": found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="floods and ways whose names hold this")
    given = parser.parse_args()
    print(json.dumps(asyncio.run(main(given.rounds, given.only)), indent=1))
