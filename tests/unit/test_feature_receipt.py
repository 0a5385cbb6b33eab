"""/context, /summary, /export and the daily budget as pure texts and values."""

import gzip

import orjson
import pytest

from bot import replies
from bot.features import exporting
from bot.features.receipt import bar, compaction_text, receipt_text, tier_line
from bot.meters.spent import Spent
from bot.people.spending import booked, day_of
from memory.packets import TierReceipt
from memory.storage.store import Compaction
from memory.testing import START_MS
from memory.types import CompactionMark


@pytest.mark.parametrize(
    ("used", "budget", "cells"),
    [(0, 100, 0), (98, 6150, 0), (7, 100, 1), (50, 100, 4), (100, 100, 8), (140, 100, 8), (5, 0, 0)],
)
def test_a_bar_is_as_full_as_the_budget(used, budget, cells):
    """Eight cells, to the nearest one; the figure beside it tells what is less."""
    assert bar(used, budget) == "▰" * cells + "▱" * (8 - cells)


def test_a_tier_says_what_was_cut_and_what_failed():
    """Items, what was left out with its tokens, and a tier that could not be read."""
    receipt = TierReceipt(tier="history", budget_tokens=3000, used_tokens=1500, items=1, cut_items=3, cut_tokens=1204)
    broken = TierReceipt(tier="today", budget_tokens=500, error="StorageUnavailable: secret words")

    assert (
        tier_line(receipt)
        == "▰▰▰▰▱▱▱▱ Our messages, word for word: 1,500 of 3,000 · 1 message, 3 left out (1,204 tokens)"
    )
    assert replies.say("tier_failed") in tier_line(broken)
    assert "secret" not in tier_line(broken)


def test_every_tier_has_a_name():
    """The packet's tiers and the receipt's names are the same."""
    tiers = set(TierReceipt.model_fields["tier"].annotation.__args__)

    assert all(replies.known(f"tier_names.{tier}") and replies.counted(2, f"tier_{tier}") for tier in tiers)


def test_the_receipt_adds_up():
    """Head, a line per tier, what stands beside them, and the whole under its cap."""
    receipts = [TierReceipt(tier="summary", budget_tokens=1000, used_tokens=200, items=2).model_dump()]
    snapshot = {
        "total_tokens": 1730,
        "instructions_tokens": 300,
        "tools_tokens": 900,
        "bootstrap_tokens": 310,
        "message_tokens": 20,
        "compiled_at_ms": START_MS,
        "receipts_json": orjson.dumps(receipts).decode(),
    }
    lines = receipt_text(snapshot, 6150, START_MS + 120_000).splitlines()

    assert "2 minutes ago" in lines[0]
    assert lines[1].endswith("Summary: 200 of 1,000 · 2 notes")
    assert lines[2] == (
        "The rest is my own part: how I work 300, my tools 900, how I use notes 310; "
        "then your message 20, times and headings 0."
    )
    assert lines[3].endswith("1,730 of 6,150")
    assert len(lines) == 4


def test_the_receipt_warns_before_the_limit():
    """Above 80 % of the cap a sentence says that the oldest messages are folded soon (004 phase 1)."""
    snapshot = {
        "total_tokens": 5000,
        "instructions_tokens": 300,
        "tools_tokens": 900,
        "bootstrap_tokens": 0,
        "message_tokens": 20,
        "compiled_at_ms": START_MS,
        "receipts_json": "[]",
    }

    assert receipt_text(snapshot, 6150, START_MS).endswith(replies.say("context_near"))
    assert "times and headings 3,780" in receipt_text(snapshot, 6150, START_MS)
    assert replies.say("context_near") not in receipt_text(snapshot, 7000, START_MS)


@pytest.mark.parametrize(
    ("method", "at_ms", "used", "told"),
    [
        (
            "deterministic",
            START_MS - 60_000,
            200,
            "Older messages went into the summary 1 minute ago, as excerpts.",
        ),
        (
            "deterministic",
            START_MS + 1,
            0,
            "Since that answer, older messages went into the summary, as excerpts.",
        ),
        ("model", START_MS - 60_000, 0, "word for word. All it says was in my notes or the messages anyway"),
        ("truncation", START_MS - 60_000, 0, "word for word."),
    ],
)
def test_a_compaction_says_nothing_against_the_receipt_above_it(method, at_ms, used, told):
    """The summary's tokens stand in its line alone; where that says none, the sentence says why."""
    mark = CompactionMark(compaction_id="c_1", history_from_seq=41, summary="", summary_tokens=0)
    done = Compaction("c_1", "s_1", "full", method, 1, 40, 5120, 2000, None, mark, None, at_ms)
    receipts = [TierReceipt(tier="summary", budget_tokens=1000, used_tokens=used).model_dump()]
    snapshot = {"compiled_at_ms": START_MS, "receipts_json": orjson.dumps(receipts).decode()}
    text = compaction_text(done, snapshot, START_MS)

    assert told in text
    assert "token" not in text
    assert ("All it says" in text) == ("All it says" in told)


def test_an_export_that_is_too_large_is_compressed_or_refused(monkeypatch):
    """Telegram takes 50 MB; nothing is cut off silently."""
    document = {"text": "word " * 1000}
    monkeypatch.setattr(exporting, "MAX_BYTES", 2000)
    name, data = exporting.packed(document, "2026-05-03")
    monkeypatch.setattr(exporting, "MAX_BYTES", 10)

    assert name == "continuity-2026-05-03.json.gz"
    assert orjson.loads(gzip.decompress(data)) == document
    assert exporting.packed(document, "2026-05-03") is None


def test_a_day_is_the_persons_own():
    """The same moment is another day elsewhere; what costs nothing is not written down."""
    late_ms = START_MS + 2 * 3_600_000

    assert (day_of(late_ms, "UTC"), day_of(late_ms, "America/New_York")) == ("2023-11-15", "2023-11-14")
    (statement,) = booked(
        7, "2023-11-15", [Spent("m", "answer", 10, 2), Spent("m", "answer", 5, 0, cost_nanodollars=9)]
    )
    assert statement.params == {
        "user_id": 7,
        "day": "2023-11-15",
        "purpose": "answer",
        "tokens": 17,
        "unpriced_tokens": 12,
        "cost_nanodollars": 9,
    }
    assert booked(None, "2023-11-15", [Spent("m", "answer", 10, 2)]) == booked(7, "2023-11-15", []) == []
