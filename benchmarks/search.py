"""How long a search within one conversation takes in a database of many turns; prints JSON.

    python benchmarks/search.py [--turns 1000000] [--conversations 1000] [--searches 200]

One conversation in a hundred is ten times as long. Words follow
Zipf's law. Goal: p50 <= 5 ms on a million turns. Without an argument it runs on 20,000 turns, so that it takes seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import memory
from memory.language.languages import Languages
from memory.search.query import Query
from memory.search.searcher import index_turn
from memory.storage.store import insert_turn, turn_digest
from memory.testing import start_memory
from memory.types import ConversationTurn

PACKAGE = Path(memory.__file__).parent
VOCABULARY = 30_000
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


async def measure(count: int, conversations: int, searches: int) -> dict[str, float]:
    """Fill a database, then search; return the figures."""
    chance = random.Random(7)
    languages = Languages.load()
    with tempfile.TemporaryDirectory() as folder:
        memory = await start_memory(Path(folder))
        db, path = memory.db, memory.db.path
        began = time.perf_counter()
        batch = []
        digests: dict[str, str] = {}
        for turn in turns(count, conversations, chance):
            # A turn without its digest counts as altered: a search would warn of every one that it finds.
            digests[turn.session_id] = turn_digest(digests.get(turn.session_id, ""), turn)
            batch += [insert_turn(turn, digests[turn.session_id]), index_turn(turn, languages)]
            if len(batch) >= BATCH:
                await db.write(*batch)
                batch = []
        await db.write(*batch)
        filled_s = time.perf_counter() - began
        searcher, text = memory.searcher, texts(chance)
        times: dict[str, list[float]] = {"usual": [], "long": []}
        busy: list[float] = []
        for n in range(searches):
            kind = "long" if n % 5 == 0 else "usual"
            which = chance.randrange(0, conversations, 100) if kind == "long" else chance.randrange(conversations)
            query = " ".join(next(text).split()[:8])
            began, cpu = time.perf_counter(), time.process_time()
            await searcher.search(Query(f"tg:1:{which}:0", query, now_ms=1_800_000_000_000, language="en"))
            times[kind].append(1000 * (time.perf_counter() - began))
            busy.append(1000 * (time.process_time() - cpu))
        size = path.stat().st_size
        await memory.close()
    figures: dict[str, float] = {"turns": count, "conversations": conversations}
    for kind, values in times.items():
        values.sort()
        figures[f"{kind}_p50_ms"] = round(values[len(values) // 2], 2)
        figures[f"{kind}_p95_ms"] = round(values[int(len(values) * 0.95)], 2)
    busy.sort()
    figures["cpu_p50_ms"] = round(busy[len(busy) // 2], 2)
    figures["cpu_p95_ms"] = round(busy[int(len(busy) * 0.95)], 2)
    return figures | {"fill_ms_per_turn": round(1000 * filled_s / count, 3), "bytes_per_turn": size // count}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--conversations", type=int, default=0, help="default: one per thousand turns")
    parser.add_argument("--searches", type=int, default=200)
    asked = parser.parse_args()
    conversations = asked.conversations or max(1, asked.turns // 1000)
    print(json.dumps({"bench": "search", **asyncio.run(measure(asked.turns, conversations, asked.searches))}))


if __name__ == "__main__":
    main()
