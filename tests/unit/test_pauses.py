"""A series that rests until the person says that it goes on: its dates, its end, and what undo makes of it."""

from __future__ import annotations

import pytest

from memory.ledger import series
from memory.ledger.apply import apply
from memory.ledger.types import UNTIL_TOLD_MS, Actor, Add, Change, End, Ledger, Note, Ring
from memory.ledger.undo import undo

PAUSE = Change(number=1, fields={"snoozed_until_ms": UNTIL_TOLD_MS})
ON_23 = "2026-11-23T09:00"


def by(local: str) -> Actor:
    return Actor("person", series.at_ms_of(local, "UTC"), "c")


def daily() -> Ledger:
    fields = {"rings_from": ON_23, "repeats": "FREQ=DAILY", "time_zone": "UTC"}
    return apply(
        Ledger("c"), Add(kind="task", text="Water the plants", note_id="n_1", fields=fields), by("2026-11-20T08:00")
    ).ledger


def rang(ledger: Ledger) -> Ledger:
    return apply(ledger, Ring(number=1, occurrence=ON_23, rings_at_ms=series.at_ms_of(ON_23, "UTC")), by(ON_23)).ledger


def rings_next(note: Note) -> str:
    return series.local_of(note.rings_at_ms, "UTC") if note.rings_at_ms is not None else ""


@pytest.mark.parametrize("end", [End(number=1, occurrence=ON_23), End(number=1, occurrence=ON_23, how="dropped")])
def test_a_date_that_is_ended_leaves_a_paused_series(end):
    """[Done] under an old reminder, and a run of which nothing came: the series still waits for their word."""
    ledger = apply(rang(daily()), PAUSE, by("2026-11-23T10:00")).ledger
    note = apply(ledger, end, by("2026-11-23T10:05")).note

    assert (note.status, note.is_paused, rings_next(note)) == ("open", True, "")


def test_a_pause_that_is_undone_rings_for_no_date_that_was_missed():
    """[Undo] ten days later: the next date is tomorrow's, as when the series is told to go on."""
    paused = apply(daily(), PAUSE, by("2026-11-22T10:00"))
    for at, first in (("2026-11-22T10:01", ON_23), ("2026-12-02T10:00", "2026-12-03T09:00")):
        ledger, _ = undo(paused.ledger, paused.changes, by(at))

        assert rings_next(ledger.notes[1]) == first
        assert not ledger.notes[1].is_paused


def test_another_clock_alone_lets_a_paused_series_rest():
    """They moved, and said nothing of the series; another hour for it sets it again."""
    ledger = apply(daily(), PAUSE, by("2026-11-20T10:00")).ledger
    moved = apply(ledger, Change(number=1, fields={"time_zone": "Europe/Dublin"}), by("2026-11-26T17:00")).note
    again = apply(ledger, Change(number=1, fields={"rings_from": "2026-11-27T10:00"}), by("2026-11-26T17:00")).note

    assert (moved.is_paused, rings_next(moved)) == (True, "")
    assert (again.is_paused, rings_next(again)) == (False, "2026-11-27T10:00")
