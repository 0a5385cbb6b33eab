"""The ledger: what an operation makes of it, what it refuses, what undo puts back, and that changes rebuild it."""

from dataclasses import replace
from functools import partial

import pytest

from memory.ledger import own_dates, series, views
from memory.ledger.apply import apply, apply_all
from memory.ledger.rules import first_from, rule_of
from memory.ledger.types import (
    ASSISTANT,
    TEXT_MAX_CHARS,
    Actor,
    Add,
    Applied,
    Change,
    End,
    Ledger,
    Merge,
    Move,
    Refusal,
    Reopen,
    Ring,
)
from memory.ledger.undo import rebased, rebuilt, restores, undo

NOW = 1_800_000_000_000  # Fri 15 Jan 2027, 08:00 UTC
BY = Actor("model", NOW, "t_1")
BERLIN = {"time_zone": "Europe/Berlin"}
SUNDAY, SATURDAY = 1_800_000_000_000 + 40 * 3_600_000, 1_800_000_000_000 + 16 * 3_600_000  # 17 and 16 Jan, midnight UTC
TUESDAYS = {"due_at_ms": SUNDAY + 2 * 86_400_000, "repeats": "FREQ=WEEKLY;BYDAY=TU"}
FRIDAY = NOW - 9 * 3_600_000  # 15 Jan by the clock of Berlin
LEAP_DAYS = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"


def added(ledger, kind, text, note_id="n_1", **fields):
    outcome = apply(ledger, Add(kind=kind, text=text, note_id=note_id, fields=fields), BY)
    assert isinstance(outcome, Applied), outcome
    return outcome.ledger


def weekly(**more):
    return added(
        Ledger("c"), "task", "Call mum", rings_from="2027-01-17T19:00", repeats="FREQ=WEEKLY;BYDAY=SU", **BERLIN, **more
    )


def rang(ledger, number=1):
    local, at_ms = series.next_ring(ledger.notes[number])
    outcome = apply(ledger, Ring(number=number, occurrence=local, rings_at_ms=at_ms), Actor("person", at_ms))
    return outcome.ledger, local, at_ms


def test_numbers_count_up_and_are_never_used_again():
    """A note that was dropped keeps its number to itself."""
    ledger = added(Ledger("c"), "task", "Water the plants")
    ledger = apply(ledger, End(number=1, how="dropped"), BY).ledger
    ledger = added(ledger, "task", "Feed the cat", "n_2")

    assert [note.number for note in ledger] == [1, 2]


def test_the_same_note_is_not_noted_twice():
    """What stands word for word is refused with its number, so that a second hand can use that."""
    ledger = added(Ledger("c"), "task", "Water the plants.")

    assert apply(ledger, Add(kind="task", text="water the  plants", note_id="n_2"), BY) == Refusal("known", 1)
    assert apply(ledger, Add(kind="fact", text="else", note_id="n_1"), BY) == Refusal("known", 1)


def test_a_value_that_changed_takes_the_place_of_the_old_one():
    """Of two notes with one subject the later stands; the earlier tells what took its place."""
    ledger = added(Ledger("c"), "fact", "The operation is on the 3rd", subject="operation")
    ledger = added(ledger, "fact", "The operation is on the 9th", "n_2", subject="Operation")

    assert [note.number for note in views.standing(ledger)] == [2]
    assert ledger.notes[1].replaced_by == "n_2"


def test_done_of_a_date_leaves_the_series():
    """[Done] ends an occurrence, never the series."""
    ledger, local, _ = rang(weekly())
    ledger = apply(ledger, End(number=1, occurrence=local), BY).ledger

    assert ledger.notes[1].is_open
    assert series.next_ring(ledger.notes[1])[0] == "2027-01-24T19:00"
    assert not views.waits_for_word(ledger.notes[1])


def test_a_date_behind_which_another_rang_is_not_called_done_once_more():
    """Nothing of it is kept that could be undone; the date that waits stays, also where it is the last."""
    two = added(Ledger("c"), "task", "Bins", rings_from="2027-01-17T19:00", repeats="FREQ=DAILY;COUNT=2", **BERLIN)
    for ledger in (weekly(), two):
        after, first, _ = rang(ledger)
        after, second, at_ms = rang(after)
        late = Actor("person", at_ms + 1)

        assert apply(after, End(number=1, occurrence=first), late) == Refusal("same", 1)
        assert [each.original_local for each in after.notes[1].occurrences] == [second]
        done = apply(after, End(number=1, occurrence=second), late).ledger
        assert done.notes[1].occurrences[0].state == "done"
    assert apply(done, End(number=1, occurrence=second), late) == Refusal("ended", 1, "done")


def test_one_date_of_a_series_is_moved_or_left_out():
    """The other dates stay where the rule has them."""
    ledger = weekly()
    ten = series.at_ms_of("2027-01-17T10:00", "Europe/Berlin")
    ledger = apply(ledger, Move(number=1, occurrence="2027-01-17T19:00", to_ms=ten), BY).ledger
    ledger = apply(ledger, Move(number=1, occurrence="2027-01-24T19:00"), BY).ledger
    assert series.next_ring(ledger.notes[1]) == ("2027-01-17T19:00", ten)

    ledger, _, _ = rang(ledger)
    assert series.next_ring(ledger.notes[1])[0] == "2027-01-31T19:00"


@pytest.mark.parametrize("out", [Move, partial(End, how="dropped")])
def test_a_date_that_is_left_out_once_it_rang_is_skipped(out):
    """The series goes on behind it, and does not begin anew with its first date."""
    ledger, _, _ = rang(weekly())
    ledger, local, _ = rang(ledger)
    ledger = apply(ledger, out(number=1, occurrence=local), BY).ledger

    assert [each.state for each in ledger.notes[1].occurrences] == ["skipped"]
    assert series.next_ring(ledger.notes[1])[0] == "2027-01-31T19:00"


def test_what_was_missed_comes_once():
    """After three silent weeks a weekly reminder rings one time, late, and goes on with the next date."""
    ledger = weekly()
    local, at_ms = series.next_ring(ledger.notes[1])
    late = Actor("person", at_ms + 22 * views.DAY_MS)
    ledger = apply(ledger, Ring(number=1, occurrence=local, rings_at_ms=at_ms), late).ledger

    assert series.next_ring(ledger.notes[1])[0] == "2027-02-14T19:00"


def test_a_date_that_rang_can_be_put_off_without_beginning_the_series_anew():
    """[In an hour] rings the same date once more; the rule goes on behind it, however old the series is."""
    ledger, _, _ = rang(weekly())
    ledger, local, at_ms = rang(ledger)
    later = Actor("person", at_ms)
    ledger = apply(ledger, Move(number=1, occurrence=local, to_ms=at_ms + 3_600_000), later).ledger
    assert series.next_ring(ledger.notes[1]) == (local, at_ms + 3_600_000)

    ledger, _, _ = rang(ledger)
    assert series.next_ring(ledger.notes[1])[0] == "2027-01-31T19:00"


def test_what_was_missed_leaves_a_date_that_was_put_off_to_ring():
    """The ring of a week ago goes out late, on a Sunday whose own is to come in the evening: it comes then."""
    evening_ms = series.at_ms_of("2027-01-24T21:00", "Europe/Berlin")
    ledger = apply(weekly(), Move(number=1, occurrence="2027-01-24T19:00", to_ms=evening_ms), BY).ledger
    local, at_ms = series.next_ring(ledger.notes[1])
    late = Actor("person", evening_ms - 3_600_000)
    ledger = apply(ledger, Ring(number=1, occurrence=local, rings_at_ms=at_ms), late).ledger

    assert local == "2027-01-17T19:00"
    assert series.next_ring(ledger.notes[1]) == ("2027-01-24T19:00", evening_ms)


def test_a_ring_that_somebody_else_did_first_is_refused():
    """Two processes that wake for one date send one message."""
    ledger = weekly()
    local, at_ms = series.next_ring(ledger.notes[1])
    ledger, _, _ = rang(ledger)

    assert apply(ledger, Ring(number=1, occurrence=local, rings_at_ms=at_ms), BY) == Refusal("changed", 1)


def test_a_rule_that_is_none_is_refused():
    """The model hears that it is no RRULE, and nothing is noted."""
    wrong = Add(
        kind="task", text="x", note_id="n", fields={"rings_from": "2027-01-17T19:00", "repeats": "every sunday"}
    )
    assert apply(Ledger("c"), wrong, BY).code == "rule"
    assert apply(Ledger("c"), Add(kind="task", text="x", note_id="n", fields={"rings_from": "soon"}), BY).code == "date"


def test_today_counts_when_its_hour_is_still_to_come():
    """A series for Tuesdays at 18:00, said on a Tuesday morning, rings today."""
    tuesday_8_utc = series.at_ms_of("2027-01-19T08:21", "UTC")
    assert series.first_local("FREQ=WEEKLY;BYDAY=TU", "2027-01-19T18:00", tuesday_8_utc, "UTC") == "2027-01-19T18:00"
    assert series.first_local("FREQ=WEEKLY;BYDAY=TU", "2027-01-19T07:00", tuesday_8_utc, "UTC") == "2027-01-26T07:00"


def test_undo_puts_back_what_nobody_touched_since():
    """A text that the person changed meanwhile stays; the day goes back to what it was."""
    ledger = added(Ledger("c"), "task", "Pay the rent", due_at_ms=1)
    changed = apply(ledger, Change(number=1, fields={"text": "Pay rent", "due_at_ms": 2}), BY)
    ledger = apply(changed.ledger, Change(number=1, fields={"text": "Pay Ben"}), Actor("person", NOW)).ledger
    ledger, _ = undo(ledger, changed.changes, Actor("person", NOW))

    assert (ledger.notes[1].text, ledger.notes[1].due_at_ms) == ("Pay Ben", 1)


def test_undo_of_a_replacement_lets_the_old_value_stand_again():
    """Both changes of one turn are put back, the latest first."""
    ledger = added(Ledger("c"), "fact", "Lives in Ulm", subject="home")
    moved = apply(ledger, Add(kind="fact", text="Lives in Bonn", note_id="n_2", fields={"subject": "home"}), BY)
    ledger, _ = undo(moved.ledger, moved.changes, Actor("person", NOW))

    assert [note.text for note in views.standing(ledger)] == ["Lives in Ulm"]


def test_a_merge_rests_on_the_turns_of_both():
    """Forgetting a turn of either takes the note that stands for both."""
    ledger = added(Ledger("c"), "task", "Call Halden", turn_ids=("t_1",))
    ledger = added(ledger, "task", "Ring Halden AG", "n_2", turn_ids=("t_2",))
    ledger = apply(ledger, Merge(number=1, into=2), BY).ledger

    assert [(n.number, n.turn_ids) for n in views.standing(ledger)] == [(2, ("t_2", "t_1"))]


@pytest.mark.parametrize(
    ("goes", "stays", "given", "due"),
    [
        ({"due_at_ms": NOW, "due_exact": True}, {}, {}, (NOW, True)),
        ({"due_at_ms": NOW}, {"due_at_ms": NOW + 1}, {}, (NOW + 1, False)),
        ({"due_at_ms": NOW}, {}, {"due_at_ms": NOW + 2}, (NOW + 2, False)),
        ({"due_at_ms": FRIDAY, **BERLIN}, {"rings_from": "2027-01-15T18:00"}, {}, (FRIDAY + 3_600_000, False)),
    ],
    ids=["the other's", "its own", "a new one", "the same day by the clock of its ring"],
)
def test_a_merge_keeps_the_day_of_the_note_that_goes(goes, stays, given, due):
    """The note that stays takes it where it has none; one that comes with the merge takes its place."""
    ledger = added(added(Ledger("c"), "event", "Ana visits", **goes), "event", "Ana comes with cake", "n_2", **stays)
    note = apply(ledger, Merge(number=1, into=2, fields={"text": "Ana visits with cake"} | given), BY).note

    assert (note.text, note.due_at_ms, note.due_exact) == ("Ana visits with cake", *due)


def test_a_merge_keeps_the_rhythm_of_the_note_that_goes():
    """Hurling is on Tuesdays still, and as it was before once that is undone."""
    ledger = added(added(Ledger("c"), "event", "Hurling", **TUESDAYS), "event", "Hurling with Ana", "n_2")
    merged = apply(ledger, Merge(number=1, into=2), BY)
    undone, _ = undo(merged.ledger, merged.changes, Actor("person", NOW))

    assert merged.note.repeats == TUESDAYS["repeats"]
    assert [(note.status, note.due_at_ms) for note in undone] == [("open", TUESDAYS["due_at_ms"]), ("open", None)]


def test_what_a_person_changed_since_wins_over_the_keeper():
    """Of the keeper's change the fields that a person wrote since its snapshot are left out; the rest is done."""
    ledger = added(Ledger("c"), "task", "Pay the rent", due_at_ms=1)
    snapshot = ledger.version
    tap = apply(ledger, Change(number=1, fields={"due_at_ms": 5}), Actor("person", NOW))
    wanted = [Change(number=1, fields={"due_at_ms": 9, "weight": 0.9}), End(number=1)]
    kept, refused = rebased(wanted, [each for each in tap.changes if each.version > snapshot])

    assert kept == [Change(number=1, fields={"weight": 0.9})]
    assert [each.code for each in refused] == ["changed"]


@pytest.mark.parametrize("fields", [{"owner": "user"}, {"kind": "story"}, {"rings_from": ""}, {"due_at_ms": None}])
def test_work_that_is_none_any_more_has_the_length_of_a_note(fields):
    """Whichever field ends it, the ring that goes with its day too; what is work still stays whole."""
    told = "Look for a train to Lisbon. " * 50
    day = {"due_at_ms": NOW + 3_600_000, "due_exact": True, "rings_from": "2027-01-15T09:00"}
    ledger = added(Ledger("c"), "task", told, owner=ASSISTANT, **day)
    still = apply(ledger, Change(number=1, fields={"weight": 0.9, "owner": ASSISTANT}), BY).note
    note = apply(ledger, Change(number=1, fields=fields), BY).note

    assert still.text == told.strip()
    assert len(note.text) <= TEXT_MAX_CHARS
    assert note.text.endswith("…")


def test_what_a_person_took_back_is_not_done_again_as_if_it_were_restored():
    """The model's own change is put back; once a person has had the note in hand, it stays as they left it."""
    ledger, tap = added(Ledger("c"), "task", "Call the vet"), Actor("person", NOW, "b_1")
    ended = apply(ledger, End(number=1), BY)
    reopened = apply(ended.ledger, Reopen(number=1), BY)
    taken_back, _ = undo(ended.ledger, ended.changes, tap)
    again = apply(taken_back, End(number=1), BY)

    assert restores(reopened.changes, ended.changes)
    assert not restores(again.changes, [*reopened.changes, *apply(ended.ledger, Reopen(number=1), tap).changes])
    assert not restores(reopened.changes, apply(ledger, End(number=1), tap).changes)


def test_changes_rebuild_the_notes():
    """The notes are what their changes say, dates and all."""
    operations = [
        Add(kind="task", text="Call mum", note_id="n_1",
            fields={"rings_from": "2027-01-17T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU", **BERLIN}),
        Add(kind="fact", text="Lives in Ulm", note_id="n_2", fields={"subject": "home", "turn_ids": ("t_1",)}),
        Add(kind="fact", text="Lives in Bonn", note_id="n_3", fields={"subject": "home"}),
        Move(number=1, occurrence="2027-01-24T19:00"),
        Change(number=3, fields={"text": "Lives in Köln", "turn_ids": ("t_4",)}),
        End(number=1, how="dropped"),
        Reopen(number=1),
    ]  # fmt: skip
    ledger, outcomes = apply_all(Ledger("c"), operations, BY)
    changes = [change for each in outcomes for change in each.changes]

    assert rebuilt("c", changes) == ledger
    assert ledger.notes[1].rings_at_ms == weekly().notes[1].rings_at_ms


HURLING = {
    "due_at_ms": 1_799_863_200_000,
    "due_exact": True,
    "repeats": "FREQ=WEEKLY;BYDAY=TU,SA",
}  # Wed 13 Jan, 18:00 UTC


@pytest.mark.parametrize(
    ("hours", "date"),
    [(0, "2027-01-16T19:00"), (34.5, "2027-01-16T19:00"), (39, "2027-01-19T19:00"), (24 * 400, "2028-02-19T19:00")],
)
def test_a_series_that_does_not_ring_stands_under_its_next_date(hours, date):
    """Saturday's until it has been on for a while, then Tuesday's; a year later still by its rule and the clock."""
    ledger = added(Ledger("c"), "event", "Hurling", **BERLIN, **HURLING)
    now_ms = NOW + round(hours * 3_600_000)
    [note] = views.dates_to_come(ledger, now_ms)

    assert series.local_of(note.due_at_ms, "Europe/Berlin") == date
    assert not views.is_over(note, now_ms)
    assert views.to_ring(ledger) == views.ringing(ledger, now_ms) == []


def test_a_series_that_does_not_ring_counts_from_its_day():
    """Without one it is refused; every second Friday stays the same Fridays; a day that goes takes the rhythm along."""
    bins = {"due_at_ms": 1_799_967_600_000, "repeats": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", **BERLIN}  # Fri 15 Jan
    ledger = added(Ledger("c"), "event", "Recycling", **bins)
    later = series.at_its_date(ledger.notes[1], NOW + 8 * 86_400_000)
    over = series.at_its_date(ledger.notes[1].model_copy(update={"repeats": "FREQ=DAILY;UNTIL=20270116"}), NOW * 2)
    bare = apply(ledger, Change(number=1, fields={"due_at_ms": None}), BY).note

    assert series.local_of(later.due_at_ms, "Europe/Berlin") == "2027-01-29T00:00"
    assert series.local_of(over.due_at_ms, "Europe/Berlin") == "2027-01-16T00:00"
    assert (bare.due_at_ms, bare.repeats) == (None, "")
    rules = [
        {"repeats": rule} for rule in ("FREQ=OFTEN", "FREQ=HOURLY", "FREQ=DAILY;COUNT=2", "FREQ=DAILY;BYHOUR=8,20")
    ]
    for fields in ({"repeats": "FREQ=WEEKLY"}, *(bins | rule for rule in rules)):
        assert apply(Ledger("c"), Add(kind="event", text="x", note_id="n", fields=fields), BY).code == "rule"


@pytest.mark.parametrize("freq", ["YEARLY", "MONTHLY", "DAILY", "HOURLY", "DAILY;INTERVAL=7;BYDAY=SA"])
def test_a_rule_without_any_date_is_refused_and_one_that_is_stored_is_no_series(freq):
    """Nobody waits while all days until the year 9999 are looked through; a leap day is found in its year."""
    rule = f"FREQ={freq};BYMONTH=2;BYMONTHDAY=30"
    comes, rings = ({"due_at_ms": NOW, **BERLIN}, {"rings_from": "2027-01-15T18:00", **BERLIN})
    for fields in (rings, comes):
        new = Add(kind="event", text="Club", note_id="n", fields=fields | {"repeats": rule})
        refused = apply(Ledger("c"), new, BY)
        assert refused.code == "rule"
        assert fields is comes or "has no date in the four years from 2027-01-15 on" in refused.detail
        assert isinstance(apply(Ledger("c"), replace(new, fields=fields | {"repeats": LEAP_DAYS}), BY), Applied)
        note = added(Ledger("c"), "event", "Club", **fields).notes[1].model_copy(update={"repeats": rule})

        assert own_dates.at_next_date(series.at_its_date(note, NOW * 2)) == note
        assert series.next_ring(note) is None
        assert not series.has_date(note, "2027-02-01T18:00")
    assert first_from(LEAP_DAYS, "2027-01-15T18:00") == "2028-02-29T18:00"


@pytest.mark.parametrize("rule", ["FREQ=DAILY;INTERVAL=0", "INTERVAL=-1;FREQ=WEEKLY"])
def test_a_rule_that_never_goes_on_is_refused_and_one_that_is_stored_is_no_series(rule):
    """Nobody waits for the second date of it, and no page fails for it."""
    comes, rings = ({"due_at_ms": NOW, **BERLIN}, {"rings_from": "2027-01-12T18:00", **BERLIN})
    for fields in (comes, rings):
        new = Add(kind="event", text="Yoga", note_id="n", fields=fields | {"repeats": rule})
        assert apply(Ledger("c"), new, BY).code == "rule"
        note = added(Ledger("c"), "event", "Yoga", **fields).notes[1].model_copy(update={"repeats": rule})

        assert own_dates.at_next_date(series.at_its_date(note, NOW * 2)) == note
        assert (series.until_its_last(note), series.next_ring(note)) == (rule, None)
        assert series.skip_missed(note, "2027-01-12T18:00", NOW * 2) == "2027-01-12T18:00"
    with pytest.raises(ValueError, match="never goes on"):
        series.first_local(rule, "2027-01-12T18:00", NOW, "Europe/Berlin")


def test_a_rule_ends_on_its_last_day_wherever_that_stands_in_it():
    """What follows UNTIL in a rule counts as what stands before it does."""
    rule = rule_of("FREQ=WEEKLY;UNTIL=20270126;BYDAY=TU", "2027-01-12T18:00")

    assert [f"{at:%m-%d}" for at in rule] == ["01-12", "01-19", "01-26"]


def test_a_number_that_was_told_is_kept_and_one_that_is_taken_is_not():
    """A note that was told as #7 is #7, whatever was noted meanwhile; numbers go on behind it."""
    ledger = apply(Ledger("c"), Add(kind="task", text="Water", note_id="n_7", number=7), BY).ledger
    ledger = apply(ledger, Add(kind="task", text="Feed", note_id="n_8", number=7), BY).ledger

    assert [(note.number, note.text) for note in ledger] == [(7, "Water"), (8, "Feed")]


def test_what_the_person_says_again_is_doubtful_no_more():
    """A note on an edited message that they change or take up again holds; what a keeper marks stays marked."""
    ledger = added(Ledger("c"), "event", "Hair on Thu")
    marked = apply(ledger, Change(number=1, fields={"doubtful": True}), Actor("keeper", NOW, "r_1")).ledger
    again = apply(marked, Change(number=1, fields={"text": "Hair on Fri"}), BY).ledger

    assert marked.find(1).doubtful
    assert not again.find(1).doubtful


# --- rings ----------------------------------------------------------------------------------------------------------


def deposit(rings_from, due_at_ms=SUNDAY, **fields):
    return added(Ledger("c"), "task", "The deposit", rings_from=rings_from, due_at_ms=due_at_ms, **fields)


def moved_to(ledger, due_at_ms, hand="keeper"):
    return apply(ledger, Change(number=1, fields={"due_at_ms": due_at_ms}), Actor(hand, NOW)).ledger.notes[1]


def test_a_ring_with_a_time_of_its_own_stays_when_the_day_moves():
    """A wish like “ping me tomorrow at 7” is kept, whatever day the matter is due, and without one."""
    ledger = deposit("2027-01-15T09:00")

    assert [moved_to(ledger, due).rings_from for due in (SATURDAY, SUNDAY + 8 * 86_400_000, None)] == [
        "2027-01-15T09:00"
    ] * 3


def test_a_ring_of_its_day_moves_along_and_stays_where_its_new_time_is_over():
    """Due on Sunday it rings on Sunday; on Saturday, then; of a day that is over the ring to come is not lost."""
    ledger = deposit("2027-01-17T09:00")

    assert moved_to(ledger, SATURDAY).rings_from == "2027-01-16T09:00"
    assert moved_to(ledger, SATURDAY - 2 * 86_400_000).rings_from == "2027-01-17T09:00"


def test_a_snooze_to_another_day_is_not_taken_off_by_a_new_day():
    """What was put off until Tuesday rings on Tuesday."""
    ledger, local, at_ms = rang(deposit("2027-01-17T09:00"))
    tuesday = at_ms + 2 * 86_400_000
    ledger = apply(ledger, Move(number=1, occurrence=local, to_ms=tuesday), Actor("person", at_ms)).ledger
    later = apply(ledger, Change(number=1, fields={"due_at_ms": SATURDAY}), Actor("keeper", at_ms)).ledger

    assert later.notes[1].rings_at_ms == tuesday


def test_of_two_notes_that_are_one_the_ring_goes_on():
    """The note that stands for both rings for both; two that ring at times of their own are left as they are."""
    ledger = added(deposit("2027-01-16T07:00"), "task", "Pay the deposit", "n_2")
    both = added(ledger, "task", "Pay for the hall", "n_3", rings_from="2027-01-18T07:00")

    assert apply(ledger, Merge(number=1, into=2), BY).note.rings_from == "2027-01-16T07:00"
    assert apply(both, Merge(number=1, into=3), BY) == Refusal("rings", 1)


def test_a_new_value_rings_as_the_old_one_did():
    """A reminder about a fact outlives the fact's next wording."""
    ledger = added(Ledger("c"), "fact", "Rent is 900", subject="rent", rings_from="2027-01-18T07:00")
    ledger = added(ledger, "fact", "Rent is 950", "n_2", subject="rent")

    assert ledger.notes[2].rings_from == "2027-01-18T07:00"


def test_a_rhythm_of_its_own_is_not_lost_to_the_ring_of_another():
    """Hurling on Tuesdays goes on being on Tuesdays."""
    ledger = added(deposit("2027-01-16T07:00"), "event", "Hurling", "n_2", **TUESDAYS)

    assert apply(ledger, Merge(number=1, into=2), BY) == Refusal("rings", 1)


@pytest.mark.parametrize("fields", [TUESDAYS, {"due_at_ms": SUNDAY, "time_zone": "Asia/Tokyo"}])
def test_a_new_value_by_another_clock_or_rhythm_leaves_the_ring_where_it_is(fields):
    """The note before goes on ringing, and the new one keeps its days."""
    ring = {"rings_from": "2027-01-18T07:00", "time_zone": "Europe/Dublin"}
    ledger = added(Ledger("c"), "fact", "Hurling once", subject="hurling", **ring)
    old, new = added(ledger, "fact", "Hurling", "n_2", subject="hurling", **fields)

    assert (old.is_open, old.rings_from, new.rings) == (True, "2027-01-18T07:00", False)
    assert {name: getattr(new, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("ring", "days", "moved"),
    [
        ("2027-01-16T20:00", 7, "2027-01-23T20:00"),
        ("2027-01-16T20:00", -3, "2027-01-16T20:00"),
        ("2027-01-15T09:00", 7, "2027-01-15T09:00"),
    ],
)
def test_a_ring_of_its_day_moves_along_to_the_day_of_a_new_value(ring, days, moved):
    """The evening before is that of the new day; not where that is over, nor for a ring with a time of its own."""
    service = partial(added, kind="fact", subject="boiler")
    ledger = service(Ledger("c"), text="Boiler service", rings_from=ring, due_at_ms=SUNDAY)
    ledger = service(ledger, text="Boiler moved", note_id="n_2", due_at_ms=SUNDAY + days * 86_400_000)

    assert not ledger.notes[1].is_open
    assert ledger.notes[2].rings_from == moved


def test_a_date_of_a_series_that_was_called_done_is_taken_back():
    """Named or not: it rang and waits for word again, and the series goes on as before."""
    ledger, local, at_ms = rang(weekly())
    done = apply(ledger, End(number=1, occurrence=local), BY).ledger
    later = Actor("model", at_ms + 1)

    for date in ("", local):
        outcome = apply(done, Reopen(number=1, occurrence=date), later)
        assert outcome.note == ledger.notes[1].model_copy(update={"version": outcome.note.version})
    assert apply(ledger, Reopen(number=1), later) == Refusal("same", 1)
    assert apply(ledger, Reopen(number=1, occurrence="2027-01-24T19:00"), later).code == "date"


def test_a_date_that_was_done_ahead_of_its_hour_rings_after_all():
    """Also of a series that began weeks ago: none of the dates before comes again."""
    ledger = rang(weekly())[0]
    coming = series.next_ring(ledger.notes[1])
    done = apply(ledger, End(number=1, occurrence=coming[0]), BY).ledger

    assert series.next_ring(apply(done, Reopen(number=1), BY).note) == coming


def test_a_series_that_ended_with_its_last_date_stands_again_with_that_date():
    """[Done] of the last date ends the series; taken back it waits for word."""
    ledger = added(Ledger("c"), "task", "Pills", rings_from="2027-01-16T07:00", repeats="FREQ=DAILY;COUNT=1")
    ledger, local, at_ms = rang(ledger)
    ended = apply(ledger, End(number=1, occurrence=local), Actor("person", at_ms)).ledger
    again = apply(ended, Reopen(number=1), Actor("person", at_ms)).note

    assert (ended.notes[1].status, again.status) == ("done", "open")
    assert views.waits_for_word(again)


SAT, SUN, NOON = "2027-01-16T09:00", "2027-01-17T09:00", series.at_ms_of("2027-01-16T12:00", "UTC")
ONCE, DAILY = {"rings_from": SAT}, {"rings_from": SAT, "repeats": "FREQ=DAILY"}
TWICE, LAST = series.ringing_at([SAT, SUN], "UTC"), DAILY | {"repeats": "FREQ=DAILY;COUNT=1"}
SILENT = {"due_at_ms": SATURDAY, "repeats": "FREQ=DAILY"}
DONE, MIDNIGHT = partial(End, number=1), "2027-01-16T00:00"
RINGS, SNOOZED = Ring(number=1, occurrence=SAT, rings_at_ms=NOON - 3 * 3_600_000), Move(number=1, occurrence=SAT)


@pytest.mark.parametrize(
    "case",
    [
        (ONCE, (RINGS, DONE()), "", {SAT: "rang"}, None),
        (ONCE, (DONE(),), "", {}, SAT),
        (ONCE, (RINGS, replace(SNOOZED, to_ms=NOON), DONE()), "", {SAT: "snoozed"}, SAT),
        (TWICE, (RINGS, DONE(occurrence=SAT)), "", {SAT: "rang", SUN: "moved"}, SUN),
        (TWICE, (RINGS, DONE(occurrence=SAT)), SAT, {SAT: "rang", SUN: "moved"}, SUN),
        (TWICE, (RINGS, DONE(occurrence=SAT)), SUN, "date", None),
        (DAILY, (RINGS, DONE(occurrence=SAT)), "", {SAT: "rang"}, SUN),
        (DAILY, (RINGS, DONE(occurrence=SAT)), SAT, {SAT: "rang"}, SUN),
        (DAILY, (RINGS, SNOOZED), SAT, {SAT: "rang"}, SUN),
        (DAILY, (RINGS, SNOOZED), "", "same", None),
        (DAILY, (RINGS, replace(SNOOZED, to_ms=NOON), DONE(occurrence=SAT)), "", {SAT: "snoozed"}, SAT),
        (DAILY, (RINGS, DONE(occurrence=SUN)), "", {SAT: "done"}, SUN),
        (DAILY, (Move(number=1, occurrence=SUN),), "", {}, SAT),
        (DAILY, (RINGS, DONE(occurrence=SAT), DONE()), "", {SAT: "done"}, SUN),
        (DAILY, (RINGS, DONE(occurrence=SAT), DONE(how="dropped")), "", {SAT: "done"}, SUN),
        (LAST, (RINGS, DONE(occurrence=SAT)), "", {SAT: "rang"}, None),
        (LAST, (RINGS, DONE(occurrence=SAT, how="dropped")), "", {SAT: "rang"}, None),
        (SILENT, (DONE(occurrence=MIDNIGHT),), "", {}, None),
        (SILENT, (DONE(occurrence=MIDNIGHT),), MIDNIGHT, {}, None),
        ({"due_at_ms": SATURDAY}, (DONE(),), "", {}, None),
        ({"due_at_ms": SATURDAY}, (DONE(),), MIDNIGHT, {}, None),
    ],
)  # fmt: skip
def test_a_slip_is_taken_back_whatever_was_ended(case):
    """A ring or a day, once, twice or in a series, rung, put off or ahead: as it stood before, or why not."""
    fields, steps, named, dates, coming = case
    at = Actor("person", NOON - 2 * 3_600_000)
    ledger, outcomes = apply_all(added(Ledger("c"), "task", "Pills", **fields), steps, at)
    assert all(isinstance(each, Applied) for each in outcomes)

    outcome = apply(ledger, Reopen(number=1, occurrence=named), at)

    if isinstance(dates, str):
        assert outcome.code == dates
        return
    note, ring = outcome.note, series.next_ring(outcome.note)
    assert note.is_open
    assert {each.original_local: each.state for each in note.occurrences} == dates
    assert (ring[0] if ring else None) == coming
    assert ring is None or ring[0] != SAT or ring[1] == (NOON if dates else NOON - 3 * 3_600_000)


def test_all_rings_move_along_with_their_day_also_those_that_rang():
    """The day before rang on Friday, then the tasting moves from Saturday at two to Sunday at eleven."""
    at = partial(series.at_ms_of, zone="UTC")
    rings = series.ringing_at(["2026-11-27T09:00", "2026-11-28T12:00"], "UTC")
    due = {"due_at_ms": at("2026-11-28T14:00"), "due_exact": True, "time_zone": "UTC"}
    add = Add(kind="event", text="Tasting", note_id="n_1", fields=due | rings)
    friday = Actor("person", at("2026-11-27T09:01"))
    ledger, _ = apply_all(Ledger("c"), [add], Actor("person", at("2026-11-26T10:00")))
    ledger, _ = apply_all(
        ledger, [Ring(number=1, occurrence="2026-11-27T09:00", rings_at_ms=at("2026-11-27T09:00"))], friday
    )
    ledger, _ = apply_all(ledger, [Change(number=1, fields={"due_at_ms": at("2026-11-29T11:00")})], friday)

    assert series.singles(ledger.notes[1]) == ["2026-11-28T09:00", "2026-11-29T09:00"]


@pytest.mark.parametrize(
    ("hand", "rings_from", "refused"),
    [("person", "2026-11-28T11:00", False), ("person", "2026-11-27T09:00", True), ("model", "2026-11-28T11:00", True)],
)
def test_a_person_who_says_another_time_means_another_reminder(hand, rings_from, refused):
    """“That's set already” to a call at eleven, where the one of nine was meant by nobody; a tap twice sets one."""
    first = Add(kind="task", text="Call the bank", note_id="n_1", fields={"rings_from": "2026-11-27T09:00"})
    ledger, _ = apply_all(Ledger("c"), [first], Actor("person", 0))
    again = Add(kind="task", text="Call the bank", note_id="n_2", fields={"rings_from": rings_from})

    [outcome] = apply_all(ledger, [again], Actor(hand, 0))[1]
    assert isinstance(outcome, Refusal) is refused
