"""The figure of the documents: what answers a question stands in what the model is given, under its page."""

from __future__ import annotations

import pytest

from benchmarks.documents import run
from benchmarks.papers_asked import papers

FEW = ("warranty.pdf", "budget.xlsx", "novel.epub", "minutes.docx", "manual.pdf")
"""Two columns, a table of a hundred rows, chapters, French, and a scan: its two questions need it at hand."""


@pytest.mark.parametrize(
    ("names", "misses"), [(FEW, 2), pytest.param((), 3, marks=pytest.mark.soak)], ids=["few", "all_twenty"]
)
async def test_what_answers_a_question_about_a_document_is_given(names, misses):
    """With the document and alone, after a restart and a compaction, behind `/continue`; nothing behind `/fresh`."""
    found = await run([paper for paper in papers() if not names or paper.name in names], other_turns=12)
    least = round(1 - misses / int(found["questions"]), 3)

    assert found["documents"] == (len(names) or 20)
    assert found["with_the_document"] == 1
    assert all(found[name] >= least for name in ("asked_alone", "after_restart_and_compaction", "behind_continue"))
    assert found["behind_fresh"] == 0
