"""The notes in a prompt: which of them the block begins with, and what is told of their changes, and how often."""

from dataclasses import replace

import pytest

from memory.context.budget import Budget
from memory.context.finds import with_forgotten
from memory.context.notes_block import NOTHING_SINCE, since, take
from memory.context.tokens import TiktokenCounter
from memory.ledger import series
from memory.ledger.apply import apply_all
from memory.ledger.events import events
from memory.ledger.lines import model_line
from memory.ledger.types import Actor, Add, Change, End, Ledger, Move, Occurrence, Ring
from memory.ledger.views import DAY_MS, EVERYTHING, Scope
from memory.state.notes_marks import new_mark
from memory.testing import START_MS, make_state, make_turn
from memory.types import ToolCall

COUNTER = TiktokenCounter()
LONG = "Tell Maeve one true, interesting thing about the history of bread, in two or three short sentences."


def ledger_of(*notes):
    operations = [
        Add(kind=kind, text=text, note_id=f"n_{n}", fields=fields) for n, (kind, text, fields) in enumerate(notes, 1)
    ]
    return apply_all(Ledger("c"), operations, Actor("model", START_MS))[0]


def block_of(ledger):
    mark = new_mark(make_state(), ledger, EVERYTHING, "UTC", START_MS)
    return take(ledger, EVERYTHING, mark, Budget().threads_tokens, COUNTER)


def told(block, ledger, operations, hand, *, cause="b", **fields):
    now, outcomes = apply_all(ledger, operations, Actor(hand, START_MS + 5, cause))
    changes = [change for each in outcomes for change in each.changes]
    found = since(block, now, changes, EVERYTHING, told=(), now_ms=START_MS + 9, **{"answered_ms": 0} | fields)
    return list(found.changed)


def test_what_a_person_began_with_stays_before_what_was_said_in_passing():
    """Many people later the café and the colour of its walls still stand there; what has no room is counted."""
    ledger = ledger_of(
        ("fact", "You run a small bakery café in Galway.", {"turn_ids": ("t_1", "t_2")}),
        ("decision", "Sage for the café walls.", {}),
        *(("person", f"Somebody called Number {n} does the bins now", {"said_at_ms": START_MS + n}) for n in range(40)),
    )
    block = block_of(ledger)

    assert {1, 2} <= set(block.lines)
    assert block.more_line == f"(and {42 - len(block.lines)} more notes: search finds them)"


def test_what_limits_somebody_stays_before_anything_else_that_lasts():
    """An allergy that a model noted weighs nothing more than a fact, and was the first to go for want of room."""
    facts = [("fact", f"Somebody called Number {n} likes the blue ones", {"weight": 0.8}) for n in range(40)]
    hurt = ("person", "Number 99 is your late brother, whose day is in May", {"weight": 0.9})
    block = block_of(ledger_of(*facts, hurt, ("constraint", "Lia is allergic to peanuts", {})))

    assert [line.split(":")[0] for line in block.lasting[:3]] == ["#42 constraint", "#41 person", "#1 fact"]


def test_what_somebody_would_be_hurt_to_see_forgotten_stays_before_what_counts_more_by_the_sum():
    """A decision of .85 is worth more than a person of .9, since it lasts; forty of them hid the late brother."""
    decided = [("decision", f"Number {n} gets the blue ones", {"weight": 0.85}) for n in range(40)]
    block = block_of(ledger_of(*decided, ("person", "Number 99 is your late brother", {"weight": 0.9})))

    assert block.lasting[0].startswith("#41 person")


def test_of_long_limits_each_is_told_in_brief_rather_than_left_out():
    """A line without room is left out for a shorter one behind it: that was a trifle."""
    limits = [("constraint", f"Number {n} must not have peanuts: {LONG} {LONG} {LONG}", {}) for n in range(8)]
    block = block_of(ledger_of(("fact", "The bins are green", {"weight": 0.8}), *limits))

    assert {*range(2, 10)} <= set(block.lines)
    assert all("must not have peanuts" in block.lines[n] for n in range(2, 10))


def test_what_has_no_day_is_told_before_what_has_a_far_one():
    """What somebody owes is the easiest to forget."""
    far = [("task", f"Far matter {n}", {"due_at_ms": START_MS + (15 + n) * DAY_MS}) for n in range(20)]
    ledger = ledger_of(*far, ("promise", "Siobhán owes you 60", {"owner": "Siobhán", "weight": 0.2}))

    assert 21 in block_of(ledger).lines


def test_what_is_due_in_two_weeks_stands_there_with_all_its_words_before_any_matter_without_a_day():
    """A wedding on the 27th was left to a search while a pot to buy stood there: nobody searches for a day to come."""
    matters = [("task", f"Matter {n}: {LONG}", {"weight": 1.0}) for n in range(30)]
    soon = {"due_at_ms": START_MS + 13 * DAY_MS, "weight": 0.1}
    days = [
        (kind, f"Wedding {n} of Ruth and Tomás at the registry office, bring the rings and flowers", soon)
        for n, kind in enumerate(("event", "task") * 4)
    ]
    block = block_of(ledger_of(*matters, *days))

    assert {*range(31, 39)} <= set(block.lines)
    assert all("flowers" in block.lines[number] for number in range(31, 39))


RING = {"rings_from": "2023-11-16T09:00", "due_at_ms": START_MS + 2 * DAY_MS, "due_exact": True}


def test_a_weekly_matter_of_tomorrow_stands_there_before_what_comes_later():
    """The choir of tonight, and ten days of a pill, were only named behind a licence of next month."""
    day = {"due_at_ms": START_MS + 9 * DAY_MS}
    far = [("task", f"Bring the {n} boxes of old paper and tins to the depot", day) for n in range(30)]
    weekly = {"due_at_ms": START_MS + DAY_MS, "due_exact": True, "repeats": "FREQ=WEEKLY", "time_zone": "UTC"}
    choir, pill = ("event", "Choir", weekly), ("event", "Pill", weekly | {"repeats": "FREQ=DAILY"})
    course = ("event", "Course", weekly | {"repeats": "FREQ=DAILY;UNTIL=20231124"})
    lesson = ("event", "Lesson", weekly | {"due_at_ms": START_MS + 3 * DAY_MS})
    block = block_of(ledger_of(*far, choir, pill, course, lesson))

    assert [name for name in ("Choir", "Course", "Lesson") if any(f": {name} (" in line for line in block.open)] == [
        "Choir", "Course", "Lesson",
    ]  # fmt: skip
    assert not any(": Pill (" in line for line in block.open)


def test_twenty_open_notes_stand_in_the_block_the_last_of_them_by_name_and_day():
    """What rings this week is not hidden behind facts of low worth, nor is the hour of its ring.

    “The person's big one” was named without its day among nine others, and a ring at 08:30 stood as one at 09:15 (a
    trial).
    """
    cat = {"rings_from": "2023-11-15T08:00", "repeats": "FREQ=DAILY", "weight": 0.1}
    rings = [("task", f"Matter {n}: {LONG[:10]}", RING) for n in range(10)]
    facts = [("fact", f"Somebody called Number {n} does the bins now", {"weight": 0.2}) for n in range(30)]
    ledger = ledger_of(*facts, *[("task", f"Thing {n}", {}) for n in range(9)], *rings, ("task", f"Cat: {LONG}", cat))
    block = block_of(ledger)

    assert len(block.open) + len(block.named) == 20
    assert sum(COUNTER.count(line) + 1 for line in (*block.lasting, *block.open, block.more_line)) <= 700
    assert block.lines[48] == "#48 task: Matter 8: Tell Maeve (due Thu 16 Nov 22:13, rings 09:00)"
    assert "#39 Thing 8, #50 Cat Wed 15 Nov, …; search finds them)" in block.more_line


def test_what_is_far_is_named_with_its_day_where_facts_leave_no_room():
    """“and 2 more notes” were the opening in January and the child to be born in February (a trial)."""
    far = ("event", "Aïcha's due date", {"due_at_ms": START_MS + 84 * DAY_MS})
    facts = [("fact", f"Somebody called Number {n} does the bins now and then on some days", {}) for n in range(25)]
    block = block_of(ledger_of(far, *facts, *[("task", f"Matter {n}", RING) for n in range(5)]))

    assert block.more_line.startswith("(and ")
    assert block.more_line.endswith(" more notes: #1 Aïcha's due date Tue 6 Feb, …; search finds them)")
    assert sum(COUNTER.count(line) + 1 for line in (*block.lasting, *block.open, block.more_line)) <= 600


def test_no_short_note_is_cut_while_work_by_the_clock_stands_there_whole():
    """Of the baker's cake "80 people, with lemon" went, all 250 characters of a sentence to write stood."""
    cake = "Inès' wedding cake for 80 people, with lemon instead of pistachio"
    done = Occurrence(original_local="2023-11-13T05:30", state="done")
    daily = {"owner": "assistant", "rings_from": "2023-11-13T05:30", "repeats": "FREQ=DAILY", "occurrences": (done,)}
    work = ("task", f"Italian sentence: {LONG} {LONG} Never the same twice.", daily)
    soon = [("task", f"Matter {n}: {LONG}", RING) for n in range(9)]
    block = block_of(ledger_of(work, ("task", cake, {"due_at_ms": START_MS + 12 * DAY_MS}), *soon))

    assert cake in block.lines[2]
    assert block.lines[1] == "#1 task: Italian sentence… (owner assistant; rings Tue 14 Nov 05:30, every day)"


def test_days_to_come_stand_among_what_is_open_in_their_order():
    """An apprentice's first day and a tasting stood above, among facts, neither by their days."""
    days = [("event", f"Day {n}", {"due_at_ms": START_MS + n * DAY_MS}) for n in (5, 1, 3, 30)]
    block = block_of(ledger_of(*days, ("task", "Call Ana", {"due_at_ms": START_MS + 2 * DAY_MS})))

    assert [line.split()[0] for line in block.open] == ["#2", "#5", "#3", "#1"]
    assert [line.split()[0] for line in block.lasting] == ["#4"], "no day of these weeks"


def test_a_note_that_the_block_tells_in_brief_is_news_only_when_it_changed():
    """Its whole line differs from the brief one; that alone is told to nobody."""
    ledger = ledger_of(*[("task", f"Matter {n}: {LONG}", {}) for n in range(20)])
    block = block_of(ledger)
    back = [Change(number=20, fields={"weight": 0.4})]
    [line] = told(block, ledger, [Change(number=20, fields={"text": f"{LONG} Never twice."})], "keeper")

    assert "…" in block.lines[20]
    assert told(block, ledger, back, "keeper") == []
    assert line.endswith("Never twice.")


def test_a_change_beside_the_block_is_told_once():
    """With the next message; of one in the block that is over its number, as long as the block says otherwise."""
    ledger = ledger_of(("task", "Call Ana", {}))
    block = block_of(ledger)
    news = [End(number=1), Add(kind="fact", text="The oven works", note_id="n_2")]

    assert told(block, ledger, news, "keeper") == ["#1 task: Call Ana (done)", "#2 fact: The oven works"]
    assert told(block, ledger, news, "keeper", answered_ms=START_MS + 6) == ["#1 (done)"]


def test_work_that_was_done_by_the_clock_is_no_news():
    """Its answer stands in the messages: seven prompts said of a letter that it was "(done)"."""
    ledger = ledger_of(("task", "Draft the letter", {**RING, "owner": "assistant"}))
    block = block_of(ledger)

    assert told(block, ledger, [End(number=1)], "operator", answered_ms=START_MS + 6) == []
    assert told(block, ledger, [End(number=1)], "person", answered_ms=START_MS + 6) == ["#1 (done)"]
    assert told(block, ledger, [End(number=1)], "operator", cause="", answered_ms=START_MS + 6) == ["#1 (done)"]


def test_a_note_that_goes_on_as_another_names_it():
    """Six prompts said of a dough to feed "done; rings no more", over the series that took its place."""
    ledger = ledger_of(("task", "Feed the dough", RING))
    block = block_of(ledger)
    again = [
        End(number=1),
        Add(kind="task", text="Feed the dough", note_id="n_2", fields={"rings_from": "2023-11-17T09:00"}),
    ]

    assert told(block, ledger, again, "keeper")[0].endswith("rings no more) -> #2")
    assert told(block, ledger, again, "keeper", answered_ms=START_MS + 6) == ["#1 (done) -> #2"]


def test_what_a_keeper_put_in_other_words_is_no_news_where_the_tools_result_stands():
    """The result in the messages says how it stands; another day, or another number, it does not say."""
    ledger = ledger_of(("task", "Take the van to its test", {}))
    block = block_of(ledger)
    done = apply_all(ledger, [Change(number=1, fields={"due_at_ms": START_MS + DAY_MS})], Actor("model", 1, "t_1"))

    def news(**fields):
        now, outcomes = apply_all(done[0], [Change(number=1, fields=fields)], Actor("keeper", START_MS + 5, "b"))
        changes = [change for each in (*done[1], *outcomes) for change in each.changes]
        return since(block, now, changes, EVERYTHING, told={"t_1"}, now_ms=START_MS + 9, answered_ms=0).changed

    assert news(text="The van's test, at the garage", confidence=0.9) == ()
    assert len(news(text="The van's test, for 90 euros")) == len(news(due_at_ms=START_MS + 2 * DAY_MS)) == 1


def test_a_story_is_news_to_no_message():
    """It is found by what bears on it, and stood over an alarm clock and a bakery's orders."""
    ledger = ledger_of(("task", "Call Ana", {}))
    story = [Add(kind="story", text="Flambo owes the wolf a loaf", note_id="n_2", fields={"about": "Flambo"})]

    assert told(block_of(ledger), ledger, story, "keeper") == []


def test_work_that_came_by_the_clock_and_goes_on_is_no_news():
    """Its answer stands in the messages: its line stood under a third of a trial's. A tap on it is news."""
    daily = {"owner": "assistant", "repeats": "FREQ=DAILY", "rings_from": "2023-11-14T23:00", "time_zone": "UTC"}
    ledger = ledger_of(("task", "The day ahead: Say what is due", daily))
    block, (date, at_ms) = block_of(ledger), series.next_ring(ledger.notes[1])
    came = [Ring(number=1, occurrence=date, rings_at_ms=at_ms), End(number=1, occurrence=date)]
    now, outcomes = apply_all(ledger, came, Actor("operator", START_MS + 5, "ring"))
    changes = [change for each in outcomes for change in each.changes]

    found = since(block, now, changes, EVERYTHING, told=(), now_ms=START_MS + 9, answered_ms=0)
    assert (found.changed, found.events, found.outdated) == ((), (), 1)
    run = since(block, now, [], EVERYTHING, told=(), now_ms=at_ms + 9, answered_ms=0)  # to which its ring is no news
    assert (run.changed, run.outdated) == ((), 1)
    waits = since(block, ledger, [], EVERYTHING, told=(), now_ms=at_ms + 9, answered_ms=0)
    assert waits.outdated == 0, "the line would be the same"
    assert told(block, ledger, [Change(number=1, fields={"snoozed_until_ms": at_ms + DAY_MS})], "person") != []


def test_of_a_long_text_that_the_block_holds_its_beginning_is_enough():
    """The number says which one it is."""
    ledger = ledger_of(("task", LONG, {}))

    [line] = told(block_of(ledger), ledger, [Change(number=1, fields={"due_at_ms": START_MS + DAY_MS})], "keeper")
    assert line == "#1 now task: Tell Maeve one true, interesting thing about the history… (due Wed 15 Nov)"


def test_of_a_long_text_that_the_block_cuts_a_change_tells_all():
    """Its whole words stand nowhere else."""
    ledger = ledger_of(*[("task", f"Matter {n}: {LONG}", {}) for n in range(20)])
    block = block_of(ledger)
    [line] = told(block, ledger, [Change(number=20, fields={"due_at_ms": START_MS + DAY_MS})], "keeper")

    assert "…" in block.lines[20]
    assert line == f"#20 now task: Matter 19: {LONG} (due Wed 15 Nov)"


def test_a_scene_is_not_given_what_was_noted_elsewhere():
    """Five hundred tokens of errands stood in every scene; a limit, a like and what is due today still do."""
    soon, far = ({"due_at_ms": START_MS + days * DAY_MS // 2} for days in (1, 9))
    ledger = ledger_of(
        ("task", "Pay the rent", far), ("task", "Fetch the cake", soon), ("constraint", "You can't have nuts", {}),
        ("story", "The door is barred", {"about": "The Keep", "persona": "bard"}), ("preference", "Short answers", {}),
        ("event", "Dinner, told within the scene", far | {"persona": "bard"}), ("fact", "Ana is your aunt", {}),
    )  # fmt: skip
    scope = Scope(persona="bard")
    mark = new_mark(make_state(), ledger, scope, "UTC", START_MS)
    scene, talk = (
        take(ledger, scope, mark, Budget().threads_tokens, COUNTER, is_scene=is_scene) for is_scene in (True, False)
    )

    assert ({*scene.lines}, {*talk.lines}) == ({2, 3, 4, 5, 6}, {*range(1, 8)})
    assert scene.more_line == "(and 2 more notes: search finds them)"


def test_a_line_that_the_block_has_otherwise_says_that_it_is_now_so():
    """Models took the day above for the one that holds; what is new or over needs no word more."""
    ledger = ledger_of(("task", "Call Ana", {"due_at_ms": START_MS + DAY_MS}), ("task", "Oil the gate", {}))
    moved = Change(number=1, fields={"due_at_ms": START_MS + 2 * DAY_MS})
    new = Add(kind="fact", text="The oven works", note_id="n_3")

    assert told(block_of(ledger), ledger, [moved, new, End(number=2)], "keeper") == [
        "#1 now task: Call Ana (due Thu 16 Nov)", "#3 fact: The oven works", "#2 task: Oil the gate (done)",
    ]  # fmt: skip


@pytest.mark.parametrize("is_reworded", [False, True])
def test_what_rang_since_is_told_once(is_reworded):
    """By its event, or by its line where a keeper changed that, too; it stood in both."""
    ledger = ledger_of(("task", "Call Ana", {"rings_from": "2023-11-14T22:15"}))
    ring = Ring(number=1, occurrence="2023-11-14T22:15", rings_at_ms=series.at_ms_of("2023-11-14T22:15", "UTC"))
    done = [(ring, Actor("operator", START_MS + 5, "ring"))]
    if is_reworded:
        done.append((Change(number=1, fields={"text": "Call Ana again"}), Actor("keeper", START_MS + 6, "b")))
    now, changes = ledger, []
    for operation, by in done:
        now, [outcome] = apply_all(now, [operation], by)
        changes += outcome.changes
    found = since(block_of(ledger), now, changes, EVERYTHING, told=(), now_ms=START_MS + 9, answered_ms=0)

    line = "#1 now task: Call Ana again (rang Tue 14 Nov 22:15, not called done)"
    assert (found.changed, found.events) == (((line,), ()) if is_reworded else ((), ("#1 Call Ana: rang at 22:13",)))


TWO_DOSES = {"rings_from": "2023-11-12T20:00", "repeats": "FREQ=DAILY;BYHOUR=8,20"}
SUNDAY, MONDAY = ("2023-11-12T20:00", "2023-11-13T08:00")


@pytest.mark.parametrize(
    ("rang_at", "line", "event"),
    [
        (
            "2023-11-13T07:10",
            "rang Mon 13 Nov 07:10 for Sun 12 Nov 20:00, not called done",
            "rang late at 07:10 for Sun 12 Nov 20:00, ticked off at 07:30",
        ),
        (SUNDAY, "rang Sun 12 Nov 20:00, not called done", "rang on Sun 12 Nov 20:00, ticked off at 07:30"),
    ],
)
def test_a_dose_is_told_by_its_own_hour(rang_at, line, event):
    """Last night's, answered in the morning, is not the morning's; where it rang late that is said."""
    rang_ms, now_ms = (series.at_ms_of(each, "UTC") for each in (rang_at, "2023-11-13T07:30"))
    ledger = ledger_of(("task", "Pills", TWO_DOSES))
    ring = Ring(number=1, occurrence=SUNDAY, rings_at_ms=series.at_ms_of(SUNDAY, "UTC"))
    rang, [first] = apply_all(ledger, [ring], Actor("operator", rang_ms, "ring"))
    done, [second] = apply_all(rang, [End(number=1, occurrence=SUNDAY)], Actor("person", now_ms, "tap"))
    clock, changes = {"now_ms": now_ms, "zone": "UTC"}, [*first.changes, *second.changes]

    assert line in model_line(rang.notes[1], now_ms, "UTC", brief=True)
    assert "done for Sun 2023-11-12 20:00" in model_line(done.notes[1], now_ms, "UTC")
    assert events(done, changes, EVERYTHING, answered_ms=0, **clock) == {1: f"#1 Pills: {event}"}
    assert events(done, changes, EVERYTHING, answered_ms=rang_ms, **clock) == {
        1: "#1 Pills: ticked off at 07:30 for Sun 12 Nov 20:00"
    }


def test_a_moved_date_that_rang_late_is_told_by_where_it_was_moved_to():
    """“rang late at 18:12 for Sun 29 Nov”: it had been moved to Monday, and came twelve minutes late."""
    weekly = {"rings_from": SUNDAY, "repeats": "FREQ=WEEKLY", "time_zone": "UTC"}
    ledger = ledger_of(("task", "Stocktake", weekly))
    to_ms, now_ms = (series.at_ms_of(f"2023-11-13T18:{minute}", "UTC") for minute in ("00", "12"))
    moved, _ = apply_all(
        ledger, [Move(number=1, occurrence=SUNDAY, to_ms=to_ms)], Actor("person", START_MS - 9 * DAY_MS)
    )
    ring = Ring(number=1, occurrence=SUNDAY, rings_at_ms=to_ms)
    rang, [outcome] = apply_all(moved, [ring], Actor("operator", now_ms, "ring"))

    said = events(rang, outcome.changes, EVERYTHING, answered_ms=0, now_ms=now_ms, zone="UTC")
    assert said == {1: "#1 Stocktake: rang late at 18:12 for 18:00"}


def test_a_dose_that_is_left_out_is_told_by_its_hour():
    """The evening's goes on."""
    ledger = ledger_of(("task", "Pills", TWO_DOSES))
    [left_out] = apply_all(ledger, [Move(number=1, occurrence=MONDAY)], Actor("person", 1))[1]

    assert "not on Mon 13 Nov 08:00" in model_line(left_out.note, series.at_ms_of(SUNDAY, "UTC"), "UTC", brief=True)


def test_a_ring_that_a_keeper_moved_is_told():
    """The keeper talks to nobody: the assistant may have promised the time that was."""
    ledger = ledger_of(("task", "Call Ana", RING))
    later = [Change(number=1, fields={"due_at_ms": START_MS + 3 * DAY_MS})]

    assert told(block_of(ledger), ledger, later, "keeper")[0].endswith(
        "[its ring was Thu 16 Nov 09:00; the person was not told]"
    )
    assert "its ring was" not in told(block_of(ledger), ledger, later, "model")[0]
    answered = told(block_of(ledger), ledger, later, "keeper", answered_ms=START_MS + 9 * DAY_MS)
    assert "its ring was" not in " ".join(answered)


def test_a_note_that_was_forgotten_since_is_told_by_its_number_alone():
    """Once the model's own call stands in the messages it is told no more."""
    ledger = ledger_of(("fact", "The PIN is 4711", {}), ("task", "Oil the gate", {}))
    let_go = [Change(number=1, fields={"confidence": 0.0}), End(number=1, how="dropped"), End(number=2)]
    now, outcomes = apply_all(ledger, let_go, Actor("person", START_MS + 5, "b"))
    changes = [change for each in outcomes for change in each.changes]
    call = ToolCall(call_id="1", name="forget", result="Used no more: #1.")

    news = with_forgotten(NOTHING_SINCE, now, changes, EVERYTHING, [])
    assert news.changed == ("Forgotten, as the person asked; you no longer know it: #1",)
    assert with_forgotten(NOTHING_SINCE, now, changes, EVERYTHING, [make_turn(tool_calls=(call,))]) == NOTHING_SINCE


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ("Now: #2 fact: Your seats: #14, #15", ()),
        (
            "No note says exactly 'the seats: #1'. Call again with the number of the one that is meant:\n#2 fact: Else",
            (),
        ),
        ("Noted: #9 fact: Else", ()),
        ("Set: #1 task: Else\nEnded: #1 task: Else (dropped; rings no more)", ()),  # in its own turn: it has no row
        (
            "Ended: #2 task: Else\nNoted: #1 fact: Row: #3",
            ("Forgotten, as the person asked; you no longer know it: #1",),
        ),
    ],
)
def test_a_number_in_the_words_of_a_note_is_no_forgotten_note(result, line):
    """Nor is one that no note had; one whose rows are gone is."""
    ledger = ledger_of(*[("fact", f"Fact {n}", {}) for n in range(3)])
    ledger = replace(ledger, notes={2: ledger.notes[2]})
    call = ToolCall(call_id="1", name="change", result=result)

    news = with_forgotten(NOTHING_SINCE, ledger, [], EVERYTHING, [make_turn(tool_calls=(call,))])
    assert news.changed == line


def test_what_is_near_stands_there_before_what_is_far_and_short():
    """Monday's MOT had no room for its words, and a day of January had: the near ones are told in their order."""
    near = [
        (
            "task",
            f"Take the papers of the {n}th house to the notary and ask there about the deed and the stamp",
            {"due_at_ms": START_MS + n * DAY_MS},
        )
        for n in range(1, 13)
    ]
    far = [("task", f"Gift {n}", {}) for n in range(20)]
    later = [("event", f"Fair {n}", {"due_at_ms": START_MS + 40 * DAY_MS}) for n in range(5)]
    block = block_of(ledger_of(*far, *later, *near))
    told = [line for line in block.open if "notary" in line or "deed" in line]

    assert not any("Gift" in line for line in block.open) or len(told) == 12
    assert len(told) == 12 or not any("Fair" in line for line in block.lasting)
