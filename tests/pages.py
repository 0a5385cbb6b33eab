"""The pages of this project, as the tests of the documentation read them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")


def pages() -> list[Path]:
    """Return every Markdown file that belongs to the project."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return [body for name, body in BLOCK.findall(text) if name == language]


def write(page: Path, talks: list[str]) -> None:
    """Put these talks in the place of the blocks of text of a page."""
    fresh = iter(talks)

    def block(match: re.Match[str]) -> str:
        return f"```text\n{next(fresh).rstrip()}\n```" if match[1] == "text" else match[0]

    page.write_text(BLOCK.sub(block, text_of(page)), encoding="utf-8")


def code(text: str) -> Iterator[str]:
    """Return what is set as code: lines of fenced blocks, and what stands in backticks."""
    for _, body in BLOCK.findall(text):
        yield from body.splitlines()
    yield from INLINE.findall(BLOCK.sub("", text))


def anchors(text: str) -> set[str]:
    """Return the anchors that headings make, as the usual viewers build them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}
