"""A series that rings several times for each of its dates: the evening before, and two hours before."""

from __future__ import annotations

from typing import Any

import pytest

from bot.features.loops import coming_up
from bot.lines import note_line
from bot.reminders.ringing import list_row, operation_for
from memory.ledger import series
from memory.ledger.apply import apply
from memory.ledger.lines import in_brief, model_line, named
from memory.ledger.own_dates import at_next_date
from memory.ledger.types import Actor, Applied, Ledger, Note, Operation, Ring
from memory.ledger.undo import undo
from memory.ledger.views import dates_to_come
from tests.unit.test_toolset import make_box, stored

BERLIN = "Europe/Berlin"
EVE, BEFORE, CHOIR = "2026-12-02T20:00", "2026-12-03T17:30", "2026-12-03T19:30"
WEDNESDAYS, THURSDAYS = "FREQ=WEEKLY;BYDAY=WE", "FREQ=WEEKLY;BYDAY=TH"
BOTH = {"at": f"{EVE},{BEFORE}", "repeats": THURSDAYS}


def at(local: str) -> int:
    return series.at_ms_of(local, BERLIN)


def done(ledger: Ledger, operation: Operation, now: str, hand: Any = "person") -> Ledger:
    outcome = apply(ledger, operation, Actor(hand, at(now)))
    assert isinstance(outcome, Applied), outcome
    return outcome.ledger


async def choir(**wish: Any) -> Ledger:
    """Thursdays at 19:30, rung on the evening before at 20:00 and at 17:30."""
    box = make_box()
    said = await box.remind(**({"text": "Choir", "due": CHOIR} | BOTH | wish))
    assert said.startswith("Set: #1 "), said
    return stored(box, Ledger("c"))


def coming(note: Note) -> str:
    return series.local_of(note.rings_at_ms or 0, BERLIN)


def rung(ledger: Ledger, now: str = "") -> Ledger:
    """The ledger once its next ring came, at its time or `now`."""
    local, at_ms = series.next_ring(ledger.notes[1]) or ("", 0)
    ring = Ring(number=1, occurrence=local, rings_at_ms=at_ms)
    return done(ledger, ring, now or series.local_of(at_ms, BERLIN), "operator")


async def test_each_date_rings_on_the_evening_before_and_again_on_its_day():
    """The second reminder stood as a task of its own, “Heads-up, the evening before: choir” (a trial)."""
    ledger = await choir()
    found = []
    for _ in range(5):
        found.append(coming(ledger.notes[1]))
        ledger = rung(ledger)

    assert found == [EVE, BEFORE, "2026-12-09T20:00", "2026-12-10T17:30", "2026-12-16T20:00"]


async def test_lists_and_the_prompt_tell_both_rings():
    """With the rhythm of its dates: “due Thu 3 Dec, every Wed” stood in 18 of 31 prompts (a trial)."""
    ledger = await choir()
    eve = rung(ledger)
    day = rung(eve)

    def line(ledger: Ledger, now: str, under: str = "") -> str:
        return note_line(ledger.notes[1], at(now), BERLIN, under_ms=at(under) if under else None)

    def told(ledger: Ledger, now: str) -> str:
        return model_line(ledger.notes[1], at(now), BERLIN, brief=True)

    both = "⏰ the day before at 20:00 and on the day at 17:30"
    assert line(ledger, "2026-11-30T09:00") == f"Choir (every Thursday at 19:30, {both})"
    assert line(ledger, "2026-12-02T09:00", EVE) == (
        "Choir (tomorrow at 19:30, then every Thursday, ⏰ the day before at 20:00 and on the day at 17:30)"
    )
    assert line(eve, "2026-12-03T09:00", BEFORE) == "Choir (at 19:30, ⏰ 17:30, then every Thursday)"
    assert line(day, "2026-12-03T18:00", CHOIR) == "Choir (at 19:30, every Thursday)"
    assert told(ledger, "2026-11-30T09:00") == (
        "#1 event: Choir (due Thu 3 Dec 19:30, every Thu; rings Wed 2 Dec 20:00 and Thu 3 Dec 17:30)"
    )
    assert told(eve, "2026-12-02T21:00") == (
        "#1 event: Choir (due Thu 3 Dec 19:30, rings 17:30, every Thu; rang Wed 2 Dec 20:00)"
    )
    assert told(day, "2026-12-03T18:00") == (
        "#1 event: Choir (due Thu 3 Dec 19:30, every Thu; rings Wed 9 Dec 20:00 and Thu 10 Dec 17:30; "
        "rang Thu 3 Dec 17:30)"
    )


async def test_what_is_ticked_off_on_the_eve_does_not_ring_again():
    """Bins that stand at the road need no second word; the choir has begun no sooner for a tap."""
    bins = rung(await choir(text="Put the bins out", kind="task"))
    ended = done(bins, operation_for(bins.notes[1], EVE, "done", at(EVE)), EVE)

    assert coming(ended.notes[1]) == "2026-12-09T20:00"


async def test_a_ring_that_is_put_off_leaves_the_one_behind_it():
    eve = rung(await choir())
    later = done(eve, operation_for(eve.notes[1], EVE, "hour", at(EVE)), EVE)
    again = rung(later)

    assert [coming(each.notes[1]) for each in (later, again)] == ["2026-12-02T21:00", BEFORE]


async def test_rings_that_were_missed_come_once_and_those_to_come_stay():
    """The machine was off on Wednesday evening, and on Thursday morning the rehearsal is still to be."""
    late = rung(await choir(), "2026-12-03T09:00")
    too_late = rung(await choir(), "2026-12-03T18:00")

    assert coming(late.notes[1]) == BEFORE
    assert coming(too_late.notes[1]) == "2026-12-09T20:00"


@pytest.mark.parametrize(
    ("due", "first", "second"),
    [
        ("2026-12-04T19:30", "2026-12-03T20:00", "2026-12-04T17:30"),
        ("2026-12-03T21:00", EVE, "2026-12-03T19:00"),
        ("T18:00", EVE, "2026-12-03T16:00"),
    ],
)
async def test_a_date_that_is_moved_takes_both_its_rings_along(due: str, first: str, second: str):
    """That of the evening before keeps its hour, that of its day its distance; the others stay."""
    box = make_box(ledger=await choir())
    await box.change([1], date="2026-12-03", due=due)
    ledger = stored(box, await choir())
    once = rung(ledger)

    assert [coming(ledger.notes[1]), coming(once.notes[1])] == [first, second]
    assert coming(rung(once).notes[1]) == "2026-12-09T20:00"


async def test_a_date_that_is_moved_behind_its_first_ring_keeps_the_second_before_it():
    eve = rung(await choir())
    box = make_box(ledger=eve, now_ms=at("2026-12-03T09:00"))
    await box.change([1], date="2026-12-03", due="2026-12-03T21:00")

    assert coming(stored(box, eve).notes[1]) == "2026-12-03T19:00"


async def test_a_series_on_another_day_or_hour_keeps_both():
    box = make_box(ledger=await choir())
    said = await box.change([1], due="2026-12-04T20:30")
    ledger = stored(box, await choir())

    assert "All its dates moved, with their rings" in said
    assert [coming(ledger.notes[1]), coming(rung(ledger).notes[1])] == ["2026-12-03T20:00", "2026-12-04T18:30"]


async def test_one_time_in_place_of_both_is_told_to_be_the_only_one():
    """Two calls in a row, meant as two rings, left the second alone, and nobody was told (a trial)."""
    box = make_box(ledger=await choir())
    said = await box.remind(numbers=[1], at="2026-12-03T18:30", repeats=THURSDAYS)
    ledger = stored(box, await choir())

    assert "That is its only ring now: to ring twice for each date give both times" in said
    assert ledger.notes[1].rings_again_min == ()
    assert coming(rung(ledger).notes[1]) == "2026-12-10T18:30"


async def test_a_silent_series_gets_both_at_once_also_without_a_rule():
    box = make_box()
    await box.note("Choir", "event", due=CHOIR, repeats=THURSDAYS)
    said = await box.remind(numbers=[1], at=BOTH["at"])

    assert "FREQ=WEEKLY;BYDAY=TH; rings Wed 2026-12-02 20:00 and Thu 2026-12-03 17:30" in said


async def test_one_whose_first_ring_is_over_still_rings_on_its_day():
    """Said this morning of tonight: the evening before is over, an hour before is not."""
    box = make_box(now_ms=at("2026-12-03T09:00"))
    said = await box.remind(text="Choir", due=CHOIR, **BOTH)

    assert "FREQ=WEEKLY;BYDAY=TH; rings Thu 2026-12-03 17:30)" in said


@pytest.mark.parametrize(
    ("wish", "rule"),
    [
        ({"at": "2026-12-01T08:00,2026-12-01T20:00", "repeats": "FREQ=DAILY"}, "FREQ=DAILY;BYHOUR=8,20"),
        ({"at": "T08:00,T20:00", "due": "T08:00", "repeats": "FREQ=DAILY"}, "FREQ=DAILY;BYHOUR=8,20"),
        ({"at": "2026-12-03T08:00,2026-12-03T18:00", "repeats": THURSDAYS}, f"{THURSDAYS};BYHOUR=8,18"),
    ],
)
async def test_several_hours_of_a_day_without_a_later_date_are_doses(wish: dict[str, str], rule: str):
    box = make_box()
    await box.remind(text="Pill", **wish)
    note = stored(box, Ledger("c")).notes[1]

    assert (note.repeats, note.rings_again_min) == (rule, ())


@pytest.mark.parametrize(
    "wish",
    [
        {"due": ""},
        {"due": CHOIR, "repeats": "FREQ=DAILY"},
        {"due": CHOIR, "repeats": WEDNESDAYS[:-1]},
        {"due": "2026-12-10T19:30", "at": "2026-12-02T20:00,2026-12-10T17:30"},  # behind the next date's first
    ],
)
async def test_times_on_several_days_need_a_date_that_they_are_for(wish: dict[str, str]):
    box = make_box()
    said = await box.remind(**({"text": "Choir"} | BOTH | wish))

    assert "Not set:" in said
    assert box.operations == ()


async def test_a_series_that_rings_no_more_has_no_further_rings_either():
    box = make_box(ledger=await choir())
    await box.remind(numbers=[1], skip=True)
    note = stored(box, await choir()).notes[1]

    assert (note.rings_from, note.rings_again_min, note.rings_at_ms) == ("", (), None)
    assert note.repeats == THURSDAYS


async def test_undo_brings_both_back():
    before = await choir()
    box = make_box(ledger=before)
    await box.remind(numbers=[1], at="2026-12-03T18:30", repeats=THURSDAYS)
    outcomes = [apply(before, each, Actor("model", at("2026-11-24T09:00"), "t_9")) for each in box.operations]
    [applied] = [each for each in outcomes if isinstance(each, Applied)]
    ledger, _ = undo(applied.ledger, applied.changes, Actor("person", at("2026-11-24T09:01")))

    assert ledger.notes[1].rings_again_min == before.notes[1].rings_again_min
    assert coming(ledger.notes[1]) == EVE


async def test_a_ring_that_was_over_when_it_was_set_is_not_told_to_have_come():
    """“rang Thu 26 Nov 09:00” stood for days in the prompt behind a birthday that nobody had rung for (a trial)."""
    box = make_box()
    await box.note("Read with Ben", "task", due="2026-11-24", repeats="FREQ=WEEKLY;BYDAY=TU")
    said = await box.remind(numbers=[1], at="2026-11-30T19:00")
    note = stored(box, Ledger("c")).notes[1]

    assert "(due Tue 2026-11-24, FREQ=WEEKLY;BYDAY=TU; rings Mon 2026-11-30 19:00)" in said
    assert note_line(note, at("2026-11-24T12:00"), BERLIN) == "Read with Ben (today, then every Tuesday)"
    assert "still open from yesterday" in note_line(note, at("2026-11-25T12:00"), BERLIN)


async def test_what_the_person_put_off_stays_so_when_both_rings_are_set_again():
    eve = rung(await choir())
    later = done(eve, operation_for(eve.notes[1], EVE, "hour", at(EVE)), EVE)
    box = make_box(ledger=later, now_ms=at("2026-12-02T20:30"))
    await box.remind(numbers=[1], **(BOTH | {"at": f"{EVE},2026-12-03T18:00"}))

    assert coming(stored(box, later).notes[1]) == "2026-12-02T21:00"


async def test_a_date_between_its_rings_has_the_buttons_of_one_that_rang():
    eve = rung(await choir(text="Put the bins out", kind="task"))
    labels = [button.label for button in list_row(eve.notes[1], at("2026-12-02T21:00"))]

    assert labels[:2] == ["Done", "In an hour"]


async def test_another_hour_of_the_dates_says_nothing_of_their_only_ring():
    box = make_box(ledger=await choir(at="2026-12-03T17:30"))
    said = await box.change([1], due="2026-12-03T20:00", repeats=THURSDAYS)

    assert "rings Thu 2026-12-03 18:00" in said
    assert "only ring" not in said


async def test_a_series_at_a_moved_date_keeps_its_beginning():
    """As long before its dates as it rings is reckoned from there; at a regular date it begins with that."""
    second = rung(rung(await choir()))
    box = make_box(ledger=second)
    await box.change([1], date="2026-12-10", due="2026-12-11T19:30")
    moved = stored(box, second)

    assert at_next_date(moved.notes[1]).rings_from == EVE
    assert at_next_date(second.notes[1]).rings_from == "2026-12-09T20:00"


async def test_what_is_only_named_in_a_prompt_has_its_own_day():
    """“#27 Train to London… Wed 9 Dec” was the day of its ring."""
    bare = (await choir(due="", at=EVE, repeats=WEDNESDAYS)).notes[1]

    assert named((await choir()).notes[1], at("2026-11-30T09:00"), BERLIN) == "#1 Choir Thu 3 Dec"
    assert named(bare, at("2026-11-30T09:00"), BERLIN) == "#1 Choir Wed 2 Dec"


@pytest.mark.parametrize(
    ("at", "reads"),
    [
        ("T18:30", "Choir (every Thursday, next on Thu 3 Dec at 19:30, ⏰ 18:30)"),
        ("18:30", "Choir (every Thursday, next on Thu 3 Dec at 19:30, ⏰ 18:30)"),
        ("20:00,17:30", "⏰ the day before at 20:00 and on the day at 17:30)"),
    ],
)
async def test_an_hour_alone_is_of_the_day_of_what_it_is_for(at: str, reads: str):
    """Said on a Tuesday, “ring at half past six” took Thursday's choir to Tuesdays."""
    box = make_box()

    assert reads in await box.remind(text="Choir", kind="event", due=CHOIR, at=at, repeats=THURSDAYS)
    silent = make_box()
    await silent.note("Choir", "event", due=CHOIR, repeats=THURSDAYS)
    assert reads in await silent.remind(numbers=[1], at=at)


async def test_another_hour_alone_leaves_the_ring_of_the_evening_before_on_its_day():
    box = make_box()
    await box.remind(text="Bins", due="2026-12-03", at="2026-12-02T19:00", repeats=THURSDAYS)

    said = await box.remind(numbers=[1], at="T20:00", repeats=THURSDAYS)
    assert "BYDAY=TH; rings Wed 2026-12-02 20:00" in said
    assert "is no date of that rule" not in await box.remind(
        text="Rent", at="09:00", repeats="FREQ=MONTHLY;BYMONTHDAY=1"
    )


async def test_one_date_is_moved_by_one_time():
    box = make_box()
    await box.remind(text="Choir", kind="event", due=CHOIR, at="20:00,17:30", repeats=THURSDAYS)

    said = await box.remind(numbers=[1], date="2026-12-03", at="2026-12-02T19:00,2026-12-03T18:00")
    assert "by one time, its first ring" in said


@pytest.mark.parametrize(
    ("ring", "due", "rings"),
    [
        ("09:00", "T12:00", "09:00"),
        ("09:00", "T08:00", "07:00"),
        ("15:00", "T12:00", "10:00"),
        ("09:00", "T19:00", "09:00"),
    ],
)
async def test_a_ring_of_the_morning_keeps_its_hour_and_a_close_one_its_distance(ring: str, due: str, rings: str):
    """“By noon already” took the nine o'clock of that day to four."""
    box = make_box()
    await box.remind(text="Hand it in", due="2026-12-03T17:00", at=f"2026-12-03T{ring}")

    assert f"rings Thu 2026-12-03 {rings}" in await box.change([1], due=due)


@pytest.mark.parametrize(("how", "told"), [("done", "done for"), ("dropped", "left out")])
async def test_behind_a_date_that_is_over_the_prompt_tells_the_next(how: str, told: str):
    """“due Mon 30 Nov 07:30; rings Wed 2 Dec”, after every date of a swim that was ticked or called off."""
    swim = {"due": "2026-11-30T07:30", "at": "2026-11-30T07:00", "repeats": "FREQ=DAILY;INTERVAL=2;UNTIL=20261224"}
    ledger = rung(await choir(text="Swim", **swim), "2026-11-30T07:34")
    box = make_box(now_ms=at("2026-11-30T07:40"), ledger=ledger)
    await box.end([1], how, "2026-11-30")

    brief = model_line(in_brief(stored(box, ledger).notes[1]), at("2026-11-30T10:00"), BERLIN, brief=True)
    assert "due Wed 2 Dec 07:30, rings 07:00, every 2 days" in brief
    assert f"{told} Mon 30 Nov 07:30" in brief


async def test_the_rings_of_a_moved_date_stand_before_the_rhythm_of_the_others():
    """“every Tuesday at 07:30, the day before at 19:00 and on the day at 07:00”: that hour was of one date alone."""
    box = make_box(now_ms=at("2026-11-30T09:00"), ledger=await choir())
    await box.change([1], date="2026-12-03", due="2026-12-02T20:00")

    line = note_line(stored(box, await choir()).notes[1], at("2026-11-30T09:00"), BERLIN)
    rings = "\u23f0 the day before at 20:00 and on the day at 18:00"
    assert line == f"Choir (this Wednesday at 20:00, {rings}, then every Thursday at 19:30)"


async def test_once_the_first_ring_of_that_day_came_lists_tell_the_one_that_is_left_and_no_other_rhythm():
    """“at 18:30 this time, then every Monday and Thursday at 09:00”; the date behind lost its hour, or a ring."""
    both = {"due": "2026-11-30T19:30", "at": "2026-11-30T09:00,2026-11-30T18:30"}
    ledger = await choir(**both, repeats="FREQ=WEEKLY;BYDAY=MO,TH;UNTIL=20270111")
    box = make_box(now_ms=at("2026-11-28T10:00"), ledger=ledger)
    await box.change([1], date="2026-12-10", due="2026-12-09")
    first = rung(stored(box, ledger))

    def told(ledger: Ledger, now: str) -> list[str]:
        found = coming_up(dates_to_come(ledger, at(now)), at(now), BERLIN).splitlines()[1:3]
        return [note_line(ledger.notes[1], at(now), BERLIN).partition(" until")[0], *found]

    assert told(first, "2026-11-30T10:00") == [
        "Choir (today at 19:30, \u23f0 18:30, then every Monday and Thursday",
        "Today: Choir (at 19:30, \u23f0 18:30)",
        "Thu 3 Dec: Choir (at 19:30)",
    ]
    assert told(rung(first), "2026-11-30T18:40") == [
        "Choir (today at 19:30, then every Monday and Thursday",
        "Today: Choir (at 19:30)",
        "Thu 3 Dec: Choir (at 19:30, \u23f0 09:00 and 18:30)",
    ]
