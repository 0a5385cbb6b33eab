"""A note as a person reads it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot import replies
from bot.dates import hour_text
from bot.features.lists import day_of
from bot.features.loops import coming_line
from bot.lines import note_line
from bot.reminders.ringing import list_row, told
from memory.ledger import series
from memory.ledger.lines import entitled, in_brief, model_line, reworded
from memory.ledger.rules import in_words
from memory.ledger.types import UNTIL_TOLD_MS, Note, Occurrence
from memory.ledger.views import is_reminder
from memory.testing import START_MS

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def a_note(text: str = "Call mum.", **fields: object) -> Note:
    values = {"note_id": "n1", "conversation_id": "c", "number": 1, "kind": "task", "said_at_ms": START_MS}
    return Note.model_validate(values | {"text": text} | fields)


def line(note: Note, **options: Any) -> str:
    return note_line(note, START_MS, "UTC", **options)


def test_a_line_is_the_sentence_alone_when_nothing_else_helps():
    """No quotation marks, no kind, no number, no stop at its end, and nobody's turn where it is the person's own."""
    assert line(a_note(owner="user")) == "Call mum"


def test_a_name_is_said_when_it_is_somebody_elses_turn():
    """Whose turn it is shows only as a name, and not twice."""
    assert line(a_note("Bins", owner="Rui")) == "Rui: Bins"
    assert line(a_note("Your father's operation", kind="event", owner="papa")) == "Your father's operation"
    assert line(a_note("Rui does the bins", owner="Rui")) == "Rui does the bins"
    assert line(a_note("The Howells owe you £50", owner="the Howells")) == "The Howells owe you £50"
    assert line(a_note("Find the photo", owner="assistant")) == "Find the photo (my promise)"
    assert line(a_note("Bring the chairs", owner="everyone")) == "Bring the chairs (everybody)"


def test_what_is_late_says_since_when():
    """A task whose day is over was due, an event was."""
    assert line(a_note(due_at_ms=START_MS - DAY_MS)) == "Call mum (was due yesterday)"
    assert line(a_note("The party", kind="event", due_at_ms=START_MS - DAY_MS)) == "The party (was yesterday)"


def test_a_birthday_is_told_by_its_day():
    """That it comes every year is what a birthday is; one that rings says so, since its rings are asked about."""
    yearly = {"due_at_ms": START_MS + 9 * DAY_MS, "time_zone": "UTC", "repeats": "FREQ=YEARLY"}

    assert line(a_note("Aigul's birthday", kind="event", **yearly)) == "Aigul's birthday (Thu 23 Nov, every year)"
    rings = {"rings_from": "2023-11-23T09:00", "rings_at_ms": START_MS + 8 * DAY_MS + 11 * HOUR_MS}
    assert "every year" in line(a_note("Aigul's birthday", kind="event", **yearly | rings))


def test_what_lasts_hours_says_from_when_to_when():
    """On its day by its hours alone, before a ring, in a series, while it is on, and when it is over."""
    note = a_note("Boiler man", kind="event", due_at_ms=START_MS + DAY_MS, due_exact=True, lasts_ms=4 * HOUR_MS)
    weekly = note.model_copy(update={"repeats": "FREQ=WEEKLY;BYDAY=WE"})
    rings = {"rings_from": "2023-11-14T23:13", "rings_at_ms": START_MS + HOUR_MS}

    assert line(note) == "Boiler man (tomorrow 22:13–02:13)"
    assert line(note, under_ms=note.due_at_ms) == "Boiler man (22:13–02:13)"
    assert line(note.model_copy(update=rings)) == "Boiler man (tomorrow 22:13–02:13, ⏰ today at 23:13)"
    assert line(weekly) == "Boiler man (every Wednesday 22:13–02:13)"
    begun = note.model_copy(update={"due_at_ms": START_MS - HOUR_MS})
    assert line(begun) == "Boiler man (until tomorrow at 01:13)"
    assert line(begun.model_copy(update={"lasts_ms": HOUR_MS})) == "Boiler man (was today 21:13–22:13)"


@pytest.mark.parametrize(
    ("hours", "once", "in_loops"),
    [
        (49, "Sun 19 Nov 17:00 – Tue 21 Nov 18:00", "Sun 19 Nov: Kids (17:00 – Tue 21 Nov 18:00, every two weeks)"),
        (0, "Sun 19 Nov – Tue 21 Nov", "Sun 19 Nov – Tue 21 Nov: Kids (every two weeks)"),
    ],
)
def test_what_lasts_for_days_says_from_when_to_when(hours, once, in_loops):
    """Each date of a series, too; in /loops the days stand over it."""
    at_ms = series.at_ms_of("2023-11-19T17:00" if hours else "2023-11-19T00:00", "UTC")
    fields = {"due_at_ms": at_ms, "due_exact": bool(hours), "lasts_ms": (hours or 48) * HOUR_MS, "time_zone": "UTC"}
    note = a_note("Kids", kind="event", **fields)
    kids = note.model_copy(update={"repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU"})

    assert line(note) == f"Kids ({once})"
    assert line(kids) == f"Kids (every two weeks, next {once})"
    assert coming_line(kids, START_MS, "UTC") == in_loops
    under_way = coming_line(kids, at_ms + 26 * HOUR_MS, "UTC")
    assert under_way == f"Today: Kids (until tomorrow{' at 18:00' * bool(hours)}, then every two weeks)"
    days = once.partition(" – ")[2]
    biweekly = kids.model_copy(update={"repeats": "FREQ=WEEKLY;INTERVAL=2"})
    assert note_line(biweekly, at_ms - 18 * HOUR_MS, "UTC") == (
        f"Kids (tomorrow 17:00 – {days}, then every two weeks)" if hours else f"Kids ({once}, then every two weeks)"
    )


def test_a_date_of_a_series_that_is_under_way_is_not_told_as_the_next():
    """The kids left on Friday for the weekend: on Sunday that is no date to come."""
    friday_ms = series.at_ms_of("2023-11-10T18:00", "UTC")
    fields = {"due_at_ms": friday_ms, "due_exact": True, "lasts_ms": 48 * HOUR_MS, "time_zone": "UTC"}
    kids = a_note("Kids", kind="event", repeats="FREQ=WEEKLY;INTERVAL=2", **fields)
    told = [note_line(kids, friday_ms + hours * HOUR_MS, "UTC") for hours in (20, 47)]

    assert told == [
        "Kids (until tomorrow at 18:00, then every two weeks)",
        "Kids (until 18:00, then every two weeks)",
    ]


def test_a_date_put_off_until_the_next_one_is_that_one():
    """Sunday's tablet was put off until Monday at seven, when Monday's comes."""
    monday_ms = series.at_ms_of("2023-11-20T07:00", "UTC")
    moved = Occurrence(original_local="2023-11-19T07:00", moved_to_ms=monday_ms, state="moved")
    fields = {"rings_from": "2023-11-01T07:00", "repeats": "FREQ=DAILY", "rings_at_ms": monday_ms, "time_zone": "UTC"}
    tablets = a_note("Tablets", occurrences=(moved,), **fields)

    assert note_line(tablets, monday_ms - 9 * HOUR_MS, "UTC") == "Tablets (⏰ every day at 07:00)"


def test_behind_a_moved_date_stand_the_ones_left_out_later():
    """Next week's class is on Wednesday, and the one before Christmas is left out all the same."""
    at_ms = series.at_ms_of("2023-11-15T18:30", "UTC")
    moved = Occurrence(original_local="2023-11-14T18:30", moved_to_ms=at_ms, state="moved")
    out = Occurrence(original_local="2023-11-28T18:30", state="left_out")
    fields = {"due_at_ms": at_ms, "due_exact": True, "repeats": "FREQ=WEEKLY;BYDAY=TU", "time_zone": "UTC"}
    note = a_note("Pilates", kind="event", occurrences=(moved, out), **fields)

    assert line(note) == "Pilates (tomorrow at 18:30, then every Tuesday, not on Tue 28 Nov)"
    under = note_line(note, START_MS, "UTC", under_ms=at_ms, brief=True)
    assert under == "Pilates (at 18:30, then every Tuesday, not on Tue 28 Nov)"


def test_a_series_says_how_often_and_when_next():
    """What rings again names its rule and the next date, by the person's clock."""
    note = a_note(rings_from="2026-01-04T19:00", repeats="FREQ=WEEKLY;BYDAY=SU", rings_at_ms=START_MS + HOUR_MS)

    assert line(note) == "Call mum (⏰ today at 23:13, then every Sunday)"


def test_one_time_is_said_once():
    """What is due when it rings says so once."""
    at_ms = START_MS + HOUR_MS
    note = a_note(due_at_ms=at_ms, due_exact=True, rings_from="2026-01-04T19:00", rings_at_ms=at_ms)

    assert line(note).count(" at ") == 1


def test_under_its_day_a_line_says_the_hour_alone():
    """The heading says the day already."""
    note = a_note(due_at_ms=START_MS + DAY_MS, due_exact=True)

    assert "tomorrow" in line(note)
    assert "tomorrow" not in line(note, under_ms=note.due_at_ms)


def test_what_rang_says_so_until_it_is_done():
    """A reminder that came and was not called done says when it came."""
    note = a_note(
        rings_from="2026-01-01T09:00", occurrences=(Occurrence(original_local="2026-01-01T09:00", state="rang"),)
    )

    assert "reminded on Thu 1 Jan" in line(note)


@pytest.mark.parametrize(
    ("state", "day", "remark"),
    [
        ("done", "2023-11-12", ""),
        ("rang", "2023-11-12", ", reminded on Sun 12 Nov"),
        ("done", "2023-11-05", ""),
        ("rang", "2023-11-05", ""),
        ("left_out", "2023-11-12", ""),
    ],
)
def test_a_series_says_for_a_week_that_its_last_date_waits_for_a_word(state, day, remark):
    """What was done days ago needs no word; the series goes on behind it."""
    date = Occurrence(original_local=f"{day}T08:00", state=state)
    rule = {"rings_from": "2023-11-05T08:00", "repeats": "FREQ=WEEKLY;BYDAY=SU", "rings_at_ms": 1_700_380_800_000}
    note = a_note("Water the ficus", time_zone="UTC", occurrences=(date,), **rule)

    assert line(note) == f"Water the ficus (⏰ every Sunday at 08:00{remark})"


def test_what_the_text_says_is_not_said_again_beside_it():
    """Nor how often it comes; behind brackets of its own stands a dash, neither a second pair nor more in the first."""
    rule = {"rings_from": "2023-11-05T08:00", "repeats": "FREQ=WEEKLY;BYDAY=SU", "rings_at_ms": 1_700_380_800_000}
    club = a_note("Walking club (every Sunday)", time_zone="UTC", **rule)
    ficus = a_note("Water Ana's plant (the ficus)", time_zone="UTC", **rule)

    assert line(club) == "Walking club (every Sunday) – ⏰ at 08:00"
    assert line(ficus) == "Water Ana's plant (the ficus) – ⏰ every Sunday at 08:00"
    assert line(a_note("Call mum (Rosa)")) == "Call mum (Rosa)"


@pytest.mark.parametrize(("told_at", "rings"), [(6, 9), (12, 21), (22, 33)])
def test_what_comes_twice_a_day_says_both_hours(told_at, rings):
    """A cat's pills: "regularly, next today at 21:00" said neither."""
    day_ms = series.at_ms_of("2023-11-15T00:00", "UTC")
    rule = {"repeats": "FREQ=DAILY;BYHOUR=9,21;COUNT=10", "rings_from": "2023-11-15T09:00", "time_zone": "UTC"}
    pill = a_note("Mora's pill", rings_at_ms=day_ms + rings * HOUR_MS, **rule)

    said = note_line(pill, day_ms + told_at * HOUR_MS, "UTC")
    assert said == "Mora's pill (⏰ every day at 09:00 and 21:00 until 19 Nov)"

    before_ms = day_ms - 16 * HOUR_MS  # the first is tomorrow's
    said = note_line(pill, before_ms, "UTC", under_ms=pill.rings_at_ms)
    assert said == "Mora's pill (⏰ every day at 09:00 and 21:00 until 19 Nov)"


def test_a_series_says_until_when_it_goes_and_which_date_is_left_out():
    """A neighbour's cat is fed until the ninth, and not on the day that somebody else does it."""
    out = Occurrence(original_local="2023-11-17T08:00", state="left_out")
    cat = a_note(
        "Feed Biscuit", time_zone="UTC", rings_from="2023-11-15T08:00", rings_at_ms=START_MS + DAY_MS // 2,
        repeats="FREQ=DAILY;UNTIL=20231120T080000", occurrences=(out,),
    )  # fmt: skip

    assert "(⏰ every day at 10:13 until 20 Nov, not this Friday)" in line(cat)


EXCEPTIONS = {
    "en": ("not this Friday", "this Sunday at 10:00 instead"),
    "de": ("außer diesen Freitag", "aber diesen Sonntag um 10:00"),
    "es": ("menos este viernes", "pero este domingo a las 10:00"),
    "fr": ("sauf ce vendredi", "mais ce dimanche à 10h"),
    "it": ("tranne questo venerdì", "ma questa domenica alle 10:00"),
    "pt": ("menos nesta sexta", "mas neste domingo às 10h"),
    "ru": ("но не в эту пятницу", "но в это воскресенье в 10:00"),
}


@pytest.mark.parametrize("language", EXCEPTIONS)
def test_of_a_series_the_next_exceptions_alone_are_told(language):
    """Neither what was left out on days that are over nor, in a list, all of a fortnight's: the two that come next.

    Told without a word of the others, they read as all.
    """
    dates = [Occurrence(original_local=f"2023-11-{day}T08:00", state="left_out") for day in (13, 17, 18, 20, 21)]
    sunday = Occurrence(original_local="2023-11-19T08:00", moved_to_ms=1_700_388_000_000, state="moved")
    daily = {"rings_from": "2023-11-01T08:00", "rings_at_ms": START_MS + DAY_MS // 2, "repeats": "FREQ=DAILY"}
    left_out, moved = EXCEPTIONS[language]
    with replies.speaking(language):
        without = line(a_note("Feed Biscuit", time_zone="UTC", **daily))
        biscuit = a_note("Feed Biscuit", time_zone="UTC", occurrences=tuple(dates), **daily)
        told, whole = note_line(biscuit, START_MS, "UTC", brief=True), line(biscuit)
        two = line(a_note("Feed Biscuit", time_zone="UTC", occurrences=tuple(dates[:3]), **daily))
        one = line(a_note("Feed Biscuit", time_zone="UTC", occurrences=tuple(dates[:2]), **daily))
        instead = line(a_note("Feed Biscuit", time_zone="UTC", occurrences=(dates[0], sunday), **daily))

    assert one.replace(f", {left_out}", "", 1) == without
    assert told.startswith(two[:-1] + ", ")  # more changes later
    assert told.startswith(one[:-1])
    assert "20" in whole  # Monday and Tuesday, too
    assert "20" not in told
    assert instead.replace(f", {moved}", "", 1) == without


@pytest.mark.parametrize("mark", [";", ".", ":"])
def test_a_line_of_a_list_is_not_cut_behind_its_first_clause(mark):
    """What somebody wants to keep stands behind it; up to 200 characters are told whole."""
    first = (
        f"Deine Rede für Elifs Hochzeit schreiben{mark} hinein sollen Elif, die mit 9 deinen ersten Kuchen vor Mama als"
    )
    rest = "ihren ausgab, die Panne in Izmir und der Text von Elifs Freundin"
    whole = f"{first} {rest}"
    long = f"{whole} über das Pausenbrot, das drei Euro gekostet hat"

    assert note_line(a_note(whole), START_MS, "UTC", brief=True) == whole
    cut = note_line(a_note(long), START_MS, "UTC", brief=True)
    assert cut.startswith(first)
    assert 150 < len(cut) <= 200


def test_a_line_of_a_list_holds_the_beginning_of_a_long_text():
    """To the end of a sentence, or at a word; opened, the line shows all."""
    first = "Which oven? You lean towards the Bongard: three decks, 14,800 net, delivered at the end of January."
    other = "The other has four decks, costs 17,200 net, and would be here within three weeks of the day of the order."
    oven = a_note(f"{first} {other}", kind="question")
    endless = a_note(" ".join(["flour"] * 60))

    assert note_line(oven, START_MS, "UTC", brief=True) == f"{first} …"
    assert line(oven) == oven.text.removesuffix(".")
    assert len(note_line(endless, START_MS, "UTC", brief=True)) <= 200


def test_the_day_of_somebody_elses_matter_is_told_as_it_is():
    """Karl keeps her away on the 24th, Sami sends his papers by then, one practises on a day and pays by it."""
    day = {"due_at_ms": START_MS + 9 * DAY_MS, "time_zone": "UTC"}

    assert (
        line(a_note("Karl keeps Eva away", kind="promise", owner="Karl", **day)) == "Karl keeps Eva away (Thu 23 Nov)"
    )
    owed = a_note("Ana owes you £50", kind="promise", owner="Ana", rings_at_ms=START_MS + 10 * DAY_MS, **day)
    rings_later = note_line(owed, START_MS, "UTC", under_ms=owed.rings_at_ms)
    assert rings_later == "Ana owes you £50 (⏰ 22:13, by Thu 23 Nov)"
    today = owed.model_copy(update={"due_at_ms": START_MS, "rings_at_ms": START_MS + DAY_MS})
    rings_tomorrow = note_line(today, START_MS, "UTC", under_ms=today.rings_at_ms)
    assert rings_tomorrow == "Ana owes you £50 (⏰ 22:13, by today)"
    assert line(a_note("Pay the hall", owner="user", **day)) == "Pay the hall (Thu 23 Nov)"
    assert line(a_note("The exam", kind="event", **day)) == "The exam (on Thu 23 Nov)"


def test_a_list_tells_no_ring_of_days_ago_of_a_series_that_goes_on():
    """That it rang on Saturday matters little on Tuesday, when it rings again tonight; opened, the line tells it."""
    daily = {"rings_from": "2023-11-01T20:30", "rings_at_ms": START_MS + DAY_MS - HOUR_MS, "repeats": "FREQ=DAILY"}
    rang = [Occurrence(original_local=f"2023-11-{day}T20:30", state="rang") for day in (11, 14)]
    old, fresh = (a_note("Walk", time_zone="UTC", occurrences=(each,), **daily) for each in rang)

    assert "reminded on Sat 11 Nov" in line(old)
    assert "reminded" not in note_line(old, START_MS, "UTC", brief=True)
    assert "reminded today" in note_line(fresh, START_MS, "UTC", brief=True)


def test_work_that_comes_no_more_is_named_by_its_title():
    """Its ring was taken away: the words that were put to the model are nothing to read in a list."""
    work = "The day ahead: Say in three lines what is due today, what is overdue, and what matters tomorrow."

    assert line(a_note(work, owner="assistant")) == "The day ahead (my promise)"
    assert line(a_note("Tiles: look for grey ones", owner="assistant")) == "Tiles: look for grey ones (my promise)"


def test_what_rings_on_two_days_tells_each_day_once():
    """The operation on Thursday at two, the evening before and an hour before: no day is said twice."""
    due = {"due_at_ms": START_MS + 9 * DAY_MS, "due_exact": True, "time_zone": "UTC"}  # Thu 23 Nov at 22:13
    evening, later = START_MS + 8 * DAY_MS - 4 * HOUR_MS, START_MS + 9 * DAY_MS - HOUR_MS
    dates = (Occurrence(original_local="2023-11-23T21:13", moved_to_ms=later, state="moved"),)
    rings = {"rings_from": "2023-11-22T18:13", "rings_at_ms": evening, "occurrences": dates}
    note = a_note("Mum's eye is operated on", kind="event", **due, **rings)

    assert (
        line(note)
        == "Mum's eye is operated on (on Thu 23 Nov at 22:13, ⏰ the day before at 18:13 and on the day at 21:13)"
    )
    assert note_line(note, START_MS, "UTC", under_ms=due["due_at_ms"]).endswith(
        "(at 22:13, ⏰ the day before at 18:13 and on the day at 21:13)"
    )
    assert note_line(note, START_MS, "UTC", under_ms=evening).endswith(
        "(on Thu 23 Nov at 22:13, ⏰ the day before at 18:13 and on the day at 21:13)"
    )


@pytest.mark.parametrize(
    ("text", "language", "remarks"),
    [
        ("The hip appointment", "en", "⏰ 22:30, for Fri 24 Nov at 10:30"),
        ("The hip appointment at 10:30", "en", "⏰ 22:30, for Fri 24 Nov"),
        ("The hip appointment on 24 November", "en", "⏰ 22:30, for 10:30"),
        ("Hüfttermin", "de", "⏰ 22:30, Termin am Fr, 24. Nov., um 10:30"),
        ("Cita de la cadera", "es", "⏰ 22:30, para el vie 24 de nov a las 10:30"),
        ("Rendez-vous hanche", "fr", "⏰ 22h30, pour le ven. 24 nov. à 10h30"),
        ("Visita all'anca", "it", "⏰ 22:30, per ven 24 nov alle 10:30"),
        ("Consulta do quadril", "pt", "⏰ 22h30, para sex, 24 de nov, às 10h30"),
        ("Приём у врача", "ru", "⏰ 22:30, на пт, 24 нояб., в 10:30"),
    ],
)
def test_under_the_day_of_its_ring_a_line_says_what_that_is_for(text, language, remarks):
    """Two times in a row would be two times of one thing."""
    ring = {"rings_from": "2023-11-14T22:30", "rings_at_ms": series.at_ms_of("2023-11-14T22:30", "UTC")}
    due = {"due_at_ms": series.at_ms_of("2023-11-24T10:30", "UTC"), "due_exact": True}

    with replies.speaking(language):
        assert line(a_note(text, kind="event", **due, **ring), under_ms=START_MS) == f"{text} ({remarks})"


def test_a_line_in_brief_tells_the_moment_that_matters():
    """Of a series, and of what rings behind its day, when it rings; of what rings before, both.

    Else a second reminder is set beside it, and “(due Mon 30 Nov, rings)” told a model no hour.
    """
    due_ms = START_MS + 2 * DAY_MS
    once = {"due_at_ms": due_ms, "due_exact": True, "time_zone": "UTC"}
    daily = a_note(**once, rings_from="2023-11-15T08:00", rings_at_ms=START_MS + DAY_MS // 2, repeats="FREQ=DAILY")
    eve, before, behind = (
        a_note(**once, rings_from="x", rings_at_ms=due_ms + hours * HOUR_MS) for hours in (-27, -3, 3)
    )

    assert "FREQ=DAILY" in model_line(in_brief(daily), START_MS, "UTC")
    assert model_line(in_brief(before), START_MS, "UTC", brief=True).endswith("(due Thu 16 Nov 22:13, rings 19:13)")
    assert "(due Thu 16 Nov 22:13; rings Wed 15 Nov 19:13)" in model_line(in_brief(eve), START_MS, "UTC", brief=True)
    assert "rings Fri 2023-11-17 01:13" in model_line(in_brief(behind), START_MS, "UTC")


def test_a_group_names_its_clock_where_the_readers_differs_on_that_day():
    """In July London and Lagos have one time; the call in December is an hour later for who is in Lagos."""
    july, december = (series.at_ms_of(f"2027-{month:02}-01T10:00", "Europe/London") for month in (7, 12))
    rings = {"conversation_id": "tg:1:-100:0", "time_zone": "Europe/London", "rings_from": "2027-12-01T10:00"}
    call = a_note("Call", **rings, rings_at_ms=december)

    assert "London time" in note_line(call, july, "Africa/Lagos")
    assert "London time" not in note_line(call, july, "Europe/Lisbon")


def test_on_a_journey_what_was_set_at_home_keeps_its_hour_with_the_name_of_its_clock():
    """Two in the afternoon in Porto stays two while they are on the Azores: they're home by then."""
    rings = {"time_zone": "Europe/Lisbon", "rings_from": "2027-12-01T14:00"}
    call = a_note("Call the bus", **rings, rings_at_ms=series.at_ms_of("2027-12-01T14:00", "Europe/Lisbon"))
    now_ms = series.at_ms_of("2027-11-30T12:00", "Europe/Lisbon")

    assert note_line(call, now_ms, "Atlantic/Azores") == "Call the bus (⏰ tomorrow at 14:00, Lisbon time)"
    assert note_line(call, now_ms, "Atlantic/Azores", by_reader=True) == "Call the bus (⏰ tomorrow at 13:00)"
    assert note_line(call, now_ms, "Europe/Lisbon") == "Call the bus (⏰ tomorrow at 14:00)"


def test_a_date_that_was_left_out_before_the_next_is_not_told_under_the_next_ones_day():
    """“Wed 16 Dec: not this Wednesday” reads as if that day were off."""
    out = Occurrence(original_local="2023-11-15T16:15", state="left_out")
    next_ms = series.at_ms_of("2023-11-29T16:15", "UTC")
    rule = {"rings_from": "2023-11-15T16:15", "repeats": "FREQ=WEEKLY;INTERVAL=2", "occurrences": (out,)}
    note = a_note("Physio", **rule, rings_at_ms=next_ms, time_zone="UTC")

    assert line(note, under_ms=next_ms) == "Physio (⏰ at 16:15, every two weeks)"
    assert line(note) == "Physio (⏰ every two weeks, next on Wed 29 Nov at 16:15)"


def test_the_model_knows_which_dates_are_left_out():
    """Asked about Friday it need not search; of a long holiday the first five, since each has its tokens."""
    dates = [Occurrence(original_local=f"2023-11-{day}T08:00", state="left_out") for day in (13, *range(17, 23))]
    daily = {"rings_from": "2023-11-01T08:00", "rings_at_ms": START_MS + DAY_MS // 2, "repeats": "FREQ=DAILY"}
    told = model_line(a_note(time_zone="UTC", occurrences=tuple(dates), **daily), START_MS, "UTC", brief=True)

    assert told.endswith("not on Sat 18 Nov; not on Sun 19 Nov; not on Mon 20 Nov; not on Tue 21 Nov)")


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("Dentist 9am", "09:00"), ("Dentist at 9", "09:00"), ("Dentist, 9:00", "09:00"), ("Dentist 9 a.m.", "09:00"),
        ("Zahnarzt um 9 Uhr", "09:00"), ("Zahnarzt um 9", "09:00"), ("Zahnarzt 19.30 Uhr", "19:30"),
        ("Cena a las 21 h", "21:00"), ("Dîner à 19h30", "19:30"), ("Dîner à 19 heures", "19:00"),
        ("Cena alle 20", "20:00"), ("Jantar às 20h", "20:00"), ("Ужин в 19 часов", "19:00"),
        ("Dinner 7:30 pm", "19:30"), ("Lunch 12pm", "12:00"), ("Call mum at 9.", "09:00"),
    ],
)  # fmt: skip
def test_an_hour_that_the_text_tells_is_not_told_again(text, hour):
    """Neither beside what is due nor beside what rings; the day is."""
    at_ms = START_MS - START_MS % DAY_MS + DAY_MS + (int(hour[:2]) * 60 + int(hour[3:])) * 60_000
    due = a_note(text, kind="event", due_at_ms=at_ms, due_exact=True)
    ring = a_note(text, rings_from=f"2023-11-15T{hour}", rings_at_ms=at_ms)

    assert hour not in line(due).removeprefix(text)
    assert "tomorrow" in line(due)
    assert hour not in line(ring).removeprefix(text)
    assert line(due, under_ms=at_ms) == text.removesuffix(".")
    assert line(ring, under_ms=at_ms) == f"{text.removesuffix('.')} (⏰)"


@pytest.mark.parametrize("text", ["Room 9, second floor", "Pay 19 euros", "Call mum at 7", "Gate at 9:30", "at 9%"])
def test_another_number_is_no_hour(text):
    """Nine tells no 19:00, and seven may be another seven."""
    at_ms = START_MS - START_MS % DAY_MS + DAY_MS + 19 * HOUR_MS

    assert "at 19:00" in line(a_note(text, kind="event", due_at_ms=at_ms, due_exact=True))
    assert "at 09:00" in line(a_note(text, kind="event", due_at_ms=at_ms - 10 * HOUR_MS, due_exact=True))


WEEKDAYS = {"en": "on Friday", "de": "am Freitag", "es": "el viernes", "fr": "vendredi", "it": "venerdì",
            "pt": "na sexta", "ru": "в пятницу"}  # fmt: skip


@pytest.mark.parametrize("language", WEEKDAYS)
def test_a_weekday_that_the_text_tells_is_not_told_again(language):
    """Within a week it means that day; of a Friday further ahead the date is told."""
    at_ms, text = START_MS + 3 * DAY_MS, f"Ana {WEEKDAYS[language]}"  # Friday 17 November 2023
    with replies.speaking(language):
        assert line(a_note(text, kind="event", due_at_ms=at_ms)) == text
        assert "24" in line(a_note(text, kind="event", due_at_ms=at_ms + 7 * DAY_MS))


RHYTHMS = {
    "en": "Hurling Tuesdays and Saturdays", "de": "Hurling dienstags und samstags",
    "es": "Hurling los martes y sábados", "fr": "Hurling les mardis et samedis",
    "pt": "Hurling terças e sábados", "ru": "Футбол по вторникам и субботам",
}  # fmt: skip


@pytest.mark.parametrize("language", RHYTHMS)
def test_a_rhythm_in_the_texts_own_words_is_not_told_again(language):
    """All of its weekdays in the plural; one of them alone tells no rhythm."""
    rule = {"rings_from": "2023-11-25T08:00", "repeats": "FREQ=WEEKLY;BYDAY=TU,SA", "rings_at_ms": 1_700_899_200_000}
    with replies.speaking(language):
        every = line(a_note("Hurling", **rule)).removeprefix("Hurling (⏰ ").split(",")[0]

        text, first_alone = RHYTHMS[language], RHYTHMS[language].rsplit(" ", 2)[0]
        assert every not in line(a_note(text, **rule)).removeprefix(text)
        assert every in line(a_note(first_alone, **rule)).removeprefix(first_alone)


@pytest.mark.parametrize("language", EXCEPTIONS)
def test_a_series_that_does_not_ring_reads_as_one_that_does_without_the_bell(language):
    """Its rhythm and its next date; under its day the hour, and nothing that its text says."""
    at_ms, rule = 1_700_388_000_000, "FREQ=WEEKLY;BYDAY=SU"  # Sunday 19 November 2023, 10:00 UTC
    with replies.speaking(language):
        ring = {"rings_from": "2023-11-19T10:00", "repeats": rule, "rings_at_ms": at_ms}
        silent = {"due_at_ms": at_ms - 70 * DAY_MS, "due_exact": True, "repeats": rule}
        rings, comes = (a_note("Hurling", kind="event", time_zone="UTC", **fields) for fields in (ring, silent))

        assert line(comes) == line(rings).replace("⏰ ", "")
        assert line(comes, under_ms=at_ms) == line(rings, under_ms=at_ms).replace("⏰ ", "")
        assert line(comes.model_copy(update={"due_exact": False})).count(":") == 0


def test_the_model_reads_the_rule_of_a_series_that_does_not_ring():
    """With its next date."""
    club = a_note("Club", kind="event", due_at_ms=1_700_388_000_000, repeats="FREQ=WEEKLY;BYDAY=SU", time_zone="UTC")

    assert model_line(club, START_MS + 14 * DAY_MS, "UTC", brief=True) == ("#1 event: Club (due Sun 3 Dec, every Sun)")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=WEEKLY", "every week"),
        ("RRULE:FREQ=WEEKLY;BYDAY=TU,SA;WKST=MO", "every Tue, Sat"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20261209T080000Z", "every Mon to Fri until 9 Dec 2026"),
        ("FREQ=DAILY;COUNT=4", "every day, 4 times in all"),
        ("FREQ=DAILY;INTERVAL=3", "every 3 days"),
        ("FREQ=MONTHLY;BYMONTHDAY=3", "every month on day 3"),
        ("FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=3", "every year"),
        ("FREQ=YEARLY;BYMONTH=6", "every year"),
        ("FREQ=YEARLY;BYMONTH=3,9", "FREQ=YEARLY;BYMONTH=3,9"),
        ("FREQ=YEARLY;BYMONTHDAY=9", "FREQ=YEARLY;BYMONTHDAY=9"),
        ("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=9,10", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=9,10"),
        ("FREQ=WEEKLY;BYDAY=MO;BYMONTH=6", "FREQ=WEEKLY;BYDAY=MO;BYMONTH=6"),
        ("FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20261209", "every month on the last Fri until 9 Dec 2026"),
        ("FREQ=DAILY;BYHOUR=8,20", "every day at 08:00, 20:00"),
        ("FREQ=DAILY;BYHOUR=8,20;UNTIL=20261207T080000", "every day at 08:00, 20:00 until 7 Dec 2026 08:00"),
        ("FREQ=DAILY;UNTIL=soon", "FREQ=DAILY;UNTIL=soon"),
        ("FREQ=MONTHLY;BYDAY=1MO;COUNT=3", "every month on the first Mon, 3 times in all"),
    ],
)
def test_a_prompt_says_a_rule_in_words(rule, words):
    """With its last day by the calendar; a rule that words would say wrong stays a rule."""
    assert in_words(rule) == words


def test_the_model_reads_where_a_date_was_moved_to():
    """`moved: the date …` told it where from alone; of the next date both moments, each once."""
    moved = Occurrence(
        original_local="2023-11-19T08:00", moved_to_ms=series.at_ms_of("2023-11-20T09:30", "UTC"), state="moved"
    )
    note = a_note("Call mum.", rings_from="2023-11-05T08:00", repeats="FREQ=WEEKLY", occurrences=(moved,))
    note = note.model_copy(update={"rings_at_ms": moved.moved_to_ms, "time_zone": "UTC"})

    line = model_line(note, START_MS, "UTC", brief=True)
    assert line.endswith("(rings Mon 20 Nov 09:30, every week; moved from Sun 19 Nov 08:00)")


def test_work_by_the_clock_that_rang_is_not_called_undone():
    """Nobody calls it done: it was done when it rang."""
    rang = (Occurrence(original_local="2023-11-14T08:00", state="rang"),)
    note = a_note("Bread: Tell", owner="assistant", rings_from="2023-11-13T08:00", repeats="FREQ=DAILY")
    note = note.model_copy(update={"occurrences": rang, "rings_at_ms": START_MS + DAY_MS, "time_zone": "UTC"})

    assert "rang" not in model_line(note, START_MS, "UTC")
    assert "rang" in model_line(note.model_copy(update={"owner": "user"}), START_MS, "UTC")


def test_a_series_keeps_its_rule_in_the_hour_after_its_date():
    """At a quarter past eight the training of half past six is behind, and comes again."""
    due_ms = 1_700_678_000_000 - 1_700_678_000_000 % DAY_MS + 18 * 3_600_000
    club = a_note("Club", due_at_ms=due_ms, due_exact=True, repeats="FREQ=WEEKLY", time_zone="UTC")

    assert "FREQ=WEEKLY" in model_line(club, due_ms + 7_200_000, "UTC")


def test_what_is_put_off_until_a_day_says_no_midnight():
    """Nobody is woken on New Year's Eve at twelve."""
    midnight_ms = START_MS - START_MS % DAY_MS + 3 * DAY_MS

    assert line(a_note(snoozed_until_ms=midnight_ms)).endswith("(put off until Fri 17 Nov)")


def test_what_was_put_off_says_until_when_in_the_language_that_is_spoken():
    """A line is in the language of whoever reads it; the text stays as it was noted."""
    with replies.speaking("de"):
        assert line(a_note(snoozed_until_ms=START_MS + DAY_MS)).startswith("Call mum (zurückgestellt bis morgen um ")


def test_a_day_that_the_text_tells_is_not_told_again():
    """Written in words or digits; what rings that day says its hour alone, and another day is said."""
    at_ms = 1_700_146_800_000  # Thursday 16 November 2023, 15:00 UTC
    ring = {"rings_from": "2023-11-16T15:00", "rings_at_ms": at_ms}
    for text in ("The exam is on Thu 16.11.2023", "The exam is on November 16th", "Exam, 16 Nov"):
        assert line(a_note(text, due_at_ms=at_ms)) == text
        assert line(a_note(text, due_at_ms=at_ms, **ring)) == f"{text} (⏰ 15:00)"
    assert "16 Nov" in line(a_note("Room 16, second floor", due_at_ms=at_ms))
    assert line(a_note("Ben pays", due_at_ms=at_ms, **ring)).count("16 Nov") == 1


@pytest.mark.parametrize("state", ["moved", "snoozed"])
def test_a_date_of_a_series_that_was_moved_reads_as_the_exception(state):
    """When it rings this time, and the rule with its own hour; moved before it rang or put off behind that."""
    at_ms = 1_700_388_000_000  # Sunday 19 November 2023, 10:00 UTC
    moved = Occurrence(original_local="2023-11-19T19:00", moved_to_ms=at_ms, state=state)
    rule = {"rings_from": "2023-11-12T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU"}
    note = a_note("Call Grandma", rings_at_ms=at_ms, occurrences=(moved,), **rule)

    assert line(note) == "Call Grandma (⏰ this Sunday at 10:00, then every Sunday at 19:00)"
    assert line(note, under_ms=at_ms) == "Call Grandma (⏰ at 10:00 this time, then every Sunday at 19:00)"
    with replies.speaking("ru"):
        assert "⏰ в этот раз в 10:00, потом " in line(note, under_ms=at_ms)


MOVED = {
    "en": ("⏰ at 19:00, then every Friday", "on Sat 25 Nov instead of Fri 24 Nov"),
    "de": ("⏰ um 19:00, dann wieder jeden Freitag", "am Sa, 25. Nov. statt am Fr, 24. Nov."),
    "es": ("⏰ a las 19:00, luego cada viernes", "el sáb 25 de nov en vez del vie 24 de nov"),
    "fr": ("⏰ à 19h, puis chaque vendredi", "le sam. 25 nov. au lieu du ven. 24 nov."),
    "it": ("⏰ alle 19:00, poi ogni venerdì", "sab 25 nov invece di ven 24 nov"),
    "pt": ("⏰ às 19h, depois", "sáb, 25 de nov em vez de sex, 24 de nov"),
    "ru": ("⏰ в 19:00, потом по пятницам", "сб, 25 нояб. вместо пт, 24 нояб."),
}


@pytest.mark.parametrize("language", MOVED)
def test_a_date_that_was_moved_to_another_day_says_so(language):
    """Under its day the hour is enough; of a later date it is told which one it replaces, never as if today's."""
    moves = (("2023-11-17", "2023-11-18"), ("2023-11-24", "2023-11-25"))
    dates = [
        Occurrence(original_local=f"{old}T19:00", moved_to_ms=series.at_ms_of(f"{new}T19:00", "UTC"), state="moved")
        for old, new in moves
    ]
    bins = {"rings_from": "2023-11-10T19:00", "repeats": "FREQ=WEEKLY;BYDAY=FR"}
    next_ms = series.at_ms_of("2023-11-17T19:00", "UTC")
    this, later = MOVED[language]
    with replies.speaking(language):
        moved = a_note("Bins", rings_at_ms=dates[0].moved_to_ms, occurrences=(dates[0],), **bins)
        regular = a_note("Bins", rings_at_ms=next_ms, **bins)
        friday = regular.model_copy(update={"occurrences": (dates[1],)})

        assert this in line(moved, under_ms=dates[0].moved_to_ms)
        said, plain = (line(each, under_ms=next_ms) for each in (friday, regular))
        assert said == f"{plain.removesuffix(')')}, {later})"


def test_a_date_that_was_moved_says_its_hour_under_its_day():
    """A series by days alone tells its day, and no midnight."""
    at_ms = series.at_ms_of("2023-11-18T10:00", "UTC")
    date = Occurrence(original_local="2023-11-17T19:00", moved_to_ms=at_ms, state="moved")
    bins = {"rings_from": "2023-11-10T19:00", "repeats": "FREQ=WEEKLY;BYDAY=FR", "occurrences": (date,)}
    assert line(a_note("Bins", rings_at_ms=at_ms, **bins), under_ms=at_ms) == (
        "Bins (⏰ at 10:00 this time, then every Friday at 19:00)"
    )

    midnight_ms = series.at_ms_of("2023-11-18T00:00", "UTC")
    date = Occurrence(original_local="2023-11-17T00:00", moved_to_ms=midnight_ms, state="moved")
    market = {"due_at_ms": midnight_ms, "repeats": "FREQ=WEEKLY;BYDAY=FR", "occurrences": (date,), "time_zone": "UTC"}
    fair = a_note("Market", kind="event", **market | {"due_at_ms": series.at_ms_of("2023-11-10T00:00", "UTC")})
    assert line(fair, under_ms=midnight_ms) == "Market (instead of Fri 17 Nov, then every Friday)"
    assert line(fair) == "Market (this Saturday, then every Friday)"


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "it", "pt", "ru"])
def test_a_run_that_was_missed_is_not_told_as_one_that_failed(language):
    """The one never began; the other did and got nowhere."""
    with replies.speaking(language):
        assert replies.say("task_state.skipped") != replies.say("task_state.failed")


def test_what_stands_under_the_dates_ahead_may_be_tomorrow():
    """`Più avanti`, further on, stood over `Domani`."""
    with replies.speaking("it"):
        assert replies.say("coming_head") == "In arrivo"


WORK = {"owner": "assistant", "repeats": "FREQ=DAILY", "rings_from": "2023-11-15T18:00"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Bread history: Tell her a true thing every day at 18:00. Never the same twice.", "Bread history"),
        ("Wetter: Sag in zwei Sätzen: wie wird es?", "Wetter"),
        ("Look whether the page still says sold out.", "Look whether the page still says sold out"),
        ("Tell Maeve one true thing. Two short sentences. Told already: sourdough.", "Tell Maeve one true thing"),
        ("说一件关于面包的真事。以前说过的不要再说。", "说一件关于面包的真事"),
    ],
)  # fmt: skip
def test_work_stands_in_lists_by_its_title(text, name):
    """The instruction is for the model; one without a title goes by its first sentence. What it hides tells no time."""
    note = a_note(text, rings_at_ms=START_MS + DAY_MS, **WORK)

    assert line(note) == f"{name} (⏰ I'll send it every day at 22:13)"
    assert line(note, heading="tasks") == f"{name} (⏰ every day at 22:13)"
    assert text in model_line(note, START_MS, "UTC")


def test_a_title_is_kept_when_work_is_put_in_other_words():
    """Told the new instruction alone the line stays as it was; a title of its own is taken."""
    note = a_note("Bread history: Tell her one thing.", **WORK)

    assert reworded(note, "Tell her two things. Told already: sourdough, which is the oldest of all we know of.") == (
        "Bread history: Tell her two things. Told already: sourdough, which is the oldest of all we know of."
    )
    assert reworded(note, "Cheese: Tell her one thing.") == "Cheese: Tell her one thing."
    assert reworded(a_note("Bread: rye"), "two loaves") == "two loaves"
    assert entitled("Bread: the history", "Tell") == "Bread the history: Tell"
    assert (
        entitled("On today", "Tell Ana what is on: visits and tasks")
        == "On today: Tell Ana what is on: visits and tasks"
    )
    assert entitled("On today", "on today: Tell Ana") == "on today: Tell Ana"


@pytest.mark.parametrize("repeats", ["FREQ=DAILY", ""])
@pytest.mark.parametrize(("state", "word"), [("passed", "missed"), ("skipped", "left out")])
def test_a_date_of_which_nothing_came_is_told(state, word, repeats):
    """Nothing was sent, in the list as in what the model reads; only somebody leaves a date out."""
    date = Occurrence(original_local="2023-11-14T18:00", state=state)
    ring = {"rings_at_ms": START_MS + DAY_MS if repeats else None, "repeats": repeats}
    note = a_note("Bread: Tell", occurrences=(date,), **WORK | ring)

    assert line(note).endswith(f"{word} today)")
    assert f"{word} Tue 2023-11-14" in model_line(note, START_MS, "UTC")


@pytest.mark.parametrize(("hour", "remark"), [("18:00", "left out today)"), ("23:00", "not today)")])
def test_work_that_was_left_out_beforehand_says_so_once_its_hour_is_over(hour, remark):
    """Before that it is an exception to come."""
    date = Occurrence(original_local=f"2023-11-14T{hour}", state="left_out")
    rings = {"rings_from": f"2023-11-12T{hour}", "rings_at_ms": series.at_ms_of(f"2023-11-15T{hour}", "UTC")}

    assert line(a_note("Bread: Tell", **WORK | rings | {"repeats": "FREQ=DAILY", "occurrences": (date,)})).endswith(
        remark
    )


@pytest.mark.parametrize("day", ["13", "14"])
def test_a_date_that_is_done_is_told_to_the_model_alone(day):
    """A person has ticked it off themselves."""
    done = Occurrence(original_local=f"2023-11-{day}T18:00", state="done")
    rings = {"rings_from": "2023-11-12T18:00", "rings_at_ms": series.at_ms_of("2023-11-15T18:00", "UTC")}
    note = a_note("Feed the cat", repeats="FREQ=DAILY", occurrences=(done,), **rings)

    assert line(note).endswith("(⏰ every day at 18:00)")
    assert "done for" in model_line(note, START_MS, "UTC")


def test_a_moved_date_of_a_series_is_told_by_its_own_hour():
    """Choir at 20:00 that rings at 19:00, once on Wednesday: “but on Wed at 19:00” was the hour of the ring."""
    tuesday = series.at_ms_of("2023-11-21T19:00", "UTC")
    moved = Occurrence(
        original_local="2023-11-28T19:00", moved_to_ms=series.at_ms_of("2023-11-29T19:00", "UTC"), state="moved"
    )
    rings = {"rings_from": "2023-11-21T19:00", "rings_at_ms": tuesday, "repeats": "FREQ=WEEKLY;BYDAY=TU"}
    due = {"due_at_ms": tuesday + HOUR_MS, "due_exact": True, "occurrences": (moved,), "time_zone": "UTC"}

    said = line(a_note("Choir", **rings | due), under_ms=tuesday)
    assert said == "Choir (every Tuesday at 20:00, ⏰ 19:00, on Wed 29 Nov instead of Tue 28 Nov)"


def test_what_rings_when_its_delay_is_over_is_put_off_by_its_ring():
    """“On Mon 27 Nov at 10:00, put off until Mon 27 Nov” said one thing twice."""
    at_ms = series.at_ms_of("2023-11-27T10:00", "UTC")
    note = a_note("Pay the rest", rings_at_ms=at_ms, snoozed_until_ms=at_ms - 10 * HOUR_MS)

    assert line(note) == "Pay the rest (⏰ Mon 27 Nov at 10:00)"
    assert line(note, under_ms=at_ms) == "Pay the rest (⏰ 10:00)"


def test_a_day_is_told_once_in_a_line():
    """The hour of the reminder alone, where the day of what it reminds of stands before it."""
    due_ms = 1_700_388_000_000  # Sunday 19 November 2023, 10:00 UTC
    fields = {"due_at_ms": due_ms, "due_exact": True, "rings_from": "2023-11-19T09:30"}
    note = a_note("Mr Bouvet comes", kind="event", rings_at_ms=due_ms - HOUR_MS // 2, **fields)

    assert line(note) == "Mr Bouvet comes (on Sun 19 Nov at 10:00, ⏰ 09:30)"
    assert line(note, under_ms=due_ms) == "Mr Bouvet comes (at 10:00, ⏰ 09:30)"


def test_a_story_is_named_where_nothing_else_names_it():
    """Not under its heading, and not when it is called after whoever tells it."""
    scene = a_note("The ship lies off Tortuga", kind="story", about="The captain", persona="roleplay")

    assert line(scene) == "The ship lies off Tortuga (The captain)"
    assert line(scene, heading="story") == "The ship lies off Tortuga"
    assert line(scene.model_copy(update={"about": "roleplay"})) == "The ship lies off Tortuga"


def test_what_is_still_to_come_is_not_called_undone():
    """An event that a reminder came before waits for nobody."""
    rang = {
        "rings_from": "2023-11-14T09:00",
        "occurrences": (Occurrence(original_local="2023-11-14T09:00", state="rang"),),
    }
    event = a_note(kind="event", due_at_ms=START_MS + 3 * DAY_MS, **rang)

    assert "not called done" not in model_line(event, START_MS, "UTC")
    assert "not called done" in model_line(a_note(kind="task", **rang), START_MS, "UTC")


def test_a_series_stands_with_the_hour_of_its_next_date():
    """The walk at seven rings at six: behind the first Thursday it is not late, it is next Thursday at seven."""
    walk = a_note(
        "Walking club", rings_from="2023-11-09T18:00", repeats="FREQ=WEEKLY;BYDAY=TH",
        due_at_ms=START_MS - 5 * DAY_MS - 3 * HOUR_MS - 13 * 60_000 - 20_000, due_exact=True,
        occurrences=(Occurrence(original_local="2023-11-09T18:00", state="done"),),
        rings_at_ms=START_MS + DAY_MS + 19 * HOUR_MS + 46 * 60_000 + 40_000,
    )  # fmt: skip

    assert line(walk) == "Walking club (every Thursday at 19:00, ⏰ 18:00)"
    assert model_line(walk, START_MS, "UTC", brief=True) == (
        "#1 task: Walking club (due Thu 16 Nov 19:00, rings 18:00, every Thu)"
    )


@pytest.mark.parametrize(
    ("rule", "rang", "expected"),
    [
        ("FREQ=DAILY;COUNT=4", 0, "Tablet (⏰ every day at 09:00 until 18 Nov)"),
        ("FREQ=DAILY;COUNT=4", 3, "Tablet (⏰ on Sat 18 Nov at 09:00, reminded on Fri 17 Nov)"),
        ("FREQ=DAILY;COUNT=1", 0, "Tablet (⏰ tomorrow at 09:00)"),
        ("FREQ=DAILY", 0, "Tablet (⏰ every day at 09:00)"),
    ],
)
def test_a_series_says_when_it_ends_and_no_rhythm_for_its_last_date(rule, rang, expected):
    """“Every day” for a tablet that is taken four times sounds as if it went on for ever."""
    dates = tuple(Occurrence(original_local=f"2023-11-{15 + n}T09:00", state="rang") for n in range(rang))
    next_ms = START_MS + (rang + 1) * DAY_MS - 13 * HOUR_MS - 13 * 60_000 - 20_000
    note = a_note("Tablet", rings_from="2023-11-15T09:00", repeats=rule, rings_at_ms=next_ms, occurrences=dates)

    assert line(note) == expected


def test_what_rings_on_the_day_over_the_line_comes_before_when_it_is_due():
    """Under Sunday "by Sat, at 15:00" would be read as Saturday at three."""
    ring_ms = START_MS + HOUR_MS
    note = a_note("Book the spa", rings_from="2023-11-14T23:13", rings_at_ms=ring_ms, due_at_ms=START_MS + 9 * DAY_MS)

    assert line(note, under_ms=ring_ms) == "Book the spa (⏰ 23:13, by Thu 23 Nov)"


def test_a_ring_that_comes_before_its_matter_is_seen_and_not_done():
    """[Done] the evening before is about the reminder: the meeting is still to come."""
    rings = {
        "rings_from": "2023-11-14T22:00",
        "occurrences": (Occurrence(original_local="2023-11-14T22:00", state="rang"),),
    }
    meeting = a_note("Mannion", kind="event", due_at_ms=START_MS + 12 * HOUR_MS, due_exact=True, **rings)
    ended = meeting.model_copy(update={"status": "done"})

    assert told(meeting, meeting, "2023-11-14T22:00", "done", now_ms=START_MS, zone="UTC") == (
        "Okay: Mannion (tomorrow at 10:13)"
    )
    assert told(meeting, ended, "2023-11-14T22:00", "done", now_ms=START_MS, zone="UTC") == "Ticked off: Mannion"


def test_what_was_put_off_says_when_it_comes_and_not_when_another_date_was_moved_to():
    """[In an hour] under today's tablet is about today's, though Friday's was moved long ago."""
    rang = Occurrence(original_local="2023-11-14T22:00", state="rang")
    moved = Occurrence(original_local="2023-11-17T09:00", moved_to_ms=START_MS + 3 * DAY_MS, state="moved")
    snoozed = rang.model_copy(update={"state": "snoozed", "moved_to_ms": START_MS + HOUR_MS})
    note = a_note("Tablet", rings_from="2023-11-14T22:00", repeats="FREQ=DAILY", occurrences=(rang, moved))
    after = note.model_copy(update={"occurrences": (snoozed, moved)})

    assert "again at 23:13" in told(note, after, "2023-11-14T22:00", "hour", now_ms=START_MS, zone="UTC")


TUESDAYS = {"rings_from": "2023-11-14T19:00", "repeats": "FREQ=WEEKLY;BYDAY=TU", "time_zone": "UTC"}
NEXT_MS = START_MS + 7 * DAY_MS - 3 * HOUR_MS - 800_000  # Tuesday 21 November 2023, 19:00 UTC


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"rings_at_ms": NEXT_MS}, "⏰ every Tuesday at 19:00"),
        ({"rings_at_ms": NEXT_MS + 7 * DAY_MS}, "⏰ every Tuesday, next on Tue 28 Nov at 19:00"),
        ({"rings_at_ms": NEXT_MS, "repeats": "FREQ=WEEKLY"}, "⏰ every week, next on Tue 21 Nov at 19:00"),
        (
            {"rings_at_ms": NEXT_MS, "repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"},
            "⏰ every other Tuesday, next on Tue 21 Nov at 19:00",
        ),
        (
            {"rings_at_ms": NEXT_MS, "due_at_ms": NEXT_MS + HOUR_MS, "due_exact": True},
            "every Tuesday at 20:00, ⏰ 19:00",
        ),
    ],
)
def test_a_series_names_its_next_date_only_where_that_does_not_follow(fields, expected):
    """“Every Tuesday, next on Tue 21 Nov” says one day twice; of every other week nobody knows which."""
    assert line(a_note("Choir", **TUESDAYS | fields)) == f"Choir ({expected})"


PAUSED = {
    "en": ("paused until Mon 11 Dec", "paused until then"), "de": ("Pause bis Mo, 11. Dez.", "bis dahin Pause"),
    "es": ("en pausa hasta el lun 11 de dic", "en pausa hasta entonces"),
    "fr": ("en pause jusqu'au lun. 11 déc.", "en pause jusque-là"),
    "it": ("in pausa fino a lun 11 dic", "in pausa fino ad allora"),
    "pt": ("em pausa até seg, 11 de dez", "em pausa até lá"), "ru": ("пауза до пн, 11 дек.", "до этого дня пауза"),
}  # fmt: skip


@pytest.mark.parametrize("language", PAUSED)
def test_a_series_that_rests_is_paused_and_not_put_off(language):
    """Until when, without a date on which nothing comes; under that day the day is not said again."""
    rests = {"due_at_ms": START_MS - 7 * DAY_MS, "due_exact": True, "snoozed_until_ms": START_MS + 27 * DAY_MS}
    note = a_note("Hurling", kind="event", repeats="FREQ=WEEKLY;BYDAY=TU", time_zone="UTC", **rests)
    until, then = PAUSED[language]
    with replies.speaking(language):
        assert line(note).endswith(f" {until})")
        assert line(note, under_ms=rests["snoozed_until_ms"]).endswith(f" {then})")
        assert len(re.findall(r"\d[:h]", line(note))) == 1
        assert "14" not in line(note)


def test_a_series_that_rests_until_they_say_so_is_paused():
    """Without a day, and on /reminders to be found; its button lets it go on."""
    note = a_note("Choir", **TUESDAYS | {"rings_at_ms": None, "snoozed_until_ms": UNTIL_TOLD_MS})

    assert line(note) == "Choir (paused)"
    assert is_reminder(note, START_MS)
    assert [each.label for each in list_row(note, START_MS)] == ["Go on", "Stop it for good"]
    assert day_of(note, START_MS) is None


def test_the_model_reads_the_rule_of_a_paused_series_once_and_of_one_that_ended_no_pause():
    """A date of it that was put off for an hour rings still; the series rests."""
    put_off = Occurrence(original_local="2023-11-14T22:00", moved_to_ms=NEXT_MS, state="snoozed")
    paused = TUESDAYS | {"rings_at_ms": None, "snoozed_until_ms": UNTIL_TOLD_MS}
    one_rings = a_note("Choir", **paused | {"occurrences": (put_off,), "rings_at_ms": NEXT_MS})
    due = a_note("Club", snoozed_until_ms=UNTIL_TOLD_MS, due_at_ms=NEXT_MS, repeats="FREQ=WEEKLY")

    for note in (a_note("Choir", **paused), one_rings, due):
        told = model_line(note, START_MS, "UTC")
        assert told.endswith(f"paused until they say so, {note.repeats})")
        assert told.count(note.repeats) == 1
    assert (
        model_line(a_note("Choir", status="done", **paused), START_MS, "UTC") == "#1 task: Choir (done; rings no more)"
    )


def test_a_series_that_rings_all_the_same_is_not_called_paused():
    """The line tells what will happen."""
    rings = {"rings_at_ms": NEXT_MS, "snoozed_until_ms": NEXT_MS + 30 * DAY_MS}

    assert line(a_note("Choir", **TUESDAYS | rings)) == "Choir (⏰ every Tuesday at 19:00)"


def test_what_has_brackets_gets_no_second_ones_and_another_hour_is_told():
    """To be there at 6h45 tells neither when the shift begins nor when the reminder comes."""
    at_ms = START_MS - START_MS % DAY_MS + DAY_MS + 7 * HOUR_MS + HOUR_MS // 2
    ring = {"rings_from": "2023-11-15T06:00", "rings_at_ms": at_ms - 3 * HOUR_MS // 2}
    shift = a_note("Service (y être à 6h45)", kind="event", due_at_ms=at_ms, due_exact=True, **ring)

    assert line(shift) == "Service (y être à 6h45) – tomorrow at 07:30, ⏰ 06:00"
    assert line(shift, under_ms=at_ms) == "Service (y être à 6h45) – at 07:30, ⏰ 06:00"


def test_a_day_is_found_in_a_text_of_another_language():
    """A note keeps the words in which it was said, whatever language its reader speaks now."""
    note = a_note("Parents' evening on 16 November", kind="event", due_at_ms=1_700_146_800_000)
    with replies.speaking("de"):
        assert line(note) == note.text


def test_several_days_name_their_year_once():
    """Behind the last of them."""
    days = {"due_at_ms": START_MS + 90 * DAY_MS, "ends_at_ms": START_MS + 93 * DAY_MS}

    assert line(a_note("Lisbon", kind="event", **days)) == "Lisbon (Mon 12 Feb – Thu 15 Feb 2024)"


@pytest.mark.parametrize(
    ("text", "days", "language", "said"),
    [
        ("The Cork 10k", "2024-03-01 2024-03-31", "en", "The Cork 10k (in March 2024)"),
        ("The Cork 10k in March", "2024-03-01 2024-03-31", "en", "The Cork 10k in March"),
        ("We may go to Crete", "2024-05-01 2024-05-31", "en", "We may go to Crete (in May 2024)"),
        ("Creta", "2024-08-01 2024-08-31", "es", "Creta (en agosto de 2024)"),
        ("Der Marathon", "2023-12-01 2023-12-31", "de", "Der Marathon (im Dezember)"),
        ("The course", "2023-12-01 2023-12-30", "en", "The course (Fri 1 Dec – Sat 30 Dec)"),
    ],
)
def test_a_month_is_told_by_its_name(text, days, language, said):
    """Nobody would list its first and its last day."""
    first, last = (series.at_ms_of(f"{day}T00:00", "UTC") for day in days.split())

    with replies.speaking(language):
        assert line(a_note(text, kind="event", due_at_ms=first, ends_at_ms=last)) == said


def test_a_series_of_two_dates_names_both():
    """The stall of two Saturdays was “every week until 25 Nov”."""
    due = {"due_at_ms": series.at_ms_of("2023-11-18T10:00", "UTC"), "due_exact": True, "lasts_ms": 4 * 3_600_000}
    stall = a_note("The stall", kind="event", repeats="FREQ=WEEKLY;UNTIL=20231125", **due)

    assert line(stall) == "The stall (on Sat 18 Nov 10:00\u201314:00, also Sat 25 Nov)"


def test_the_council_that_is_named_is_not_named_again():
    """“The council: Council to say if tickets can be sold on the door”."""
    said = a_note("Council to say if tickets can be sold", kind="promise", owner="The council")

    assert line(said) == "Council to say if tickets can be sold"


def test_the_last_dates_of_a_series_that_were_missed_are_told_as_such():
    """Behind the day on which it ended no date is looked for."""
    bins = {"rings_from": "2023-10-31T09:00", "repeats": "FREQ=WEEKLY;BYDAY=TU;UNTIL=20231107"}
    missed = a_note("Bins", rings_at_ms=series.at_ms_of("2023-10-31T09:00", "UTC"), **bins)

    assert line(missed) == "Bins (⏰ on Tue 31 Oct at 09:00, then every Tuesday until 7 Nov)"


@pytest.mark.parametrize(
    ("rings", "under", "remarks"),
    [
        ("14T22:30 14T23:00 15T07:00", 14, "tomorrow at 08:00, ⏰ today at 22:30, 23:00 and tomorrow at 07:00"),
        ("14T22:30 14T23:00", 14, "tomorrow at 08:00, ⏰ today at 22:30 and 23:00"),
        (
            "14T22:30 15T07:00 16T18:00",
            14,
            "tomorrow at 08:00, ⏰ today at 22:30, tomorrow at 07:00 and on Thu 16 Nov at 18:00",
        ),
        ("14T22:30 14T23:00 15T07:00", 15, "at 08:00, ⏰ today at 22:30, 23:00 and tomorrow at 07:00"),
        ("15T06:00 15T07:00", 15, "at 08:00, ⏰ 06:00 and 07:00"),
        ("15T06:00 15T07:00", None, "tomorrow at 08:00, ⏰ 06:00 and 07:00"),
    ],
)
def test_rings_of_several_days_stand_beside_their_day(rings, under, remarks):
    """An hour alone is one of the day told just before it, the heading's where a ring leads: then its hour is last."""
    times = series.ringing_at([f"2023-11-{each}" for each in rings.split()], "UTC")
    times["rings_at_ms"] = series.at_ms_of(times["rings_from"], "UTC")
    due = {"due_at_ms": series.at_ms_of("2023-11-15T08:00", "UTC"), "due_exact": True}
    under_ms = None if under is None else series.at_ms_of(f"2023-11-{under}T00:00", "UTC")
    assert (
        line(a_note("The operation", kind="event", **due, **times), under_ms=under_ms) == f"The operation ({remarks})"
    )


BEFORE = {
    "en": "at 18:00, ⏰ the day before at 18:00 and on the day at 17:00",
    "de": "um 18:00, ⏰ am Tag davor um 18:00 und am Tag selbst um 17:00",
    "es": "a las 18:00, ⏰ el día antes a las 18:00 y el propio día a las 17:00",
    "fr": "à 18h, ⏰ la veille à 18h et le jour même à 17h",
    "it": "alle 18:00, ⏰ il giorno prima alle 18:00 e il giorno stesso alle 17:00",
    "pt": "às 18h, ⏰ na véspera às 18h e no próprio dia às 17h",
    "ru": "в 18:00, ⏰ накануне в 18:00 и в сам день в 17:00",
}


@pytest.mark.parametrize("language", BEFORE)
def test_rings_of_two_days_stand_in_their_order(language):
    """The day before comes first, and no hour of the matter itself stands between them."""
    times = series.ringing_at(["2023-11-22T18:00", "2023-11-23T17:00"], "UTC")
    times["rings_at_ms"] = series.at_ms_of("2023-11-22T18:00", "UTC")
    due = {"due_at_ms": series.at_ms_of("2023-11-23T18:00", "UTC"), "due_exact": True}
    note = a_note("The operation", kind="event", **due, **times)
    with replies.speaking(language):
        assert line(note, under_ms=due["due_at_ms"]) == f"The operation ({BEFORE[language]})"


@pytest.mark.parametrize(
    ("text", "due", "rings", "remarks"),
    [
        ("Trip", {"due_at_ms": "23T00:00"}, "22T20:00", "on Thu 23 Nov, ⏰ the day before at 20:00"),
        ("Trip on 23 Nov", {"due_at_ms": "23T00:00"}, "22T20:00 23T06:00", "⏰ the day before at 20:00 and on the day"),
        ("Trip", {"due_at_ms": "23T00:00"}, "20T20:00 22T20:00", "20 Nov at 20:00 and on Wed 22 Nov at 20:00"),
        ("Trip", {"due_at_ms": "23T00:00", "ends_at_ms": "25T00:00"}, "22T20:00 23T06:00", "on Thu 23 Nov at 06:00"),
        ("Trip", {"due_at_ms": "23T00:00"}, "24T06:00", "on Thu 23 Nov, ⏰ Fri 24 Nov at 06:00"),
    ],
)  # fmt: skip
def test_a_ring_of_the_day_before_is_told_by_that(text, due, rings, remarks):
    """Its date would have to be counted back; of several days there is no “day” to speak of."""
    times = series.ringing_at([f"2023-11-{each}" for each in rings.split()], "UTC")
    times["rings_at_ms"] = series.at_ms_of(times["rings_from"], "UTC")
    days = {name: series.at_ms_of(f"2023-11-{each}", "UTC") for name, each in due.items()}

    assert remarks in line(a_note(text, kind="event", **days, **times))


RANG = {
    "en": "reminded at 10:40",
    "de": "um 10:40 erinnert",
    "es": "avisé a las 10:40",
    "fr": "rappel envoyé à 10h40",
    "it": "promemoria mandato alle 10:40",
    "pt": "avisei às 10h40",
    "ru": "напоминание было в 10:40",
}


@pytest.mark.parametrize("language", RANG)
def test_what_rang_says_so_in_two_words(language):
    """In a group, too; under "Already rang" its time alone, and beside its own day or hour nothing of it."""
    rang = (Occurrence(original_local="2023-11-14T10:40", state="rang"),)
    rings = {"rings_from": "2023-11-14T10:40", "occurrences": rang, "time_zone": "UTC"}
    note, group = (a_note("Ana", conversation_id=chat, **rings) for chat in ("c", "tg:1:-100:0"))
    with replies.speaking(language):
        for each in (note, group):
            assert line(each, under_ms=START_MS) == f"Ana ({RANG[language]})"
        at = hour_text(series.at_ms_of("2023-11-14T10:40", "UTC"), "UTC", language)
        assert line(note, under_ms=START_MS, heading="rang") == f"Ana ({at})"
        for due in ({"due_at_ms": START_MS - START_MS % DAY_MS}, {"due_at_ms": START_MS + HOUR_MS, "due_exact": True}):
            plain = line(a_note("Ana", time_zone="UTC", **due), under_ms=START_MS)
            assert line(a_note("Ana", **rings | due), under_ms=START_MS) == plain


@pytest.mark.parametrize(("late", "said"), [(None, "reminded today"), ("2023-11-14T12:00", "reminded today at 12:00")])
def test_a_series_tells_the_hour_at_which_it_rang_only_where_that_is_another(late, said):
    """“Every day at 08:00, I reminded you today at 08:00” said one hour twice."""
    at_ms = series.at_ms_of(late, "UTC") if late else None
    rang = Occurrence(original_local="2023-11-14T08:00", moved_to_ms=at_ms, state="rang")
    daily = {"rings_from": "2023-11-14T08:00", "rings_at_ms": series.at_ms_of("2023-11-15T08:00", "UTC")}
    plants = a_note("Plants", repeats="FREQ=DAILY", occurrences=(rang,), time_zone="UTC", **daily)

    assert line(plants) == f"Plants (⏰ every day at 08:00, {said})"


SENDS = {
    "en": "I'll send it at 23:13",
    "de": "schicke ich um 23:13",
    "es": "lo mando a las 23:13",
    "fr": "je l'envoie à 23h13",
    "it": "lo mando alle 23:13",
    "pt": "eu mando às 23h13",
    "ru": "пришлю в 23:13",
}


@pytest.mark.parametrize("language", SENDS)
def test_work_by_the_clock_is_something_that_the_assistant_sends(language):
    """A sentence, in a group as in private: “from me” beside a bell was a riddle. Work that is over sends nothing."""
    ring_ms = START_MS + HOUR_MS
    once = WORK | {"repeats": "", "rings_from": "2023-11-14T23:13", "time_zone": "UTC"}
    note = a_note("Bread: Tell", rings_at_ms=ring_ms, **once)
    with replies.speaking(language):
        assert line(note, under_ms=ring_ms) == f"Bread (⏰ {SENDS[language]})"
        assert line(a_note("Bread at 23:13", rings_at_ms=ring_ms, **once), under_ms=ring_ms).count("23") == 1
        assert line(a_note("Bread: Tell", **once)) == "Bread"


def test_a_series_with_one_date_left_is_that_date():
    """“Every Tuesday until 15 Dec, not on Tue 15 Dec” was the lesson of the 8th; a silent choir practice, too."""
    fields = {"repeats": "FREQ=WEEKLY;UNTIL=20231205", "time_zone": "UTC", "due_exact": True}
    out = (Occurrence(original_local="2023-12-05T19:00", state="left_out"),)
    due_ms = series.at_ms_of("2023-11-28T19:00", "UTC")
    choir = a_note("Choir", kind="event", due_at_ms=due_ms, occurrences=out, **fields)
    rung = a_note("Piano", rings_from="2023-11-28T19:00", rings_at_ms=due_ms, occurrences=out, **fields)

    assert note_line(choir, START_MS, "UTC") == "Choir (on Tue 28 Nov at 19:00)"
    assert note_line(rung, START_MS, "UTC").startswith("Piano (⏰ on Tue 28 Nov at 19:00")


def test_a_series_ends_with_the_last_date_that_is_kept():
    """“Until 22 Nov, not on 22 Nov”, and “until the 22nd” of what was moved to the 24th."""
    out = Occurrence(original_local="2023-11-22T08:00", state="left_out")
    moved_ms = series.at_ms_of("2023-11-24T08:00", "UTC")
    moved = Occurrence(original_local="2023-11-22T08:00", moved_to_ms=moved_ms, state="moved")
    walk = {
        "rings_from": "2023-11-15T08:00",
        "rings_at_ms": START_MS + DAY_MS // 2,
        "repeats": "FREQ=DAILY;UNTIL=20231122",
    }

    assert (
        line(a_note("Walk", time_zone="UTC", occurrences=(out,), **walk)) == "Walk (⏰ every day at 10:13 until 21 Nov)"
    )
    assert "until 24 Nov" in line(a_note("Walk", time_zone="UTC", occurrences=(moved,), **walk))


def test_of_several_doses_one_at_another_hour_leaves_the_others_told():
    """“Tomorrow at 14:00, then every day at 08:00 and 18:00”: the dose of tomorrow evening was not in it."""
    day_ms = series.at_ms_of("2023-11-15T00:00", "UTC")
    moved = Occurrence(original_local="2023-11-15T08:00", moved_to_ms=day_ms + 14 * HOUR_MS, state="moved")
    rule = {"repeats": "FREQ=DAILY;BYHOUR=8,18", "rings_from": "2023-11-14T08:00", "time_zone": "UTC"}
    cream = a_note("Cream", rings_at_ms=day_ms + 14 * HOUR_MS, occurrences=(moved,), **rule)

    assert line(cream) == "Cream (⏰ every day at 08:00 and 18:00, tomorrow at 14:00 instead of 08:00)"


def test_a_model_is_told_the_date_behind_a_rest():
    """“Was Monday, next Thursday …; put off until Friday”."""
    day_ms, wakes_ms = (series.at_ms_of(f"2023-11-{day}T00:00", "UTC") for day in (13, 17))
    fields = {"due_at_ms": day_ms, "repeats": "FREQ=WEEKLY;BYDAY=MO,TH", "time_zone": "UTC"}
    rests = a_note("Blood pressure", kind="task", snoozed_until_ms=wakes_ms, **fields)

    said = model_line(rests, START_MS, "UTC", brief=True)
    assert said.endswith("(due Mon 20 Nov, every Mon, Thu; put off until Fri 17 Nov 00:00)")
