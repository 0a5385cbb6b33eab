"""One name, one thing: a class is found by its name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_two_public_classes_share_a_name():
    """Whoever reads `Message` need not look up which of two is meant."""
    defined: dict[str, list[str]] = defaultdict(list)
    for folder in ("bot", "memory"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    defined[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")

    assert len(defined) > 200
    assert {name: places for name, places in defined.items() if len(places) > 1} == {}
