"""What [Undo] says: each note once, and how it stands now."""

from bot.features.undo import undone_text
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Add, Applied, Change, End, Ledger

NOW_MS = 1_700_000_000_000
SET = Actor("model", NOW_MS, "t_0")
DID = Actor("model", NOW_MS, "t_1")
TAP = Actor("person", NOW_MS, "b_1")


def add(text, note_id, **fields):
    return Add(kind="task", text=text, note_id=note_id, fields={"due_exact": True, **fields})


def test_each_line_says_what_became_of_it():
    """What came back, what went, and what is as it was before are told apart."""
    at = {"due_at_ms": NOW_MS + 3_600_000}
    ledger, _ = apply_all(Ledger("c"), [add("Call Ana", "n_1", **at), add("Send the slides", "n_2")], SET)
    moved = Change(number=1, fields={"due_at_ms": NOW_MS + 90_000_000})
    ledger, outcomes = apply_all(ledger, [moved, End(number=2), add("Walk Rex", "n_3")], DID)
    changes = [change for each in outcomes for change in each.changes]

    assert undone_text(ledger, changes, TAP, "UTC").split("\n") == [
        "Okay, I've taken that back.",
        "• As it was: Call Ana (today, 23:13)",
        "• Here again: Send the slides",
        "• Gone: Walk Rex",
    ]


def test_a_ring_that_is_taken_back_is_named():
    """Whoever moved one thing and was reminded of another reads of both; a ring that goes has its line."""
    at, ring = {"due_at_ms": NOW_MS + 3_600_000}, {"rings_from": "2023-11-15T09:00", "time_zone": "UTC"}
    ledger, _ = apply_all(Ledger("c"), [add("VAT", "n_1", **at)], SET)
    ledger, outcomes = apply_all(ledger, [Change(number=1, fields=ring), add("Call Ana", "n_2", **ring)], DID)
    changes = [change for each in outcomes for change in each.changes]

    assert undone_text(ledger, changes, TAP, "UTC").split("\n") == [
        "Okay, I've taken that back.",
        "• As it was: VAT (today, 23:13)",
        "• No reminder now: VAT",
        "• Gone: Call Ana (⏰ tomorrow at 09:00)",
    ]


def test_what_was_touched_since_is_left_and_said():
    """Nothing is called taken back where nothing was."""
    ledger, outcomes = apply_all(Ledger("c"), [add("Call Ana", "n_1")], DID)
    changes = [change for each in outcomes if isinstance(each, Applied) for change in each.changes]
    ledger, _ = apply_all(ledger, [Change(number=1, fields={"text": "Call Anna"})], TAP)

    assert undone_text(ledger, changes, TAP, "UTC") == "• Changed since, so I've left it: Call Anna"
