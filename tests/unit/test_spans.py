"""Spans of days and hours as models write them."""

from __future__ import annotations

import pytest

from memory.ledger import series
from memory.ledger.apply import apply
from memory.ledger.series import at_ms_of, local_of
from memory.ledger.spans import end_fields, first_and_last, last_day
from memory.ledger.types import Actor, Add, Applied, Change, Ledger, Note
from memory.ledger.views import is_over, is_past, while_on
from memory.testing import START_MS
from memory.zones import later

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


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


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2027-02", ("2027-02-01", "2027-02-28")),
        ("2026-12", ("2026-12-01", "2026-12-31")),
        ("2026-W49", ("2026-11-30", "2026-12-06")),
        ("2026-W60", ("2026-W60", "")),
        ("2026-13", ("2026-13", "")),
    ],
)
def test_a_month_and_a_week_go_from_their_first_day_to_their_last(text: str, days: tuple[str, str]):
    """What is none of them is left for its reader to refuse."""
    assert first_and_last(text) == days


def test_hours_end_a_span_of_any_length_and_days_one_without_hours():
    """By the clock: a night is as long as ever when summer time begins, and ends at the hour that was said."""
    night = end_fields("2026-03-28T21:00", "2026-03-29T07:00", "Europe/Berlin", by_hours=True)
    assert night == {"ends_at_ms": None, "lasts_ms": 10 * HOUR_MS}
    begins_ms = at_ms_of("2026-03-28T21:00", "Europe/Berlin")
    assert local_of(later(begins_ms, 10 * HOUR_MS, "Europe/Berlin"), "Europe/Berlin") == "2026-03-29T07:00"
    assert end_fields("2026-11-27T12:00", "2026-11-29T16:00", "UTC", by_hours=True)["lasts_ms"] == 52 * HOUR_MS
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
    assert not is_over(note.model_copy(update={"lasts_ms": 0}), START_MS + HOUR_MS // 2)


@pytest.mark.parametrize("repeats_later", [False, True])
def test_each_date_of_a_series_lasts_as_many_days(*, repeats_later: bool):
    """When the first is over tells nothing of the next: kids every other weekend."""
    monday = at_ms_of("2023-11-20T00:00", "UTC")
    rule, days = (
        {"repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"},
        {"due_at_ms": monday, "ends_at_ms": monday + 2 * DAY_MS},
    )
    fields = {"time_zone": "UTC", **days, **({} if repeats_later else rule)}
    by = Actor("model", START_MS)
    done = apply(Ledger("c"), Add(note_id="n1", kind="event", text="Kids", fields=fields), by)
    if repeats_later and isinstance(done, Applied):
        done = apply(done.ledger, Change(number=1, fields=rule), by)
    assert isinstance(done, Applied)
    note = done.ledger.notes[1]

    assert (note.ends_at_ms, note.lasts_ms) == (None, 2 * DAY_MS)
    last_ms = monday + 2 * DAY_MS + HOUR_MS
    assert not is_past(series.at_its_date(note, last_ms), last_ms)
    after = series.at_its_date(note, last_ms + DAY_MS)
    assert (after.due_at_ms, last_day(after)) == (monday + 14 * DAY_MS, monday + 16 * DAY_MS)
