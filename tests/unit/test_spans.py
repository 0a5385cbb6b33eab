"""Spans of days and hours as models write them."""

from __future__ import annotations

import pytest

from memory.ledger.spans import end_fields, first_and_last
from memory.ledger.types import Note
from memory.ledger.views import is_over, is_past, while_on
from memory.testing import START_MS

HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("2026-11-27", ""),
        ("2026-11-27/30", "2026-11-30"),
        ("2026-11-27/12-02", "2026-12-02"),
        ("2026-11-27T12:00/16:00", "2026-11-27T16:00"),
        ("2026-11-30T21:00/07:00", "2026-12-01T07:00"),
        ("2026-11-27T12:00/2026-11-28T16:00", "2026-11-28T16:00"),
        ("soon/16:00", "soonT16:00"),
    ],
)
def test_the_last_takes_from_the_first_what_it_leaves_out(text: str, last: str):
    """The month, the day, or the day behind it for an hour that comes before the first."""
    assert first_and_last(text) == (text.partition("/")[0], last)


def test_hours_end_a_span_within_a_day_and_days_a_longer_one():
    """A night that is shorter by the clock's change is told by its clock; three days are none of hours."""
    night = end_fields("2026-03-28T21:00", "2026-03-29T07:00", "Europe/Berlin", by_hours=True)
    assert night == {"ends_at_ms": None, "lasts_ms": 9 * HOUR_MS}
    assert end_fields("2026-11-27T12:00", "2026-11-29T16:00", "UTC", by_hours=True)["lasts_ms"] == 0
    assert end_fields("2026-11-27T12:00", "2026-11-28T00:00", "UTC", by_hours=False)["ends_at_ms"]
    assert end_fields("2026-11-27T12:00", "", "UTC", by_hours=False) == {"ends_at_ms": None, "lasts_ms": 0}


def test_what_lasts_is_on_until_its_end_and_over_at_once_behind_it():
    """Of one whose end nobody said, a guess is made."""
    values = {"note_id": "n1", "conversation_id": "c", "number": 1, "kind": "event", "text": "Fair", "due_exact": True}
    note = Note.model_validate(values | {"said_at_ms": START_MS, "due_at_ms": START_MS, "lasts_ms": 3 * HOUR_MS})
    in_time, late = START_MS + 2 * HOUR_MS, START_MS + 3 * HOUR_MS

    assert not is_past(note, in_time)
    assert while_on(note, START_MS, in_time) == in_time
    assert is_over(note, late)
    assert not is_over(note.model_copy(update={"lasts_ms": 0}), START_MS + HOUR_MS)
