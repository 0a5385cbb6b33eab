"""Whoever changes notes, a ring that was promised is kept until the note ends or the ring itself is taken off."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.ledger import series
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Add, Applied, Change, End, Ledger, Merge, Move, Reopen, Ring

NOW = 1_800_000_000_000  # Fri 15 Jan 2027, 08:00 UTC
HOUR_MS = 3_600_000
NUMBERS = st.integers(1, 4)
HANDS = st.sampled_from(["person", "model", "keeper", "operator", "offline"])
LOCALS = st.sampled_from(["2027-01-15T18:00", "2027-01-16T07:00", "2027-01-17T09:30", "2027-01-20T20:00"])
RULES = st.sampled_from(["", "", "FREQ=DAILY", "FREQ=WEEKLY;BYDAY=SU"])
RINGING = st.fixed_dictionaries({"rings_from": LOCALS, "repeats": RULES})
DUE = st.fixed_dictionaries(
    {
        "due_at_ms": st.sampled_from([-34, -8, 10, 16, 40, 49, 112]).map(lambda h: NOW + h * HOUR_MS),
        "due_exact": st.booleans(),
    }
)
SUBJECTS = st.sampled_from([{}, {"subject": "home"}])
NEW = st.builds(
    lambda kind, *fields: ("add", kind, {name: value for each in fields for name, value in each.items()}),
    st.sampled_from(["fact", "task", "event"]),
    st.one_of(st.just({}), RINGING),
    st.one_of(st.just({}), DUE),
    SUBJECTS,
)
FIRST = st.builds(
    lambda rings, due: ("add", "fact", {"subject": "home"} | rings | due), RINGING, st.one_of(st.just({}), DUE)
)
CHANGED = st.one_of(
    DUE,
    DUE,
    st.fixed_dictionaries({"text": st.sampled_from(["Call dad", "Pay 120"]), "doubtful": st.booleans()}),
    st.fixed_dictionaries({"kind": st.sampled_from(["fact", "event", "task"]), "weight": st.just(0.9)}),
    st.just({"snoozed_until_ms": NOW + 400 * HOUR_MS}),
)
STEPS = st.one_of(
    NEW,
    st.tuples(st.just("change"), NUMBERS, CHANGED),
    st.tuples(st.just("merge"), NUMBERS, NUMBERS),
    st.tuples(st.just("done"), NUMBERS, st.none()),
    st.tuples(st.just("reopen"), NUMBERS, st.none()),
    st.tuples(st.just("ring"), NUMBERS, st.none()),
    st.tuples(st.just("snooze"), NUMBERS, st.integers(1, 200)),
)


def operation(step, ledger, count):
    """The operation of a step; None where there is no ring to speak of."""
    what, first, second = step
    if what == "add":
        return Add(kind=first, text=f"matter {count}", note_id=f"n_{count}", fields=second)
    note = ledger.find(first)
    coming = series.next_ring(note) if note else None
    if what == "ring":
        return Ring(number=first, occurrence=coming[0], rings_at_ms=coming[1]) if coming else None
    if what == "snooze":
        return Move(number=first, occurrence=coming[0], to_ms=NOW + second * HOUR_MS) if coming else None
    if what == "done":
        date = series.date_to_end(note, NOW) if note and note.repeats else ""
        return End(number=first, occurrence=date) if date else None
    return {
        "change": lambda: Change(number=first, fields=second),
        "merge": lambda: Merge(number=first, into=second),
        "reopen": lambda: Reopen(number=first),
    }[what]()


@settings(settings.default, max_examples=150)
@given(st.lists(FIRST, min_size=1, max_size=3), st.lists(st.tuples(STEPS, HANDS), min_size=1, max_size=20))
def test_a_note_with_a_ring_to_come_keeps_one(first, steps):
    """Another text, day, kind or subject, a merge, a snooze, a date done or taken back: something still rings."""
    ledger, at_ms = Ledger("c"), NOW
    for count, (step, hand) in enumerate([*((each, "model") for each in first), *steps]):
        wanted = operation(step, ledger, count)
        if wanted is None:
            continue
        outcome = apply(ledger, wanted, Actor(hand, at_ms))
        if not isinstance(outcome, Applied):
            continue
        before, ledger = ledger, outcome.ledger
        if isinstance(wanted, Ring):
            at_ms = max(at_ms, wanted.rings_at_ms)
            continue
        for note in before:
            if note.rings_at_ms is None or note.rings_at_ms <= at_ms:
                continue
            now = ledger.find(note.number)
            now = (now.replaced_by and ledger.by_id(now.replaced_by)) or now
            assert now.is_open
            assert now.rings_at_ms is not None
