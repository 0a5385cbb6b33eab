"""ROUGE of the offline summarizer on DialogSum (files in its format)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rouge_score import rouge_scorer

from benchmarks.quality import plugins

MEASURES = ("rouge1", "rouge2", "rougeL")
_LINE = re.compile(r"\s*(#Person\d#|[^:]{1,20}):\s*(.*)")


def _turns(dialogue: str) -> list[dict[str, str]]:
    turns: list[dict[str, str]] = []
    for line in dialogue.splitlines():
        found = _LINE.match(line)
        if found:
            turns.append({"speaker": found[1], "text": found[2]})
        elif line.strip() and turns:
            turns[-1]["text"] += " " + line.strip()
    return turns


def rouge(file: Path) -> dict[str, float | int]:
    """Return the mean F1 over the references of each dialogue."""
    scorer = rouge_scorer.RougeScorer(list(MEASURES), use_stemmer=True)
    references: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        said = [item[name] for name in ("summary", "summary1", "summary2", "summary3") if item.get(name)]
        references.setdefault(item["dialogue"], []).extend(said)
    sums = dict.fromkeys(MEASURES, 0.0)
    for dialogue, wanted in references.items():
        summary = plugins.summarizer(_turns(dialogue))
        scores = [scorer.score(reference, summary) for reference in dict.fromkeys(wanted)]
        for name in MEASURES:
            sums[name] += sum(score[name].fmeasure for score in scores) / len(scores)
    return {"dialogues": len(references), **{name: round(sums[name] / len(references), 4) for name in MEASURES}}


def run(data: Path) -> dict[str, Any]:
    """Return the figures of every DialogSum file in the folder."""
    return {f"summary:{file.stem}": rouge(file) for file in sorted(data.glob("dialogsum_*.jsonl"))}
