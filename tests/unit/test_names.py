"""One name, one thing: a class is found by its name."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLIC_CLASS = re.compile(r"^[ \t]*class ([^\W_]\w*)[(:\[]", re.MULTILINE)


def test_no_two_public_classes_share_a_name():
    """Whoever reads `Message` need not look up which of two is meant."""
    defined: dict[str, list[str]] = defaultdict(list)
    for folder in ("bot", "memory"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for found in PUBLIC_CLASS.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                defined[found[1]].append(f"{path.relative_to(ROOT)}:{line}")

    assert len(defined) > 200
    assert {name: places for name, places in defined.items() if len(places) > 1} == {}
