"""The text of a note: on one line, no longer than it may be, and folded to be compared. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.ledger.types import ASSISTANT, TEXT_MAX_CHARS, WORK_MAX_CHARS


def folded(text: str) -> str:
    """A text without case, spacing and final stop: by it two notes are seen to say the same."""
    return " ".join(text.casefold().split()).rstrip(" .!。")


def most_chars(kind: str, fields: Mapping[str, Any]) -> int:
    """The length of text that a note with these fields may have: work by the clock may be told at length."""
    is_work = kind == "task" and fields.get("owner") == ASSISTANT and fields.get("rings_from")
    return WORK_MAX_CHARS if is_work else TEXT_MAX_CHARS


def one_line(text: str, most: int = TEXT_MAX_CHARS) -> str:
    """A text on one line, cut at the end of a word where it is too long."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[most // 2 :] else head).rstrip(" ,;:-") + "…"
