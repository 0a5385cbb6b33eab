"""Topic shifts on TIAGE and request/commitment detection on EmailIntent, and how long one turn takes to fold."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.quality import plugins
from memory.search.languages import Languages
from memory.state.state_manager import apply_turn, new_state
from memory.types import ConversationTurn


def _figures(pairs: Iterable[tuple[bool, bool]]) -> dict[str, float | int]:
    """Return precision, recall and F1 over (expected, found)."""
    right = extra = missed = 0
    for expected, found in pairs:
        right += expected and found
        extra += found and not expected
        missed += expected and not found
    precision, recall = right / max(1, right + extra), right / max(1, right + missed)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"n": right + missed, "P": round(precision, 4), "R": round(recall, 4), "F1": round(f1, 4)}


def topic_shift(file: Path) -> dict[str, float | int]:
    """Score each utterance online: the segmenter sees only what came before."""
    pairs = []
    for dialogue in json.loads(file.read_text(encoding="utf-8")).values():
        marks = plugins.segmenter([text for text, _ in dialogue])
        pairs += [(str(label) == "1", bool(mark)) for (_, label), mark in zip(dialogue[1:], marks[1:], strict=True)]
    return _figures(pairs)


def intent(file: Path) -> dict[str, float | int]:
    """Score whether a sentence is found to hold a request or a commitment."""
    pairs = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        label, _, sentence = line.partition("\t")
        if label in {"Yes", "No"}:
            pairs.append((label == "Yes", bool(plugins.open_loops(sentence) & {"request", "commitment"})))
    return _figures(pairs)


def fold_time(file: Path) -> dict[str, float]:
    """Return how many milliseconds one turn takes to fold, over all dialogues read as turns."""
    languages = Languages.load()
    times = []
    for name, dialogue in json.loads(file.read_text(encoding="utf-8")).items():
        state = new_state(name, name)
        texts = [text for text, _ in dialogue]
        for seq, (user, assistant) in enumerate(zip(texts[::2], texts[1::2], strict=False), 1):
            turn = ConversationTurn(
                turn_id=f"t{seq}",
                session_id=name,
                conversation_id=name,
                seq=seq,
                user_text=user,
                assistant_text=assistant,
                created_at_ms=seq * 60_000,
            )
            start = time.perf_counter()
            state = apply_turn(state, turn, languages)
            times.append((time.perf_counter() - start) * 1000)
    times.sort()
    return {"p50_ms": round(times[len(times) // 2], 3), "p95_ms": round(times[int(len(times) * 0.95)], 3)}


def run(data: Path) -> dict[str, Any]:
    """Return the figures of every file of these sets in the folder."""
    results: dict[str, Any] = {}
    for file in sorted(data.glob("tiage_*.json")):
        results[f"topic_shift:{file.stem}"] = topic_shift(file)
        results[f"fold_time:{file.stem}"] = fold_time(file)
    for file in sorted(data.glob("emailintent_*.txt")):
        results[f"request_or_commitment:{file.stem}"] = intent(file)
    return results
