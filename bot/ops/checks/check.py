"""One finding of `doctor`: a stable id, a statement and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `do` is '' when there is nothing to do."""

    id: str
    level: Level
    says: str
    do: str = ""


def worst(checks: Sequence[Check]) -> Level:
    """Return the worst level of all checks."""
    levels = {check.level for check in checks}
    return "fail" if "fail" in levels else "warn" if "warn" in levels else "ok"
