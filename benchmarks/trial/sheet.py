"""The judge's sheet of a trial: every line of every list that a person saw, and of every prompt's notes."""

from __future__ import annotations

import re
from pathlib import Path

LISTS = ("/memory", "/loops", "/reminders", "/status", "/summary", "/continue")
_LINE = re.compile(r"^\s*(?:\d+\.|•|-)\s+(.+)$")
_NOTE = re.compile(r"^#\d+ \w+: .+$")


def sheet(folder: Path) -> str:
    """A table: where, the line, and an empty column for right, stale, double or nonsense."""
    rows = [*_of_lists(folder), *_of_prompts(folder)]
    head = "| where | line | right / stale / double / nonsense |\n|---|---|---|"
    return "\n".join([head, *(f"| {where} | {line.replace('|', '/')} | |" for where, line in rows)])


def _of_lists(folder: Path) -> list[tuple[str, str]]:
    found, where = [], ""
    log = folder / "screen.log"
    for n, line in enumerate(log.read_text().splitlines() if log.exists() else (), 1):
        if line.startswith("--- "):
            said = line.partition(": ")[2].strip()
            where = f"{said} (line {n})" if said.startswith(LISTS) else ""
        elif where and (entry := _LINE.match(line)):
            found.append((where, entry[1]))
    return found


def _of_prompts(folder: Path) -> list[tuple[str, str]]:
    return [
        (f"prompt {path.name[:3]}", line)
        for path in sorted((folder / "model").glob("*.request.txt"))
        for line in path.read_text().splitlines()
        if _NOTE.match(line)
    ]
