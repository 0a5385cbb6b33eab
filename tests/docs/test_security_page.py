"""What is promised is held by a test: each line of the threat model and of the fault matrix names one that is there."""

from __future__ import annotations

import re

import pytest
from pages import ROOT

NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PAGES = {"SECURITY.md": "## Threat model", "docs/reference/fault-matrix.md": "# What was tried"}


def rows_of(page: str) -> list[str]:
    """Return the lines of the tables below a heading, their heads left out."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(PAGES[page])[2]
    lines = [line for line in text.partition("\n## What is not")[0].splitlines() if line.startswith("|")]
    return [line for at, line in enumerate(lines) if not set(line) <= set("|- ") and not _is_head(lines, at)]


def _is_head(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and set(lines[at + 1]) <= set("|- ")


@pytest.mark.parametrize("page", PAGES)
def test_every_line_names_a_test_that_is_there(page):
    """File and function, in every row of the tables."""
    rows = rows_of(page)
    assert len(rows) > 20
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for file, name in named:
            assert re.search(rf"^(?:async )?def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), row


def test_a_line_without_its_test_would_be_found():
    """Negative control: a name that nobody wrote is in no file."""
    assert not re.search(r"^(?:async )?def test_nobody_wrote\(", (ROOT / __file__).read_text(), re.MULTILINE)
