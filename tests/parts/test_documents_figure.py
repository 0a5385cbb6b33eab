"""The figure of the documents: what answers a question stands in what the model is given, under its page."""

from __future__ import annotations

import pytest

from benchmarks.documents import run
from benchmarks.papers_asked import papers

pytestmark = pytest.mark.sweep

MISSES = 3
"""Two questions are about a scan, whose pages are given with it alone, and one asks with a word that isn't there."""


async def test_what_answers_a_question_about_a_document_is_given():
    """With the document and alone, after a restart and a compaction, behind `/continue`; nothing behind `/fresh`."""
    found = await run(papers(), other_turns=30)
    least = round(1 - MISSES / int(found["questions"]), 3)

    assert found["documents"] == 20
    assert found["with_the_document"] == 1
    assert int(found["compactions"]) > 0
    assert all(found[name] >= least for name in ("asked_alone", "after_restart_and_compaction", "behind_continue"))
    assert found["behind_fresh"] == 0
