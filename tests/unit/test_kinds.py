"""Every kind of note is known wherever notes are sorted by their kind; each place fails here when one is missing."""

import json
from pathlib import Path
from typing import get_args

import pytest

from bot import replies
from bot.answers.keeper import RULES
from bot.headings import HEADINGS
from memory.continuity.candidates import _KIND
from memory.ledger.types import TO_DO, Kind

TOOLS = Path(__file__).parents[2] / "bot/answers/tools/tools.json"
KINDS = get_args(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_known_everywhere(kind):
    """Under a heading or on /loops, among what is carried forward, in the model's tool and in the keeper's rules."""
    [note] = [each for each in json.loads(TOOLS.read_text(encoding="utf-8")) if each["name"] == "note"]

    assert kind in _KIND
    assert kind in TO_DO | {"story"} or any(kind in kinds for _, kinds in HEADINGS)
    assert kind in note["parameters"]["properties"]["kind"]["enum"]
    assert kind in RULES


@pytest.mark.parametrize("heading", [name for name, _ in HEADINGS])
def test_a_heading_has_words_in_every_language(heading):
    assert all(replies.every(f"memory_heads.{heading}"))
