"""What a packet costs and what it keeps: build times, prefix share, tokens with and without compaction, facts kept.

    python benchmarks/context.py [--sizes 1000 100000] [--full] [--rounds 300] [--data DIR] [--folder DIR]

Prints JSON. `--full` adds a database of a million turns (it takes some minutes to fill). Databases are filled through
the statements that the recorder uses; times are those of `Assembler.packet` over them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any

from bot.answers.instructions import preface
from bot.answers.tools.calls import schemas
from bot.people.personas import instructions_of, load_persona
from memory.context.assembler import Assembler
from memory.context.budget import Budget
from memory.context.context_builder import prompt
from memory.context.notes_block import take
from memory.context.occasion import Reserved
from memory.context.tokens import TiktokenCounter
from memory.context.transcript import PromptMessage, turn_tokens
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Add, Applied, Kind, Ledger, Operation
from memory.ledger.views import EVERYTHING
from memory.packets import ConversationContextPacket
from memory.ports import Statement
from memory.search.languages import Languages
from memory.search.searcher import index_turn
from memory.state.notes_marks import new_mark
from memory.storage.store import Store, insert_session
from memory.storage.turn_rows import insert_turn, turn_digest
from memory.testing import ManualClock, open_memory
from memory.types import ConversationTurn, SessionState

TALK = tomllib.loads((Path(__file__).parents[1] / "tests" / "property" / "talk.toml").read_text(encoding="utf-8"))
START_MS = 1_772_600_000_000
MINUTE_MS = 60_000
SESSION_TURNS = 1_000
CONVERSATIONS = 10
BATCH = 400
DAY_MS = 86_400_000
NOTED_EVERY = 10
LANGUAGES = Languages.load()
COUNTER = TiktokenCounter()
INSTRUCTIONS = preface(instructions_of(load_persona("assistant"))) + schemas()
"""What the bot puts before the packet, the tools' descriptions among it; the same at every turn."""
RESERVED = Reserved(tokens=COUNTER.count(INSTRUCTIONS))
WORDLESS: dict[str, Any] = {"counter": COUNTER, "budget": Budget(retrieved_tokens=0)}
"""Opens a memory that searches nothing."""


def make(session_id: str, conversation_id: str, seq: int, said: tuple[str, str], at_ms: int) -> ConversationTurn:
    user, assistant = said
    return ConversationTurn(
        turn_id=f"t_{session_id}_{seq}", session_id=session_id, conversation_id=conversation_id, seq=seq, user_id=7,
        user_text=user, assistant_text=assistant, language="en", created_at_ms=at_ms,
        user_tokens=COUNTER.count(user), assistant_tokens=COUNTER.count(assistant),
    )  # fmt: skip


def chatter(number: int) -> tuple[str, str]:
    """Return one of 580 exchanges; the answers have about 100 tokens, as those of assistants do."""
    rows, thing = TALK["chatter"], TALK["things"][number * 11 % len(TALK["things"])]
    first, second, third = (rows[(number * 7 + step) % len(rows)] for step in (0, 5, 9))
    answer = f"{first['assistant']} As for {thing}: {second['assistant']} {third['assistant']}"
    return f"{first['user']} I ask because of {thing}.", answer


class Babble:
    """Texts of invented words, as unevenly frequent as those of a language (Zipf), for the databases to search."""

    def __init__(self) -> None:
        self._chance = random.Random(7)
        syllables = [first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "o", "u", "an", "er", "ol")]
        self._words = ["".join(self._chance.choices(syllables, k=3)) for _ in range(30_000)]
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self._words))))

    def text(self, words: int) -> str:
        """Return so many words."""
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=words))


BABBLE = Babble()


# --- times ----------------------------------------------------------------------------------------------------------


async def fill(store: Store, turns: int) -> list[SessionState]:
    """Store sessions of 1,000 turns over ten conversations; return the states of the first conversation's sessions."""
    states = []
    for number in range(max(1, turns // SESSION_TURNS)):
        session_id, conversation_id = f"s_{number}", f"tg:1:{number % CONVERSATIONS}:0"
        length = min(SESSION_TURNS, turns)
        start_ms = START_MS + number * 30 * MINUTE_MS * 24
        state = SessionState(
            session_id=session_id, conversation_id=conversation_id, last_seq=length, turn_count=length,
            last_turn_at_ms=start_ms + length * MINUTE_MS, rolling_summary="- Stated: The user's cat is called Tom.",
        )  # fmt: skip
        rows = statements(length, session_id, conversation_id, start_ms)
        await store.db.write(insert_session(state, user_id=7, origin="first", created_at_ms=start_ms, title="boats"))
        while batch := list(islice(rows, BATCH)):
            await store.db.write(*(statement for pair in batch for statement in pair))
        if number % CONVERSATIONS == 0:
            states.append(state)
    return states


def statements(length: int, session_id: str, conversation_id: str, start_ms: int) -> Iterator[list[Statement]]:
    """Yield what stores each turn of a session, with its digest: without one it counts as altered."""
    digest = ""
    for seq in range(1, length + 1):
        turn = make(session_id, conversation_id, seq, (BABBLE.text(15), BABBLE.text(60)), start_ms + seq * MINUTE_MS)
        digest = turn_digest(digest, turn)
        yield [insert_turn(turn, digest), index_turn(turn, LANGUAGES)]


async def times(size: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Return build times in milliseconds over a database of `size` turns."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        async with open_memory(place, counter=COUNTER) as memory, open_memory(place, **WORDLESS) as wordless:
            began = time.perf_counter()
            states = await fill(memory.store, size)
            filled_s = time.perf_counter() - began
            state = states[-1]
            now_ms = state.last_turn_at_ms + MINUTE_MS
            measured = {
                "packet": await packets(wordless.assembler, state, rounds, now_ms),
                "packet_with_search": await packets(memory.assembler, state, rounds, now_ms),
                "history_cold": await histories(memory.assembler, state, rounds),
                "counting": counting(await memory.assembler.history(state), rounds),
            }
    return {"turns": size, "session_turns": state.last_seq, "filled_s": round(filled_s, 1), **measured}


async def packets(assembler: Assembler, state: SessionState, rounds: int, now_ms: int) -> dict[str, float]:
    """Each packet is that of a session that has grown by one turn since the last one: one row is read."""
    spent = []
    first = state.last_seq - min(rounds, state.last_seq - 60)
    for number in range(rounds):
        seq = first + number % (state.last_seq - first)
        question = f"{BABBLE.text(8)}?"
        grown = state.model_copy(update={"last_seq": seq})
        began = time.perf_counter()
        packet = await assembler.packet(grown, question, now_ms=now_ms)
        spent.append(time.perf_counter() - began)
        assert not any(receipt.error for receipt in packet.receipts), packet.receipts
    return percentiles(spent[5:])


async def histories(assembler: Assembler, state: SessionState, rounds: int) -> dict[str, float]:
    spent = []
    for _ in range(rounds):
        assembler.clear_cache()
        began = time.perf_counter()
        await assembler.history(state)
        spent.append(time.perf_counter() - began)
    return percentiles(spent)


def counting(turns: Sequence[ConversationTurn], rounds: int) -> dict[str, float]:
    spent = []
    for _ in range(rounds):
        began = time.perf_counter()
        sum(turn_tokens(turn, COUNTER) for turn in turns)
        spent.append(time.perf_counter() - began)
    return percentiles(spent)


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    ranked = sorted(seconds)
    at = {"p50_ms": ranked[len(ranked) // 2], "p99_ms": ranked[min(len(ranked) - 1, len(ranked) * 99 // 100)]}
    return {name: round(value * 1000, 3) for name, value in at.items()}


# --- one long conversation ------------------------------------------------------------------------------------------


def talk(turns: int, facts: str | None) -> list[tuple[str, str]]:
    """Return a conversation; with `facts` every sixth turn states one of the thirty."""
    planted = iter(TALK[facts]) if facts else iter(())
    said = []
    for number in range(1, turns + 1):
        fact = next(planted, None) if number % 6 == 3 else None
        said.append((fact["said"], "Good to know, I'll keep that in mind.") if fact else chatter(number))
    return said


class Uncompacted:
    """In place of the compactor: old turns are cut instead."""

    async def compact_if_due(self, state: SessionState, *_: object, **__: object) -> SessionState:
        """Return the state as it is."""
        return state


def notes_of(number: int, turn_id: str) -> tuple[Operation, ...]:
    """Return what is noted with a turn: something every tenth turn, as a keeper does of a talk that has matters."""
    if number % NOTED_EVERY:
        return ()
    thing = TALK["things"][number // NOTED_EVERY % len(TALK["things"])]
    fields = {"turn_ids": (turn_id,), "due_at_ms": START_MS + number * 60 * MINUTE_MS, "due_exact": False}
    return (Add(kind="task", text=f"Find out about {thing} before the week is over", note_id=turn_id, fields=fields),)


async def converse(
    said: Sequence[tuple[str, str]], folder: Path, *, compacting: bool, searching: bool, noting: bool = False
) -> list[tuple[ConversationContextPacket, tuple[PromptMessage, ...]]]:
    """Hold the conversation as the bot does and return the packet and the prompt of every turn."""
    prompts = []
    clock = ManualClock(START_MS)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        options = {"counter": COUNTER} if searching else WORDLESS
        async with open_memory(place, clock=clock, **options) as memory:
            if not compacting:
                memory.compactor = Uncompacted()  # type: ignore[assignment]
            for user, assistant in said:
                clock.advance(ms=MINUTE_MS)
                turn = await memory.begin("tg:1:1:0", user, user_id=7, reserved=RESERVED)
                assert not any(receipt.error for receipt in turn.packet.receipts), turn.packet.receipts
                prompts.append((turn.packet, prompt(turn.packet, user)))
                operations = notes_of(len(prompts), turn.turn_id) if noting else ()
                await turn.record(assistant, operations=operations, hand="keeper")
    return prompts


def text_of(messages: Sequence[PromptMessage]) -> str:
    return INSTRUCTIONS + "".join(f"\n<{each.role}>\n{each.text}" for each in messages)


def prefix_share(prompts: Sequence[str]) -> float:
    """Return which share of all prompt tokens is a byte-identical beginning of the prompt before."""
    shared = total = 0
    for before, after in pairwise(prompts):
        same = next(
            (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
        shared += COUNTER.count(after[:same])
        total += COUNTER.count(after)
    return round(shared / total, 4)


def told(data: Path, turns: int) -> list[tuple[str, str]]:
    """Return what people and assistants said in the files of `returning/`, one after the other."""
    cases = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((data / "returning").glob("*.json"))]
    said = [(each["user"], each["assistant"]) for case in cases for part in case["sessions"] for each in part["turns"]]
    return said[:turns]


async def long_talk(folder: Path, said: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return prefix share and tokens of a conversation, with and without compaction, search and notes."""
    found: dict[str, Any] = {"turns": len(said)}
    runs = {
        "compaction": (True, True, True),
        "compaction_without_search": (True, False, True),
        "compaction_without_notes": (True, True, False),
        "truncation_only": (False, True, True),
    }
    for name, (compacting, searching, noting) in runs.items():
        held = await converse(said, folder, compacting=compacting, searching=searching, noting=noting)
        prompts = [text_of(messages) for _, messages in held]
        costs = [COUNTER.count(each) for each in prompts]
        found[name] = {
            "prefix_share": prefix_share(prompts),
            "tokens_per_turn": round(statistics.fmean(costs)),
            "largest_prompt_tokens": max(costs),
            "largest_block_tokens": max(COUNTER.count(packet.notes_block) for packet, _ in held),
        }
    whole, growing = COUNTER.count(INSTRUCTIONS), []
    for user, assistant in said:
        whole += COUNTER.count(user) + COUNTER.count(assistant) + 8
        growing.append(whole)
    found["whole_transcript"] = {
        "tokens_per_turn": round(statistics.fmean(growing)),
        "largest_prompt_tokens": growing[-1],
    }
    return found


def blocks() -> dict[str, Any]:
    """Return what the notes take with which a session begins, by how many notes there are."""
    kinds: tuple[Kind, ...] = ("fact", "person", "task", "preference", "event", "decision", "project", "task")
    found = {}
    for count in (5, 15, 60, 300, 2_000):
        ledger = Ledger("c")
        for number in range(count):
            kind, thing = kinds[number % len(kinds)], TALK["things"][number % len(TALK["things"])]
            fields = {"due_at_ms": START_MS + number * DAY_MS, "due_exact": False} if kind in {"task", "event"} else {}
            text = f"{thing} number {number} has to be known when the garden is planned again"
            made = apply(
                ledger, Add(kind=kind, text=text, note_id=str(number), fields=fields), Actor("keeper", START_MS)
            )
            assert isinstance(made, Applied)
            ledger = made.ledger
        mark = new_mark(SessionState(session_id="s", conversation_id="c"), ledger, EVERYTHING, "UTC", START_MS)
        began = time.perf_counter()
        block = take(ledger, EVERYTHING, mark, Budget().threads_tokens, COUNTER)
        took_ms = (time.perf_counter() - began) * 1000
        text = "\n".join((*block.lasting, *block.open, block.more_line))
        found[str(count)] = {"tokens": COUNTER.count(text), "lines": len(block.lines), "ms": round(took_ms, 1)}
    return found


async def facts_kept(folder: Path) -> dict[str, Any]:
    """Return how many of thirty facts are in the prompt after 200 turns, asked nothing about them."""
    kept: dict[str, Any] = {}
    for name in ("plain", "loose"):
        *_, (_, messages) = await converse(talk(200, name), folder, compacting=True, searching=False)
        text = text_of(messages).lower()
        lost = [row["said"] for row in TALK[name] if not all(word.lower() in text for word in row["known"])]
        kept[name] = {"planted": len(TALK[name]), "kept": len(TALK[name]) - len(lost), "lost": lost}
    return kept


async def run(sizes: Sequence[int], rounds: int, folder: Path, turns: int, data: Path | None = None) -> dict[str, Any]:
    COUNTER.warm()
    return {
        "bench": "context",
        "packet_times": [await times(size, rounds, folder) for size in sizes],
        "conversation": await long_talk(folder, talk(turns, "plain")),
        **({"conversation_of_people": await long_talk(folder, told(data, turns))} if data else {}),
        "notes_block": blocks(),
        "facts": await facts_kept(folder),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--full", action="store_true", help="also a million turns")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--turns", type=int, default=300, help="of the long conversation")
    parser.add_argument("--data", type=Path, help="folder with `returning/*.json`: a conversation of people, too")
    parser.add_argument("--folder", type=Path, help="where to put the databases")
    chosen = parser.parse_args()
    sizes = [*chosen.sizes, *([1_000_000] if chosen.full else [])]
    folder = chosen.folder or Path(tempfile.gettempdir())
    found = asyncio.run(run(sizes, chosen.rounds, folder, chosen.turns, chosen.data))
    print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
