"""Passages of a document: where its pages are parted, how a stretch of pages is named, and which fit a budget. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.ports import TokenCounter
from memory.text import clean, sentence_ends

PASSAGE_CHARS: Final = 900
"""About two hundred tokens: of eight that fit into a prompt, the one with the answer is one."""
LEAST_CHARS: Final = 450
MOST_PAGES_ASKED: Final = 50
MOST_PAGES: Final = 4
"""As many pages of a scan are shown at once: each costs as much as a page of text, or twice that."""
HEADED: Final = frozenset({"sheet"})
"""Units whose first line names the columns: each passage begins with it."""
HEAD_CHARS: Final = 200
_SPACES: Final = re.compile(r"[^\S\n]+")
_RANGE: Final = re.compile(r"(\d{1,6})\s*(?:[-\u2013]\s*(\d{1,6}))?")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a page."""

    position: int
    page: int
    text: str


def tidy(text: str) -> str:
    """A page's text as it is kept: signs that databases refuse are out, runs of spaces and empty lines are one."""
    lines = (
        _SPACES.sub(" ", line).strip() for line in clean(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    )
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def parted(pages: Iterable[tuple[int, str]], unit: str) -> list[Passage]:
    """The passages of a document's pages, in order."""
    found: list[Passage] = []
    for page, text in pages:
        head = _head(text) if unit in HEADED else ""
        for number, piece in enumerate(_pieces(text)):
            found.append(Passage(len(found), page, f"{head}\n{piece}" if head and number else piece))
    return found


def _head(text: str) -> str:
    """The line that names the columns of a table: the first with several."""
    return next((line[:HEAD_CHARS] for line in text.split("\n") if " | " in line), "")


def _pieces(text: str) -> Iterator[str]:
    """A page in pieces that end with a paragraph, a sentence or a line, else between two words."""
    at = 0
    while at < len(text):
        if len(text) - at <= PASSAGE_CHARS:
            yield text[at:].strip()
            return
        ends = [*sentence_ends(text, at + LEAST_CHARS, at + PASSAGE_CHARS)]
        end = ends[-1] if ends else text.rfind(" ", at + LEAST_CHARS, at + PASSAGE_CHARS)
        end = end if end > at else at + PASSAGE_CHARS
        if piece := text[at:end].strip():
            yield piece
        at = end


def blank_pages(pages: Iterable[tuple[int, str]]) -> list[int]:
    """The numbers of pages without a word."""
    return [number for number, text in pages if not any(map(str.isalnum, text))]


def spans(numbers: Collection[int]) -> str:
    """Numbers as people write them: `3, 5-8, 11`."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def asked_pages(text: str) -> list[int]:
    """The page numbers of `3`, `5-8` or `2, 4`, at most fifty of them."""
    found: list[int] = []
    for first, last in _RANGE.findall(text):
        start, end = int(first), int(last or first)
        found += range(start, min(end, start + MOST_PAGES_ASKED) + 1)
    return sorted(set(found))[:MOST_PAGES_ASKED]


def fitting(passages: Sequence[Passage], max_tokens: int, counter: TokenCounter) -> list[Passage]:
    """The passages that fit, best first as they are given, in the order of the document."""
    taken: list[Passage] = []
    left = max_tokens
    for passage in passages:
        cost = counter.count(passage.text) + 8
        if cost <= left:
            taken.append(passage)
            left -= cost
    return sorted(taken, key=lambda passage: passage.position)


def laid_out(passages: Sequence[Passage], unit: str) -> str:
    """Passages with their pages: `[page 4]` before the first of a page, `[…]` where some are left out."""
    lines: list[str] = []
    before: Passage | None = None
    for passage in passages:
        gap = before is not None and passage.position != before.position + 1
        if before is None or passage.page != before.page:
            lines += [*(["[…]"] if gap else []), f"[{unit} {passage.page}]"]
        elif gap:
            lines.append("[…]")
        lines.append(passage.text)
        before = passage
    return "\n".join(lines)
