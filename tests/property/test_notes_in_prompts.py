"""Any ledger, any changes: each note stands once in a prompt, and the block of a session does not move."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.context.budget import Budget
from memory.context.context_builder import ContextInputs, Moment, build, reference_text, stable_text
from memory.context.finds import with_notes
from memory.context.notes_block import LASTING_TOKENS, MAX_OPEN, since, take
from memory.context.tokens import TiktokenCounter
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Add, Applied, Change, End, Ledger, Merge, Reopen, Ring
from memory.ledger.undo import as_of
from memory.ledger.views import Scope
from memory.packets import RetrievedItem
from memory.state.notes_marks import new_mark
from memory.testing import START_MS, make_state

COUNTER = TiktokenCounter()
SLOW = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
HOUR_MS = 3_600_000
NUMBERS = st.integers(1, 12)
KINDS = st.sampled_from(["fact", "person", "task", "promise", "event", "story", "preference", "project"])
STEPS = st.one_of(
    st.tuples(st.just("add"), KINDS, st.integers(0, 3)),
    st.tuples(st.just("change"), NUMBERS, st.integers(0, 9)),
    st.tuples(st.just("end"), NUMBERS, st.sampled_from(["done", "dropped"])),
    st.tuples(st.just("merge"), NUMBERS, NUMBERS),
    st.tuples(st.just("reopen"), NUMBERS, st.none()),
    st.tuples(st.just("ring"), NUMBERS, st.none()),
)
TALKS = st.lists(STEPS, max_size=25)
SCOPES = st.sampled_from([Scope(), Scope(persona="bard"), Scope(session_id="s_1")])


def operation(step, ledger, at_ms):
    """Return the operation of a step; each text is said by one note alone."""
    what, first, second = step
    if what == "add":
        number = ledger.next_number
        fields = {"turn_ids": (f"t_{number % 5}",), "session_id": f"s_{number % 2}"}
        if second == 1:
            fields |= {"rings_from": "2023-11-14T22:30", "time_zone": "UTC"}
        if second == 2:
            fields |= {"due_at_ms": at_ms + number * HOUR_MS, "due_exact": True}
        if first == "story":
            fields |= {"about": "the tale", "persona": "bard"}
        return Add(kind=first, text=f"matter {number} of the talk", note_id=f"n_{number}", fields=fields)
    if what == "change":
        return Change(number=first, fields={"text": f"matter {first} in form {second}"})
    if what == "end":
        return End(number=first, how=second)
    if what == "merge":
        return Merge(number=first, into=second)
    return (
        Reopen(number=first) if what == "reopen" else Ring(number=first, occurrence="2023-11-14T22:30", rings_at_ms=0)
    )


def played(ledger, steps, at_ms, hand="keeper"):
    changes = []
    for n, step in enumerate(steps):
        wanted = operation(step, ledger, at_ms)
        if isinstance(wanted, Ring) and (note := ledger.find(wanted.number)) and note.rings_at_ms:
            wanted = replace(wanted, rings_at_ms=note.rings_at_ms)
        outcome = apply(ledger, wanted, Actor(hand, at_ms + n, f"cause_{n}"))
        if isinstance(outcome, Applied):
            ledger, changes = outcome.ledger, [*changes, *outcome.changes]
    return ledger, changes


@SLOW
@given(TALKS, TALKS)
def test_a_ledger_can_be_seen_as_it_was(before, after):
    """Taking off what was done since gives the notes as they stood, so a block needs no copy of their words."""
    then, _ = played(Ledger("c"), before, START_MS)
    now, changes = played(then, after, START_MS + HOUR_MS)
    seen = as_of(now, changes)

    assert seen.version == then.version
    assert {n: note.model_dump(exclude={"version"}) for n, note in seen.notes.items()} == {
        n: note.model_dump(exclude={"version"}) for n, note in then.notes.items()
    }


@SLOW
@given(TALKS, TALKS, SCOPES, st.integers(0, 2))
def test_each_note_stands_once_in_a_prompt(before, after, scope, answered):
    """In the block, behind it in its newest form, or with a find: no line twice, no number told in words twice."""
    then, _ = played(Ledger("c"), before, START_MS)
    now, changes = played(then, after, START_MS + HOUR_MS)
    at_ms, answered_ms = START_MS + 2 * HOUR_MS, START_MS + answered * HOUR_MS
    mark = new_mark(make_state(), then, scope, "UTC", START_MS)
    block = take(as_of(now, changes), scope, mark, Budget().threads_tokens, COUNTER)
    done = since(block, now, changes, scope, told=(), now_ms=at_ms, answered_ms=answered_ms)
    found = [
        RetrievedItem(source="turn", ref=f"t_{n}", text=f"User: words {n}", at_ms=START_MS, score=1) for n in range(5)
    ]
    found = with_notes(found, now, scope, (block, done), changed={}, now_ms=at_ms, zone="UTC")
    packet = build(
        ContextInputs(state=make_state(), moment=Moment(now_ms=at_ms), block=block, since=done, retrieved=found),
        Budget(),
        COUNTER,
    )
    lines = [line for line in reference_text(packet).splitlines() if line.startswith("#")]
    behind = done.changed
    with_finds = [part for item in found for part in item.note.split("; ") if re.search(r"#\d+ \w+:", part)]

    assert len(lines) == len(set(lines))
    assert len(behind) == len({line.split()[0] for line in behind})
    assert not {line.split()[0] for line in with_finds} & {line.split()[0] for line in lines}
    assert len(with_finds) == len(set(with_finds))
    assert block == take(then, scope, mark, Budget().threads_tokens, COUNTER)


@SLOW
@given(TALKS, st.lists(TALKS, max_size=3))
def test_the_block_does_not_move_and_keeps_to_its_size(before, later):
    """Whatever is noted afterwards; at most twenty open matters are told, the others counted."""
    ledger, _ = played(Ledger("c"), before, START_MS)
    mark = new_mark(make_state(), ledger, Scope(), "UTC", START_MS)
    block = take(ledger, Scope(), mark, Budget().threads_tokens, COUNTER)
    texts, changes = set(), []
    for n, steps in enumerate(later):
        ledger, more = played(ledger, steps, START_MS + n * HOUR_MS)
        changes += more
        again = take(as_of(ledger, changes), Scope(), mark, Budget().threads_tokens, COUNTER)
        done = since(again, ledger, changes, Scope(), told=(), now_ms=START_MS + n * HOUR_MS, answered_ms=START_MS)
        packet = build(
            ContextInputs(state=make_state(), moment=Moment(now_ms=START_MS), block=again, since=done),
            Budget(),
            COUNTER,
        )
        texts.add(stable_text(packet))

    assert len(texts) <= 1
    assert len(block.open) <= MAX_OPEN
    assert sum(COUNTER.count(line) + 1 for line in block.lasting) <= LASTING_TOKENS
    assert sum(COUNTER.count(line) + 1 for line in block.open) <= Budget().threads_tokens
