"""The words of lists for a series at one of its dates: rung, asleep, moved, or under the day of the next."""

from __future__ import annotations

from typing import Any

import pytest

from bot import replies
from bot.features.continuity.preview import preview_lines
from bot.features.continuity.settings import language_message
from bot.features.loops import coming_up
from bot.features.overview import ChatStatus, status_text
from bot.lines import note_line
from bot.reminders.messages import due_of, messages_for
from bot.reminders.ringing import operation_for, told, told_seen
from bot.sentences import base_of
from memory.continuity.bootstrap import BootstrapPreview
from memory.ledger import series, views
from memory.ledger.apply import apply
from memory.ledger.lines import named
from memory.ledger.types import Actor, Applied, Ledger, Ring
from memory.testing import make_arc
from tests.unit.test_rings_again import BERLIN, at, choir, done, rung
from tests.unit.test_toolset import make_box, stored

MONDAY = "2026-11-30T09:00"


async def after(verb: str, ledger: Ledger | None = None, now: str = MONDAY, **given: Any) -> Ledger:
    """The ledger after one call of a tool."""
    box = make_box(now_ms=at(now), **({"ledger": ledger} if ledger else {}))
    await getattr(box, verb)(**given)
    return stored(box, ledger or Ledger("c"))


def line(ledger: Ledger, now: str, under_ms: int | None = None) -> str:
    return note_line(ledger.notes[1], at(now), BERLIN, under_ms=under_ms, brief=True)


def coming(ledger: Ledger, now: str) -> list[str]:
    return coming_up(views.dates_to_come(ledger, at(now)), at(now), BERLIN).splitlines()[1:]


def tapped(ledger: Ledger, occurrence: str, choice: Any, now: str) -> Ledger:
    return done(ledger, operation_for(ledger.notes[1], occurrence, choice, at(now)), now)


async def test_what_is_coming_up_has_the_rhythm_of_its_dates_not_of_their_rings():
    """“Tue 15 Dec: driving lesson (at 08:00, ⏰ every Monday at 19:00)”, from the second date on."""
    eve = "the day before at 20:00"
    once, twice = rung(await choir(at="2026-12-02T20:00")), rung(rung(await choir()))

    assert coming(once, "2026-12-05T09:00") == [f"Thu 10 Dec: Choir (every Thursday at 19:30, ⏰ {eve})"]
    assert coming(twice, "2026-12-05T09:00") == [
        f"Thu 10 Dec: Choir (every Thursday at 19:30, ⏰ {eve} and on the day at 17:30)"
    ]


async def test_a_ring_that_was_put_off_is_told_also_where_its_day_is_not():
    """“Pay the rent (today, then every month on the 5th)” once [Tomorrow] was tapped."""
    wish = {"at": "2026-12-05T09:00", "due": "2026-12-05", "repeats": "FREQ=MONTHLY;BYMONTHDAY=5"}
    ledger = tapped(
        rung(await after("remind", text="Pay the rent", **wish)), "2026-12-05T09:00", "tomorrow", "2026-12-05T09:06"
    )

    assert line(ledger, "2026-12-05T09:10") == (
        "Pay the rent (today, ⏰ tomorrow at 09:00, then every month on the 5th)"
    )


async def test_a_date_that_sleeps_past_its_day_leaves_the_rhythm_of_the_dates():
    """The bin went out on Tuesdays once its last ring was put off until Thursday."""
    wish = {
        "at": "2026-12-01T19:00,2026-12-02T06:30",
        "due": "2026-12-02",
        "repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE",
    }
    ledger = rung(rung(await after("remind", text="Yellow bin out", **wish)))
    ledger = tapped(ledger, "2026-12-01T19:00", "tomorrow", "2026-12-02T06:40")

    assert line(ledger, "2026-12-02T07:00") == (
        "Yellow bin out (today, ⏰ tomorrow at 19:00, then every other Wednesday)"
    )


async def test_an_hour_that_moves_takes_the_ring_before_it_along_beside_one_of_the_eve():
    """“Two hours before” was two and a half once the concert began at half past six."""
    wish = {"at": "2026-12-12T19:00,2026-12-13T17:00", "due": "2026-12-13T19:00", "kind": "event"}
    ledger = await after("remind", text="Concert", **wish)
    ledger = await after("change", ledger, numbers=[1], due="2026-12-13T18:30")

    assert line(ledger, MONDAY) == (
        "Concert (on Sun 13 Dec at 18:30, ⏰ the day before at 19:00 and on the day at 16:30)"
    )


async def test_a_moved_date_that_is_next_keeps_its_hours_beside_the_one_that_is_on():
    """Tonight's choir stood as every Wednesday at half past six, the hour of its ring."""
    wish = {"at": "2026-12-02T18:30", "due": "2026-12-02T19:30/21:30", "repeats": "FREQ=WEEKLY;BYDAY=WE"}
    ledger = await after("remind", text="Choir", kind="event", **wish)
    ledger = rung(rung(await after("change", ledger, numbers=[1], date="2026-12-16", due="T18:00/20:00")))

    assert line(ledger, "2026-12-09T18:40") == (
        "Choir (today 19:30–21:30, then every Wednesday, on Wed 16 Dec 18:00–20:00 instead)"
    )


async def test_a_date_that_is_moved_within_its_day_is_told_where_it_rings_on_the_eve():
    """Its ring stays at its hour, so that the date itself was told to be as ever."""
    ledger = await after("change", await choir(), numbers=[1], date="2026-12-17", due="T21:00")

    assert line(ledger, MONDAY).endswith("and on the day at 17:30, on Thu 17 Dec at 21:00 instead)")


async def test_the_dates_behind_one_that_was_moved_keep_their_hours():
    """“Tomorrow: Visiting Mum (17:00-19:00)”: only today was moved."""
    rule = {"due": "2026-12-01T14:00/16:00", "repeats": "FREQ=DAILY;UNTIL=20261204"}
    ledger = await after("note", text="Visiting Mum", kind="event", **rule)
    ledger = await after("change", ledger, numbers=[1], date="2026-12-02", due="T17:00/19:00")

    assert coming(ledger, "2026-12-02T08:00") == [
        "Today: Visiting Mum (17:00–19:00)",
        "Tomorrow: Visiting Mum (14:00–16:00)",
        "Fri 4 Dec: Visiting Mum (14:00–16:00)",
    ]


async def test_what_is_done_at_the_first_of_two_rings_is_done():
    """“Ticked off: Order the tiles”, which rang again at three."""
    ledger = rung(await after("remind", text="Order the tiles", at="2026-12-02T09:00,2026-12-02T15:00"))

    assert not tapped(ledger, "2026-12-02T09:00", "done", "2026-12-02T09:06").notes[1].is_open


async def test_a_dose_that_is_put_off_or_ticked_is_named_by_its_hour():
    """Two doses rang 39 minutes apart by the same words, one of them last night's."""
    wish = {"at": "2026-12-01T14:00", "repeats": "FREQ=DAILY;BYHOUR=8,14,21;UNTIL=20261204"}
    rang = rung(await after("remind", text="Amoxicillin", **wish))
    asleep = tapped(rang, "2026-12-01T14:00", "hour", "2026-12-01T14:06")
    note = asleep.notes[1]
    due = due_of(note, note.rings_at_ms or 0)
    assert due is not None
    [(message, _)] = messages_for([due], note.rings_at_ms or 0)

    assert line(asleep, "2026-12-01T14:10") == (
        "Amoxicillin (⏰ every day at 08:00, 14:00 and 21:00 until 4 Dec, today at 15:06 instead of 14:00)"
    )
    assert message.text == "⏰ Amoxicillin (for 14:00)"
    ticked = told(rang.notes[1], rang.notes[1], "2026-12-01T14:00", "done", now_ms=at("2026-12-01T14:06"), zone=BERLIN)
    assert ticked == "Ticked off: Amoxicillin (14:00)"


async def test_under_the_day_of_the_next_ring_stands_the_date_that_it_is_for():
    """“Mon 14 Dec: Brown bin (today, then every other Tuesday)” on the 1st."""
    wish = {"at": "2026-11-30T19:00", "due": "2026-12-01", "repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"}
    ledger = rung(await after("remind", text="Brown bin", kind="event", **wish))
    under_ms = ledger.notes[1].rings_at_ms

    assert (
        line(ledger, "2026-12-01T09:00", under_ms) == "Brown bin (⏰ 19:00, for Tue 15 Dec, then every other Tuesday)"
    )


async def test_a_ring_at_noon_of_the_day_before_is_one_for_a_date_in_the_evening():
    """More than a day before it; and hours of a day are read where the last is said of the next morning."""
    rule = "FREQ=WEEKLY;INTERVAL=6;BYDAY=TH"
    ledger = await after("note", text="Guild", kind="event", due="2026-12-10T20:00", repeats=rule)
    ledger = await after("remind", ledger, numbers=[1], at="2026-12-09T12:00", repeats=rule)
    hours = "2026-12-01T13:00,2026-12-01T20:00,2026-12-02T07:00"
    drops = await after("remind", text="Eye drops", at=hours, repeats="FREQ=DAILY;UNTIL=20261210")

    assert line(ledger, MONDAY) == "Guild (every 6 weeks, next on Thu 10 Dec at 20:00, ⏰ the day before at 12:00)"
    assert drops.notes[1].repeats == "FREQ=DAILY;UNTIL=20261210;BYHOUR=7,13,20"


async def test_a_new_end_of_a_series_leaves_both_its_rings_and_says_nothing_of_them():
    """“That is its only ring now” was said of a series that rang twice as before; done is told by its own date."""
    box = make_box(ledger=await choir(), now_ms=at(MONDAY))
    said = await box.change([1], repeats="FREQ=WEEKLY;BYDAY=TH;UNTIL=20270128")
    eve = rung(await choir())
    box = make_box(ledger=eve, now_ms=at("2026-12-03T20:00"))

    assert "only ring" not in said
    assert "rings Wed 2026-12-02 20:00 and Thu 2026-12-03 17:30" in said
    assert (await box.end([1], "done", "2026-12-03")).startswith("The date 2026-12-03T19:30 is done")


async def test_who_wants_a_twelve_hour_clock_reads_it_everywhere():
    """219 of a person's 528 lines were wrong for the clock alone, which “does my head in”."""
    box = make_box(user_id=7)
    said = await box.settings(language="en-US")
    pills = {"at": "2026-12-01T12:00", "repeats": "FREQ=DAILY;BYHOUR=0,9,12,21;UNTIL=20261204"}
    ledgers = (await choir(), await after("remind", text="Pills", **pills))
    with replies.speaking("en-12h"):
        read = [line(each, MONDAY) for each in ledgers]
        menu = [button.label for row in language_message("en-12h").buttons for button in row]

    assert said == "Buttons and lists speak English, with hours like 3:15pm, from the next message on."
    assert read == [
        "Choir (every Thursday at 7:30pm, ⏰ the day before at 8pm and on the day at 5:30pm)",
        "Pills (⏰ tomorrow at 12pm, then every day at 12am, 9am, 12pm and 9pm until 4 Dec)",
    ]
    assert menu[:4] == ["As I write", "English", "✓ English, 3:15pm", "Deutsch"]
    assert base_of("en-12h") == "en"


async def test_what_comes_each_year_is_told_by_its_day_of_the_year_while_it_is_far():
    """“Mabel's birthday (on Sun 14 Feb 2027, 7 days before)” read as once, to three persons' models."""
    wish = {"at": "2027-02-07T09:00", "due": "2027-02-14", "repeats": "FREQ=YEARLY"}
    ledger = await after("remind", text="Mabel's birthday", **wish)

    assert line(ledger, MONDAY) == "Mabel's birthday (14 Feb, every year, ⏰ a week before at 09:00)"
    assert line(ledger, "2027-01-10T09:00") == "Mabel's birthday (Sun 14 Feb, every year, ⏰ a week before at 09:00)"
    assert coming(ledger, MONDAY) == ["Sun 14 Feb 2027: Mabel's birthday (⏰ a week before at 09:00)"]


async def test_a_stay_from_tomorrow_on_stands_under_tomorrow():
    """“Fri 4 Dec - Sun 6 Dec: Helen” stood among lines of “Tomorrow” for the same day."""
    ledger = await after("note", text="Helen stays", kind="event", due="2026-12-04/2026-12-06")

    assert coming(ledger, "2026-12-03T09:00") == ["Tomorrow – Sun 6 Dec: Helen stays"]
    assert coming(ledger, "2026-12-02T09:00") == ["Fri 4 Dec – Sun 6 Dec: Helen stays"]


async def test_a_rhythm_with_the_day_that_is_left_out_tells_the_next():
    """“every Tuesday, next on Tue 15 Dec at 16:15, not on Tue 8 Dec” said it twice."""
    wish = {"at": "2026-12-01T15:30", "due": "2026-12-01T16:15", "repeats": "FREQ=WEEKLY;BYDAY=TU"}
    ledger = rung(await after("remind", text="Swimming", kind="event", **wish))
    ledger = await after("change", ledger, "2026-12-03T09:00", numbers=[1], date="2026-12-08", due="none")

    assert line(ledger, "2026-12-03T09:00") == "Swimming (every Tuesday at 16:15, ⏰ 15:30, not on Tue 8 Dec)"


async def test_a_dose_that_rang_late_is_told_by_the_hour_that_it_was_for():
    """“reminded at 09:18” did not say which of three was left."""
    wish = {"at": "2026-12-01T08:00", "repeats": "FREQ=DAILY;BYHOUR=8,14,21;UNTIL=20261204"}
    ledger = await after("remind", text="Amoxicillin", **wish)
    ring = Ring(number=1, occurrence="2026-12-01T08:00", rings_at_ms=at("2026-12-01T08:00"))
    outcome = apply(ledger, ring, Actor("operator", at("2026-12-01T09:18") + 1234))
    assert isinstance(outcome, Applied)
    ledger = outcome.ledger

    assert line(ledger, "2026-12-01T09:30", at("2026-12-01T08:00")).endswith("until 4 Dec, still open from 08:00)")


async def test_status_has_what_is_open_in_the_order_of_its_days():
    """What was due today stood behind “… and 2 more”, and first on /loops."""
    ledger = await after("remind", text="Later", at="2026-12-13T09:00", due="2026-12-13")
    vat = {"at": "2026-11-28T09:00", "due": "2026-11-30", "repeats": "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=28"}
    ledger = await after("remind", ledger, "2026-11-28T08:00", text="File the VAT", **vat)
    rang = series.next_ring(ledger.notes[2])
    assert rang is not None
    ledger = done(ledger, Ring(number=2, occurrence=rang[0], rings_at_ms=rang[1]), "2026-11-28T09:00", "operator")
    told_ = status_text(ChatStatus("", ledger), at(MONDAY), BERLIN).splitlines()

    assert [each[2:14] for each in told_ if each.startswith("•")] == ["File the VAT", "Later (⏰ Sun"]


async def test_a_course_of_doses_ends_with_its_last():
    """“until 4 Dec” had three doses on that day, where the last was in the morning."""
    wish = {"at": "2026-11-30T14:00", "repeats": "FREQ=DAILY;BYHOUR=6,14,22;COUNT=18"}
    ledger = await after("remind", text="Augmentin", **wish)

    assert line(ledger, MONDAY) == "Augmentin (⏰ every day at 06:00, 14:00 and 22:00 until 6 Dec at 06:00)"


async def test_under_the_day_of_a_ring_its_hour_leads_before_another_day():
    """“Thu 7 Jan: the insurance runs out (on Thu 14 Jan, 09:00)” read as nine o'clock on the 14th, to four readers."""
    wish = {"at": "2027-01-07T09:00", "due": "2027-01-14", "repeats": "FREQ=YEARLY", "kind": "task"}
    ledger = await after("remind", text="The insurance runs out", **wish)

    assert line(ledger, MONDAY, at("2027-01-07T09:00")) == (
        "The insurance runs out (⏰ 09:00, for Thu 14 Jan 2027, then every year)"
    )


async def test_what_is_to_be_done_by_an_hour_says_by_behind_the_ring_of_the_day_before():
    """“for Fri 4 Dec at 12:00” read as an appointment."""
    wish = {"at": "2026-12-03T16:00", "due": "2026-12-04T12:00", "kind": "task"}
    ledger = await after("remind", text="Fill in the form", **wish)

    assert line(ledger, MONDAY, at("2026-12-03T16:00")) == "Fill in the form (⏰ 16:00, by Fri 4 Dec at 12:00)"


async def test_a_dose_at_its_hour_is_not_named_twice():
    wish = {"at": "2026-12-01T14:00", "repeats": "FREQ=DAILY;BYHOUR=8,14,21;UNTIL=20261204"}
    note = (await after("remind", text="Amoxicillin", **wish)).notes[1]
    due = due_of(note, note.rings_at_ms or 0)
    assert due is not None
    [(message, _)] = messages_for([due], note.rings_at_ms or 0)

    assert message.text == "⏰ Amoxicillin"


async def test_no_date_is_made_up_between_the_rings_of_one():
    """“Sun 6 Dec: Pilates (at 21:00, 20:00)” stood there between a course's eve ring and its date."""
    ledger = await choir(repeats="FREQ=WEEKLY;BYDAY=TH;COUNT=10")
    for date, due in (("2026-12-17", "none"), ("2026-12-24", "2026-12-23T19:30")):
        ledger = await after("change", ledger, numbers=[1], date=date, due=due)
    moved = await after("change", ledger, "2026-11-28T09:00", numbers=[1], date="2026-12-03", due="2026-11-30T19:30")

    assert coming(rung(ledger), "2026-12-02T21:00") == ["Tomorrow: Choir (at 19:30, ⏰ 17:30)"]
    assert coming(rung(moved), "2026-11-29T21:00") == ["Tomorrow: Choir (at 19:30, ⏰ 17:30)"]


async def test_until_tomorrow_is_before_the_hour_by_which_something_is_to_be_done():
    """“I'll remind you tomorrow at 21:00” of a form that was to be handed in at noon."""
    wish = {"at": "2026-12-03T21:00", "due": "2026-12-04T12:00", "kind": "task"}
    ledger = rung(await after("remind", text="Hand in the form", **wish))
    ledger = tapped(ledger, "2026-12-03T21:00", "tomorrow", "2026-12-03T21:01")

    assert series.local_of(ledger.notes[1].rings_at_ms or 0, BERLIN) == "2026-12-04T11:00"


async def test_a_course_whose_last_date_is_left_out_ends_with_the_one_before():
    """“until 10 Feb 2027, not on Wed 10 Feb”, where the talk had said that the last lesson is the 3rd."""
    ledger = await choir(repeats="FREQ=WEEKLY;BYDAY=TH;UNTIL=20270211")
    ledger = await after("change", ledger, numbers=[1], date="2027-02-11", due="none")

    assert line(ledger, MONDAY) == (
        "Choir (every Thursday at 19:30 until 4 Feb 2027, ⏰ the day before at 20:00 and on the day at 17:30)"
    )


async def test_between_two_rings_of_a_date_the_next_has_its_day():
    """“Okay: course (every Wednesday, 17:30)” read as if the ring of the evening before were gone for good."""
    eve = rung(await choir())

    assert line(eve, "2026-12-02T21:00") == "Choir (tomorrow at 19:30, ⏰ 17:30, then every Thursday)"
    assert line(eve, "2026-12-03T09:00", at("2026-12-03T17:30")) == "Choir (at 19:30, ⏰ 17:30, then every Thursday)"


async def test_the_ring_of_a_moved_date_keeps_the_hour_of_the_evening_before_under_a_new_end():
    """Two line judges: the eve's ring came at 20:30 and at 19:45 once the course got another end."""
    ledger = await choir(at="2026-12-02T20:00")
    ledger = await after("change", ledger, numbers=[1], date="2026-12-03", due="2026-12-04T20:00")
    ledger = await after("change", ledger, numbers=[1], repeats="FREQ=WEEKLY;BYDAY=TH;UNTIL=20270128")

    assert series.local_of(ledger.notes[1].rings_at_ms or 0, BERLIN) == "2026-12-03T20:00"


async def test_another_hour_said_of_a_date_of_the_series_moves_no_days():
    """“From the 16th at five” made Mondays and Wednesdays Wednesdays and Fridays; a moved date counts for nothing."""
    wish = {"at": "2026-11-30T16:00", "due": "2026-11-30T18:00", "repeats": "FREQ=WEEKLY;BYDAY=MO,WE"}
    swim = await after("remind", text="Swimming", kind="event", **wish)
    later = await after("change", swim, numbers=[1], due="2026-12-16T17:00")
    moved = await after(
        "change", await choir(), "2026-11-28T09:00", numbers=[1], date="2026-12-03", due="2026-12-04T19:30"
    )
    again = await after("change", moved, "2026-11-28T10:00", numbers=[1], due="2026-12-10T19:00")

    assert later.notes[1].repeats == wish["repeats"]
    assert later.notes[1].rings_from.endswith("T15:00")
    assert again.notes[1].repeats == "FREQ=WEEKLY;BYDAY=WE"
    assert again.notes[1].rings_from.endswith("T20:00")


async def test_what_is_carried_on_tells_a_moved_date_by_the_days_of_its_series():
    """/continue had practice “every Monday and Wednesday”, the days of the rings, once the next date was moved."""
    ledger = await after(
        "change", await choir(), "2026-11-28T09:00", numbers=[1], date="2026-12-03", due="2026-12-01T18:00"
    )
    other = await after("note", ledger, text="Book the hall", kind="task")
    arcs = (make_arc("Book the hall", number=2),)
    shown = BootstrapPreview(offer="ask", mode="ask", skip_preview=False, text="", arcs=arcs)

    told_ = preview_lines(shown, other, at(MONDAY), BERLIN)
    assert told_[-1].startswith("• Choir (tomorrow at 18:00")
    assert "then every Thursday at 19:30" in told_[-1]


async def test_of_events_called_the_same_the_next_is_carried_on():
    """The stall of the 17th alone, while that of the 12th was to come (a trial)."""
    ledger = await after("note", text="Market stall", kind="event", due="2026-12-17T10:00")
    ledger = await after("note", ledger, text="Market stall", kind="event", due="2026-12-12T10:00")
    arcs = (make_arc("Market stall", number=1),)
    shown = BootstrapPreview(offer="ask", mode="ask", skip_preview=False, text="", arcs=arcs)

    assert preview_lines(shown, ledger, at(MONDAY), BERLIN) == ["• Market stall (on Sat 12 Dec at 10:00)"]
    both = shown.model_copy(update={"arcs": (*arcs, make_arc("Market stall", number=2))})
    assert len(preview_lines(both, ledger, at(MONDAY), BERLIN)) == 2


async def test_something_to_do_that_rings_before_its_hour_is_to_be_done_by_it():
    """“Order inner tubes (14:00, ⏰ 12:00)” of a cutoff; what has no ring may as well begin then."""
    wish = {"text": "Order tubes", "kind": "task", "due": "2026-12-04T14:00", "at": "2026-12-04T12:00"}
    rings, silent = await after("remind", **wish), await after("note", **{**wish, "at": ""})

    assert line(rings, MONDAY) == "Order tubes (by Fri 4 Dec at 14:00, ⏰ 12:00)"
    assert line(rings, "2026-12-03T09:00") == "Order tubes (by tomorrow at 14:00, ⏰ 12:00)"
    assert line(rings, "2026-12-04T09:00", at("2026-12-04T00:00")) == "Order tubes (by 14:00, ⏰ 12:00)"
    assert line(silent, "2026-12-04T09:00", at("2026-12-04T00:00")) == "Order tubes (14:00)"


async def test_done_on_an_eve_tells_that_date_alone():
    """“Good: flour comes (tomorrow at 06:00, then every other Tuesday, on Wed 16 Dec instead of …)”."""
    ledger = rung(await choir())
    said = told_seen(ledger.notes[1], at("2026-12-02T20:05"), BERLIN)

    assert "Choir (tomorrow at 19:30, \u23f0 17:30)" in said
    assert "every" not in said


async def test_behind_a_moved_last_date_nothing_is_said_to_come():
    """“today at 19:00, then every Wednesday at 20:00 until 16 Dec”: that is the one that was moved."""
    wish = {"text": "Choir", "kind": "event", "due": "2026-12-09T20:00", "at": "2026-12-09T19:00"}
    ledger = await after("remind", **wish, repeats="FREQ=WEEKLY;BYDAY=WE;UNTIL=20261216")
    ledger = rung(await after("change", ledger, numbers=[1], date="2026-12-16", due="2026-12-16T19:00"))

    assert line(ledger, "2026-12-16T09:00") == "Choir (today at 19:00, \u23f0 18:00)"


async def test_tomorrow_is_tomorrow_also_of_what_is_due_today():
    """[Tomorrow] at four of something due at six rang at five."""
    wish = {"text": "Flowers", "kind": "task", "due": "2026-12-04T18:00", "at": "2026-12-04T16:00"}
    ledger = rung(await after("remind", **wish))
    later = tapped(ledger, "2026-12-04T16:00", "tomorrow", "2026-12-04T16:07")

    assert series.local_of(later.notes[1].rings_at_ms or 0, BERLIN) == "2026-12-05T16:00"


async def test_what_tells_its_weekday_has_its_date_behind_the_ring_and_no_midnight():
    wish = {"text": "Bins on Tuesday", "kind": "task", "due": "2026-12-15", "at": "2026-12-14T19:00"}
    ledger = await after("remind", **wish, repeats="FREQ=WEEKLY;INTERVAL=2;BYDAY=TU")

    told = line(ledger, "2026-12-10T09:00", at("2026-12-14T00:00"))
    assert told == "Bins on Tuesday (\u23f0 19:00, for Tue 15 Dec, then every other Tuesday)"


@pytest.mark.parametrize(
    ("kind", "due", "reads"),
    [
        ("event", "2026-12-27/2026-12-31", "Sun 27 Dec to Thu 31 Dec"),
        ("task", "2027-01", "January 2027"),
        ("task", "2026-12-02", "was Wed 2 Dec"),
        ("event", "2026-12-27T10:00/16:00", "Sun 27 Dec"),
    ],
)
async def test_a_note_that_is_named_alone_has_all_its_days_and_says_that_it_is_late(kind: str, due: str, reads: str):
    """“Wales Sun 27 Dec”, “Tax Fri 1 Jan” of a month, and what was due on Wednesday beside what is to come."""
    ledger = await after("note", text="Wales", kind=kind, due=due)

    assert named(ledger.notes[1], at("2026-12-05T09:00"), BERLIN) == f"#1 Wales {reads}"
