"""What a floor of relevance lets through: answers that stand in the prompt, and finds that nobody asked for.

    python benchmarks/finds.py DATA [--floors 0 .1 .15 .2] [--later 0 .02 .1] [--finds 6 12] [--cases 18]

DATA holds `returning/*.json`: people who come back and ask for what was said (`benchmarks/quality`). Each is told to a
memory without a keeper, so that no note helps; then each question is asked at the return, for every floor. Prints a
line per floor: the share of answers in the prompt, and how many finds a question brings, a message of the talk itself
and a short one that follows up ("and you?", "haha").
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from memory.context.packet_text import prompt
from memory.opening import ConversationMemory
from memory.packets import ConversationContextPacket
from memory.search import relevance
from memory.testing import ManualClock, open_memory
from memory.types import SessionState

HERE = "tg:1:1:0"
SHORT_WORDS = 4
Floor = tuple[float, float, int]
Tally = dict[str, list[float]]


def at_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


async def measure(case: dict[str, Any], floors: list[Floor], tallies: dict[Floor, Tally]) -> None:
    """Tell one case, then ask its questions for each floor."""
    clock = ManualClock(at_ms(case["sessions"][0]["start"]))
    with tempfile.TemporaryDirectory() as place:
        async with open_memory(place, clock=clock) as memory:
            for number, session in enumerate(case["sessions"]):
                clock.advance(ms=max(0, at_ms(session["start"]) - clock.now_ms()))
                for turn in session["turns"]:
                    clock.advance(s=turn["after_s"])
                    if number:
                        await beside(memory, turn["user"], floors, tallies)
                    await (await memory.begin(HERE, turn["user"], user_id=7)).record(turn["assistant"])
            clock.advance(ms=max(0, at_ms(case["return_at"]) - clock.now_ms()))
            await (await memory.begin(HERE, case["return_message"], user_id=7)).record("Good to hear from you.")
            state = await memory.session(HERE, 7)
            for callback in case["expect"]["callbacks"]:
                for floor, packet in [(f, await packet_at(memory, state, callback["question"], f)) for f in floors]:
                    tallies[floor]["answers"].append(float(holds(packet, callback)))
                    tallies[floor]["asked"].append(len(packet.retrieved))
                    tallies[floor]["tokens"].append(packet.prompt_tokens)


async def beside(memory: ConversationMemory, text: str, floors: list[Floor], tallies: dict[Floor, Tally]) -> None:
    """Count what a message of the talk brings, as it is said."""
    state = await memory.session(HERE, 7)
    kind = "short" if len(text.split()) <= SHORT_WORDS else "said"
    for floor in floors:
        packet = await packet_at(memory, state, text, floor)
        tallies[floor][kind].append(len(packet.retrieved))


async def packet_at(
    memory: ConversationMemory, state: SessionState, text: str, floor: Floor
) -> ConversationContextPacket:
    relevance.FLOOR, relevance.LATER_SHARE, relevance.MAX_FINDS = floor
    return await memory.assembler.packet(state, text, now_ms=memory.clock.now_ms(), user_id=7)


def holds(packet: ConversationContextPacket, callback: dict[str, Any]) -> bool:
    """Return whether the prompt says an answer before the question."""
    *before, last = prompt(packet, callback["question"])
    text = "\n".join([*(each.text for each in before), last.text.removesuffix(callback["question"])])
    low = text.lower().replace("\u2019", "'")
    return any(word.lower().replace("\u2019", "'") in low for word in callback["answer_any_of"])


def lines(tallies: dict[Floor, Tally]) -> Iterator[str]:
    yield "floor later finds | answers | finds: asked  said  none-of-said  short  none-of-short | tokens"
    for (floor, later, most), tally in tallies.items():
        none = {kind: statistics.fmean(not n for n in tally[kind]) for kind in ("said", "short")}
        mean = {kind: statistics.fmean(values) for kind, values in tally.items()}
        figures = [f"{mean['asked']:5.1f}", f"{mean['said']:5.1f}", f"{none['said']:13.2f}", f"{mean['short']:6.1f}"]
        begun = f"{floor:5.2f} {later:5.2f} {most:5d} | {mean['answers']:.3f}   |        "
        yield f"{begun}{' '.join(figures)} {none['short']:14.2f} | {mean['tokens']:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--floors", type=float, nargs="*", default=[0, 0.1, 0.15, 0.2, 0.3])
    parser.add_argument("--later", type=float, nargs="*", default=[0.02])
    parser.add_argument("--finds", type=int, nargs="*", default=[12])
    parser.add_argument("--cases", type=int, default=18)
    chosen = parser.parse_args()
    floors: list[Floor] = list(product(chosen.floors, chosen.later, chosen.finds))
    tallies: dict[Floor, Tally] = {floor: defaultdict(list) for floor in floors}
    for file in sorted((chosen.data / "returning").glob("*.json"))[: chosen.cases]:
        asyncio.run(measure(json.loads(file.read_text(encoding="utf-8")), floors, tallies))
    print("\n".join(lines(tallies)))


if __name__ == "__main__":
    main()
