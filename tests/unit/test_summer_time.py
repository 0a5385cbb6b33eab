"""The hour that is left out and the one that comes twice: each date of a series rings once, and none is in the past."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from memory.ledger import rules, series
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Add, Ledger, Ring

LEFT_OUT = [("Europe/Berlin", "2027-03-28T02:30"), ("America/New_York", "2027-03-14T02:15")]
LEFT_OUT += [("Europe/Lisbon", "2027-03-28T01:30"), ("Australia/Lord_Howe", "2027-10-03T02:10")]
TWICE = [("Europe/Berlin", "2027-10-31T02:30"), ("America/New_York", "2027-11-07T01:15")]
TWICE += [("Europe/Lisbon", "2027-10-31T01:30"), ("Australia/Lord_Howe", "2027-04-04T01:40")]
HOUR_MS = 3_600_000


@pytest.mark.parametrize(("zone", "local"), [*LEFT_OUT, *TWICE])
def test_an_hour_that_is_left_out_or_comes_twice_is_a_moment(zone, local):
    """One that does not exist is later on the same day; of two the first is meant."""
    at_ms = series.at_ms_of(local, zone)
    told = series.local_of(at_ms, zone)

    assert told[:10] == local[:10]
    assert (told > local) if (zone, local) in LEFT_OUT else (told == local)
    if (zone, local) in TWICE:
        assert series.local_of(at_ms + HOUR_MS // 2, zone) == local or series.local_of(at_ms + HOUR_MS, zone) == local


@pytest.mark.parametrize(("zone", "local"), [*LEFT_OUT, *TWICE])
def test_a_daily_reminder_rings_once_a_day_over_a_change_of_the_clock(zone, local):
    """Also when its first day is the odd one, and when each was noticed an hour late."""
    add = Add(
        kind="task",
        text="Turn it",
        note_id="n",
        fields={"rings_from": local, "repeats": "FREQ=DAILY", "time_zone": zone},
    )
    ledger = apply(Ledger("c"), add, Actor("person", 0)).ledger
    rang = []
    for _ in range(4):
        date, at_ms = series.next_ring(ledger.notes[1])
        ledger = apply(
            ledger, Ring(number=1, occurrence=date, rings_at_ms=at_ms), Actor("person", at_ms + HOUR_MS)
        ).ledger
        rang.append((date, at_ms))

    first = datetime.fromisoformat(local)
    assert [date for date, _ in rang] == [f"{first + timedelta(days=n):{rules.LOCAL}}" for n in range(4)]
    gaps = [later - earlier for (_, earlier), (_, later) in pairwise(rang)]
    assert all(22 * HOUR_MS < gap < 26 * HOUR_MS for gap in gaps)


@pytest.mark.parametrize(("zone", "local"), TWICE)
def test_in_the_second_of_two_hours_the_first_is_over(zone, local):
    """Who asks then for that time means the next day: nothing is set in the past."""
    between_ms = series.at_ms_of(local, zone) + HOUR_MS // 4
    found = series.first_local("FREQ=DAILY", local, between_ms, zone)

    assert found > local
    assert series.at_ms_of(found, zone) > between_ms
