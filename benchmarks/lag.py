"""How long one message holds up everybody else, and how many at once wait: `python -m benchmarks.lag [--chats 64]`.

The bot runs in a process of its own whose event loop notes the processor time of each step (`benchmarks/slices.py`).
First somebody sends 4,096 characters of each kind that makes rules slow, with a model and without one; then so many
people talk as quickly as they are answered. Of each the longest step counts; goals: 50 ms for any text, 20 ms under
load. Last so many people write at once to a bot that keeps to Telegram's pace of 30 messages a second: how long it
takes until all are answered, against that pace alone; goal 1.2. Prints JSON, draws two plots.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import svg
from benchmarks.answer import UNPACED
from benchmarks.beside import OURS, Beside, bot
from benchmarks.peers.setups import Command, Setup, World
from benchmarks.peers.traffic import FIRST_PERSON, name_of
from bot.delivery.rate_limit import TOTAL_PER_SECOND

HERE = Path(__file__).parent
CHARS = 4_096
"""What Telegram takes as one message."""
WARM_UP = 3
TALK = 8
"""How often each of many people writes, one after the other."""
GOALS = {"any text": 50.0, "under load": 20.0, "against the pace": 1.2}
ROUNDS = 6
"""How often all write at once; the first time each of them is met for the first time."""
UNITS = {
    "one letter": "x",
    "words": "word ",
    "numbers": "1 2 3 ",
    "dates": "2026-11-21 ",
    "times": "12:30 ",
    "broken dates": "1/1/",
    "months": "jan 1 monday ",
    "spans": "in 5 days ",
    "promises": "i need to ",
    "requests": "could you please ",
    "questions": "? ",
    "full stops": ". ",
    "short sentences": "I must. ",
    "lines": "\n- do it",
    "fences": "```",
    "back quotes": "`",
    "stars": "*_~|",
    "brackets": "[a](b) ((",
    "links": "http://a.b/",
    "addresses": "@a #b /c ",
    "apostrophes": "l'a'b' ",
    "names": "Anna Berg und ",
    "abbreviations": "Dr. Mr. St. ",
    "corrections": "not 5 but 6, actually 7 instead of 8, ",
    "lists": "the first one and the second one are done, ",
    "remind": "remind me tomorrow at 5 to remind me ",
    "remind in German": "erinnere mich morgen um 5 daran dass ",
    "Spanish": "recuérdame mañana que tengo que ",
    "French": "rappelle-moi demain que je dois ",
    "Italian": "ricordami domani che devo ",
    "Portuguese": "lembra-me amanhã de que tenho de ",
    "Russian": "напомни мне завтра что я должен ",
    "Chinese": "我明天必须去",
    "Thai": "ฉันต้องไป",
    "emoji": "👩\u200d👩\u200d👧",
    "accents": "e\u0301\u0302\u0303",
    "hidden letters": "\U000e0041",
    "zero width": "a\u200b",
    "white space": "a \u00a0\t ",
    "right to left": "אני צריך ",
}
"""What rules, regular expressions and libraries may choke on."""


def noting(setup: Setup, notes: Path) -> Setup:
    """Return the setup with an event loop that notes long steps."""

    def command(world: World) -> Command:
        _, env = setup.command(world)
        return [sys.executable, str(HERE / "slices.py")], env | {"SLICES": str(notes)}

    return replace(setup, command=command)


def made(folder: Path) -> Path:
    """Make a folder for a bot and return the file of its long steps."""
    folder.mkdir()
    notes = folder / "slices.jsonl"
    notes.touch()
    return notes


def taken(notes: Path, begin: int) -> list[dict[str, Any]]:
    """Return the long steps noted since a place in the file."""
    return [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()[begin:]]


def longest(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the step with the most processor time."""
    return max(steps, key=lambda step: step["cpu_ms"], default={"cpu_ms": 0.0, "wall_ms": 0.0, "what": ""})


async def hostile(folder: Path, *, model: bool) -> dict[str, dict[str, Any]]:
    """Send every text and return the longest step that each caused, with all that runs behind the reply."""
    notes = made(folder)
    env = UNPACED if model else UNPACED | {"CONTINUITY_MODEL": ""}
    found = {}
    async with bot(noting(OURS, notes), folder, **env) as ours:
        await ours.life.start()
        for number in range(WARM_UP):
            await exchange(ours, FIRST_PERSON, f"My sister Anna comes on Friday, the {number + 3}rd.")
        for number, (kind, unit) in enumerate(UNITS.items()):
            begin = len(notes.read_text(encoding="utf-8").splitlines())
            await exchange(ours, FIRST_PERSON, cut(f"{name_of(FIRST_PERSON, number + 1)} {unit * CHARS}"))
            await asyncio.sleep(0.3)  # what is behind the reply
            found[kind] = longest(taken(notes, begin))
    return found


def cut(text: str) -> str:
    """Return as much as one message holds: Telegram counts in UTF-16."""
    return text.encode("utf-16-le")[: 2 * CHARS].decode("utf-16-le", "ignore")


async def exchange(ours: Beside, person: int, text: str) -> float:
    """Say it and wait for the first message that comes back; return the seconds that it took."""
    before, began_s = len(ours.api.texts(person)), time.perf_counter()
    ours.api.people.says(person, text)
    await ours.api.until(lambda: len(ours.api.texts(person)) > before, 60)
    return time.perf_counter() - began_s


async def load(folder: Path, chats: int) -> dict[str, Any]:
    """Let so many people talk at once; return the longest steps and how long they wait for their answers."""
    notes = made(folder)
    async with bot(noting(OURS, notes), folder, pace_s=0.2, **UNPACED) as ours:
        await ours.life.start()
        for number in range(WARM_UP):
            await exchange(ours, FIRST_PERSON + chats, f"My sister Anna comes on Friday, the {number + 3}rd.")
        begin = len(notes.read_text(encoding="utf-8").splitlines())

        async def talks(person: int) -> list[float]:
            return [await exchange(ours, person, said(person, number)) for number in range(1, TALK + 1)]

        waits = [
            wait for each in await asyncio.gather(*(talks(FIRST_PERSON + n) for n in range(chats))) for wait in each
        ]
        await asyncio.sleep(2.0)
        steps = taken(notes, begin)
    over = sorted(step["cpu_ms"] for step in steps)
    return {
        "chats": chats,
        "messages": chats * TALK,
        "longest": longest(steps),
        "steps_over_20_ms": sum(ms > GOALS["under load"] for ms in over),
        "answer_p50_s": round(statistics.median(waits), 2),
        "answer_p95_s": round(statistics.quantiles(waits, n=20)[-1], 2),
    }


async def at_once(folder: Path, chats: int) -> dict[str, Any]:
    """Let so many people write at the same moment, again and again; return how long all answers took."""
    people, took = range(FIRST_PERSON, FIRST_PERSON + chats), []
    async with bot(OURS, folder) as ours:
        await ours.life.start()
        for _ in range(ROUNDS):
            began_s = time.perf_counter()
            numbers = {person: ours.says(person) for person in people}
            await asyncio.gather(*(ours.until_answered(number, person) for person, number in numbers.items()))
            took.append(time.perf_counter() - began_s)
            await asyncio.sleep(2.0)  # the pace counts the last second
    pace_s, first_s, middle_s = chats / TOTAL_PER_SECOND, took[0], statistics.median(took[1:])
    return {
        "chats": chats,
        "pace_s": round(pace_s, 2),
        "all_answered_s": round(middle_s, 2),
        "ratio": round(middle_s / pace_s, 2),
        "first_time_s": round(first_s, 2),
        "first_time_ratio": round(first_s / pace_s, 2),
    }


def said(person: int, number: int) -> str:
    """Return an ordinary message with the number that the model answers."""
    return (
        f"{name_of(person, number)}: on Friday I have to call Anna about the flat in Bergstrasse {number + 2}. "
        f"The rent is {number}50 euros, can you compare that with what I told you last week?"
    )


async def main(chats: int) -> dict[str, Any]:
    """Measure all."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        texts = {
            "with a model": await hostile(folder / "model", model=True),
            "without one": await hostile(folder / "rules", model=False),
        }
        busy = await load(folder / "load", chats)
        crowd = await at_once(folder / "crowd", chats)
    worst = {way: max(found.items(), key=lambda item: item[1]["cpu_ms"]) for way, found in texts.items()}
    return {
        "benchmark": "longest step of the event loop, ms of processor time",
        "characters": CHARS,
        "any_text": {way: {"kind": kind, **step} for way, (kind, step) in worst.items()},
        "by_kind": {way: {kind: step["cpu_ms"] for kind, step in found.items()} for way, found in texts.items()},
        "load": busy,
        "at_once": crowd,
        "goals": GOALS,
    }


def picture(found: dict[str, Any]) -> str:
    """Return the plot: the worst kinds of text, and many people at once."""
    kinds = found["by_kind"]
    worst = sorted(UNITS, key=lambda kind: -max(ways[kind] for ways in kinds.values()))[:8]
    rows = {f"4,096 characters: {kind}": {way: values[kind] for way, values in kinds.items()} for kind in worst}
    load_row = f"{found['load']['chats']} people at once"
    rows[load_row] = {"with a model": found["load"]["longest"]["cpu_ms"]}
    goals = {label: GOALS["under load"] if label == load_row else GOALS["any text"] for label in rows}
    return svg.bars("Longest step of the event loop", "ms", rows, goals=goals, note="processor time of one step")


def crowd_picture(found: dict[str, Any]) -> str:
    """Return the plot: all answers to people who write at once, against what Telegram lets through."""
    crowd = found["at_once"]
    rows = {
        "known people": {"ours": crowd["all_answered_s"], "30 messages a second": crowd["pace_s"]},
        "met for the first time": {"ours": crowd["first_time_s"], "30 messages a second": crowd["pace_s"]},
    }
    goals = {"known people": crowd["pace_s"] * GOALS["against the pace"]}
    return svg.bars(f"{crowd['chats']} people write at once: all answered", "s", rows, goals=goals)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chats", type=int, default=64)
    measured = asyncio.run(main(parser.parse_args().chats))
    svg.save("speed-lag.svg", picture(measured))
    svg.save("speed-crowd.svg", crowd_picture(measured))
    print(json.dumps(measured))
