"""Tasks: missed dates, quiet hours, what is put off and what passes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot import replies
from bot.answers.tools.calls import schemas
from bot.answers.tools.scheduling import TOOL, confirmation, missed_text
from bot.features.tasks.texts import Board, over, task_list, task_page
from bot.lines import note_line
from bot.people.choices import TimeZone
from bot.tasks.starts import new_run, passed, put_off
from bot.tasks.task import Task, is_missed, read_missed, read_quiet_hours, run_id_of
from memory.context.tokens import TiktokenCounter
from memory.ledger.apply import apply, apply_all
from memory.ledger.types import Actor, Add, End, Ledger, Move, Ring

BERLIN = "Europe/Berlin"
TOKENS = 203
BY = Actor("person", 0, "t_1")


def at(text: str) -> int:
    """The moment of a minute in Berlin."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(BERLIN)).timestamp() * 1000)


def hourly(rings_from: str = "2026-11-24T21:00"):
    """A task of every hour, and the ledger that it stands in."""
    fields = {"rings_from": rings_from, "repeats": "FREQ=HOURLY", "time_zone": BERLIN, "owner": "assistant"}
    done = apply(Ledger("c"), Add(kind="task", text="Look", note_id="n_1", fields=fields), BY)
    return done.note, done.ledger


@pytest.mark.parametrize(
    ("own", "named"),
    [
        (TimeZone(BERLIN, chosen=True), ""),
        (TimeZone("Europe/Paris", chosen=True), ""),
        (TimeZone("Europe/London", chosen=True), " (Berlin time)"),
    ],
)
def test_a_confirmation_names_a_clock_only_where_the_persons_own_shows_another_hour(own, named):
    """“(London time)” to somebody in London was a machine's word; in a group with a clock of its own it is needed."""
    note, _ = hourly()
    said = confirmation(note, Task("n_1", "c", 7, "t_1"), at("2026-11-24T20:00"), own, cost="", quiet=None)

    assert said == f"⏰ Will do, every hour, first today at 21:00{named}: Look."


@pytest.mark.parametrize("by", ["list", "page"])
def test_a_date_that_was_missed_is_told_once(by):
    """“Look (every hour, missed today) · today at 21:00: missed (I was off)” told one date twice; its run says why."""
    note, ledger = hourly()
    now_ms, due_ms = at("2026-11-24T21:30"), at("2026-11-24T21:00")
    ledger, _ = apply_all(ledger, passed(note, "2026-11-24T21:00", due_ms, now_ms), Actor("operator", now_ms, "r"))
    task = Task("n_1", "c", 7, "t_1")
    run = replace(new_run(task, "2026-11-24T21:00", due_ms, now_ms), state="skipped", why="missed")
    listing = task_list(Board({"n_1": task}, {"n_1": run}), ledger, now_ms, BERLIN)
    text = listing.line(ledger.find(1)) if by == "list" else task_page(ledger.find(1), task, [run], now_ms, BERLIN).text

    assert text.count("missed") == 1
    assert "today at 21:00: missed (I was off)" in text
    assert "missed today" in note_line(ledger.find(1), now_ms, BERLIN), "where no run is told, the date is"


def test_a_confirmation_by_a_clock_that_nobody_chose_says_how_to_choose_one():
    note, _ = hourly()
    said = confirmation(
        note, Task("n_1", "c", 7, "t_1"), at("2026-11-24T20:00"), TimeZone(BERLIN, chosen=False), cost="", quiet=None
    )

    assert said.startswith("⏰ Will do, every hour, first today at 21:00: Look.\nThat's by the clock of Europe/Berlin.")


@pytest.mark.parametrize(
    ("given", "read"),
    [("", "once"), ("Once", "once"), ("skip", "skip"), ("10:00", "10:00"), ("until 9:30", "09:30"), ("noon", None)],
)
def test_what_happens_to_missed_dates_is_read(given, read):
    """Two words and an hour; anything else goes back to the model."""
    assert read_missed(given) == read


@pytest.mark.parametrize(
    ("missed", "now", "left_out"),
    [
        ("once", "2026-11-27T08:00", False),
        ("skip", "2026-11-24T08:30", False),
        ("skip", "2026-11-24T08:31", True),
        ("07:00", "2026-11-24T07:39", False),
        ("10:00", "2026-11-24T09:59", False),
        ("10:00", "2026-11-24T10:01", True),
        ("10:00", "2026-11-25T08:00", True),
    ],
)
def test_a_date_comes_late_as_long_as_it_was_said(missed, now, left_out):
    """`skip` gives a restart an hour; until an hour means of its own day, and within ten minutes all are on time."""
    assert is_missed(missed, at("2026-11-24T07:30"), at(now), BERLIN) is left_out


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-24T21:59", None),
        ("2026-11-24T22:00", "2026-11-25T07:00"),
        ("2026-11-25T06:59", "2026-11-25T07:00"),
        ("2026-11-25T07:00", None),
        ("2027-03-28T01:30", "2027-03-28T07:00"),
        ("2026-10-25T01:30", "2026-10-25T07:00"),
    ],
)
def test_quiet_hours_end_by_the_clock_of_the_task(now, until):
    """Over midnight, and in the nights in which the clock is changed."""
    assert read_quiet_hours("22:00-07:00").until_ms(at(now), BERLIN) == (at(until) if until else None)


def test_no_quiet_hours_are_none():
    """An empty setting."""
    assert read_quiet_hours("") is None


def test_a_night_of_dates_is_one_run_in_the_morning():
    """The first of them is moved, the others are left out, and none of them comes again."""
    note, ledger = hourly()
    morning = at("2026-11-25T07:00")
    for hour in ("2026-11-24T22:00", "2026-11-24T23:00", "2026-11-25T00:00"):
        ledger = apply(ledger, put_off(note, hour, morning), Actor("operator", at(hour), "ring")).ledger
        note = ledger.by_id(note.note_id)

    assert [each.moved_to_ms for each in note.occurrences] == [morning, None, None]


def test_a_date_that_passes_is_over_and_the_series_goes_on():
    """What was missed with it is over too; the next is the one to come."""
    note, ledger = hourly()
    now_ms = at("2026-11-25T00:30")
    steps = passed(note, "2026-11-24T21:00", at("2026-11-24T21:00"), now_ms)
    ledger, outcomes = apply_all(ledger, steps, Actor("operator", now_ms, "ring"))
    after = ledger.by_id(note.note_id)

    assert isinstance(steps[0], Ring)
    assert len(outcomes) == len(steps)
    assert after.rings_at_ms == at("2026-11-25T01:00")
    assert [each.state for each in after.occurrences] == ["passed"]


@pytest.mark.parametrize(("hand", "state"), [("operator", "passed"), ("person", "skipped"), ("model", "skipped")])
@pytest.mark.parametrize("operation", [End(number=1, how="dropped", occurrence="2026-11-24T21:00"), None])
def test_a_date_that_nobody_left_out_is_told_apart_from_one_that_somebody_did(hand, state, operation):
    """Once its time has come: the clock lets a date pass, a person or the model leaves it out."""
    ledger, run = one_that_rang("FREQ=DAILY")
    after = apply(ledger, operation or Move(number=1, occurrence=run.occurrence), Actor(hand, at("2026-11-24T21:05")))

    assert [each.state for each in after.note.occurrences] == [state]


def test_what_comes_once_and_passes_stays_open():
    """Nothing was sent, so it is neither done nor waits for a word."""
    fields = {"rings_from": "2026-11-24T21:00", "time_zone": BERLIN, "owner": "assistant"}
    added = apply(Ledger("c"), Add(kind="task", text="Look", note_id="n_1", fields=fields), BY)
    now_ms = at("2026-11-25T00:30")
    steps = passed(added.note, "2026-11-24T21:00", at("2026-11-24T21:00"), now_ms)
    ledger, _ = apply_all(added.ledger, steps, Actor("operator", now_ms, "ring"))
    after = ledger.by_id("n_1")

    assert (after.is_open, after.rings_at_ms, [each.state for each in after.occurrences]) == (True, None, ["passed"])


TASK = Task("n_1", "c", 1, "t_1")


def one_that_rang(repeats: str = "", now: str = "2026-11-24T21:00"):
    """A ledger with a task whose date at 21:00 came, and the run of it."""
    fields = {"rings_from": "2026-11-24T21:00", "repeats": repeats, "time_zone": BERLIN, "owner": "assistant"}
    ledger = apply(Ledger("c"), Add(kind="task", text="Look", note_id="n_1", fields=fields), BY).ledger
    ring = Ring(number=1, occurrence="2026-11-24T21:00", rings_at_ms=at("2026-11-24T21:00"))
    ledger = apply(ledger, ring, Actor("operator", at(now), "ring")).ledger
    return ledger, new_run(TASK, ring.occurrence, ring.rings_at_ms, at(now))


@pytest.mark.parametrize(
    ("repeats", "status", "state"),
    [("", "done", "passed"), ("FREQ=DAILY;UNTIL=20261124", "done", "done"), ("FREQ=DAILY", "open", "done")],
)
def test_a_date_that_failed_can_be_tried_again_and_is_done_then(repeats, status, state):
    """It stands as long as a retry is offered, the last of a series too; what comes once ends with the retry."""
    ledger, run = one_that_rang(repeats)
    by = Actor("operator", at("2026-11-24T21:05"), "run")
    ledger, _ = apply_all(ledger, over(ledger.by_id("n_1"), run, done=False, again=True), by)
    failed = ledger.by_id("n_1")
    assert (failed.is_open, [each.state for each in failed.occurrences]) == (True, ["passed"])

    again = new_run(TASK, "tap 1", by.at_ms, by.at_ms)
    ledger, _ = apply_all(ledger, over(failed, again), by)
    after = ledger.by_id("n_1")
    assert (after.status, [each.state for each in after.occurrences]) == (status, [state])


def test_a_series_whose_last_date_passes_without_a_word_ends():
    """No retry was offered, so there is nothing that it would wait for."""
    ledger, run = one_that_rang("FREQ=DAILY;UNTIL=20261124")
    ledger, _ = apply_all(ledger, over(ledger.by_id("n_1"), run, done=False), BY)

    assert ledger.by_id("n_1").status == "dropped"


def test_a_run_ends_its_own_date_with_those_missed_and_none_that_rang_since():
    """The next date has a run of its own."""
    ledger, run = one_that_rang("FREQ=HOURLY", now="2026-11-24T23:30")
    note = ledger.by_id("n_1")
    assert [each.occurrence for each in over(note, run)] == ["2026-11-24T23:00"]

    midnight = Ring(number=1, occurrence="2026-11-25T00:00", rings_at_ms=at("2026-11-25T00:00"))
    ledger = apply(ledger, midnight, Actor("operator", midnight.rings_at_ms, "ring")).ledger
    assert over(ledger.by_id("n_1"), run) == ()


def test_an_hour_that_comes_twice_is_one_run():
    """02:30 in the night of the autumn change: both look alike by the clock of the wall, and have one id."""
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1))
    walls = {f"{each.astimezone(ZoneInfo(BERLIN)):%Y-%m-%dT%H:%M}" for each in (first, second)}

    assert walls == {"2026-10-25T02:30"}
    assert len({run_id_of("n_1", wall) for wall in walls}) == 1


def test_the_tool_that_schedules_is_short():
    """It stands in every prompt where somebody can be asked, besides the notes' tools."""
    count = TiktokenCounter().count

    assert count(schemas((TOOL,))) - count(schemas()) <= TOKENS


@pytest.mark.parametrize(("language", "says"), [("en", "by 09:30 at"), ("fr", "à 9h30 au plus tard"), ("pt", "9h30")])
def test_the_last_hour_of_a_task_is_told_as_hours_are_in_that_language(language, says):
    """It stands beside the hour at which the task comes."""
    with replies.speaking(language):
        assert says in missed_text(Task("n_1", "c", None, "t_1", missed="09:30"))
