"""A series whose ring is added, set again or taken away: what was agreed about its dates is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot import replies
from bot.features.lists import page
from bot.features.loops import coming_line, coming_up, loop_list
from bot.lines import note_line
from bot.reminders.messages import due_of, messages_for
from bot.reminders.ringing import is_seen_alone, list_row
from memory.ledger import series, views
from memory.ledger.apply import apply
from memory.ledger.lines import in_brief, model_line
from memory.ledger.rules import read_local, rule_moved
from memory.ledger.spans import falls_within, ring_of_each
from memory.ledger.types import UNTIL_TOLD_MS, Actor, Add, Applied, Change, End, Ledger, Move, Note, Operation, Ring

LONDON = "Europe/London"
FRIDAY, WEDNESDAY = "2026-11-27T08:00", "2026-12-02T08:00"
TUESDAYS = "FREQ=WEEKLY;BYDAY=TU"


def at(local: str) -> int:
    return series.at_ms_of(local, LONDON)


def done(ledger: Ledger, operation: Operation, now: str) -> Ledger:
    outcome = apply(ledger, operation, Actor("model", at(now), "t_1"))
    assert isinstance(outcome, Applied), outcome
    return outcome.ledger


def a_series(**fields: Any) -> Ledger:
    own = {"due_at_ms": at("2026-12-01T18:30"), "due_exact": True, "repeats": TUESDAYS, "time_zone": LONDON}
    return done(Ledger("c"), Add(kind="event", text="Pilates", note_id="n_1", fields=own | fields), FRIDAY)


def pilates() -> Ledger:
    """Tuesdays at 18:30, but for Wed 9 instead of Tue 8 December, and none on the 22nd."""
    moved = Move(number=1, occurrence="2026-12-08T18:30", to_ms=at("2026-12-09T18:30"))
    out = Move(number=1, occurrence="2026-12-22T18:30")
    return done(done(a_series(), moved, FRIDAY), out, FRIDAY)


def rings(ledger: Ledger, first: str, rule: str = TUESDAYS, now: str = FRIDAY) -> Ledger:
    return done(ledger, Change(number=1, fields={"rings_from": first, "repeats": rule}), now)


def dates(note: Note) -> list[str]:
    """The dates that differ from the rule: `08T17:30 to 09T17:30`, `22T17:30 left_out`."""
    found = []
    for each in note.occurrences:
        to = "" if each.moved_to_ms is None else series.local_of(each.moved_to_ms, LONDON)[8:]
        found.append(f"{each.original_local[8:]} {f'to {to}' if to else each.state}")
    return found


@pytest.mark.parametrize(
    ("first", "rule", "now", "expected"),
    [
        ("2026-12-01T17:30", TUESDAYS, FRIDAY, ["08T17:30 to 09T17:30", "22T17:30 left_out"]),
        ("2026-12-08T17:30", TUESDAYS, WEDNESDAY, ["08T17:30 to 09T17:30", "22T17:30 left_out"]),  # that of the moved
        ("2026-12-15T17:30", TUESDAYS, WEDNESDAY, ["08T17:30 to 09T17:30", "22T17:30 left_out"]),  # the one behind it
        ("2026-11-30T20:00", "FREQ=WEEKLY;BYDAY=MO", FRIDAY, ["07T20:00 to 08T20:00", "21T20:00 left_out"]),
        ("2026-12-01T18:30", TUESDAYS, FRIDAY, ["08T18:30 to 09T18:30", "22T18:30 left_out"]),
        ("2026-12-15T17:30", TUESDAYS, "2026-12-10T08:00", ["22T17:30 left_out"]),  # the moved one is over
    ],
)
def test_a_ring_that_is_added_comes_before_moved_dates_too_and_not_before_those_left_out(first, rule, now, expected):
    """As long before as before the others; the due time is that of the first date that it rings for."""
    note = rings(pilates(), first, rule, now).notes[1]

    assert dates(note) == expected
    days = series.local_due(note).date() - read_local(first).date()
    assert (days.days, series.local_due(note).hour) == (rule != TUESDAYS, 18)


@pytest.mark.parametrize("first", ["2026-12-01T17:30", "2026-12-01T18:00", "2026-11-30T20:00"])
@pytest.mark.parametrize("again", ["", "2026-12-01T18:15", "2026-11-30T21:00"])
def test_a_ring_that_is_taken_away_leaves_the_series_as_it_was(first, again):
    """At whatever hour it rang, and whether it was set once or twice: by its own hour, with all that was agreed."""
    ledger = pilates()
    before = ledger.notes[1]
    for ring in filter(None, (first, again)):
        ledger = rings(ledger, ring, TUESDAYS if "12-01" in ring else "FREQ=WEEKLY;BYDAY=MO")
    after = done(ledger, Change(number=1, fields={"rings_from": ""}), "2026-11-27T09:00").notes[1]

    assert after.model_copy(update={"version": before.version}) == before


@pytest.mark.parametrize(
    ("due", "ring", "rule", "expected"),
    [
        ("2026-12-03T00:00", "2026-12-02T20:00", "FREQ=MONTHLY;BYMONTHDAY=2", "FREQ=MONTHLY;BYMONTHDAY=3"),
        ("2026-12-01T00:00", "2026-11-30T20:00", "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("2027-05-03T00:00", "2027-05-02T09:00", "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=2", "FREQ=YEARLY"),
        ("2026-12-02T18:30", "2026-12-02T17:30", "FREQ=DAILY;BYHOUR=17;BYMINUTE=30", "FREQ=DAILY"),
        ("2026-12-01T18:30", "2026-12-01T17:30", f"{TUESDAYS};COUNT=3", f"{TUESDAYS};UNTIL=20261215"),
        ("2026-12-01T18:30", "2026-12-01T17:30", f"{TUESDAYS};UNTIL=20261215T173000", f"{TUESDAYS};UNTIL=20261215"),
        ("2026-12-01T00:00", "2026-11-30T20:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;UNTIL=20261214",
         "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20261215"),
        ("2026-11-28T10:00", "2026-11-27T20:00", "FREQ=MONTHLY;BYDAY=-1FR",
         "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=-6,-5,-4,-3,-2,-1,1"),
        ("2026-11-28T10:00", "2026-11-27T20:00", "FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR", ""),  # none has the days behind
        ("2026-12-24T00:00", "2026-12-01T09:00", "FREQ=DAILY;UNTIL=20261224", ""),  # until then, its own is the end
    ],
)  # fmt: skip
def test_a_series_without_its_ring_goes_on_by_days(due, ring, rule, expected):
    """The evening before has a rule of its own; where none tells the days themselves, the next stays alone."""
    ledger = a_series(due_at_ms=at(due), due_exact=not due.endswith("00:00"), rings_from=ring, repeats=rule)
    note = done(ledger, Change(number=1, fields={"rings_from": ""}), FRIDAY).notes[1]

    assert (note.rings, note.repeats, note.rings_at_ms) == (False, expected, None)
    assert series.local_of(note.due_at_ms or 0, LONDON) == due


def test_a_series_that_is_nothing_but_its_ring_has_no_rhythm_without_it():
    """Water the plants, every day at nine."""
    ledger = a_series(due_at_ms=None, due_exact=False, rings_from="2026-11-28T09:00", repeats="FREQ=DAILY")
    note = done(ledger, Change(number=1, fields={"rings_from": ""}), FRIDAY).notes[1]

    assert (note.rings, note.repeats, note.occurrences) == (False, "", ())


def test_todays_date_of_which_the_ring_came_is_still_to_come_without_it():
    """At six the bell of half past five is no more; the hour itself is ahead, one that was ticked off is not."""
    ledger = rings(pilates(), "2026-12-01T17:30")
    ring = Ring(number=1, occurrence="2026-12-01T17:30", rings_at_ms=at("2026-12-01T17:30"))
    rang = done(ledger, ring, "2026-12-01T17:30")
    ticked = done(rang, End(number=1, occurrence="2026-12-01T17:30"), "2026-12-01T17:50")

    for before, coming in ((rang, "2026-12-01T18:30"), (ticked, "2026-12-09T18:30")):
        note = done(before, Change(number=1, fields={"rings_from": ""}), "2026-12-01T18:00").notes[1]
        assert series.at_its_date(note, at("2026-12-01T18:00")).due_at_ms == at(coming)


@pytest.mark.parametrize(
    ("first", "rule", "expected"),
    [
        ("2026-11-29T20:00", "FREQ=WEEKLY;BYDAY=SU", ["06T20:00 to 05T10:00", "13T20:00 left_out"]),
        ("2026-12-06T20:00", "FREQ=WEEKLY;BYDAY=SU", ["06T20:00 to 05T10:00", "13T20:00 left_out"]),
        ("2026-12-13T20:00", "FREQ=WEEKLY;BYDAY=SU", ["06T20:00 to 05T10:00"]),  # that day is meant now
        ("2026-11-30T20:00", "FREQ=WEEKLY;BYDAY=MO", []),  # other days
    ],
)
def test_a_date_that_was_moved_keeps_its_time_where_the_hour_of_the_others_changes(first, rule, expected):
    """Call mum on Sundays, this once on Saturday at ten."""
    ledger = a_series(due_at_ms=None, due_exact=False, rings_from="2026-11-29T19:00", repeats="FREQ=WEEKLY;BYDAY=SU")
    ledger = done(ledger, Move(number=1, occurrence="2026-12-06T19:00", to_ms=at("2026-12-05T10:00")), FRIDAY)
    ledger = done(ledger, Move(number=1, occurrence="2026-12-13T19:00"), FRIDAY)

    assert dates(rings(ledger, first, rule).notes[1]) == expected


def test_a_series_that_does_not_ring_keeps_what_was_agreed_at_another_hour():
    """From seven on now: the date that was moved stays at its time, the 22nd stays out."""
    note = done(pilates(), Change(number=1, fields={"due_at_ms": at("2026-12-01T19:00")}), FRIDAY).notes[1]

    assert dates(note) == ["08T19:00 to 09T18:30", "22T19:00 left_out"]


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        ("2026-12-01T17:30", ("2026-12-01T17:30", TUESDAYS)),
        ("2026-12-09T17:30", ("2026-12-08T17:30", TUESDAYS)),  # before the date that was moved
        ("2026-11-30T20:00", ("2026-11-30T20:00", "FREQ=WEEKLY;BYDAY=MO")),
        ("2026-12-22T17:30", None),  # left out
        ("2026-12-03T17:30", None),
        ("2026-12-01T19:30", None),  # behind it
    ],
)
def test_a_ring_before_one_date_tells_that_before_each(local, expected):
    """An hour before, or the evening before."""
    assert ring_of_each(pilates().notes[1], local, at(FRIDAY)) == expected


def after(ledger: Ledger, *ringing: str) -> Ledger:
    """The ledger once these dates rang."""
    for local in ringing:
        ledger = done(ledger, Ring(number=1, occurrence=local, rings_at_ms=at(local)), local)
    return ledger


FIRST, HALF_PAST = "2026-12-01T17:30", "every Tuesday at 18:30"
WITHOUT = "not on Tue 22 Dec"
MOVED = f"on Wed 9 Dec instead of Tue 8 Dec, {WITHOUT}"
TOLD = "moved: Tue 8 Dec 18:30 to Wed 9 Dec 18:30; not on Tue 22 Dec"
NEXT = "moved from Tue 8 Dec 18:30; not on Tue 22 Dec"


@pytest.mark.parametrize(
    ("rung", "now", "person", "model"),
    [
        (None, FRIDAY, f"{HALF_PAST}, {MOVED}", f"due Tue 1 Dec 18:30, every Tue; {TOLD}"),
        (None, "2026-12-01T19:15", f"today at 18:30, then every Tuesday, {MOVED}",
         f"was Tue 1 Dec 18:30, next Wed 9 Dec 18:30, every Tue; {NEXT}"),
        (None, WEDNESDAY, f"on Wed 9 Dec at 18:30, then every Tuesday, {WITHOUT}",
         f"due Wed 9 Dec 18:30, every Tue; {NEXT}"),
        (None, "2026-12-09T19:00", f"today at 18:30, then every Tuesday, {WITHOUT}",
         "was Wed 9 Dec 18:30, next Tue 15 Dec 18:30, every Tue; not on Tue 22 Dec"),
        ((), FRIDAY, f"{HALF_PAST}, ⏰ 17:30, {MOVED}", f"due Tue 1 Dec 18:30, rings 17:30, every Tue; {TOLD}"),
        ((FIRST,), "2026-12-01T17:40",
         f"today at 18:30, then every Tuesday, on Wed 9 Dec instead of Tue 8 Dec, {WITHOUT}",
         f"due Tue 1 Dec 18:30; rings Wed 9 Dec 17:30, every Tue; {NEXT}; rang Tue 1 Dec 17:30"),
        ((FIRST,), WEDNESDAY, f"on Wed 9 Dec at 18:30, then every Tuesday, {WITHOUT}, ⏰ 17:30",
         f"due Wed 9 Dec 18:30, rings 17:30, every Tue; {NEXT}; rang Tue 1 Dec 17:30"),
    ],
)  # fmt: skip
def test_people_and_model_read_a_series_by_its_own_hour_at_its_next_date(rung, now, person, model):
    """With all that was agreed, whether it rings or not; of a date that is on or over the model knows what comes."""
    note = (pilates() if rung is None else after(rings(pilates(), FIRST), *rung)).notes[1]

    assert note_line(note, at(now), LONDON, brief=True) == f"Pilates ({person})"
    assert model_line(note, at(now), LONDON, brief=True) == f"#1 event: Pilates ({model})"


def test_under_its_day_in_loops_a_date_stands_without_the_others():
    """Tomorrow it is at half past six, with its ring: what is moved and left out later is for /memory."""
    silent, ringing = pilates().notes[1], rings(pilates(), FIRST).notes[1]
    plain = silent.model_copy(update={"occurrences": ()})

    assert [coming_line(note, at("2026-11-30T12:00"), LONDON) for note in (silent, ringing, plain)] == [
        "Tomorrow: Pilates (at 18:30)",  # no rhythm that is not so
        "Tomorrow: Pilates (at 18:30, ⏰ 17:30)",
        "Tomorrow: Pilates (every Tuesday at 18:30)",
    ]


def test_what_is_left_out_today_is_told_until_the_day_is_over():
    """At eight in the evening somebody asks whether there was a lesson today."""
    told = [note_line(pilates().notes[1], at(f"2026-12-{now}"), LONDON) for now in ("22T20:00", "23T08:00")]

    assert told == ["Pilates (every Tuesday at 18:30, not today)", "Pilates (every Tuesday at 18:30)"]


def test_under_the_day_of_the_next_ring_nothing_of_todays_lesson_is_told():
    """Between ring and lesson /reminders has the one of next week: "for today at 18:30" made no sense there."""
    note = after(rings(pilates(), FIRST), FIRST).notes[1]
    said = note_line(note, at("2026-12-01T17:40"), LONDON, under_ms=note.rings_at_ms, brief=True)

    assert said == f"Pilates (at 18:30, then every Tuesday, {WITHOUT}, ⏰ 17:30)"


def test_what_comes_today_stands_among_the_dates_ahead_between_its_ring_and_its_hour():
    """At twenty to six the lesson of half past six is still the next one; behind it the date that was moved is."""
    note = after(rings(pilates(), FIRST), FIRST).notes[1]

    for now, day in (("2026-12-01T17:40", "2026-12-01T18:30"), ("2026-12-01T19:00", "2026-12-09T18:30")):
        [coming] = views.dates_to_come([note], at(now))
        assert coming.due_at_ms == at(day)


def test_a_series_has_its_own_hour_also_where_room_is_short():
    """The ring alone would be told as the hour of the lesson; a series that is its ring has no other."""
    note = rings(pilates(), FIRST).notes[1]
    mere = a_series(due_at_ms=None, due_exact=False, rings_from="2026-11-28T09:00", repeats="FREQ=DAILY").notes[1]

    line = model_line(in_brief(note), at(FRIDAY), LONDON, brief=True)
    assert line == f"#1 event: Pilates (due Tue 1 Dec 18:30, rings 17:30, every Tue; {TOLD})"
    assert "(rings Sat 28 Nov 09:00, every day)" in model_line(in_brief(mere), at(FRIDAY), LONDON, brief=True)


def test_a_ring_that_was_put_off_tells_the_hour_that_was_not():
    """A quarter of an hour later the lesson is at half past six as before."""
    put_off = Move(number=1, occurrence=FIRST, to_ms=at("2026-12-01T17:45"))
    note = done(after(rings(pilates(), FIRST), FIRST), put_off, "2026-12-01T17:31").notes[1]
    due = due_of(note, at("2026-12-01T17:45"))

    assert due is not None
    [(message, _)] = messages_for([due], at("2026-12-01T17:45"))
    assert message.text == "⏰ Pilates (today at 18:30)"


def test_no_rule_is_made_up_for_days_that_none_has():
    """Several dates a day, the days behind the last of a weekday every two months, what is no rule."""
    for rule in ("FREQ=DAILY;BYHOUR=8,20", "FREQ=HOURLY", "FREQ=MONTHLY;INTERVAL=2;BYDAY=-1MO", "nonsense"):
        assert rule_moved(rule, "2026-12-01T08:00", 1) is None


@pytest.mark.parametrize(
    ("rule", "first", "before"),
    [
        ("FREQ=MONTHLY;BYDAY=2TU", "2026-12-08T19:00", "FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=7,8,9,10,11,12,13"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "2026-12-25T19:00", "FREQ=MONTHLY;BYDAY=TH;BYMONTHDAY=-8,-7,-6,-5,-4,-3,-2"),
        ("FREQ=MONTHLY;BYDAY=1TU", "2026-12-01T19:00", "FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=-1,1,2,3,4,5,6"),
    ],
)
def test_the_day_before_a_numbered_weekday_has_a_rule(rule: str, first: str, before: str):
    """The council of each second Tuesday, rung on the Monday: it was refused, and stood as a task of its own."""
    eve = f"{read_local(first) - timedelta(days=1):%Y-%m-%dT%H:%M}"

    assert rule_moved(rule, first, -1) == before
    assert rule_moved(before, eve, 1) == rule


def on(note: Note, day: str, last: str = "", now: str = FRIDAY) -> bool:
    return falls_within(note, at(f"{day}T00:00"), at(f"{last or day}T00:00") + 24 * 3_600_000, at(now))


@pytest.mark.parametrize(
    ("day", "comes"),
    [
        ("2026-11-24", False),  # before its first
        ("2026-12-01", True),
        ("2026-12-07", False),
        ("2026-12-08", False),  # moved to the next day
        ("2026-12-09", True),
        ("2026-12-15", True),
        ("2026-12-22", False),  # left out
        ("2027-06-01", True),
    ],
)
def test_a_series_falls_on_each_of_its_dates(day: str, *, comes: bool):
    """“What is on next Tuesday?”: only the next date, or the first, was looked at."""
    assert on(pilates().notes[1], day) is comes


def test_a_series_falls_on_the_days_of_its_rings_and_of_its_own():
    """Rung the evening before: both days are its days, the moved date's too."""
    note = rings(pilates(), "2026-11-30T20:00", "FREQ=WEEKLY;BYDAY=MO").notes[1]
    days = [f"2026-12-{day:02}" for day in range(1, 24)]
    assert [day[-2:] for day in days if on(note, day)] == ["01", "08", "09", "14", "15"]
    assert on(note, "2026-12-10", "2026-12-14")


def test_a_series_that_rests_or_ends_falls_on_no_day_behind():
    """A paused series has no date, one until the 14th none behind it, one that goes on has some day."""
    note = pilates().notes[1]
    paused = done(pilates(), Change(number=1, fields={"snoozed_until_ms": UNTIL_TOLD_MS}), FRIDAY).notes[1]
    ends = done(pilates(), Change(number=1, fields={"repeats": f"{TUESDAYS};UNTIL=20261214"}), FRIDAY).notes[1]
    from_ms = at("2026-12-15T00:00")
    assert [falls_within(each, from_ms, None, at(FRIDAY)) for each in (note, paused, ends)] == [True, False, False]


def test_one_time_falls_on_its_days_and_on_those_of_its_rings():
    """From Friday to Sunday, with a ring on Thursday; the days between were none of its days."""
    days = {"due_at_ms": at("2026-12-04T00:00"), "ends_at_ms": at("2026-12-06T00:00"), "time_zone": LONDON}
    note = done(Ledger("c"), Add(kind="event", text="Paris", note_id="n_1", fields=days), FRIDAY)
    rung = done(note, Change(number=1, fields={"rings_from": "2026-12-03T20:00"}), FRIDAY).notes[1]
    assert [day for day in range(1, 9) if on(rung, f"2026-12-0{day}")] == [3, 4, 5, 6]


def test_a_date_moved_by_a_week_names_the_day_that_it_comes_instead_of():
    """Under “Fri 11 Dec” stood “on Friday at 19:00 this time”: which Friday it usually is, nobody could tell."""
    rule = "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,SA"
    fields = {"rings_from": "2026-12-04T19:00", "repeats": rule, "time_zone": LONDON}
    ledger = done(Ledger("c"), Add(kind="task", text="Inhaler", note_id="n_1", fields=fields), FRIDAY)
    moved = Move(number=1, occurrence="2026-12-04T19:00", to_ms=at("2026-12-11T19:00"))
    too = Move(number=1, occurrence="2026-12-05T19:00", to_ms=at("2026-12-12T19:00"))
    note = done(done(ledger, moved, FRIDAY), too, FRIDAY).notes[1]

    said = note_line(note, at("2026-12-01T09:00"), LONDON, under_ms=at("2026-12-11T19:00"))
    beside = "on Sat 12 Dec instead of Sat 5 Dec"
    rhythm = "then every two weeks, Fri and Sat from Fri 18 Dec"
    assert said == f"Inhaler (⏰ at 19:00 instead of Fri 4 Dec, {beside}, {rhythm})"


def weekends(text: str, first: str) -> Ledger:
    """From Friday to Sunday, every second week."""
    fields = {"due_at_ms": at(f"{first}T00:00"), "lasts_ms": 48 * 3_600_000, "time_zone": LONDON}
    add = Add(kind="event", text=text, note_id="n_1", fields=fields | {"repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"})
    return done(Ledger("c"), add, FRIDAY)


def weekends_with_a_moved_one() -> tuple[Ledger, Note]:
    """Those from 27 November, and the note with that of 11 December a week earlier."""
    ledger = weekends("Arlo is away", "2026-11-27")
    moved = Move(number=1, occurrence="2026-12-11T00:00", to_ms=at("2026-12-04T00:00"))
    return ledger, done(ledger, moved, "2026-11-30T18:00").notes[1]


def test_a_weekday_in_the_text_of_a_series_is_no_date():
    """“Arlo is with Gareth from Friday” every second week stood under no day, with no date."""
    text = "Arlo is with Gareth, from Friday till Sunday"
    note = weekends(text, "2026-12-04").notes[1]

    now_ms = at("2026-12-01T09:00")
    assert coming_line(note, now_ms, LONDON) == f"Fri 4 Dec – Sun 6 Dec: {text} (every two weeks)"
    assert note_line(note, now_ms, LONDON) == f"{text} (every two weeks, next Fri 4 Dec – Sun 6 Dec)"


@pytest.mark.parametrize(("rule", "told"), [("FREQ=DAILY", ""), ("FREQ=WEEKLY", ", reminded yesterday")])
def test_yesterdays_ring_is_told_at_a_glance_where_no_other_comes_soon(rule: str, told: str):
    """“reminded yesterday at 19:27” hung behind the pill that rings again tonight."""
    fields = {"rings_from": "2026-11-25T19:00", "repeats": rule, "time_zone": LONDON}
    ledger = done(Ledger("c"), Add(kind="task", text="Pill", note_id="n_1", fields=fields), "2026-11-25T08:00")
    rang = Ring(number=1, occurrence="2026-11-25T19:00", rings_at_ms=at("2026-11-25T19:00"))
    note = done(ledger, rang, "2026-11-25T19:00")

    line = note_line(note.notes[1], at("2026-11-26T08:00"), LONDON, brief=True)
    assert line.endswith(f"{told})")
    assert ("reminded" in line) == bool(told)


def test_the_last_date_of_a_series_that_waits_is_told_by_its_own_day():
    """“was due Sun 29 Nov” stood behind the tablet of 9 December: the first day of them all."""
    fields = {"due_at_ms": at("2026-11-29T00:00"), "rings_from": "2026-11-29T09:00", "time_zone": LONDON}
    rule = {"repeats": "FREQ=DAILY;INTERVAL=2;UNTIL=20261209"}
    ledger = done(Ledger("c"), Add(kind="task", text="Tablet", note_id="n_1", fields=fields | rule), FRIDAY)
    for day in ("2026-11-29", "2026-12-01", "2026-12-03", "2026-12-05", "2026-12-07", "2026-12-09"):
        local = f"{day}T09:00"
        ledger = done(ledger, Ring(number=1, occurrence=local, rings_at_ms=at(local)), local)

    assert note_line(ledger.notes[1], at("2026-12-11T18:00"), LONDON) == "Tablet (was due on Wed 9 Dec)"


def test_behind_a_moved_weekend_the_next_of_the_rule_is_named():
    """“Fri 4 Dec, then every two weeks” is the 18th; the weekends go on from the 25th."""
    _, note = weekends_with_a_moved_one()

    rhythm = "then every two weeks from Fri 25 Dec"
    assert note_line(note, at("2026-11-30T18:00"), LONDON) == f"Arlo is away (Fri 4 Dec – Sun 6 Dec, {rhythm})"
    assert note_line(note, at("2026-12-05T09:00"), LONDON) == f"Arlo is away (until tomorrow, {rhythm})"


def test_a_model_is_told_the_date_behind_a_moved_one_of_every_second_week():
    """From “due Fri 4 Dec, every 2 weeks” it reckoned the 18th; what has ended for good says when."""
    ledger, note = weekends_with_a_moved_one()
    told = "due Fri 4 Dec to Sun 6 Dec, next Fri 25 Dec, every 2 weeks on Fri"

    assert told in model_line(note, at("2026-12-01T09:00"), LONDON, brief=True)
    assert told in model_line(note, at("2026-12-05T09:00"), LONDON, brief=True)
    ends = done(ledger, Change(number=1, fields={"repeats": "FREQ=WEEKLY;UNTIL=20261127"}), FRIDAY).notes[1]
    assert model_line(ends, at("2026-12-02T09:00"), LONDON, brief=True).endswith("(was Fri 27 Nov to Sun 29 Nov)")


def test_a_series_that_is_due_when_it_rings_moves_whole_to_another_day():
    """Stocktake on Mondays instead of Sundays was due on the Sunday behind: six days after its ring."""
    fields = {"due_at_ms": at("2026-11-29T18:00"), "due_exact": True, "rings_from": "2026-11-29T18:00"}
    fields |= {"repeats": "FREQ=WEEKLY;BYDAY=SU", "time_zone": LONDON}
    ledger = done(Ledger("c"), Add(kind="task", text="Stocktake", note_id="n_1", fields=fields), FRIDAY)
    monday = rings(ledger, "2026-12-14T18:00", "FREQ=WEEKLY;BYDAY=MO").notes[1]
    evening = rings(ledger, "2026-12-05T20:00", "FREQ=WEEKLY;BYDAY=SA").notes[1]

    assert model_line(monday, at(FRIDAY), LONDON).endswith(
        "(due Mon 2026-12-14 18:00; rings Mon 2026-12-14 18:00, FREQ=WEEKLY;BYDAY=MO)"
    )
    assert "due Sun 2026-12-06 18:00, FREQ=WEEKLY;BYDAY=SU; rings Sat 2026-12-05 20:00" in model_line(
        evening, at(FRIDAY), LONDON
    )


def test_a_series_that_rings_the_day_before_is_told_by_its_own_days():
    """“by Fri 1 Jan, ⏰ on the last day of every month” read as if the reminder ended on the first."""
    rent = {"due_at_ms": at("2026-12-01T00:00"), "rings_from": "2026-11-30T18:00", "time_zone": LONDON}
    fields = rent | {"repeats": "FREQ=MONTHLY;BYMONTHDAY=-1"}
    ledger = done(Ledger("c"), Add(kind="task", text="Pay the rent", note_id="n_1", fields=fields), FRIDAY)
    said = "Pay the rent (every month on the 1st, ⏰ the day before at 18:00)"
    assert note_line(ledger.notes[1], at(FRIDAY), LONDON) == said
    until = Add(kind="task", text="Nag", note_id="n_2", fields=rent | {"repeats": "FREQ=DAILY"})
    assert "by Tue 1 Dec" in note_line(done(ledger, until, FRIDAY).notes[2], at(FRIDAY), LONDON)


def test_last_nights_ring_that_came_this_morning_says_whose_it_is():
    """“reminded at 07:24” read as today's pill, of 21:00; a date that somebody moved there is that day's."""
    fields = {"rings_from": "2026-11-26T21:00", "repeats": "FREQ=DAILY", "time_zone": LONDON}
    ledger = done(Ledger("c"), Add(kind="task", text="Statin", note_id="n_1", fields=fields), "2026-11-26T08:00")
    came_ms = at("2026-11-27T07:24") + 533
    ring = Ring(number=1, occurrence="2026-11-26T21:00", rings_at_ms=at("2026-11-26T21:00"))
    late = apply(ledger, ring, Actor("operator", came_ms, "ring"))
    assert isinstance(late, Applied)
    line = note_line(late.ledger.notes[1], at("2026-11-27T08:00"), LONDON, brief=True)
    assert line.endswith("still open from yesterday)")
    assert "reminded" not in note_line(late.ledger.notes[1], at("2026-11-27T14:00"), LONDON, brief=True)
    moved = done(
        ledger, Move(number=1, occurrence="2026-11-26T21:00", to_ms=at("2026-11-27T07:00")), "2026-11-26T08:00"
    )
    ring = Ring(number=1, occurrence="2026-11-26T21:00", rings_at_ms=at("2026-11-27T07:00"))
    rang = apply(moved, ring, Actor("operator", at("2026-11-27T07:00"), "ring"))
    assert isinstance(rang, Applied)
    assert "for yesterday" not in note_line(rang.ledger.notes[1], at("2026-11-27T08:00"), LONDON, brief=True)


@pytest.mark.parametrize(("rule", "is_offered"), [("FREQ=DAILY;UNTIL=20261202", False), ("FREQ=WEEKLY;COUNT=1", True)])
def test_the_last_of_daily_doses_is_not_put_off_until_tomorrow(rule: str, *, is_offered: bool):
    """[Tomorrow] stood under the last tablet of a course that ended today."""
    fields = {"rings_from": "2026-12-01T20:00" if "DAILY" in rule else "2026-12-02T20:00", "time_zone": LONDON}
    add = Add(kind="task", text="Tablet", note_id="n_1", fields=fields | {"repeats": rule})
    ledger = done(Ledger("c"), add, FRIDAY)
    for local in ("2026-12-01T20:00", "2026-12-02T20:00")["DAILY" not in rule :]:
        ledger = done(ledger, Ring(number=1, occurrence=local, rings_at_ms=at(local)), local)

    row = list_row(ledger.notes[1], at("2026-12-02T20:30"))
    assert any("tomorrow" in str(each.payload).lower() for each in row) is is_offered


def test_a_run_of_a_few_days_names_them():
    """A late shift on Monday and Tuesday was one of “every day until 8 Dec”."""
    fields = {"due_at_ms": at("2026-12-07T16:00"), "due_exact": True, "lasts_ms": 7 * 3_600_000, "time_zone": LONDON}

    def told(now: str, until: str = "20261208") -> str:
        add = Add(kind="event", text="Shift", note_id="n_1", fields=fields | {"repeats": f"FREQ=DAILY;UNTIL={until}"})
        return coming_line(series.at_its_date(done(Ledger("c"), add, FRIDAY).notes[1], at(now)), at(now), LONDON)

    assert told("2026-12-04T09:00") == "Mon 7 Dec: Shift (16:00–23:00, also Tue 8 Dec)"
    assert told("2026-12-08T09:00") == "Today: Shift (16:00–23:00)"
    assert told("2026-12-04T09:00", "20261211") == "Mon 7 Dec: Shift (16:00–23:00, every day until 11 Dec)"


# --- what rang and waits ----------------------------------------------------------------------------------------------


def rent(now: str = "2026-11-30T18:01") -> Ledger:
    """Due on the 1st, rung the day before at six."""
    fields = {"due_at_ms": at("2026-12-01T00:00"), "rings_from": "2026-11-30T18:00", "time_zone": LONDON}
    fields |= {"repeats": "FREQ=MONTHLY;BYMONTHDAY=-1"}
    ledger = done(Ledger("c"), Add(kind="task", text="Pay the rent", note_id="n_1", fields=fields), FRIDAY)
    return done(ledger, Ring(number=1, occurrence="2026-11-30T18:00", rings_at_ms=at("2026-11-30T18:00")), now)


def listed(ledger: Ledger, now: str) -> list[str]:
    """The heads and lines of /loops."""
    text = page(loop_list(ledger, at(now), LONDON)).text
    return [line for line in text.splitlines()[1:] if line and line != replies.say("loops_foot")]


def test_a_ring_that_sleeps_moves_no_date():
    """The rent of the 1st, put off on the 30th until "tomorrow", was due on the 2nd."""
    sleeps = done(
        rent(), Move(number=1, occurrence="2026-11-30T18:00", to_ms=at("2026-12-01T18:00")), "2026-11-30T19:00"
    )

    assert "due Tue 1 Dec" in model_line(sleeps.notes[1], at("2026-12-01T09:00"), LONDON, brief=True)
    assert "tomorrow" not in " ".join(listed(sleeps, "2026-12-01T09:00"))


def test_what_was_rung_for_today_stands_under_today_until_the_day_is_over():
    """It stood under the 31st from the morning on; nobody had paid. Then it is overdue for some days."""
    assert listed(rent(), "2026-11-30T19:00") == [
        "Today",
        "1. Pay the rent (tomorrow, then every month on the 1st, reminded today)",
    ]
    assert listed(rent(), "2026-12-01T12:00")[0] == "Today"
    assert listed(rent(), "2026-12-03T12:00")[0] == "Overdue"
    assert listed(rent(), "2026-12-06T12:00")[0] == "Thu 31 Dec"


def test_a_ring_of_today_is_for_tomorrow():
    """Under “Today” “the day before at 18:00” read as yesterday's."""
    fields = {"due_at_ms": at("2026-12-01T00:00"), "rings_from": "2026-11-30T18:00", "time_zone": LONDON}
    fields |= {"repeats": "FREQ=MONTHLY;BYMONTHDAY=-1"}
    ledger = done(Ledger("c"), Add(kind="task", text="Pay the rent", note_id="n_1", fields=fields), FRIDAY)

    assert listed(ledger, FRIDAY) == [
        "Mon 30 Nov",
        "1. Pay the rent (⏰ 18:00, for Tue 1 Dec, then every month on the 1st)",
    ]
    assert listed(ledger, "2026-11-30T09:00") == [
        "Today",
        "1. Pay the rent (tomorrow, then every month on the 1st, ⏰ 18:00)",
    ]


def test_a_lesson_that_rang_is_on_until_it_is_over():
    """With a ring half an hour before it vanished from its day when it began."""
    lasts = rings(a_series(lasts_ms=3_600_000), "2026-12-01T18:00")
    rang = done(
        lasts, Ring(number=1, occurrence="2026-12-01T18:00", rings_at_ms=at("2026-12-01T18:00")), "2026-12-01T18:00"
    )

    [now] = views.dates_to_come(rang, at("2026-12-01T19:00"))
    assert coming_line(now, at("2026-12-01T19:00"), LONDON).startswith("Today: Pilates (until 19:30")
    [later] = views.dates_to_come(rang, at("2026-12-01T19:31"))
    assert coming_line(later, at("2026-12-01T19:31"), LONDON).startswith("Tue 8 Dec: Pilates")


def test_the_last_of_a_course_waits_for_half_a_day():
    """Day after day it led the list as overdue; the pills before it had made room for the next."""
    fields = {"rings_from": "2026-11-27T20:00", "repeats": "FREQ=DAILY;UNTIL=20261128", "time_zone": LONDON}
    ledger = done(Ledger("c"), Add(kind="task", text="Antibiotic", note_id="n_1", fields=fields), FRIDAY)
    for day in ("27", "28"):
        ring = Ring(number=1, occurrence=f"2026-11-{day}T20:00", rings_at_ms=at(f"2026-11-{day}T20:00"))
        ledger = done(ledger, ring, f"2026-11-{day}T20:00")

    assert [note.text for note in views.agenda(ledger, at("2026-11-29T07:59"))] == ["Antibiotic"]
    assert views.agenda(ledger, at("2026-11-29T08:00")) == []


def test_a_silent_task_of_today_stands_there_after_its_hour():
    """At five it was next Friday's, and [Done] said that its date is still ahead."""
    fields = {"due_at_ms": at("2026-11-27T16:00"), "due_exact": True, "repeats": "FREQ=WEEKLY;BYDAY=FR"}
    fields |= {"time_zone": LONDON, "owner": "user"}
    ledger = done(Ledger("c"), Add(kind="task", text="Weekly report", note_id="n_1", fields=fields), FRIDAY)

    assert listed(ledger, "2026-11-27T17:00")[0] == "Today"
    assert series.date_to_end(ledger.notes[1], at("2026-11-27T17:00")) == "2026-11-27T16:00"
    assert listed(ledger, "2026-11-28T00:01")[0] == "Fri 4 Dec"


def test_a_birthday_with_a_ring_two_days_before_is_told_by_its_day():
    """“Every year at 10:00, by 14 Dec”: the ring had the year, and the day was an end."""
    fields = {"due_at_ms": at("2026-12-14T00:00"), "rings_from": "2026-12-12T10:00", "repeats": "FREQ=YEARLY"}
    note = Add(kind="event", text="Dad's birthday", note_id="n_1", fields=fields | {"time_zone": LONDON})
    birthday = done(Ledger("c"), note, FRIDAY).notes[1]

    assert (
        note_line(birthday, at(FRIDAY), LONDON) == "Dad's birthday (Mon 14 Dec, every year, ⏰ 2 days before at 10:00)"
    )


def test_a_rent_whose_ring_sleeps_is_due_on_its_day():
    """“On Tuesday at 18:00 this time, then on the last day of every month” told no day."""
    sleeps = done(
        rent(), Move(number=1, occurrence="2026-11-30T18:00", to_ms=at("2026-12-01T18:00")), "2026-11-30T19:00"
    )

    assert listed(sleeps, "2026-12-01T09:00") == ["Today", "1. Pay the rent (every month on the 1st, ⏰ 18:00)"]


def test_a_rent_that_rang_is_told_by_its_day_where_room_is_short():
    """The evening before its day, and on it, the prompt had it due on 1 January."""
    line = model_line(in_brief(rent().notes[1]), at("2026-12-01T08:00"), LONDON, brief=True)

    assert line.startswith("#1 task: Pay the rent (due Tue 1 Dec")


@pytest.mark.parametrize(
    ("due", "ring"), [("2026-12-02T20:00", "2026-12-02T19:00"), ("2026-11-30T20:00", "2026-11-30T19:00")]
)
def test_a_moved_date_whose_ring_comes_late_is_on_when_it_was_moved_to(due, ring):
    """Rung six minutes late tonight's lesson was gone from the list, or stood there at another hour."""
    lasts = {"lasts_ms": 90 * 60_000, "rings_from": FIRST}
    move = Move(number=1, occurrence=FIRST, to_ms=at(ring), due_at_ms=at(due), lasts_ms=90 * 60_000)
    ledger = done(a_series(**lasts), move, FRIDAY)
    late = at(ring) + 6 * 60_000 + 321
    ledger = apply(ledger, Ring(number=1, occurrence=FIRST, rings_at_ms=at(ring)), Actor("person", late)).ledger
    told = coming_up(views.dates_to_come(ledger, late + 1000), late + 1000, LONDON)

    assert told.splitlines()[-1] == "Today: Pilates (20:00–21:30)"


def test_of_several_missed_dates_the_message_is_about_the_last():
    """After days without power Monday's swimming “should have come yesterday”, of which it was Wednesday's."""
    fields = {"rings_from": "2026-11-30T16:30", "repeats": "FREQ=WEEKLY;BYDAY=MO,WE", "time_zone": LONDON}
    fields |= {"due_at_ms": at("2026-11-30T17:00"), "due_exact": True, "lasts_ms": 3_600_000}
    ledger = done(Ledger("c"), Add(kind="event", text="Swimming", note_id="n_1", fields=fields), "2026-11-27T08:00")
    now_ms = at("2026-12-03T09:00")
    [(message, _)] = messages_for([due_of(ledger.notes[1], now_ms)], now_ms)

    assert "Swimming (yesterday 17:00\u201318:00)" in message.text


def test_done_on_the_eve_leaves_a_birthday_where_it_is():
    """[Done] under “Noé's birthday (tomorrow)” took it off the lists, until the next year."""
    fields = {"rings_from": "2026-12-01T18:00", "repeats": "FREQ=YEARLY", "time_zone": LONDON}
    fields |= {"due_at_ms": at("2026-12-02T00:00")}
    ledger = done(Ledger("c"), Add(kind="event", text="Birthday", note_id="n_1", fields=fields), "2026-11-27T08:00")
    note = ledger.notes[1]

    assert is_seen_alone(note, "2026-12-01T18:00", "done", at("2026-12-01T18:05"))
    assert not is_seen_alone(note, "2026-12-01T18:00", "done", at("2026-12-02T18:05"))
    assert not is_seen_alone(
        note.model_copy(update={"kind": "task"}), "2026-12-01T18:00", "done", at("2026-12-01T19:00")
    )


def test_under_the_day_of_its_ring_a_series_of_two_weeks_is_told_by_its_date():
    """“Bins (every two weeks, next on Tue 1 Dec, ⏰ the day before at 19:00)” under Monday was read three times."""
    fields = {"rings_from": "2026-11-30T19:00", "repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "time_zone": LONDON}
    fields |= {"due_at_ms": at("2026-12-01T00:00")}
    ledger = done(Ledger("c"), Add(kind="task", text="Bins", note_id="n_1", fields=fields), "2026-11-27T08:00")
    note, now_ms = ledger.notes[1], at("2026-11-27T08:00")

    assert note_line(note, now_ms, LONDON, under_ms=note.rings_at_ms) == (
        "Bins (⏰ 19:00, for Tue 1 Dec, then every other Tuesday)"
    )
