"""Recall of evidence turns in long chats between people and with an assistant: the first k, and inside a token budget.

Between people: LoCoMo and files in its format (`locomo_*.json`). With an assistant: `assistant_chats_*.json`, a list of
chats with `turns` as the plug-in takes them and `questions` with the ids in `gold`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.quality import plugins
from memory.context.tokens import TiktokenCounter
from memory.search import embeddings

Retriever = Callable[[Sequence[Mapping[str, Any]]], Any]
Chat = tuple[Sequence[Mapping[str, Any]], Sequence[tuple[str, set[str]]]]
"""Turns, and questions with the ids of what they rest on."""
FIRST = (5, 10, 20)
BUDGETS = (2_000, 3_000)
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def _turns(conversation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the utterances of all sessions, oldest first, as the retriever plug-in takes them."""
    turns: list[dict[str, Any]] = []
    for session in count(1):
        key = f"session_{session}"
        if key not in conversation and f"{key}_date_time" not in conversation:
            return turns
        turns += [
            {
                "id": said["dia_id"],
                "speaker": said["speaker"],
                "text": said.get("text", ""),
                "caption": said.get("blip_caption") or "",
                "session": session,
                "datetime": conversation.get(f"{key}_date_time", ""),
                "index": len(turns) + offset,
            }
            for offset, said in enumerate(conversation.get(key, []))
        ]
    raise AssertionError


def _evidence(question: Mapping[str, Any], known: set[str]) -> set[str]:
    found = (_EVIDENCE.findall(str(mark)) for mark in question.get("evidence") or [])
    return {f"D{int(a)}:{int(b)}" for marks in found for a, b in marks} & known


def _inside(
    ranked: Sequence[str], budget: int, costs: Mapping[str, int], turns: Mapping[str, Mapping[str, Any]]
) -> set[str]:
    """Return what fits into the budget in the order given; each session pays its date line once."""
    used, taken, sessions = 0, set[str](), set[int]()
    for ref in dict.fromkeys(ranked):
        session = turns[ref]["session"]
        cost = costs[ref] + (0 if session in sessions else costs[f"session {session}"])
        if used + cost <= budget:
            used += cost
            taken.add(ref)
            sessions.add(session)
    return taken


def _costs(turns: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counter = TiktokenCounter()
    costs = {f"session {turn['session']}": counter.count(f"[{turn['datetime']}]") + 1 for turn in turns}
    for turn in turns:
        image = f" [image: {turn['caption']}]" if turn["caption"] else ""
        costs[turn["id"]] = counter.count(f"{turn['speaker']}: {turn['text']}{image}") + 1
    return costs


def _between_people(file: Path) -> Iterator[Chat]:
    for sample in json.loads(file.read_text(encoding="utf-8")):
        turns = _turns(sample["conversation"])
        known = {turn["id"] for turn in turns}
        yield turns, [(asked["question"], _evidence(asked, known)) for asked in sample["qa"]]


def _with_an_assistant(file: Path) -> Iterator[Chat]:
    for chat in json.loads(file.read_text(encoding="utf-8")):
        yield chat["turns"], [(asked["question"], set(asked["gold"])) for asked in chat["questions"]]


def recall(chats: Iterable[Chat], build: Retriever = plugins.retriever) -> dict[str, float | int]:
    """Return the mean share of evidence found, and how long indexing and asking take.

    `inside` packs whole messages; `shown` the passages that the bot shows instead of long ones.
    """
    sums: dict[str, float] = {f"at_{k}": 0.0 for k in FIRST}
    sums |= {f"{how}_{budget}_tokens": 0.0 for how in ("inside", "shown") for budget in BUDGETS}
    waits: list[float] = []
    indexing_s, indexed = 0.0, 0
    for turns, questions in chats:
        by_id, costs = {turn["id"]: turn for turn in turns}, _costs(turns)
        start = time.perf_counter()
        query = build(turns)
        indexing_s, indexed = indexing_s + time.perf_counter() - start, indexed + len(turns)
        for question, gold in questions:
            if not gold:
                continue
            start = time.perf_counter()
            ranked = [ref for ref in query(question, k=200) if ref in by_id]
            waits.append(time.perf_counter() - start)
            for k in FIRST:
                sums[f"at_{k}"] += len(gold & set(ranked[:k])) / len(gold)
            for budget in BUDGETS:
                sums[f"inside_{budget}_tokens"] += len(gold & _inside(ranked, budget, costs, by_id)) / len(gold)
                sums[f"shown_{budget}_tokens"] += len(gold & set(query.shown(question, budget))) / len(gold)
    waits.sort()
    return {
        "questions": len(waits),
        **{name: round(total / max(1, len(waits)), 4) for name, total in sums.items()},
        "query_p95_ms": round(waits[int(len(waits) * 0.95)] * 1000, 3),
        "indexing_ms_per_turn": round(indexing_s * 1000 / max(1, indexed), 3),
    }


def run(data: Path) -> dict[str, Any]:
    """Return the figures of every such file in the folder, also with vectors when the extra `semantic` is there."""
    files = [(file, _between_people) for file in sorted(data.glob("locomo_*.json"))]
    files += [(file, _with_an_assistant) for file in sorted(data.glob("assistant_chats_*.json"))]
    figures: dict[str, Any] = {f"recall:{file.stem}": recall(read(file)) for file, read in files}
    if embeddings.load():
        figures |= {
            f"recall:{file.stem}:semantic": recall(read(file), plugins.semantic_retriever) for file, read in files
        }
    return figures
