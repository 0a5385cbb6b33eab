"""/loops, /memory and /reminders as pages: headings, numbers, buttons."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from bot import replies
from bot.delivery.outbox import Mention
from bot.features.exporting import notes_text
from bot.features.lists import PAGE, opened, page, shown_on
from bot.features.loops import Loops, coming_line, ending, loop_list, loop_row, putting_off
from bot.features.memories import found_list, holding, looked_up, memory_list
from bot.features.overview import ChatStatus, Summed, changed_in, status_text, summary_text, topic_of
from bot.features.reminders import in_time, meant, moved_by, reminder_list
from bot.headings import by_heading
from bot.lines import note_line
from bot.offline.times import SaidTime
from bot.reminders.messages import due_of as due_now
from bot.reminders.messages import messages_for, whom
from bot.reminders.ringing import list_row, occurrence_of, operation_for, stamp_of, told, told_off, told_unchanged
from memory.keeper.session_lines import SessionLine
from memory.ledger import series
from memory.ledger.apply import apply, apply_all
from memory.ledger.lines import model_line
from memory.ledger.types import UNTIL_TOLD_MS, Actor, Add, Applied, Change, End, Ledger, Move, Note, Occurrence, Ring
from memory.ledger.views import agenda, best_first, breakdown, dates_to_come, ringing, to_do
from memory.testing import START_MS, ManualClock

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
BY = Actor("person", START_MS)


def ledger_of(*adds: tuple) -> Ledger:
    """A ledger with notes of (kind, text, fields)."""
    operations = [
        Add(kind=kind, text=text, note_id=f"n_{at}", fields=fields) for at, (kind, text, fields) in enumerate(adds, 1)
    ]
    ledger, outcomes = apply_all(Ledger("c"), operations, BY)
    assert all(isinstance(each, Applied) for each in outcomes)
    return ledger


def task(text: str, **fields: object) -> tuple:
    return ("task", text, fields)


def series_note(**overrides: object) -> Note:
    values = {"note_id": "n_1", "conversation_id": "c", "number": 1, "kind": "task", "text": "Call mum"}
    values |= {"said_at_ms": START_MS, "rings_from": "2023-11-19T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU"}
    return Note.model_validate(values | overrides)


DUE = due_now(series_note(), series.at_ms_of("2023-11-19T19:00", "UTC"))
assert DUE is not None


# --- pages ----------------------------------------------------------------------------------------------------------


def test_loops_stand_under_their_days():
    """What is overdue comes first and in one, then day by day, then what has no day; numbers run on."""
    ledger = ledger_of(
        task("Some time"),
        task("Long ago", due_at_ms=START_MS - 9 * DAY_MS),
        task("Yesterday", due_at_ms=START_MS - DAY_MS),
        task("Now", due_at_ms=START_MS + HOUR_MS, due_exact=True),
        task("Soon", due_at_ms=START_MS + 3 * DAY_MS),
    )
    lines = page(loop_list(ledger, START_MS, "UTC")).text.splitlines()

    heads = [line for line in lines if line and not line[0].isdigit()]
    assert heads[:-1] == ["Still open:", "Overdue", "Today", "Fri 17 Nov", "No date"]
    assert [line[:2] for line in lines if line and line[0].isdigit()] == ["1.", "2.", "3.", "4.", "5."]
    assert "3. Now (23:13)" in lines


def test_lines_of_a_day_go_by_their_hours():
    """What rang stands by the time at which it did, what was put off by the end of that, a whole day comes first."""
    now_ms = series.at_ms_of("2026-11-26T17:00", "UTC")
    day = {"due_at_ms": series.at_ms_of("2026-11-26T00:00", "UTC")}
    rang = {"rings_from": "2026-11-26T11:34"}
    ledger = ledger_of(
        task("Feed the sourdough", rings_from="2026-11-26T19:00"),
        task("Oil", snoozed_until_ms=series.at_ms_of("2026-11-26T18:00", "UTC")),
        task("Post", **day | {"rings_from": "2026-11-26T12:00"}),
        task("Bread", **day),
        task("Ring the insurance", **rang),
        task("Visit", **day | {"due_at_ms": series.at_ms_of("2026-11-26T21:00", "UTC"), "due_exact": True} | rang),
    )
    for number in (3, 5, 6):
        local, at_ms = series.next_ring(ledger.notes[number])
        ring = Ring(number=number, occurrence=local, rings_at_ms=at_ms)
        ledger = apply(ledger, ring, Actor("operator", at_ms)).ledger

    said = loop_list(ledger, now_ms, "UTC")
    assert [group.head for group in said.groups] == ["Today"]
    assert [note.text for note in said.notes] == [
        "Bread", "Ring the insurance", "Post", "Oil", "Feed the sourdough", "Visit"
    ]  # fmt: skip


def test_notes_of_two_clocks_stand_each_under_its_own_day():
    """Breakfast in Tokyo at nine tomorrow is still tonight in Berlin: it's under Tomorrow, with the rent of there."""
    zones = {"berlin": "Europe/Berlin", "tokyo": "Asia/Tokyo"}
    now_ms = series.at_ms_of("2026-11-26T17:00", zones["berlin"])

    def on(day: str, clock: str, *, exact: bool = True) -> dict:
        zone = zones[clock]
        return {"due_at_ms": series.at_ms_of(day, zone), "due_exact": exact, "time_zone": zone}

    ledger = ledger_of(
        task("Dentist form", **on("2026-11-28T10:00", "berlin")),
        task("Call Kyoto", **on("2026-11-29T10:00", "tokyo")),
        task("Breakfast", **on("2026-11-27T08:00", "tokyo")),
        task("Milk", **on("2026-11-26T20:00", "berlin")),
        task("Rent", **on("2026-11-27T00:00", "berlin", exact=False)),
    )

    assert page(loop_list(ledger, now_ms, zones["berlin"])).text.splitlines()[2:-2] == [
        "Today",
        "1. Milk (20:00)",
        "",
        "Tomorrow",
        "2. Breakfast (08:00, Tokyo time)",
        "3. Rent",
        "",
        "Sat 28 Nov",
        "4. Dentist form (10:00)",
        "",
        "Sun 29 Nov",
        "5. Call Kyoto (10:00, Tokyo time)",
    ]


@pytest.mark.parametrize(
    ("reader", "zone", "due", "said"),
    [
        ("America/Los_Angeles", "UTC", "2026-11-27T14:30", ["Tomorrow", "1. Call (14:30, UTC)"]),
        (
            "Asia/Tokyo",
            "America/Los_Angeles",
            "2026-11-26T20:00",
            ["Today", "1. Call (today, 20:00, Los Angeles time)"],
        ),
        (
            "America/Los_Angeles",
            "Europe/Berlin",
            "2026-11-27T01:00",
            ["Today", "1. Call (was due today at 01:00, Berlin time)"],
        ),
    ],
)
def test_a_heading_is_by_the_readers_day(reader, zone, due, said):
    """Nothing to come is overdue there, nor is what has passed tomorrow's; the line tells its day where it must."""
    now_ms = series.at_ms_of("2026-11-27T02:00", "UTC")
    ledger = ledger_of(task("Call", due_at_ms=series.at_ms_of(due, zone), due_exact=True, time_zone=zone))

    assert page(loop_list(ledger, now_ms, reader)).text.splitlines()[2:4] == said


def test_a_series_stands_under_its_next_date():
    """Tablets every other day until the third are for tomorrow, though the last one is what they are due with."""
    ledger = ledger_of(
        task("Tablet", due_at_ms=START_MS + 8 * DAY_MS, rings_from="2023-11-15T20:00", repeats="FREQ=DAILY;INTERVAL=2")
    )

    assert "Tomorrow" in page(loop_list(ledger, START_MS, "UTC")).text


def test_a_page_has_six_lines_and_one_row_of_numbers():
    """Twenty things are four pages; nothing is left out, the numbers go on, and a sentence says what they are for."""
    listing = loop_list(ledger_of(*(task(f"Thing {n}") for n in range(22))), START_MS, "UTC")
    pages = [page(listing, offset) for offset in range(0, 22, PAGE)]

    assert [len(each.buttons[0]) for each in pages] == [6, 6, 6, 4]
    assert all(f"Thing {n}" in "".join(each.text for each in pages) for n in range(22))
    assert [button.label for button in pages[1].buttons[0]] == ["7", "8", "9", "10", "11", "12"]
    assert [button.label for button in pages[1].buttons[-1]] == ["Back", "Show more"]
    assert "and 16 more" in pages[0].text
    assert pages[0].text.endswith("Tap a number to tick it off, put it off or drop it.")
    assert "\n22. " in pages[3].text
    assert [note.number for note in shown_on(listing, 6)] == list(range(1, 13))


@pytest.mark.parametrize(
    ("total", "rows"), [(6, [[6]]), (7, [[7]]), (8, [[4, 4]]), (9, [[5, 4]]), (10, [[6], [4]]), (15, [[6], [5, 4]])]
)
def test_a_few_last_lines_have_no_page_of_their_own(total, rows):
    """They stand on the page before them; a tap on a button of an older page shows the last one."""
    listing = loop_list(ledger_of(*(task(f"Thing {n}") for n in range(total))), START_MS, "UTC")
    pages = [page(listing, PAGE * at) for at in range(len(rows))]

    numbers = [[[b for b in row if b.label.isdigit()] for row in each.buttons] for each in pages]
    assert [[len(row) for row in each if row] for each in numbers] == rows
    assert page(listing, PAGE * len(rows)).text == pages[-1].text
    assert len(shown_on(listing, PAGE * len(rows))) == total


def test_a_number_opens_its_line_with_what_can_be_done():
    """Each line has few buttons that say what they do, and the way back to its page."""
    ledger = ledger_of(
        *(task(f"Thing {n}") for n in range(8)),
        task("Call mum", rings_from="2023-11-19T19:00", repeats="FREQ=WEEKLY;BYDAY=SU"),
    )
    listing = loop_list(ledger, START_MS, "UTC")
    message = opened(listing, ledger.notes[8], "Thing 7", 6)
    series_row = listing.row(ledger.notes[9])

    assert [[button.label for button in row] for row in message.buttons] == [["Done", "Tomorrow", "Drop"], ["Back"]]
    assert message.buttons[0][0].payload == {"note_id": "n_8", "offset": 6}
    assert message.buttons[1][0].payload == {"offset": 6}
    assert [button.label for button in series_row] == ["Done this time", "Stop it for good"]


def test_the_only_line_has_its_buttons_at_once():
    """Nobody has to open what stands alone."""
    alone = page(loop_list(ledger_of(task("Call Ana")), START_MS, "UTC"))

    assert [[button.label for button in row] for row in alone.buttons] == [["Done", "Tomorrow", "Drop"]]
    assert "Tap a number" not in alone.text


def test_a_page_that_is_gone_is_the_last_one():
    """Once the last line of the last page is done, the page before it is shown."""
    listing = loop_list(ledger_of(*(task(f"Thing {n}") for n in range(6))), START_MS, "UTC")

    assert page(listing, 6).text == page(listing).text
    assert len(shown_on(listing, 6)) == 6


def test_buttons_carry_ids_and_where_the_page_begins():
    """No word of a note stands in a button."""
    listing = loop_list(ledger_of(*(task(f"Thing {n}") for n in range(10))), START_MS, "UTC")

    assert page(listing, 6).buttons[0][0].payload == {"note_id": "n_7", "offset": 6}


def test_memory_stands_under_its_headings():
    """You, people, preferences, decisions, what goes on; what is to do is on /loops alone."""
    ledger = ledger_of(
        ("decision", "Green grout", {}),
        ("fact", "Lives in Lisbon", {}),
        ("person", "Lia is nine", {}),
        ("preference", "No coffee", {}),
        ("project", "The kitchen", {}),
        task("Call the tiler"),
    )
    shown = page(memory_list(ledger, START_MS, "UTC"))

    heads = [line for line in shown.text.splitlines() if line and not line[0].isdigit()][1:]
    assert heads == ["Good to know", "People", "To keep in mind", "Decided", "Going on and coming up"]
    assert "tiler" not in shown.text
    assert [button.label for row in shown.buttons for button in row] == [f"Forget {n}" for n in range(1, 6)]
    assert len(shown.buttons) == 2


def test_dates_that_were_over_days_ago_are_left_to_a_search():
    """A run of shifts fills no pages; the file of notes has them all, and /status counts the others."""
    shifts = [("event", f"Shift {n}", {"due_at_ms": START_MS - n * DAY_MS}) for n in range(1, 12)]
    ledger = ledger_of(("fact", "The shop is in Bristol", {}), *shifts)
    listed = memory_list(ledger, START_MS, "UTC")

    assert len(listed.notes) == 3
    assert page(listed).text.endswith(replies.say("dates_over"))
    assert "What I remember is in /memory." in status_text(ChatStatus("", ledger), START_MS, "UTC")
    assert "Shift 11" in notes_text(ledger, START_MS, "UTC")
    assert memory_list(ledger_of(shifts[-1]), START_MS, "UTC").text.endswith(replies.say("dates_over"))


@pytest.mark.parametrize(("private", "key"), [(True, "memory_none"), (False, "memory_none_group")])
def test_memory_without_anything_lasting_says_where_what_is_open_stands(private, key):
    """Nobody is told that nothing was noted while their /loops lists something."""
    salad = memory_list(ledger_of(task("Bring the salad", owner="Rui")), START_MS, "UTC", private=private)
    nothing = memory_list(Ledger("c"), START_MS, "UTC", private=private)

    assert salad.text == f"{replies.say(key)}\n\nWhat's still open is in /loops."
    assert nothing.text == replies.say(key)


def test_loops_lists_what_is_asked_for():
    """`/loops Ben` listed all, without a word about it; a word that nothing open holds still does."""
    ledger = ledger_of(task("Read with Ben"), task("Bins"), ("event", "Ben's play", {"due_at_ms": START_MS + DAY_MS}))
    services: Any = SimpleNamespace(clock=ManualClock(), personas=SimpleNamespace(plays=None))
    listed = partial(Loops(services)._listing, ledger, "UTC")

    assert [note.text for note in listed("Ben").notes] == ["Read with Ben"]
    assert "Ben's play" in page(listed("Ben")).text
    assert len(listed("xyz").notes) == len(listed().notes) == 2


def test_what_is_for_a_month_comes_behind_what_is_overdue():
    """“Defrost the freezer (in November)” led /status and /continue, before a turkey that was overdue."""
    first, last = (series.at_ms_of(f"2023-11-{day}T00:00", "UTC") for day in ("01", "30"))
    freezer = task("Defrost the freezer", due_at_ms=first, ends_at_ms=last, time_zone="UTC")
    turkey = task("Order the turkey", due_at_ms=series.at_ms_of("2023-11-10T00:00", "UTC"), time_zone="UTC")

    assert [note.text for note in agenda(ledger_of(freezer, turkey), START_MS)] == [
        "Order the turkey",
        "Defrost the freezer",
    ]


def test_a_series_stands_by_its_next_date_on_memory():
    """A clinic of every Tuesday that rings stood by its first, weeks ago, before all that was to come."""
    first, fair = (series.at_ms_of(f"2023-11-{day}T00:00", "UTC") for day in ("07", "17"))
    rang = (Occurrence(original_local="2023-11-13T18:00", state="rang"),)
    rings = {"rings_from": "2023-11-06T18:00", "repeats": "FREQ=WEEKLY;BYDAY=MO", "occurrences": rang}
    clinic = ("event", "Clinic", {"due_at_ms": first, "time_zone": "UTC", **rings})
    ledger = ledger_of(clinic, ("event", "Fair", {"due_at_ms": fair, "time_zone": "UTC"}))

    ((_, found),) = by_heading(ledger, START_MS + DAY_MS)
    assert [note.text for note in found] == ["Fair", "Clinic"]


def test_a_missed_series_tells_its_next_exceptions():
    """“Was due at 07:15, then every day”, and the day after was to be at another hour."""
    moved = Occurrence(
        original_local="2023-11-15T07:15", moved_to_ms=series.at_ms_of("2023-11-15T06:45", "UTC"), state="moved"
    )
    fields = {"due_at_ms": series.at_ms_of("2023-11-14T07:15", "UTC"), "due_exact": True, "repeats": "FREQ=DAILY"}
    visit = task("Visit", **fields, occurrences=(moved,), time_zone="UTC")

    said = note_line(ledger_of(visit).notes[1], START_MS, "UTC")
    assert said == "Visit (was due today at 07:15, then every day, tomorrow at 06:45 instead)"


def test_what_was_so_until_a_day_is_over_and_a_limit_of_today_until_tonight():
    """“Ben is off sick (was until yesterday)” stood under Good to know; “until today” is no end."""
    first, last, today = (series.at_ms_of(f"2023-11-{day}T00:00", "UTC") for day in (10, 13, 14))
    sick = ("fact", "Ben is off sick", {"due_at_ms": first, "ends_at_ms": last, "time_zone": "UTC"})
    limit = ("constraint", "No shopping", {"due_at_ms": first, "ends_at_ms": today, "time_zone": "UTC"})
    ledger = ledger_of(sick, limit)

    assert [name for name, _ in by_heading(ledger, START_MS)] == ["preferences", "over"]
    assert note_line(ledger.notes[2], START_MS, "UTC") == "No shopping (until tonight)"


def test_what_is_so_from_today_on_is_not_coming_up():
    """A sore throat of today, noted as a fact, stood under Coming up; once it began no day stands beside it."""
    today, tomorrow = (series.at_ms_of(f"2023-11-{day}T00:00", "UTC") for day in (14, 15))
    sore, price = (
        ("fact", "Jules has a sore throat", {"due_at_ms": today}),
        ("fact", "It costs 3 euro", {"due_at_ms": tomorrow}),
    )
    ledger = ledger_of(*((kind, text, {**fields, "time_zone": "UTC"}) for kind, text, fields in (sore, price)))

    assert [note.text for note in dates_to_come(ledger, START_MS)] == ["It costs 3 euro"]
    assert note_line(ledger.notes[2], START_MS + 2 * DAY_MS, "UTC") == "It costs 3 euro"


def test_next_years_ring_is_not_told_for_todays_birthday():
    """“Thu 14 Nov 2024: Joan (today)” on /reminders."""
    eve, due_ms = "2023-11-13T19:00", series.at_ms_of("2023-11-14T00:00", "UTC")
    fields = {"due_at_ms": due_ms, "rings_from": eve, "repeats": "FREQ=YEARLY", "time_zone": "UTC"}
    rang = (Occurrence(original_local=eve, state="rang"),)
    joan = ledger_of(("event", "Joan's birthday", {**fields, "occurrences": rang}))

    said = page(reminder_list(joan, START_MS, "UTC")).text.splitlines()
    assert said[2:4] == ["Wed 13 Nov 2024", "1. Joan's birthday (⏰ 19:00, 14 Nov, every year)"]


def test_a_name_is_no_short_day_and_a_stem_begins_a_longer_word():
    """`/memory Mia` listed all that is due on a Wednesday (`Mi`); the Christmas holidays were no Christmas."""
    roof = task("Heinz repariert das Dach", due_at_ms=series.at_ms_of("2023-11-15T00:00", "UTC"), time_zone="UTC")
    notes = list(ledger_of(roof, ("fact", "Weihnachtsferien der Kinder", {})).notes.values())

    def texts(words: str) -> list[str]:
        return [note.text.split()[0] for note in looked_up(notes, words, START_MS, "UTC")]

    assert texts("Mia") == []
    assert texts("Mi") == texts("mittwochs") == ["Heinz"]
    assert texts("Weihnachten") == ["Weihnachtsferien"]


def test_a_word_is_also_found_inside_a_longer_one():
    """`tee` finds the tea first, then peppermint tea, in any case and accent; /forget goes by whole words."""
    drinks = ("fact", "Pfefferminztee trinkst du abends", {"weight": 0.9})
    buys = ("fact", "Grünen Tee kaufst du bei Café Öz", {})
    notes = best_first(ledger_of(drinks, buys, ("fact", "Du magst Zimt", {})).notes.values(), START_MS)

    def texts(words: str) -> list[str]:
        return [note.text.split()[0] for note in looked_up(notes, words, START_MS, "UTC")]

    assert texts("tee") == ["Grünen", "Pfefferminztee"]
    assert texts("der TÉE") == ["Grünen", "Pfefferminztee"]
    assert texts("pfeffer tee") == ["Pfefferminztee", "Grünen"]
    assert texts("min") == texts("ben") == []
    assert texts("oz") == ["Grünen"]
    assert texts("kaffee") == []
    assert texts("e") == texts("nt") == []
    assert len(holding(notes, "tee", START_MS, "UTC")) == 1


def test_one_sign_of_a_script_without_spaces_is_found_inside():
    """In 花生茶 stands tea."""
    notes = list(ledger_of(("fact", "你喜欢花生茶", {}), ("fact", "你喜欢面包", {})).notes.values())

    assert [note.number for note in looked_up(notes, "茶", START_MS, "UTC")] == [1]


def test_work_is_looked_up_by_its_title_and_shown_whole():
    """What the model is told to do at its time stands on no list, so no word of it finds the line."""
    daily = {"owner": "assistant", "rings_from": "2023-11-15T07:30", "repeats": "FREQ=DAILY", "time_zone": "UTC"}
    ledger = ledger_of(task("Bread history: Tell me one true story in at most 120 words", **daily))
    notes = list(ledger.notes.values())

    assert looked_up(notes, "bread", START_MS, "UTC") == looked_up(notes, "istor", START_MS, "UTC") == notes
    assert looked_up(notes, "story", START_MS, "UTC") == notes, "it stands inside history"
    assert looked_up(notes, "true", START_MS, "UTC") == looked_up(notes, "words", START_MS, "UTC") == []


def test_a_scene_is_open_to_a_persona_that_plays_alone():
    """Played in plain talk it is no matter beside a debt: /memory has it."""
    scene = {"owner": "user", "weight": 0.9, "about": "Corvin"}
    talk, play = "At anchor off Jersey", "At the gate"
    ledger = ledger_of(task("Pay the rent"), ("story", talk, scene), ("story", play, {**scene, "persona": "roleplay"}))
    loops = page(loop_list(ledger, START_MS, "UTC", {"roleplay"})).text

    assert play in loops
    assert talk not in loops
    assert talk in page(memory_list(ledger, START_MS, "UTC")).text


def test_what_is_made_up_stands_under_its_story():
    """Neither what is to do in it is a to-do, nor a fact of it one of the world; the scene to go on with comes last."""
    ledger = ledger_of(
        ("story", "The riders stand at the gate", {"about": "Harrow", "owner": "user", "weight": 0.9}),
        ("task", "Bar the gate", {"about": "Harrow", "owner": "user"}),
        ("fact", "The well is poisoned", {"about": "Harrow"}),
        ("story", "The slow train stands at Penny Ferry", {"owner": "assistant", "about": "a story"}),
        ("project", "The kitchen", {}),
        task("Call the tiler"),
    )
    shown = page(memory_list(ledger, START_MS, "UTC")).text
    loops = page(loop_list(ledger, START_MS, "UTC")).text

    assert [line for line in shown.splitlines()[1:] if line and not line[0].isdigit()] == [
        "Going on and coming up", "Story: Harrow", "Stories",
    ]  # fmt: skip
    assert all(text in shown for text in ("riders", "Bar the gate", "poisoned", "slow train"))
    assert [line for line in loops.splitlines()[1:-1] if line] == [
        "No date", "1. Call the tiler",
        "Story: Harrow", "2. The riders stand at the gate",
        "Stories", "3. The slow train stands at Penny Ferry",
    ]  # fmt: skip
    assert "(Harrow)" not in shown + loops
    assert notes_text(ledger, START_MS, "UTC").count("The riders stand at the gate") == 1


def test_what_has_been_stands_under_a_heading_of_its_own_and_fades_from_prompts():
    """Yesterday's operation is not going on; after four days no prompt begins with it, and /memory still has it."""
    ledger = ledger_of(
        ("event", "The operation", {"due_at_ms": START_MS - 2 * DAY_MS}),
        ("event", "Days off", {"due_at_ms": START_MS - 6 * DAY_MS}),
        ("event", "The fair", {"due_at_ms": START_MS + 15 * DAY_MS}),
    )

    assert [(name, [n.text for n in notes]) for name, notes in by_heading(ledger, START_MS)] == [
        ("going_on", ["The fair"]),
        ("over", ["The operation"]),
        ("faded", ["Days off"]),
    ]


def test_an_event_stays_on_memory_when_it_gets_a_reminder():
    """What is remembered does not hang on a ring: a load-in was gone from there as soon as it had one."""
    rings = {"due_at_ms": START_MS + 2 * DAY_MS, "rings_from": "2023-11-16T09:00", "time_zone": "UTC"}

    assert [name for name, _ in by_heading(ledger_of(("event", "Load-in", rings)), START_MS)] == ["going_on"]


def test_an_event_that_is_over_and_rings_still_is_counted_once():
    """The bill of last week's concert rings tomorrow: it stands on /loops, so neither /memory nor /status counts it."""
    fields = {"due_at_ms": START_MS - 6 * DAY_MS, "rings_from": "2023-11-15T09:00", "time_zone": "UTC"}
    ledger = ledger_of(("event", "The concert", fields))

    assert [note.text for note in agenda(ledger, START_MS)] == ["The concert"]
    assert by_heading(ledger, START_MS) == []
    assert "/loops" in memory_list(ledger, START_MS, "UTC").text


def test_a_project_is_open_in_the_week_of_its_day():
    """Far away it stands in /memory alone; near, or when its day is over, it waits for somebody."""
    ledger = ledger_of(
        ("project", "The lift", {"due_at_ms": START_MS + 7 * DAY_MS}),
        ("project", "The opening", {"due_at_ms": START_MS + 8 * DAY_MS}),
        ("project", "The move", {"due_at_ms": START_MS - DAY_MS}),
        ("project", "Mothlight", {}),
    )

    assert [note.number for note in to_do(ledger, START_MS)] == [3, 1]


def test_todays_date_of_a_series_to_do_is_ticked_without_a_ring():
    """Reading with Ben each day could only be ended for good."""
    fields = {"due_at_ms": START_MS, "repeats": "FREQ=DAILY", "time_zone": "UTC", "owner": "user"}
    ledger = ledger_of(("task", "Read with Ben", fields))
    once, end = (replies.say(key) for key in ("loop_done_once", "ring_buttons.end"))
    assert [button.label for button in loop_row(ledger.notes[1], START_MS, "UTC")] == [once, end]

    ledger, _ = apply_all(ledger, [ending(ledger.notes[1], "done", START_MS)], BY)
    text = page(loop_list(ledger, START_MS, "UTC")).text
    assert text.splitlines()[2:4] == ["Tomorrow", "1. Read with Ben (every day)"]
    assert [button.label for button in loop_row(ledger.notes[1], START_MS, "UTC")] == [end]


def test_of_a_series_that_nobody_has_to_do_nothing_is_ticked():
    """It can be dropped as a whole; nobody counts its dates, and none of them ends it."""
    club = ledger_of(("event", "Club", {"due_at_ms": START_MS, "due_exact": True, "repeats": "FREQ=DAILY"})).notes[1]

    assert [button.label for button in loop_row(club, START_MS, "UTC")] == [replies.say("ring_buttons.end")]


def test_what_somebody_else_likes_or_cannot_have_stands_with_the_people():
    """Aoife's coeliac disease is no limit of yours; your own says no owner, or you."""
    ledger = ledger_of(
        ("constraint", "Aoife is coeliac", {"owner": "Aoife"}), ("constraint", "Vegetarian", {"owner": "user"}),
        ("preference", "You like it hot", {}), ("person", "Aoife is your sister", {}),
    )  # fmt: skip

    assert [(name, sorted(n.number for n in notes)) for name, notes in by_heading(ledger, START_MS)] == [
        ("people", [1, 4]), ("preferences", [2, 3]),
    ]  # fmt: skip


def test_what_is_remembered_begins_with_who_the_person_is():
    """Among equals what was told first stands first, light things last; a person's notes stand together."""
    weights = {"light": {"weight": 0.3}, "heavy": {"weight": 0.9}}
    ledger = ledger_of(
        ("fact", "You like mushroom risotto", weights["light"]), ("fact", "You are a baker in Leeds", {}),
        ("fact", "You have asthma", weights["heavy"]), ("fact", "The oven in your shop is from 1990", {}),
        ("person", "Your daughter Mila is six", {}), ("person", "Your neighbour Tom has a saw", {}),
        ("constraint", "No nuts for Mila", {"owner": "Mila"}), ("person", "Tom is moving", weights["heavy"]),
        ("person", "Mila is afraid of storms", {}), ("person", "Your aunt is vegan", {}),
    )  # fmt: skip

    assert [(name, [n.number for n in notes]) for name, notes in by_heading(ledger, START_MS)] == [
        ("you", [2, 3, 4, 1]), ("people", [6, 8, 5, 7, 9, 10]),
    ]  # fmt: skip


def test_reminders_stand_under_their_days_behind_what_rang():
    """What rang and waits for a word comes first; a series has [Not this time], and a moved hour says from when."""
    rang = task("Tablets", rings_from="2023-11-14T08:00", time_zone="UTC")
    ledger = ledger_of(
        rang,
        task("Call mum", rings_from="2023-11-19T19:00", repeats="FREQ=WEEKLY;BYDAY=SU"),
        task("Vet", rings_from="2023-11-20T09:00"),
    )
    ring = Ring(number=1, occurrence="2023-11-14T08:00", rings_at_ms=series.at_ms_of("2023-11-14T08:00", "UTC"))
    ledger, _ = apply_all(ledger, [ring], BY)
    listing = reminder_list(ledger, START_MS, "UTC")
    lines = page(listing).text.splitlines()

    assert lines[2:10] == [
        "Already rang", "1. Tablets (today at 22:13)",
        "", "Sun 19 Nov", "2. Call mum (⏰ every Sunday at 19:00)",
        "", "Mon 20 Nov", "3. Vet (⏰ 09:00)",
    ]  # fmt: skip
    assert [[button.label for button in listing.row(note)] for note in ledger] == [
        ["Done", "In an hour", "Tomorrow", "Don't remind me"],
        ["Not this time", "An hour later", "A day later", "Stop it for good"],
        ["Done", "An hour later", "A day later", "Don't remind me"],
    ]


@pytest.mark.parametrize(
    ("repeats", "labels"),
    [
        ("", ["Done", "An hour later", "Tomorrow", "Don't remind me"]),
        ("FREQ=WEEKLY", ["Not this time", "An hour later", "Tomorrow", "Stop it for good"]),
        ("FREQ=DAILY", ["Not this time", "An hour later", "Stop it for good"]),
    ],
)
def test_what_rings_today_is_put_off_until_tomorrow_unless_it_comes_then_anyhow(repeats, labels):
    """A button is called by the day to which it puts a date off; "the morning after" was of no day."""
    ledger = ledger_of(task("Digest", rings_from="2023-11-14T23:00", repeats=repeats, time_zone="UTC"))
    listing = reminder_list(ledger, START_MS, "UTC")

    assert [button.label for button in listing.row(listing.notes[0])] == labels


def test_an_event_that_rang_waits_for_no_word():
    """The technician comes at ten: until then it is coming up, then it is over; nobody has to call it done."""
    fields = {"due_at_ms": START_MS + HOUR_MS, "due_exact": True, "rings_from": "2023-11-14T08:00", "time_zone": "UTC"}
    ledger = ledger_of(("event", "The technician comes", fields))
    ring = Ring(number=1, occurrence="2023-11-14T08:00", rings_at_ms=series.at_ms_of("2023-11-14T08:00", "UTC"))
    ledger, _ = apply_all(ledger, [ring], BY)

    assert loop_list(ledger, START_MS, "UTC").text.endswith("Coming up\nToday: The technician comes (at 23:13)")
    assert ringing(ledger, START_MS) == []
    assert "Today: The technician comes" in (said := status_text(ChatStatus("", ledger), START_MS, "UTC"))
    assert "already reminded" not in said, "it stands above"
    assert "not called done" not in model_line(ledger.notes[1], START_MS, "UTC")
    assert to_do(ledger, START_MS + DAY_MS) == []
    assert [name for name, _ in by_heading(ledger, START_MS + DAY_MS)] == ["over"]


def test_status_and_reminders_name_the_same_as_reminded_already():
    """A date of a series that rang and is over waits for nobody there: the next one is what is to come."""
    ledger = ledger_of(task("Water plants", rings_from="2023-11-14T08:00", repeats="FREQ=WEEKLY", time_zone="UTC"))
    rang = Ring(number=1, occurrence="2023-11-14T08:00", rings_at_ms=series.at_ms_of("2023-11-14T08:00", "UTC"))
    ledger, _ = apply_all(ledger, [rang], BY)

    assert "Already reminded" not in page(reminder_list(ledger, START_MS, "UTC")).text
    assert "Already reminded" not in (said := status_text(ChatStatus("", ledger), START_MS, "UTC"))
    assert "Water plants (⏰ every week, next on Tue 21 Nov at 08:00" in said
    assert "Next reminder" not in said, "it stands above"


def test_a_summary_lists_only_what_its_first_words_do_not_tell():
    """The paragraph said it all, and four lines below said it again."""
    ledger = ledger_of(
        task("Moira brings the trestle tables", session_id="s_1"), task("Cars off the street by noon", session_id="s_1")
    )
    party = Summed("s_1", 4, "Street party", "Moira brings trestle tables, you bring samosas.")

    told = summary_text(party, ledger, START_MS, "UTC")
    assert told.count("trestle") == 1
    assert "• Cars off the street by noon" in told


def test_a_summary_with_the_keepers_words_lists_what_changed_since():
    """The words rest on the older notes, in words of their own; with a sentence of them left out nothing is sure."""
    ledger = ledger_of(task("Mark the 27 tests of 8A", session_id="s_1"), task("Book the bus", session_id="s_1"))
    week = Summed("s_1", 4, "School", "Fifteen tests of 8A are still to be marked.", frozenset({2}), is_whole=True)

    told = summary_text(week, ledger, START_MS, "UTC")
    assert "• Book the bus" in told
    assert "27 tests" not in told
    assert "• Mark the 27 tests of 8A" in summary_text(replace(week, is_whole=False), ledger, START_MS, "UTC")


def test_a_session_without_anything_to_tell_is_summed_up_by_the_one_before():
    """“Nothing to sum up yet”, after a week of talk: this morning's had been long, and was about nothing."""
    before = SessionLine("s_0", "c", "Choir", "The room is booked for the 15th.")

    told = summary_text(Summed("s_1", 40, "", "", before=before), Ledger("c"), START_MS, "UTC")
    assert told == f"{replies.say('summary_before_titled', title='Choir')}\n\n{before.standing}"
    assert summary_text(Summed("s_1", 40, "", ""), Ledger("c"), START_MS, "UTC") == replies.say("summary_talk")


def test_a_session_that_is_taken_up_again_tells_no_changes_of_others():
    """What was noted elsewhere meanwhile isn't of this conversation; nor is a change that nobody reads."""
    ledger = ledger_of(task("Tile the kitchen", session_id="s_1"), task("Roses", session_id="s_2"), task("Shed key"))
    red, silent = Change(number=2, fields={"text": "Red roses"}), Change(number=1, fields={"weight": 0.9})

    def made(operation, cause, hand="model"):
        return list(apply(ledger, operation, Actor(hand, START_MS, cause)).changes)

    assert changed_in("s_1", {"t_1"}, made(red, "t_2"), ledger) == frozenset()
    assert changed_in("s_1", {"t_1"}, made(red, "t_1"), ledger) == {2}
    assert changed_in("s_1", {"t_1"}, made(silent, "t_1"), ledger) == frozenset()
    assert changed_in("s_1", {"t_1"}, made(End(number=1), "tap", "person"), ledger) == {1}
    read = made(End(number=3, turn_ids=("t_1",)), "reading", "keeper")
    assert changed_in("s_1", {"t_1"}, read, ledger) == {3}


def test_a_question_to_the_person_is_no_matter_of_theirs():
    """It stands with the reminders, as a question, and on /loops neither before nor after it was asked."""
    ring = {"rings_from": "2023-11-15T21:00", "time_zone": "UTC"}
    ledger = ledger_of(task("How did the operation go?", **ring), task("How much is the deposit?"))
    assert "I'll ask: “How did the operation go?” (⏰ 21:00)" in page(reminder_list(ledger, START_MS, "UTC")).text
    assert [note.text for note in agenda(ledger, START_MS)] == ["How much is the deposit?"]
    assert len(agenda(ledger, START_MS, for_model=True)) == 2

    asked = Ring(number=1, occurrence="2023-11-15T21:00", rings_at_ms=series.at_ms_of("2023-11-15T21:00", "UTC"))
    after, _ = apply_all(ledger, [asked], BY)
    assert [note.text for note in agenda(after, START_MS + 2 * DAY_MS)] == ["How much is the deposit?"]
    said = page(reminder_list(after, START_MS + 2 * DAY_MS, "UTC")).text
    assert "1. How did the operation go? (yesterday at 21:00)" in said


def test_a_matter_that_ends_in_a_question_mark_stays_on_loops():
    """One with a day, an open question, one to ask another, and one that is done every week is no question to them."""
    rings = {"rings_from": "2023-11-15T21:00", "time_zone": "UTC"}
    weekly = {"due_at_ms": START_MS, "repeats": "FREQ=WEEKLY"}
    ledger = ledger_of(
        ("event", "Dinner with Tom?", rings | {"due_at_ms": START_MS + DAY_MS, "due_exact": True}),
        task("Ask Ana: can she bring the cake?", **rings),
        ("question", "Which phone for Aoife?", rings),
        task("Is the fridge clean?", **weekly),
        ("promise", "How did the exam go?", rings | {"owner": "assistant"}),
    )
    ledger, _ = apply_all(ledger, [End(number=4, occurrence=series.local_of(START_MS, "UTC"))], BY)

    assert ledger.notes[4].occurrences
    assert {note.number for note in agenda(ledger, START_MS)} == {2, 3, 4}
    assert [note.number for note in dates_to_come(ledger, START_MS)] == [1]


def test_a_date_that_is_back_at_its_own_hour_is_no_exception_any_more():
    """Left out, then wanted after all: the rule has it again, and no line tells of it."""
    bins = {"rings_from": "2023-11-16T17:00", "repeats": "FREQ=WEEKLY;BYDAY=TH", "time_zone": "UTC"}
    at_ms = series.at_ms_of("2023-11-23T17:00", "UTC")
    off, back = (
        Move(number=1, occurrence="2023-11-23T17:00", to_ms=None),
        Move(number=1, occurrence="2023-11-23T17:00", to_ms=at_ms),
    )
    ledger, _ = apply_all(ledger_of(task("Stocktake", **bins)), [off, back], BY)

    assert ledger.notes[1].occurrences == ()
    assert note_line(ledger.notes[1], START_MS, "UTC") == "Stocktake (⏰ every Thursday at 17:00)"


def test_a_paused_series_waits_for_no_word():
    """It rang yesterday and rests until told: it stands behind what rings, not under what rang."""
    feed = task("Feed the sourdough", rings_from="2023-11-13T21:00", repeats="FREQ=DAILY", time_zone="UTC")
    rang = Ring(number=1, occurrence="2023-11-13T21:00", rings_at_ms=series.at_ms_of("2023-11-13T21:00", "UTC"))
    rest = Change(number=1, fields={"snoozed_until_ms": UNTIL_TOLD_MS})
    ledger, _ = apply_all(ledger_of(feed, task("Flour", rings_from="2023-11-15T08:00")), [rang, rest], BY)

    said = page(reminder_list(ledger, START_MS, "UTC")).text
    assert "Already rang" not in said
    assert said.index("1. Flour") < said.index("2. Feed the sourdough (paused)")
    assert "already reminded" not in status_text(ChatStatus("", ledger), START_MS, "UTC")

    dates = (*ledger.notes[1].occurrences, Occurrence(original_local="x", moved_to_ms=START_MS + 1, state="snoozed"))
    put_off = ledger.notes[1].model_copy(update={"occurrences": dates, "rings_at_ms": START_MS + 1})
    assert [note.text for note in ringing([put_off], START_MS)] == ["Feed the sourdough"]


def test_status_says_nothing_of_a_topic_that_it_does_not_know():
    """Right after a night the one message of a session has no title yet."""
    said = status_text(ChatStatus("", ledger_of()), START_MS, "UTC")
    titled = status_text(ChatStatus("The harbour", ledger_of()), START_MS, "UTC")

    assert said.startswith("Nothing is open.")
    assert titled == f"We're talking about: The harbour.\n\n{said}"
    line = SessionLine("s_1", "tg:1:1:0", title="The harbour", read_through_seq=4)
    assert [topic_of(line, last_seq) for last_seq in (4, 6, 7)] == ["The harbour", "The harbour", ""]


def test_status_names_what_comes_within_two_days():
    """Tomorrow's scan is nobody's to do, and was missing there."""
    ledger = ledger_of(
        ("event", "The scan", {"due_at_ms": START_MS + DAY_MS}),
        ("event", "The fair", {"due_at_ms": START_MS + 9 * DAY_MS}),
        task("Renew the passport"),
    )
    said = status_text(ChatStatus("", ledger), START_MS, "UTC")

    assert "• Renew the passport\n\nComing up\nTomorrow: The scan\n\n" in said
    assert "fair" not in said


def test_status_counts_no_scene_of_a_story():
    """The duel of a role play is nothing that its person has still to do."""
    scene = ("story", "The duel at dawn", {"owner": "user", "weight": 0.9, "about": "The captain"})
    ledger = ledger_of(scene, task("Renew the passport"))

    assert len(agenda(ledger, START_MS)) == 2
    said = status_text(ChatStatus("", ledger), START_MS, "UTC")
    assert "Still open: 1 (/loops)\n• Renew the passport" in said
    assert "duel" not in said
    assert status_text(ChatStatus("", ledger_of(scene)), START_MS, "UTC").startswith("Nothing is open.")


def test_status_names_what_rang_once_and_the_subject_of_before_as_such():
    """Three lines of what is open, then what rang and is not among them; after hours nobody is talking any more."""
    rang = [task(text, rings_from="2023-11-14T08:00", time_zone="UTC") for text in ("Oil", "Post", "Vet", "Milk")]
    ledger, at_ms = ledger_of(*rang), series.at_ms_of("2023-11-14T08:00", "UTC")
    rings = [Ring(number=n, occurrence="2023-11-14T08:00", rings_at_ms=at_ms) for n in range(1, 5)]
    ledger, _ = apply_all(ledger, rings, BY)
    said = status_text(ChatStatus("The harbour", ledger, silent_ms=3 * HOUR_MS), START_MS, "UTC")

    assert "I've already reminded you: Milk (/reminders)" in said
    assert said.startswith("Last we talked about: The harbour.")
    assert [said.count(text) for text in ("Oil", "Post", "Vet", "Milk")] == [1, 1, 1, 1]


def test_an_appointment_is_coming_up_until_an_hour_after_it_began():
    """Nobody has to act, so it has no number; what rings before it does."""
    at = {"due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of(
        ("event", "Parents' evening", {"due_at_ms": START_MS + HOUR_MS} | at),
        ("event", "Dentist", {"due_at_ms": START_MS + 9 * DAY_MS} | at),
        ("event", "The fair", {"due_at_ms": START_MS + DAY_MS}),
        ("event", "Mr Bouvet comes", {"due_at_ms": START_MS - HOUR_MS // 2} | at),
        task("Oven", due_at_ms=START_MS - 79_980_000, rings_from="2023-11-14T22:30", time_zone="UTC"),
    )
    lines = page(loop_list(ledger, START_MS, "UTC")).text.splitlines()

    assert lines[2:9] == [
        "Today",
        "1. Oven (⏰ 22:30)",
        "",
        "Coming up",
        "Today: Mr Bouvet comes (at 21:43)",
        "Today: Parents' evening (at 23:13)",
        "Tomorrow: The fair",
    ]
    later = [note.text for note in dates_to_come(ledger, START_MS + HOUR_MS)]
    assert later == ["Parents' evening", "The fair", "Dentist"]
    assert [note.text for note in to_do(ledger, START_MS)] == ["Oven"]


def shift(days: float, text: str = "Shift", **fields: object) -> tuple:
    at = {"due_at_ms": START_MS + round(days * DAY_MS), "due_exact": True, "lasts_ms": 2 * HOUR_MS, "time_zone": "UTC"}
    return ("event", text, at | fields)


def test_an_event_that_rings_is_nothing_to_be_done():
    """It comes and goes by itself, as one without a ring; a model is told of it, and /reminders has its ring."""
    ring = {"rings_from": "2023-11-20T20:00"}
    ledger = ledger_of(shift(6, **ring), shift(20, "Fair", **ring))

    assert agenda(ledger, START_MS) == to_do(ledger, START_MS) == []
    assert len(agenda(ledger, START_MS, for_model=True)) == len(ringing(ledger, START_MS)) == 2
    said = loop_list(ledger, START_MS, "UTC").text
    assert "Coming up\nMon 20 Nov: Shift (22:13–00:13, ⏰ 20:00)\nMon 4 Dec: Fair (" in said
    status = status_text(ChatStatus("", ledger_of(shift(1, rings_from="2023-11-15T20:00"))), START_MS, "UTC")
    assert status.count("Shift") == 1, "its ring is not told once more"


def test_a_series_that_rings_is_coming_up_on_its_next_day():
    """Its own hour, behind the first date, too; where its day is the last of all, the day of its ring."""
    weekly = {"rings_from": "2023-11-14T19:00", "repeats": "FREQ=WEEKLY;BYDAY=TU", "lasts_ms": 0}
    rang = Ring(number=1, occurrence="2023-11-14T19:00", rings_at_ms=series.at_ms_of("2023-11-14T19:00", "UTC"))
    choir = shift(0, "Choir", **weekly | {"due_at_ms": series.at_ms_of("2023-11-14T20:00", "UTC")})
    course = shift(0, "Course", **weekly | {"due_at_ms": series.at_ms_of("2023-12-12T20:00", "UTC")})
    ledger, _ = apply_all(ledger_of(choir, course), [rang, replace(rang, number=2)], BY)

    assert loop_list(ledger, START_MS, "UTC").text.splitlines()[-2:] == [
        "Tue 21 Nov: Course (⏰ every Tuesday at 19:00)",
        "Tue 21 Nov: Choir (every Tuesday at 20:00, ⏰ 19:00)",
    ]


def test_a_shift_is_over_with_its_last_hour():
    """From then on it is only counted on /memory; what weighs is asked about for days."""
    ledger = ledger_of(shift(-0.7), shift(-0.3, "Late shift"), shift(-0.7, "Operation", weight=0.9))
    headed = {name: [note.number for note in notes] for name, notes in by_heading(ledger, START_MS)}

    assert headed == {"over": [3], "faded": [2, 1]}
    assert agenda(ledger, START_MS) == dates_to_come(ledger, START_MS) == []


def test_what_began_before_midnight_is_on_today():
    """Its day has no heading any more: a night bus was overdue soon after it left."""
    midnight_ms = series.at_ms_of("2023-11-15T00:00", "UTC")
    at = {"due_at_ms": midnight_ms - HOUR_MS // 2, "due_exact": True, "time_zone": "UTC"}
    listed = loop_list(ledger_of(("event", "Night bus to Rome", at)), midnight_ms + HOUR_MS // 4, "UTC")

    assert listed.text.endswith("Coming up\nToday: Night bus to Rome (yesterday at 23:30)")


def test_what_somebody_else_promised_for_an_hour_is_over_some_days_after():
    """The neighbour took the child to school, or not: it is no open matter five days on; a debt stays one."""
    at = {"owner": "Laure", "due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of(
        ("promise", "Laure takes Inès to school", {"due_at_ms": START_MS - 5 * DAY_MS} | at),
        ("promise", "Laure brings the cake", {"due_at_ms": START_MS - HOUR_MS} | at),
        ("promise", "Maud pays back 90", {"owner": "Maud", "due_at_ms": START_MS - 9 * DAY_MS}),
    )

    assert [note.number for note in to_do(ledger, START_MS)] == [3, 2]
    assert [(name, [note.number for note in notes]) for name, notes in by_heading(ledger, START_MS)] == [("faded", [1])]


def test_loops_end_with_what_is_further_ahead():
    """A dentist in three weeks and a wedding tomorrow stand below the first page, without a number."""
    dentist = ("event", "Dentist", {"due_at_ms": START_MS + 20 * DAY_MS, "due_exact": True})
    birthday = ("event", "Lia's birthday", {"due_at_ms": START_MS + 15 * DAY_MS})
    wedding = ("event", "Ada's wedding", {"due_at_ms": START_MS + DAY_MS})
    past = ("event", "The concert", {"due_at_ms": START_MS - 2 * DAY_MS})
    made_up = ("event", "The wedding", {"due_at_ms": START_MS + 20 * DAY_MS, "about": "Harrow"})
    oven = ("project", "New oven", {"due_at_ms": START_MS + 30 * DAY_MS})
    rests = ("event", "Choir", {"due_at_ms": START_MS + 9 * DAY_MS, "repeats": "FREQ=WEEKLY;BYDAY=TH"})
    rests[2]["snoozed_until_ms"] = UNTIL_TOLD_MS
    dates = (dentist, birthday, wedding, past, made_up, oven, rests)
    listed = loop_list(ledger_of(*dates, *(task(f"Thing {n}") for n in range(10))), START_MS, "UTC")
    dates = (
        "Tomorrow: Ada's wedding",
        "Wed 29 Nov: Lia's birthday",
        "Mon 4 Dec: Dentist (at 22:13)",
        "Thu 14 Dec: New oven",
    )
    ahead = "\n".join(("Coming up", *dates))

    assert f"… and 4 more.\n\n{ahead}\n\nTap a number" in page(listed).text
    assert [button.label for row in page(listed).buttons for button in row] == [*"123456", "Show more"]
    assert "Coming up" not in page(listed, 6).text
    assert loop_list(ledger_of(dentist, wedding, birthday, oven), START_MS, "UTC").text == f"Nothing's open.\n\n{ahead}"


def test_a_date_that_was_put_off_is_named_unless_it_sleeps_until_before_its_time():
    """A series that rests has none; a delay behind the dentist's hour hides no dentist."""

    def put_off(text: str, days: float, *, until: float, **fields: object) -> tuple:
        at_ms, until_ms = (START_MS + round(each * DAY_MS) for each in (days, until))
        return ("event", text, {"due_at_ms": at_ms, "due_exact": True, "snoozed_until_ms": until_ms} | fields)

    ledger = ledger_of(
        put_off("Put off behind its hour", 0.5, until=1),
        put_off("Asleep until the week before", 20, until=13),
        put_off("Awake again", 20, until=-1),
        put_off("Rests for a month", 2, until=30, repeats="FREQ=WEEKLY;BYDAY=TH", due_exact=False),
        put_off("Rests until they say so", 20, until=0, snoozed_until_ms=UNTIL_TOLD_MS),
    )

    assert [note.text for note in dates_to_come(ledger, START_MS)] == ["Put off behind its hour", "Awake again"]


def test_no_work_and_nothing_past_is_coming_up():
    """What the assistant is to do by a day stands on /tasks; a decision for a day is over with it, a fair only then."""
    by_day = {"due_at_ms": START_MS + DAY_MS, "time_zone": "UTC"}
    work = task("Report: say how it went", owner="assistant", rings_from="2023-11-15T20:00", **by_day)
    ledger = ledger_of(
        work,
        ("decision", "Soup yesterday", {"due_at_ms": START_MS - DAY_MS, "time_zone": "UTC"}),
        ("decision", "Soup an hour ago", {"due_at_ms": START_MS - HOUR_MS, "due_exact": True, "time_zone": "UTC"}),
        ("decision", "Soup tomorrow", by_day),
    )

    assert [note.text for note in dates_to_come(ledger, START_MS)] == ["Soup tomorrow"]


def test_of_many_dates_ahead_loops_name_six():
    """The seventh is on /memory, which is said."""
    dates = [("event", f"Match {n}", {"due_at_ms": START_MS + n * DAY_MS}) for n in range(9, 2, -1)]
    six = loop_list(ledger_of(*dates[1:]), START_MS, "UTC").text
    seven = loop_list(ledger_of(*dates), START_MS, "UTC").text

    assert six.splitlines()[2:] == ["Coming up", *(f"{day}: Match {n}" for n, day in enumerate(AHEAD, 3))]
    assert seven == f"{six}\nMore are in /memory."


def test_of_a_full_week_ahead_loops_name_ten():
    """None of this week's dates hides behind the sixth; the eleventh is on /memory."""
    dates = [("event", f"Match {n}", {"due_at_ms": START_MS + n * DAY_MS // 2}) for n in range(1, 12)]
    lines = loop_list(ledger_of(*dates), START_MS, "UTC").text.splitlines()[3:]

    assert [line.rpartition(" ")[2] for line in lines[:-1]] == [str(n) for n in range(1, 11)]
    assert lines[-1] == "More are in /memory."


def test_what_holds_until_a_day_is_told_by_that_and_is_not_coming_up():
    """A discount of this month, which is on; one of next month is to come."""
    days = {"due_at_ms": START_MS - DAY_MS, "ends_at_ms": START_MS + 9 * DAY_MS, "time_zone": "UTC"}
    later = days | {"due_at_ms": START_MS + 3 * DAY_MS}
    ledger = ledger_of(("fact", "10 % off at the mill", days), ("fact", "Free delivery", later))

    assert [note.text for note in dates_to_come(ledger, START_MS)] == ["Free delivery"]
    assert note_line(ledger.notes[1], START_MS, "UTC") == "10 % off at the mill (until Thu 23 Nov)"


def test_a_moved_date_behind_the_next_one_is_coming_up_too():
    """A night that was swapped for Friday's, behind Thursday's; one moved to next month is not."""
    nights = {"repeats": "FREQ=DAILY;INTERVAL=2", "due_exact": True, "time_zone": "UTC"}
    moved = [
        Occurrence(original_local="2023-11-14T22:00", moved_to_ms=START_MS + 3 * DAY_MS, state="moved"),
        Occurrence(original_local="2023-11-18T22:00", moved_to_ms=START_MS + 30 * DAY_MS, state="moved"),
    ]
    first_ms = START_MS + 2 * DAY_MS
    ledger = ledger_of(("event", "Night", nights | {"due_at_ms": first_ms, "occurrences": tuple(moved)}))

    lines = loop_list(ledger, START_MS, "UTC").text.splitlines()[3:]
    assert lines == ["Thu 16 Nov: Night (at 22:13)", "Fri 17 Nov: Night (at 22:13)"]


def test_a_bill_that_was_not_ticked_off_waits_for_a_week():
    """The rent of the 12th, which doesn't ring, jumped to next month on the 13th; [Done] is for that one."""
    rent = {"due_at_ms": START_MS - 2 * DAY_MS, "repeats": "FREQ=MONTHLY", "time_zone": "UTC"}
    ledger = ledger_of(("task", "Rent", rent), ("task", "Bins", rent | {"repeats": "FREQ=WEEKLY"}))
    note = ledger.notes[1]
    listing = loop_list(ledger, START_MS, "UTC")
    text = page(listing).text
    paid = apply(ledger, ending(note, "done", START_MS), Actor("person", START_MS, "tap")).ledger.notes[1]

    assert "Overdue\n1. Rent (was due on Sun 12 Nov, then every month)" in text
    assert "2. Bins" in text.partition("Sun 19 Nov")[2]
    assert [each.label for each in loop_row(note, START_MS, "UTC")] == ["Done this time", "Stop it for good"]
    assert note_line(paid, START_MS, "UTC") == "Rent (every month, next on Tue 12 Dec)"
    assert note_line(note, START_MS + 6 * DAY_MS, "UTC") == "Rent (every month, next on Tue 12 Dec)"


def test_many_days_in_a_row_that_are_left_out_are_told_as_a_span():
    """“not on Mon 21 Dec, on Tue 22 Dec, on Wed 23 Dec, on Thu 24 Dec or on Fri 25 Dec” of the gym."""
    out = [Occurrence(original_local=f"2023-11-{day}T06:00", state="left_out") for day in (20, 21, 22, 23, 24)]
    at_ms = series.at_ms_of("2023-11-15T06:00", "UTC")
    weekdays = {"repeats": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "due_exact": True, "time_zone": "UTC"}
    [gym] = ledger_of(("event", "Gym", weekdays | {"due_at_ms": at_ms, "occurrences": tuple(out)}))

    assert note_line(gym, START_MS, "UTC") == "Gym (on weekdays at 06:00, not Mon 20 Nov \u2013 Fri 24 Nov)"
    assert coming_line(gym, START_MS, "UTC") == "Tomorrow: Gym (at 06:00)"


def test_one_dose_of_several_at_another_hour_says_which():
    """Of “every day at 08:00 and 20:00, but tomorrow at 21:30” nobody could tell which of the two."""
    to_ms = series.at_ms_of("2023-11-15T21:30", "UTC")
    moved = Occurrence(original_local="2023-11-15T20:00", moved_to_ms=to_ms, state="moved")
    doses = {"rings_from": "2023-11-15T08:00", "repeats": "FREQ=DAILY;BYHOUR=8,20", "time_zone": "UTC"}
    [pill] = ledger_of(task("Pill", occurrences=(moved,), **doses))

    assert note_line(pill, START_MS, "UTC") == (
        "Pill (⏰ every day at 08:00 and 20:00, tomorrow at 21:30 instead of 20:00)"
    )


def test_a_name_that_is_the_stem_of_a_little_word_finds_nothing_by_its_day():
    """“/memory Lee” listed all 54 notes: each has a day, in French “le mer. 15 nov.”; “November” found none."""
    day = {"due_at_ms": START_MS + DAY_MS, "time_zone": "UTC"}
    ledger = ledger_of(("task", "Bins", day), ("promise", "Bring the stall", day | {"owner": "Bruna"}))

    assert looked_up(list(ledger), "Lee", START_MS, "UTC") == []
    assert len(looked_up(list(ledger), "November", START_MS, "UTC")) == 2
    assert [note.text for note in looked_up(list(ledger), "Bruna", START_MS, "UTC")] == ["Bring the stall"]


def test_each_date_of_a_short_series_with_one_moved_is_coming_up():
    """Three nights, of which the second was moved to Sunday: Friday's stood nowhere."""
    first_ms = START_MS + DAY_MS
    nights = {"repeats": "FREQ=DAILY;UNTIL=20231117", "due_exact": True, "time_zone": "UTC", "due_at_ms": first_ms}
    moved = Occurrence(original_local="2023-11-16T22:13", moved_to_ms=START_MS + 5 * DAY_MS, state="moved")
    ledger = ledger_of(("event", "Night", nights | {"occurrences": (moved,)}))

    lines = loop_list(ledger, START_MS, "UTC").text.splitlines()[3:]
    assert [line.partition(":")[0] for line in lines] == ["Tomorrow", "Fri 17 Nov", "Sun 19 Nov"]


def test_a_day_without_any_dose_is_told_once_and_what_is_open_from_a_day_by_it():
    """“not tomorrow at 08:30 or tomorrow at 18:30”; “still open from on Tue 15 Dec”."""
    out = [Occurrence(original_local=f"2023-11-15T{hour}:30", state="left_out") for hour in ("08", "18")]
    doses = {"rings_from": "2023-11-15T08:30", "repeats": "FREQ=DAILY;BYHOUR=8,18", "time_zone": "UTC"}
    late = Occurrence(original_local="2023-11-10T07:00", moved_to_ms=START_MS - 1, state="rang")
    bins = {"rings_from": "2023-11-10T07:00", "repeats": "FREQ=WEEKLY;BYDAY=FR", "time_zone": "UTC"}
    ledger = ledger_of(task("Pill", occurrences=tuple(out), **doses), task("Bins", occurrences=(late,), **bins))

    assert "not tomorrow" in note_line(ledger.notes[1], START_MS, "UTC")
    assert "at 08:30 or" not in note_line(ledger.notes[1], START_MS, "UTC")
    assert note_line(ledger.notes[2], START_MS, "UTC").endswith("still open from Fri 10 Nov)")


MARCH_MS = 1_709_251_200_000
"""1 March 2024, 00:00 UTC."""
AHEAD = ("Fri 17 Nov", "Sat 18 Nov", "Sun 19 Nov", "Mon 20 Nov", "Tue 21 Nov", "Wed 22 Nov")


@pytest.mark.parametrize(
    ("text", "fields", "said"),
    [
        ("Recital on 4 December", {"due_exact": True}, "Recital on 4 December (at 22:13)"),
        ("Lisbon", {"ends_at_ms": START_MS + 22 * DAY_MS}, "Mon 4 Dec \u2013 Wed 6 Dec: Lisbon"),
        (
            "Lisbon, back on the 6th of December",
            {"ends_at_ms": START_MS + 22 * DAY_MS},
            "Lisbon, back on the 6th of December",
        ),
        ("The Cork 10k", {"due_at_ms": MARCH_MS, "ends_at_ms": MARCH_MS + 30 * DAY_MS}, "In March 2024: The Cork 10k"),
        ("Choir", {"repeats": "FREQ=WEEKLY;BYDAY=MO", "due_exact": True}, "Mon 4 Dec: Choir (at 22:13, every Monday)"),
    ],
)
def test_a_date_ahead_says_its_day_once(text, fields, said):
    """The day stands before the line, unless the line tells it."""
    event = ("event", text, {"due_at_ms": START_MS + 20 * DAY_MS} | fields)

    assert loop_list(ledger_of(event), START_MS, "UTC").text.splitlines()[-1] == said


def test_what_lasts_several_days_is_on_until_its_last():
    """On its second day it is neither over nor overdue, and weighs as what is now; then it has been."""
    days = {"due_at_ms": START_MS - DAY_MS, "ends_at_ms": START_MS + DAY_MS, "time_zone": "UTC"}
    ledger = ledger_of(("event", "Away in Rome", days), task("Feed the cat", **days))
    away, cat = ledger.notes.values()
    later = START_MS + 2 * DAY_MS

    assert breakdown(away, START_MS)["near"] == breakdown(away, START_MS - DAY_MS)["near"] > 0
    assert [name for name, _ in by_heading(ledger, START_MS)] == ["going_on"]
    assert page(loop_list(ledger, START_MS, "UTC")).text.splitlines()[2:6] == [
        "Today",
        "1. Feed the cat (Mon 13 Nov \u2013 Wed 15 Nov)",
        "",
        "Coming up",
    ]
    assert page(loop_list(ledger, START_MS, "UTC")).text.splitlines()[6] == "Until tomorrow: Away in Rome"
    assert note_line(cat, START_MS, "UTC") == "Feed the cat (Mon 13 Nov – Wed 15 Nov)"
    assert note_line(away.model_copy(update={"text": "Away 13-15 November"}), START_MS, "UTC") == "Away 13-15 November"
    assert model_line(away, START_MS, "UTC").endswith("(due Mon 2023-11-13 to Wed 2023-11-15)")
    assert [name for name, _ in by_heading(ledger, later)] == ["over"]
    assert note_line(cat, later, "UTC") == "Feed the cat (was due Mon 13 Nov – Wed 15 Nov)"


# --- what a tap does ------------------------------------------------------------------------------------------------


def test_a_series_that_rests_stands_under_the_day_it_rings_again():
    """Put off until Thursday, it rings on Sunday: /loops had it under Thursday, /reminders under Sunday."""
    rests = series_note(snoozed_until_ms=START_MS + 2 * DAY_MS, rings_at_ms=START_MS + 5 * DAY_MS)
    ledger = Ledger("c", notes={1: rests})

    heads = [
        next(line for line in page(listed(ledger, START_MS, "UTC")).text.splitlines() if line.startswith("Sun"))
        for listed in (loop_list, reminder_list)
    ]
    assert heads[0] == heads[1]


def test_a_series_that_goes_on_from_tomorrow_is_not_paused():
    """“Start it again” at nine, when today's date of seven is over: tomorrow's is the next one anyway."""
    daily = {"rings_from": "2023-11-10T07:00", "repeats": "FREQ=DAILY", "snoozed_until_ms": START_MS + HOUR_MS * 2}
    morning = series_note(rings_at_ms=series.at_ms_of("2023-11-15T07:00", "UTC"), **daily)
    rests = series_note(
        rings_at_ms=series.at_ms_of("2023-11-17T07:00", "UTC"), **daily | {"snoozed_until_ms": START_MS + 2 * DAY_MS}
    )

    assert "paused" not in note_line(morning, START_MS, "UTC")
    assert "paused" in note_line(rests, START_MS, "UTC")


def test_work_by_the_clock_is_nobodys_open_matter():
    """It is on /tasks and rings on /reminders, but neither /loops nor /memory nor the count of /status holds it."""
    ledger = ledger_of(
        task("Digest: What is due?", owner="assistant", rings_from="2023-11-19T19:00", repeats="FREQ=DAILY"),
        task("Call mum"),
    )

    assert [note.text for note in agenda(ledger, START_MS)] == ["Call mum"]
    assert [note.text for note in ringing(ledger, START_MS)] == ["Digest: What is due?"]
    assert by_heading(ledger, START_MS) == []


def test_status_says_what_the_assistant_sends_next():
    """It is no reminder of the person's, and stands on /tasks."""
    work = task("Digest: What is due?", owner="assistant", rings_from="2023-11-15T19:00", time_zone="UTC")

    said = status_text(ChatStatus("", ledger_of(work)), START_MS, "UTC")
    assert "I'll send this next, tomorrow at 19:00: Digest (/tasks)" in said


def test_what_the_assistant_promised_stays_open_though_it_rings():
    """“I'll ask you how the exam went” is no work by the clock: it stands on /loops until somebody says a word."""
    promise = ("promise", "I ask you how the exam went", {"owner": "assistant", "rings_from": "2023-11-15T09:00"})

    assert [note.text for note in agenda(ledger_of(promise), START_MS)] == ["I ask you how the exam went"]


def test_done_ends_one_date_of_a_series():
    """That which rang, else the one of today; the series itself goes on."""
    rang = series_note(occurrences=(Occurrence(original_local="2023-11-19T19:00", state="rang"),))
    assert ending(rang, "done", START_MS) == End(number=1, occurrence="2023-11-19T19:00")
    assert ending(series_note(), "dropped", START_MS) == End(number=1, how="dropped")


def test_a_date_that_is_left_out_leaves_the_series():
    """[Not this time] takes that date alone."""
    assert operation_for(series_note(), "2023-11-19T19:00", "skip", START_MS) == Move(
        number=1, occurrence="2023-11-19T19:00"
    )


def test_what_rang_sleeps_from_now_and_what_comes_from_its_own_time():
    """An hour after a reminder came is an hour from the tap; before it came it is an hour later than planned."""
    note = series_note()
    at_ms = note.rings_at_ms or 0
    early = operation_for(note, "2023-11-19T19:00", "hour", START_MS)
    late = operation_for(note, "2023-11-19T19:00", "hour", START_MS + 30 * DAY_MS)

    assert at_ms == 0
    assert early.to_ms == due_now(note, START_MS + 30 * DAY_MS).at_ms + HOUR_MS
    assert late.to_ms == START_MS + 30 * DAY_MS + HOUR_MS


def test_what_was_put_off_until_today_is_no_more_overdue_than_said():
    """“Was due yesterday” led the list on the morning until which somebody had put it off."""
    until_ms = series.at_ms_of("2023-11-14T09:00", "UTC")
    late = task("Mum's present", due_at_ms=START_MS - DAY_MS, snoozed_until_ms=until_ms, time_zone="UTC")

    assert page(loop_list(ledger_of(late), START_MS, "UTC")).text.splitlines()[2] == "Today"
    assert page(loop_list(ledger_of(late), START_MS + DAY_MS, "UTC")).text.splitlines()[2] == "Overdue"


def test_a_ring_says_by_when_and_from_when_to_when():
    """“Order the towels (today at 12:00)” was no appointment, and the plumber comes from one till three."""
    noon = {"due_at_ms": START_MS + HOUR_MS, "due_exact": True, "rings_from": "2023-11-14T22:00", "repeats": ""}
    towels, plumber = (series_note(**noon, **more) for more in ({}, {"kind": "event", "lasts_ms": HOUR_MS}))
    texts = [messages_for([due_now(note, START_MS)], START_MS)[0][0].text for note in (towels, plumber)]

    assert [text.splitlines()[0] for text in texts] == ["⏰ Call mum (23:13)", "⏰ Call mum (today 23:13–00:13)"]


def test_both_lists_have_what_rang_under_the_day_for_which_it_did():
    """The bins of tonight stood under Today on /loops and, unticked, under the 29th on /reminders."""
    bins = task("Bins", rings_from="2023-11-14T20:00", repeats="FREQ=WEEKLY;INTERVAL=2", time_zone="UTC")
    ledger, _ = apply_all(ledger_of(bins), [Ring(number=1, occurrence="2023-11-14T20:00", rings_at_ms=START_MS)], BY)

    for listed in (loop_list, reminder_list):
        assert page(listed(ledger, START_MS, "UTC")).text.splitlines()[2] == "Today"


def test_what_rang_rings_again_where_loops_puts_it_off():
    """“Put off until tomorrow” rang no more; without a ring it stands on the list tomorrow."""
    ledger = ledger_of(task("Call the bank", rings_from="2023-11-14T09:00", time_zone="UTC"), task("Paint"))
    ledger, _ = apply_all(ledger, [due_now(ledger.notes[1], START_MS).ring], BY)
    bank, paint = (putting_off(note, START_MS, "UTC") for note in ledger.notes.values())
    ledger, _ = apply_all(ledger, [bank, paint], BY)

    assert ledger.notes[1].rings_at_ms == series.at_ms_of("2023-11-15T09:00", "UTC")
    assert ledger.notes[2].snoozed_until_ms is not None


@pytest.mark.parametrize("rung", [True, False])
def test_a_date_of_a_series_is_put_off_alone_and_none_to_where_it_comes_anyhow(rung):
    """[Tomorrow] under the morning pill let tonight's pass; under the weekly bins it rang for no one."""
    ledger = ledger_of(
        task("Pill", rings_from="2023-11-14T20:00", repeats="FREQ=DAILY;BYHOUR=8,20", time_zone="UTC"),
        task("Bins", rings_from="2023-11-14T20:00", repeats="FREQ=WEEKLY", time_zone="UTC"),
    )
    now_ms = series.at_ms_of("2023-11-14T20:00" if rung else "2023-11-14T18:00", "UTC")
    if rung:
        ledger, _ = apply_all(ledger, [due_now(note, now_ms).ring for note in ledger.notes.values()], BY)
    tomorrow = replies.say("ring_buttons.tomorrow")
    pill, bins = ([each.label for each in loop_row(note, now_ms, "UTC")] for note in ledger.notes.values())
    ledger, _ = apply_all(ledger, [putting_off(ledger.notes[2], now_ms, "UTC")], BY)

    assert (tomorrow in pill, tomorrow in bins) == (False, True)
    assert ledger.notes[2].rings_at_ms == series.at_ms_of("2023-11-15T20:00", "UTC")
    assert series.has_date(ledger.notes[2], "2023-11-21T20:00")


@pytest.mark.parametrize(
    ("kind", "due", "told"),
    [
        ("event", "2023-11-14T00:00", "today"),
        ("event", "2023-11-13T00:00", "was yesterday"),
        ("task", "2023-11-13T00:00", "was due yesterday"),
        ("task", "2023-11-13T18:00", "was due yesterday at 18:00"),
    ],
)
def test_a_ring_that_comes_days_late_says_when_the_thing_is_or_was(kind, due, told):
    """A birthday of today was told without its day, and what was over “by Mon 13 Nov”."""
    exact = not due.endswith("T00:00")
    day = {"due_at_ms": series.at_ms_of(due, "UTC"), "due_exact": exact, "rings_from": "2023-11-12T18:00"}
    note = series_note(kind=kind, repeats="", **day)

    ((message, _),) = messages_for([due_now(note, START_MS)], START_MS)
    assert message.text.splitlines()[0] == f"⏰ Call mum ({told})"


def test_what_was_missed_for_days_is_as_late_as_its_last_date():
    """After nine days without the bot a nudge of every evening comes once, and not as one of nine days ago."""
    note = series_note(rings_from="2023-11-06T20:30", repeats="FREQ=DAILY")
    due = due_now(note, START_MS)

    ((message, _),) = messages_for([due], START_MS)
    assert "(should have come at 20:30)" in message.text


@pytest.mark.parametrize(
    ("repeats", "choices"),
    [
        ("FREQ=DAILY;BYHOUR=8,20", ["done", "hour"]),
        ("FREQ=DAILY", ["done", "hour"]),
        ("FREQ=WEEKLY", ["done", "hour", "tomorrow"]),
        ("FREQ=DAILY;UNTIL=20231114T203000", ["done", "hour", "tomorrow"]),
        ("", ["done", "hour", "tomorrow"]),
    ],
)
def test_nothing_is_put_off_until_it_comes_again_anyway(repeats, choices):
    """A daily pill has no [Tomorrow], but for its last date."""
    note = series_note(rings_from="2023-11-14T20:00", repeats=repeats)
    ((message, _),) = messages_for([due_now(note, START_MS)], START_MS)

    assert [button.payload["choice"] for row in message.buttons for button in row] == choices


@pytest.mark.parametrize(
    ("days", "remarks"), [(-1, "today at 22:13, was due yesterday"), (2, "today at 22:13, by Thu 16 Nov")]
)
def test_what_rang_says_when_it_did_and_for_which_day_to_come(days, remarks):
    """Rung today for a debt of yesterday: "was due yesterday" read as if it had rung then."""
    fields = {"rings_from": "2023-11-14T14:00", "due_at_ms": START_MS + days * DAY_MS, "time_zone": "UTC"}
    ledger = ledger_of(task("Chase Morvan", **fields))
    ledger, _ = apply_all(ledger, [due_now(ledger.notes[1], START_MS).ring], BY)

    assert f"1. Chase Morvan ({remarks})" in page(reminder_list(ledger, START_MS, "UTC")).text


def test_a_series_that_rang_today_stands_under_today_until_somebody_answers():
    """The call of this evening is not next Sunday's yet; ticked off, it is."""
    ledger = ledger_of(task("Call gran", rings_from="2023-11-14T20:00", repeats="FREQ=WEEKLY", time_zone="UTC"))
    ledger, _ = apply_all(ledger, [due_now(ledger.notes[1], START_MS).ring], BY)
    done, _ = apply_all(ledger, [End(number=1, how="done", occurrence="2023-11-14T20:00")], BY)
    open_now, ticked = (page(loop_list(each, START_MS, "UTC")).text.splitlines()[2:4] for each in (ledger, done))

    assert open_now == ["Today", "1. Call gran (⏰ every week, next on Tue 21 Nov at 20:00, reminded at 22:13)"]
    assert ticked[0] == "Tue 21 Nov"


def test_a_tap_on_a_ring_behind_missed_ones_is_about_the_last_of_them():
    """The bot was away for two days of doses: [Done] under the one message ticks off what rang."""
    ledger = ledger_of(task("Take the pill", rings_from="2023-11-12T08:00", repeats="FREQ=DAILY", time_zone="UTC"))
    due = due_now(ledger.notes[1], START_MS)
    ((message, _),) = messages_for([due], START_MS)
    done = next(button for row in message.buttons for button in row if button.payload["choice"] == "done")
    tapped = End(number=1, how="done", occurrence=occurrence_of(done.payload["date"]))
    ledger, _ = apply_all(ledger, [due.ring, tapped], BY)

    assert [each.state for each in ledger.notes[1].occurrences] == ["done"]
    assert "reminded" not in note_line(ledger.notes[1], START_MS, "UTC")


@pytest.mark.parametrize(
    ("moved_to", "when"),
    [("", "yesterday at 20:30"), ("2023-11-14T23:00", "yesterday at 20:30"), ("2023-11-14T19:10", "at 19:10")],
)
def test_what_was_missed_is_as_late_as_its_last_date_that_was_not_left_out(moved_to, when):
    """This evening's was left out, put off, or brought forward: the message names when something was to come."""
    to_ms = series.at_ms_of(moved_to, "UTC") if moved_to else None
    date = Occurrence(original_local="2023-11-14T20:30", moved_to_ms=to_ms, state="moved" if to_ms else "left_out")
    note = series_note(rings_from="2023-11-06T20:30", repeats="FREQ=DAILY", occurrences=(date,))

    ((message, _),) = messages_for([due_now(note, START_MS)], START_MS)
    assert f"(should have come {when})" in message.text


@pytest.mark.parametrize(
    ("kind", "days", "lasts_days", "told"),
    [
        ("task", 1, 0, " (by tomorrow)"),
        ("event", 1, 0, " (tomorrow)"),
        ("event", 2, 2, " (Thu 16 Nov – Sat 18 Nov)"),
        ("task", 0, 0, ""),
    ],
)
def test_a_reminder_tells_the_day_of_what_it_reminds_of(kind, days, lasts_days, told):
    """Without "bins out for tomorrow", which lists would say on every day; with an end all of its days."""
    due_ms = START_MS + days * DAY_MS
    ends = {"ends_at_ms": due_ms + lasts_days * DAY_MS} if lasts_days else {}
    note = series_note(kind=kind, rings_from="2023-11-14T22:00", repeats="", due_at_ms=due_ms, **ends)

    ((message, _),) = messages_for([due_now(note, START_MS)], START_MS)
    assert message.text.splitlines()[0] == f"⏰ Call mum{told}"


def test_a_reminder_tells_the_hour_of_what_it_reminds_of():
    """Nine o'clock reminds of the technician at ten: who reads it at nine knows when to be there."""
    due = {"due_at_ms": START_MS + HOUR_MS, "due_exact": True, "time_zone": "UTC"}
    rings = {"rings_from": "2023-11-14T22:13"}
    ledger = ledger_of(("event", "The technician comes", due | rings))
    ring = due_now(ledger.notes[1], START_MS)
    ((message, _),) = messages_for([ring], START_MS)

    assert message.text == "⏰ The technician comes (today at 23:13)"


@pytest.mark.parametrize(
    ("text", "in_hours", "rings"),
    [
        ("Drive Oisín to the match at 11: leave at 10:30", 0.25, ""),
        ("Get ready, the match is at 10:30pm", 0.25, ""),
        ("Get ready for the match", 0.25, " (today at 22:30)"),
        ("The match is at 10:30", 24.25, " (tomorrow)"),
        ("The match is at 10:30 on 15 Nov", 24.25, ""),
        ("Match on 15 Nov", 24.25, " (tomorrow at 22:30)"),
    ],
)
def test_a_reminder_tells_no_hour_that_its_words_tell(text, in_hours, rings):
    """A match at half past ten in the evening, of which one is reminded before it; on another day its day is said."""
    at_ms = series.at_ms_of("2023-11-14T22:15", "UTC") + round(in_hours * HOUR_MS)
    fields = {"due_at_ms": at_ms, "due_exact": True, "time_zone": "UTC", "rings_from": "2023-11-14T22:14"}
    ring = due_now(ledger_of(("event", text, fields)).notes[1], START_MS + 60_000)
    ((message, _),) = messages_for([ring], ring.at_ms)

    assert message.text == f"⏰ {text}{rings}"


@pytest.mark.parametrize(
    ("minutes", "offered"),
    [
        (61, "In an hour"),
        (60, "In 30 min"),
        (31, "In 30 min"),
        (30, "In 15 min"),
        (15, "In 5 min"),
        (5, ""),
        (0, "In an hour"),
    ],
)
@pytest.mark.parametrize("repeats", ["", "FREQ=WEEKLY"])
def test_a_ring_is_put_off_until_before_what_it_reminds_of(minutes, offered, repeats):
    """At one of an appointment at two: the longest delay that is over by then, none where none is."""
    at_ms = series.at_ms_of("2023-11-14T22:15", "UTC")
    due = {"due_at_ms": at_ms + minutes * 60_000, "due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of(task("Take the car to its test", rings_from="2023-11-14T22:15", repeats=repeats, **due))
    ring = due_now(ledger.notes[1], at_ms)
    ((message, _),) = messages_for([ring], at_ms)

    [row] = message.buttons
    assert [each.label for each in row] == [each for each in ("Done", offered, "Tomorrow") if each]
    for each in row[1:-1]:
        move = operation_for(ring.note, ring.occurrence, each.payload["choice"], at_ms)
        assert minutes == 0 or at_ms < move.to_ms < due["due_at_ms"]
    later = [each.label for each in list_row(ledger.notes[1], START_MS)]
    assert [label for label in later if "later" in label] == [
        {"In an hour": "An hour later", "In 30 min": "30 min later", "In 15 min": "15 min later"}.get(
            offered, "5 min later"
        )
    ][: bool(offered)]


@pytest.mark.parametrize(
    ("kind", "due", "offered"),
    [
        ("event", "2023-11-15T22:45", True),
        ("event", "2023-11-15T09:00", False),
        ("event", "2023-11-14T22:45", False),
        ("task", "2023-11-14T22:45", True),
    ],
)
@pytest.mark.parametrize("repeats", ["", "FREQ=WEEKLY"])
def test_no_event_is_put_off_until_the_day_after_it(kind, due, offered, repeats):
    """Tomorrow at nine the dentist of half past ten tonight is over; what is to do may still be done then."""
    at = {"due_at_ms": series.at_ms_of(due, "UTC"), "due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of((kind, "Dentist", at | {"rings_from": "2023-11-14T22:15", "repeats": repeats}))
    ring_ms = series.at_ms_of("2023-11-14T22:15", "UTC")
    ((message, _),) = messages_for([due_now(ledger.notes[1], ring_ms)], ring_ms)
    listed = [list_row(ledger.notes[1], at_ms) for at_ms in (START_MS, ring_ms)]

    for row in (*message.buttons, *listed):
        assert ("Tomorrow" in [each.label for each in row]) is offered


@pytest.mark.parametrize(("kind", "offered"), [("event", False), ("task", True)])
def test_no_event_of_another_day_is_put_off_for_an_hour(kind, offered):
    """“Kinderarzt (was yesterday at 08:20)” had [In an hour]; what is to do may still be done then."""
    at = {"due_at_ms": series.at_ms_of("2023-11-13T08:20", "UTC"), "due_exact": True, "rings_from": "2023-11-13T07:30"}
    note = series_note(kind=kind, repeats="", time_zone="UTC", **at)
    ((message, _),) = messages_for([due_now(note, START_MS)], START_MS)

    assert ("hour" in [each.payload["choice"] for row in message.buttons for each in row]) is offered


def test_what_rang_this_morning_stands_before_tonights():
    """On /loops tonight's tablet stood before this morning's, which was still to tick."""
    morning = task("Morning tablet", rings_from="2023-11-14T09:00", repeats="FREQ=DAILY", time_zone="UTC")
    tonight = task("Night tablet", rings_from="2023-11-14T23:30", repeats="FREQ=DAILY", time_zone="UTC")
    ledger = ledger_of(tonight, morning)
    ledger, _ = apply_all(ledger, [due_now(ledger.notes[2], START_MS).ring], BY)

    lines = page(loop_list(ledger, START_MS, "UTC")).text.splitlines()
    assert [line.split(" (")[0] for line in lines[2:5]] == ["Today", "1. Morning tablet", "2. Night tablet"]


def test_a_date_that_was_moved_is_put_off_until_before_what_it_reminds_of_then():
    """One date of a series is three quarters of an hour earlier with its ring, or rings earlier alone."""
    at_ms = series.at_ms_of("2023-11-14T21:30", "UTC")
    due = {"due_at_ms": series.at_ms_of("2023-11-14T23:00", "UTC"), "due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of(("event", "Choir", due | {"rings_from": "2023-11-14T22:15", "repeats": "FREQ=WEEKLY"}))
    local = "2023-11-14T22:15"
    due_ms = series.at_ms_of("2023-11-14T22:15", "UTC")
    moves = [Move(number=1, occurrence=local, to_ms=at_ms, due_at_ms=each) for each in (due_ms, None)]
    ledgers = [apply(ledger, move, Actor("person", at_ms - DAY_MS)).ledger for move in moves]
    rings = [messages_for([due_now(each.notes[1], at_ms)], at_ms)[0][0] for each in ledgers]

    assert [ring.buttons[0][1].label for ring in rings] == ["In 30 min", "In an hour"]


def test_what_was_done_already_is_not_done_once_more():
    """[Done] under a ring of last week says so, by the name that the note has now."""
    done = Occurrence(original_local="2023-11-19T19:00", state="done")
    note = series_note(text="Ring mum", occurrences=(done,))

    assert told_unchanged(note, "2023-11-19T19:00") == "Already ticked off: Ring mum"
    assert told_unchanged(note, "2023-11-12T19:00") == "The next reminder has come since, so tick that one: Ring mum"
    assert told(note, note, "2023-11-26T19:00", "done", now_ms=START_MS, zone="UTC") == "Ticked off: Ring mum"


def test_a_reminder_of_a_group_names_whom_it_is_for():
    """Who has to act, everybody where all have, else who set it; anybody may tap, and no name is said twice."""
    names = {202: "Karim", 203: "Maud Lefort"}
    [(mine, _)] = messages_for([replace(DUE, who=whom(series_note(user_id=202), names))], DUE.at_ms)
    maud = series_note(owner="Maud", text="Bring the cake")
    [(hers, _)] = messages_for([replace(DUE, note=maud, who=whom(maud, names))], DUE.at_ms)

    assert (mine.text, mine.mentions, mine.anyone_may_tap) == ("⏰ Karim: Call mum", (Mention("Karim", 202),), True)
    assert (hers.text, hers.mentions) == ("⏰ Maud: Bring the cake", (Mention("Maud", 203),))
    assert [each.user_id for each in whom(series_note(owner="everyone"), names)] == [202, 203]
    assert whom(series_note(owner="Priya"), names) == (Mention("Priya"),)
    party = series_note(owner="everyone", text="Party at Karim's")
    [(theirs, _)] = messages_for([replace(DUE, note=party, who=whom(party, names))], DUE.at_ms)
    assert theirs.text == "⏰ Everybody (Karim, Maud Lefort): Party at Karim's"
    assert [each.user_id for each in theirs.mentions] == [202, 203]
    said = series_note(owner="Maud", text="Maud brings the cake")
    [(once, _)] = messages_for([replace(DUE, note=said, who=whom(said, names))], DUE.at_ms)
    assert once.text == "⏰ Maud brings the cake"


def test_done_with_the_reminder_of_an_event_to_come_does_not_end_the_event():
    """Half past seven reminded of the technician at nine: [Done] ends the ringing, what happens at nine stands."""
    visit = series_note(kind="event", repeats="", due_at_ms=START_MS + HOUR_MS, due_exact=True)

    assert isinstance(operation_for(visit, "2023-11-19T19:00", "done", START_MS), Change)
    assert isinstance(operation_for(visit, "2023-11-19T19:00", "done", START_MS + 2 * HOUR_MS), End)


def test_a_birthday_that_was_seen_in_the_morning_is_not_said_to_be_done():
    """It has no hour and stands until tonight."""
    fields = {"due_at_ms": START_MS - 22 * HOUR_MS, "rings_from": "2023-11-14T21:00", "time_zone": "UTC"}
    ledger = ledger_of(("event", "Mum's birthday", fields))
    birthday = ledger.notes[1]
    after = apply(ledger, operation_for(birthday, "2023-11-14T21:00", "done", START_MS), BY).ledger.notes[1]

    assert after.is_open
    said = told(birthday, after, "2023-11-14T21:00", "done", now_ms=START_MS, zone="UTC")
    assert said == "Okay: Mum's birthday (today)"


def test_a_paused_series_names_no_clock_but_of_a_date_that_was_put_off():
    """Paused, it rings at no hour; what was put off before that still does, and says when."""
    daily = {"rings_from": "2023-11-10T09:00", "repeats": "FREQ=DAILY", "time_zone": "Europe/Dublin"}
    paused = series_note(snoozed_until_ms=UNTIL_TOLD_MS, **daily)
    put_off = paused.model_copy(update={"rings_at_ms": START_MS + HOUR_MS})
    under = {"under_ms": START_MS + HOUR_MS}

    assert note_line(paused, START_MS, "Europe/Berlin") == "Call mum (paused)"
    assert note_line(put_off, START_MS, "Europe/Dublin") == "Call mum (⏰ today at 23:13, paused)"
    assert note_line(put_off, START_MS, "Europe/Dublin", **under) == "Call mum (⏰ 23:13, paused)"
    assert note_line(put_off, START_MS, "UTC") == "Call mum (⏰ today at 23:13, paused)"
    assert note_line(put_off, START_MS, "Europe/Berlin") == "Call mum (⏰ today at 23:13, paused, Dublin time)"


def test_cancelling_keeps_a_note_that_is_more_than_a_reminder():
    """A party that rings stays when it rings no more; what is only a reminder goes."""
    party = series_note(kind="event", repeats="", due_at_ms=START_MS)

    assert isinstance(operation_for(party, "2023-11-19T19:00", "cancel", START_MS), Change)
    assert operation_for(series_note(), "2023-11-19T19:00", "cancel", START_MS) == End(number=1, how="dropped")


@pytest.mark.parametrize(
    ("kind", "due_exact", "due", "said"),
    [
        ("event", True, "2023-11-19T20:00", "Call mum (every Sunday at 20:00, not on Sun 26 Nov)"),
        ("task", True, "2023-11-19T20:00", "Call mum (every Sunday at 20:00, not on Sun 26 Nov)"),
        ("event", True, "2023-11-19T19:00", "Call mum (every Sunday at 19:00, not on Sun 26 Nov)"),
        ("event", False, "2023-11-20T00:00", "Call mum (every Monday, not on Mon 27 Nov)"),
        ("task", True, "2023-11-19T19:00", ""),
        ("task", False, "", ""),
    ],
)
def test_a_series_that_is_more_than_its_ring_stays_by_its_own_time(kind, due_exact, due, said):
    """[Stop it for good] stops the ring, and the answer says what stays. A mere reminder ends."""
    own = {"due_at_ms": series.at_ms_of(due, "UTC") if due else None, "due_exact": due_exact}
    ring = {"rings_from": "2023-11-19T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU", "time_zone": "UTC"}
    ledger = ledger_of((kind, "Call mum", own | ring))
    left_out = Move(number=1, occurrence="2023-11-26T19:00")
    ledger = apply(ledger, left_out, BY).ledger
    after = apply(ledger, operation_for(ledger.notes[1], "2023-11-19T19:00", "cancel", START_MS), BY).ledger.notes[1]

    assert (after.is_open, after.rings_at_ms) == (bool(said), None)
    assert told_off(after, START_MS, "UTC") == f"Okay, I won't remind you: {said or 'Call mum'}"


def test_a_date_goes_into_a_button_as_a_number_and_comes_back():
    """A button holds no text: forgetting anything would take it away."""
    assert occurrence_of(stamp_of("2026-11-29T19:05")) == "2026-11-29T19:05"


def test_moving_a_series_moves_its_next_date_alone():
    """Unless another rule was said with it."""
    assert isinstance(moved_by(series_note(), SaidTime("2023-11-19T10:00")), Move)
    assert moved_by(series_note(), SaidTime("2023-11-20T10:00", "FREQ=DAILY")).fields == {
        "rings_from": "2023-11-20T10:00",
        "repeats": "FREQ=DAILY",
        "rings_again_min": (),
    }


def test_a_reminder_of_this_minute_is_meant_for_the_next():
    """“In 20 seconds” has no minute of its own; another time stays as it was said."""
    assert in_time(SaidTime("2023-11-14T22:13"), START_MS, "UTC").local == "2023-11-14T22:14"
    assert in_time(SaidTime("2023-11-14T22:20"), START_MS, "UTC").local == "2023-11-14T22:20"


def test_a_name_means_the_exact_text_before_all_that_hold_it():
    """“call Ana” is not “call Ana's mother” when both are there."""
    notes = [series_note(text="call Ana"), series_note(text="call Ana's mother", number=2)]

    assert meant(notes, "Call Ana.") == notes[:1]
    assert meant(notes, "ana") == notes
    assert meant(notes, "zebra") == []


def test_a_reminder_that_comes_late_says_so():
    """In time it is its text alone; with its three buttons."""
    note = series_note(repeats="")
    due = due_now(note, START_MS + 30 * DAY_MS)
    [(in_time, _)] = messages_for([due], due.at_ms)
    [(late, _)] = messages_for([due], due.at_ms + 3 * HOUR_MS)

    assert in_time.text == "⏰ Call mum"
    assert late.text == "⏰ Call mum\n(should have come at 19:00)"
    assert [button.label for button in in_time.buttons[0]] == ["Done", "In an hour", "Tomorrow"]


def test_a_date_that_was_moved_rang_when_it_rang():
    """Seven o'clock moved to ten rings at ten, is said to have rung at ten, and does not ring at seven, too."""
    sunday = "2023-11-19T19:00"
    at_ten = series.at_ms_of("2023-11-19T10:00", "UTC")
    fields = {"rings_from": sunday, "repeats": "FREQ=WEEKLY;BYDAY=SU", "time_zone": "UTC"}
    ledger = ledger_of(task("Call mum", **fields))
    ledger, _ = apply_all(ledger, [Move(number=1, occurrence=sunday, to_ms=at_ten)], BY)
    ledger, _ = apply_all(ledger, [Ring(number=1, occurrence=sunday, rings_at_ms=at_ten)], Actor("model", at_ten))
    note = ledger.notes[1]
    later = at_ten + 10 * 60_000

    assert "rang Sun 2023-11-19 10:00, not called done" in model_line(note, later, "UTC")
    assert "rings Sun 2023-11-26 19:00" in model_line(note, later, "UTC")
    ledger, _ = apply_all(ledger, [End(number=1, occurrence=sunday)], Actor("person", later))
    assert "done for Sun 2023-11-19" in model_line(ledger.notes[1], later, "UTC")


@pytest.mark.parametrize(("rang_at", "again"), [("19:00", "2023-11-15T19:00"), ("07:30", "2023-11-15T07:30")])
def test_what_rang_is_put_off_until_its_hour_of_tomorrow(rang_at, again):
    """A call to mum at 19:00 came back at 09:00, when nobody could call."""
    note = ledger_of(task("Mum", rings_from=f"2023-11-14T{rang_at}", time_zone="UTC")).notes[1]
    now_ms = series.at_ms_of("2023-11-14T19:01", "UTC")

    put_off = operation_for(note, note.rings_from, "tomorrow", now_ms)
    assert series.local_of(put_off.to_ms, "UTC") == again


def test_what_was_put_off_until_today_is_for_today():
    """A dress to be picked up from Wednesday on stood under "No date" on that Wednesday."""
    wednesday_ms = series.at_ms_of("2023-11-15T00:00", "UTC")
    ledger = ledger_of(task("Dress", snoozed_until_ms=wednesday_ms, time_zone="UTC"))

    said = [
        page(loop_list(ledger, wednesday_ms + days * DAY_MS + HOUR_MS, "UTC")).text.splitlines()[2]
        for days in (-1, 0, 3, 8)
    ]
    assert said == ["Tomorrow", "Today", "Today", "No date"]


def test_words_of_what_is_done_are_remembered():
    """“I don't remember anything about scanner” came once the loan, the return and the cover were ticked off."""
    ledger = ledger_of(("task", "Huw gives back the scanner", {}), ("fact", "Huw is your partner", {}))
    over, _ = apply_all(ledger, [End(number=1)], Actor("person", START_MS + 1))

    found = found_list("scanner", over, START_MS + 2, "UTC")
    assert found.text == "About “scanner” I only have what's done:\n• Huw gives back the scanner"
    gone, _ = apply_all(ledger, [End(number=1, how="dropped")], Actor("person", START_MS + 1))
    assert "don't remember anything" in found_list("scanner", gone, START_MS + 2, "UTC").text


def test_what_came_daily_until_yesterday_is_over_and_not_overdue():
    """“Take Jonte to nursery (was due on Fri 4 Dec)” stood on the list for days; the last pill, late, for a moment."""
    week = {"due_at_ms": START_MS - 4 * DAY_MS, "due_exact": True, "repeats": "FREQ=DAILY;UNTIL=20231113"}
    pill = {"rings_from": "2023-11-10T20:00", "repeats": "FREQ=DAILY;UNTIL=20231113", "time_zone": "UTC"}
    ledger = ledger_of(task("Nursery", time_zone="UTC", **week), task("Pill", **pill))
    late = Ring(number=2, occurrence="2023-11-10T20:00", rings_at_ms=ledger.notes[2].rings_at_ms or 0)
    ledger = apply(ledger, late, Actor("person", START_MS + 1)).ledger

    assert [note.text for note in to_do(ledger, START_MS + HOUR_MS)] == ["Pill"]
    assert to_do(ledger, START_MS + 2 * DAY_MS) == []


def test_an_owner_begins_a_line_with_a_capital_and_a_limit_says_from_when():
    """“la escuela: …”, and “(until Sun 19 Nov)” of quiet evenings that begin on Friday."""
    days = {"due_at_ms": START_MS + 3 * DAY_MS, "ends_at_ms": START_MS + 5 * DAY_MS, "time_zone": "UTC"}
    school, quiet = ledger_of(("promise", "Answer", {"owner": "the school"}), ("constraint", "Quiet", days))

    assert note_line(school, START_MS, "UTC") == "The school: Answer"
    assert note_line(quiet, START_MS, "UTC") == "Quiet (Fri 17 Nov – Sun 19 Nov)"
    assert note_line(quiet, START_MS + 4 * DAY_MS, "UTC") == "Quiet (until tomorrow)"


def test_of_several_doses_the_hour_is_told_and_a_birthday_is_not_put_off():
    """“Reminded today” sounded as if no dose were left; a birthday's [Tomorrow] rang on the day behind it."""
    pill = {"rings_from": "2023-11-14T08:00", "repeats": "FREQ=DAILY;BYHOUR=8,14,20", "time_zone": "UTC"}
    day = {"due_at_ms": series.at_ms_of("2023-11-14T00:00", "UTC"), "time_zone": "UTC", "repeats": "FREQ=YEARLY"}
    ledger = ledger_of(task("Pill", **pill), ("event", "Poppy's birthday", day | {"rings_from": "2023-11-14T08:00"}))
    now_ms = series.at_ms_of("2023-11-14T09:00", "UTC")
    ledger, _ = apply_all(ledger, [due_now(note, now_ms).ring for note in ledger], Actor("person", now_ms - HOUR_MS))

    assert note_line(ledger.notes[1], now_ms, "UTC", brief=True).endswith("reminded today at 08:00)")
    assert replies.say("ring_buttons.tomorrow") not in [each.label for each in list_row(ledger.notes[2], now_ms)]


def test_days_left_out_and_an_end_behind_a_moved_date_read_as_such():
    """“not this Friday, on Mon 27 Nov and on Fri 1 Dec” sounded as if she came then."""
    out = [Occurrence(original_local=f"2023-11-{day}T08:00", state="left_out") for day in (17, 20, 24)]
    carer = {"due_at_ms": START_MS, "due_exact": True, "repeats": "FREQ=WEEKLY;BYDAY=MO,FR", "time_zone": "UTC"}
    [note] = ledger_of(("event", "Carer", carer | {"due_at_ms": series.at_ms_of("2023-11-17T08:00", "UTC")}))
    line = note_line(note.model_copy(update={"occurrences": tuple(out)}), START_MS, "UTC")
    moved = Occurrence(
        original_local="2023-11-16T09:00", moved_to_ms=series.at_ms_of("2023-11-17T09:00", "UTC"), state="moved"
    )
    inr = {"rings_from": "2023-11-16T09:00", "repeats": "FREQ=DAILY;INTERVAL=3;UNTIL=20231214", "time_zone": "UTC"}
    [test] = ledger_of(task("INR", **inr))
    told = note_line(
        test.model_copy(update={"occurrences": (moved,), "rings_at_ms": moved.moved_to_ms}), START_MS, "UTC"
    )

    assert "every Monday and Friday at 08:00, not Fri 17 Nov \u2013 Fri 24 Nov" in line
    assert told == "INR (⏰ this Friday at 09:00, then every 3 days from Sun 19 Nov until 13 Dec)"


def test_what_was_put_off_until_tomorrow_stands_there_and_is_not_overdue():
    """“Today 1. The quote (⏰ tomorrow at 19:00)”, and then “was due yesterday”, of what somebody had put off."""
    due = {
        "due_at_ms": series.at_ms_of("2023-11-14T00:00", "UTC"),
        "rings_from": "2023-11-14T19:00",
        "time_zone": "UTC",
    }
    ledger = ledger_of(task("The quote", **due))
    now_ms = series.at_ms_of("2023-11-14T19:05", "UTC")
    ring = Actor("person", series.at_ms_of("2023-11-14T19:00", "UTC"))
    ledger, _ = apply_all(ledger, [due_now(ledger.notes[1], now_ms).ring], ring)
    late = operation_for(ledger.notes[1], "2023-11-14T19:00", "tomorrow", now_ms)
    ledger, _ = apply_all(ledger, [late], Actor("person", now_ms))

    assert page(loop_list(ledger, now_ms, "UTC")).text.splitlines()[2:4] == ["Tomorrow", "1. The quote (⏰ 19:00)"]
    later = page(loop_list(ledger, now_ms + DAY_MS - HOUR_MS, "UTC")).text.splitlines()[2:4]
    assert later == ["Today", "1. The quote (⏰ 19:00)"]


def test_a_lesson_that_rang_stands_under_today_without_the_ring_of_the_next():
    """“Today: guitar (at 17:00, ⏰ Thu 17 Dec at 16:00)” read as another reminder of it."""
    due = {"due_at_ms": series.at_ms_of("2023-11-14T17:00", "UTC"), "due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of(
        ("event", "Guitar", due | {"rings_from": "2023-11-14T16:00", "repeats": "FREQ=WEEKLY;INTERVAL=2"})
    )
    at_ms = series.at_ms_of("2023-11-14T16:00", "UTC")
    ledger, _ = apply_all(ledger, [due_now(ledger.notes[1], at_ms).ring], Actor("person", at_ms))
    [coming] = dates_to_come(ledger, at_ms + 300_000)

    assert coming_line(coming, at_ms + 300_000, "UTC") == "Today: Guitar (at 17:00)"


def test_a_moved_dates_ring_stands_before_the_rhythm():
    """“…this time, then every Wednesday at 17:30, ⏰ 18:00” rang on Wednesdays behind the lesson."""
    own = {"due_at_ms": series.at_ms_of("2023-11-15T17:30", "UTC"), "due_exact": True, "time_zone": "UTC"}
    ledger = ledger_of(("event", "Piano", own | {"rings_from": "2023-11-15T17:00", "repeats": "FREQ=WEEKLY;BYDAY=WE"}))
    to_ms, due_ms = (series.at_ms_of(f"2023-11-16T{hour}", "UTC") for hour in ("18:00", "18:30"))
    move = Move(number=1, occurrence="2023-11-15T17:00", to_ms=to_ms, due_at_ms=due_ms, lasts_ms=HOUR_MS)
    note = apply(ledger, move, BY).note

    assert note_line(note, START_MS, "UTC") == (
        "Piano (on Thu 16 Nov 18:30–19:30, ⏰ 18:00, then every Wednesday at 17:30)"
    )
