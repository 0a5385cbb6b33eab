"""How long a search within one conversation takes in a database of many turns; prints JSON, draws a plot.

    python -m benchmarks.search [--turns 20000 1000000] [--searches 200] [--folder DIR]

One conversation in a hundred is ten times as long; words follow Zipf's law. Goal: 5 ms in the 95th percentile. Each
size is searched twice with other questions to the same conversations, since the first one in each brings its pages
from the disk. Before each search something is committed, as before each one of the bot's: what a reader holds of the
file is void then. `--folder` keeps the databases for the next time; they take a third of a millisecond a turn to fill.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import svg
from memory.search.languages import Languages
from memory.search.query import Query
from memory.search.searcher import index_turn
from memory.storage.store import point_conversation
from memory.storage.turn_rows import insert_turn, turn_digest
from memory.testing import open_memory, start_memory
from memory.types import ConversationTurn

VOCABULARY = 30_000
TURNS_EACH = 1_000
"""How long a conversation is on average."""
GOAL_MS = 5.0
BATCH = 2_000


def texts(chance: random.Random) -> Iterator[str]:
    """Yield messages of 5 to 60 words whose frequencies follow Zipf's law."""
    words = [f"word{n}" for n in range(VOCABULARY)]
    weights = [1 / (n + 10) for n in range(VOCABULARY)]
    pool = chance.choices(words, weights, k=500_000)
    while True:
        start = chance.randrange(len(pool) - 60)
        yield " ".join(pool[start : start + chance.randint(5, 60)])


def turns(count: int, conversations: int, chance: random.Random) -> Iterator[ConversationTurn]:
    """Yield turns of all conversations mixed, as they come in; one conversation in a hundred is ten times as long."""
    text = texts(chance)
    often = [10 if n % 100 == 0 else 1 for n in range(conversations)]
    seqs = [0] * conversations
    for n in range(count):
        (which,) = chance.choices(range(conversations), often) if n % 8 == 0 else (which,)  # noqa: F821 - set at n == 0
        seqs[which] += 1
        session, seq = divmod(seqs[which], 40)
        yield ConversationTurn.model_construct(
            turn_id=f"t_{n}",
            session_id=f"s_{which}_{session}",
            conversation_id=f"tg:1:{which}:0",
            seq=seq + 1,
            user_id=which,
            user_text=next(text),
            assistant_text=next(text),
            language="en",
            created_at_ms=1_700_000_000_000 + n * 1000,
        )


async def fill(folder: Path, count: int, conversations: int) -> None:
    """Make a database of so many turns."""
    languages, chance = Languages.load(), random.Random(7)
    memory = await start_memory(folder)
    batch = []
    digests: dict[str, str] = {}
    for turn in turns(count, conversations, chance):
        # A turn without its digest counts as altered: a search would warn of every one that it finds.
        digests[turn.session_id] = turn_digest(digests.get(turn.session_id, ""), turn)
        batch += [insert_turn(turn, digests[turn.session_id]), index_turn(turn, languages)]
        if len(batch) >= BATCH:
            await memory.db.write(*batch)
            batch = []
    await memory.db.write(*batch)
    await memory.close()


async def searched(folder: Path, conversations: int, searches: int) -> dict[str, dict[str, float]]:
    """Search in conversations picked at random, then in the same ones again; return percentiles of each time."""
    chance = random.Random(8)
    text = texts(chance)
    picked = [chance.randrange(0, conversations, 100 if n % 5 == 0 else 1) for n in range(searches)]
    figures = {}
    async with open_memory(folder) as memory:
        for lap in ("first", "again"):
            times: list[float] = []
            busy: list[float] = []
            for which in picked:
                asked = " ".join(next(text).split()[:8])
                query = Query(f"tg:1:{which}:0", asked, now_ms=1_800_000_000_000, language="en")
                await memory.db.write(point_conversation(query.conversation_id, f"s_{which}_0", 1))
                began, cpu = time.perf_counter(), time.process_time()
                await memory.searcher.search(query)
                times.append(1000 * (time.perf_counter() - began))
                busy.append(1000 * (time.process_time() - cpu))
            figures[lap] = percentiles("", times) | percentiles("cpu_", busy)
    return figures


def percentiles(name: str, values: list[float]) -> dict[str, float]:
    """Return the middle and the slowest of twenty."""
    slow = statistics.quantiles(values, n=20)[-1]
    return {f"{name}p50_ms": round(statistics.median(values), 2), f"{name}p95_ms": round(slow, 2)}


async def measure(folder: Path, count: int, searches: int) -> dict[str, Any]:
    """Fill a database unless it is there, then search; return the figures."""
    conversations = max(1, count // TURNS_EACH)
    began = time.perf_counter()
    made = not (folder / "continuity.db").exists()
    if made:
        await fill(folder, count, conversations)
    filled = {"fill_ms_per_turn": round(1000 * (time.perf_counter() - began) / count, 3)} if made else {}
    found = await searched(folder, conversations, searches)
    size = (folder / "continuity.db").stat().st_size
    return {"conversations": conversations, **found, **filled, "bytes_per_turn": size // count}


def picture(found: dict[int, dict[str, Any]]) -> str:
    """Return the plot: what a search takes in databases of each size."""
    rows = {
        f"{count:,} turns, {lap}": {"median": each[lap]["cpu_p50_ms"], "95th percentile": each[lap]["cpu_p95_ms"]}
        for count, each in found.items()
        for lap in ("first", "again")
    }
    note = "processor time; first: the first question to a conversation since the start; again: others to the same"
    return svg.bars("A search", "ms", rows, note=note, goals=dict.fromkeys(rows, GOAL_MS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, nargs="+", default=[20_000])
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where the databases are kept")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        place = asked.folder or Path(passing)
        found = {n: asyncio.run(measure(place / f"turns-{n}", n, asked.searches)) for n in asked.turns}
    if len(found) > 1:
        svg.save("speed-search.svg", picture(found))
    print(json.dumps({"bench": "search", "goal_p95_ms": GOAL_MS, **found}))


if __name__ == "__main__":
    main()
