"""The sample returns of the documents are what the bot shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.samples import as_markdown, people

pytestmark = pytest.mark.acceptance

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "sample-returns.md"


@pytest.mark.parametrize("person", people(), ids=lambda person: person["title"])
def test_a_return_in_the_documents_is_what_the_bot_shows(person):
    """Preview, open matters and memory, word for word, by rules and with a scripted model."""
    assert as_markdown(person) in PAGE.read_text(encoding="utf-8")
