"""People who come back (files of `returning/`): preview, lists, memory, prompt and callbacks, as a person sees them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.quality import plugins

LASTING = ("preference", "constraint", "fact", "relationship")
BULLETS = ("•", "-", "*")

Weighted = tuple[bool, float]


def run(data: Path) -> dict[str, Any]:
    """Play every case of the folder `returning` and return the means; nothing without that folder."""
    cases = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((data / "returning").glob("*.json"))]
    if not cases:
        return {}
    scores = [score(case["expect"], plugins.returning(case)) for case in cases]
    return {"returning": {"cases": len(cases), **means(scores)}}


def score(expect: Mapping[str, Any], got: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the measures of one case; None where it has nothing to measure."""
    matters = expect["matters"]
    open_ones = [m for m in matters if m["id"] in expect["loops"]]
    dead = [*expect.get("closed", []), *expect.get("small_talk", []), *expect.get("wrong", [])]
    preview, loops = _bullets(got["preview"]), _bullets(got["loops"])
    prompt = " ".join(message["content"] for message in got["prompt"])
    return {
        "preview_recall": _share((_has(" ".join(preview), m), m["weight"]) for m in matters),
        "preview_top_recall": _share((_has(" ".join(preview), m), 1) for m in matters if m["weight"] == 3),
        "preview_precision": _share((_any(line, matters), 1) for line in preview) or 0.0,
        "preview_stale": float(sum(_any(line, dead) and not _any(line, matters) for line in preview)),
        "loop_recall": _share((_any_of(loops, m), 1) for m in open_ones),
        "loop_precision": _share((_any(line, open_ones), 1) for line in loops) or 0.0,
        "loop_closed_leak": _share(
            (any(_has(line, c) and not _any(line, open_ones) for line in loops), 1) for c in expect.get("closed", [])
        ),
        "memory_recall": _share((_has(got["memory"], m), m["weight"]) for m in matters if m["kind"] in LASTING),
        "memory_wrong": float(sum(_has(x, w) for x in _bullets(got["memory"]) for w in expect.get("wrong", []))),
        "prompt_recall": _share((_has(prompt, m), m["weight"]) for m in matters),
        "callbacks": _share(
            (_holds(" ".join(m["content"] for m in given[:-1]), asked["answer_any_of"]), 1)
            for asked, given in zip(expect["callbacks"], got["callbacks"], strict=True)
        ),
        "title": float(_holds(got["sessions"], expect["title"])) if expect.get("title") else None,
    }


def means(scores: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """Return the mean of each measure over the cases that have it."""
    names = scores[0] if scores else ()
    found = {name: [s[name] for s in scores if s[name] is not None] for name in names}
    return {name: round(statistics.mean(values), 3) if values else 0.0 for name, values in found.items()}  # type: ignore[type-var]


def _bullets(text: str | None) -> list[str]:
    lines = [line.strip() for line in (text or "").splitlines()]
    return [line for line in lines if (line[:1] in BULLETS and line[1:2] == " ") or _is_numbered(line)]


def _is_numbered(line: str) -> bool:
    head, _, rest = line.partition(" ")
    return bool(rest) and head[-1] in ".)" and head[:-1].isdigit()


def _holds(text: str, words: Sequence[str]) -> bool:
    low = text.lower().replace("\u2019", "'")
    return any(word.lower().replace("\u2019", "'") in low for word in words)


def _has(text: str, matter: Mapping[str, Any]) -> bool:
    return _holds(text, matter["any_of"])


def _any(line: str, matters: Sequence[Mapping[str, Any]]) -> bool:
    return any(_has(line, matter) for matter in matters)


def _any_of(lines: Sequence[str], matter: Mapping[str, Any]) -> bool:
    return any(_has(line, matter) for line in lines)


def _share(pairs: Any) -> float | None:
    marks: list[Weighted] = list(pairs)
    total = sum(weight for _, weight in marks)
    return sum(weight for hit, weight in marks if hit) / total if total else None
