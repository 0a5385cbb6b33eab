"""Finds beside notes: what a note tells is not quoted, and what holds no more says so."""

import pytest

from memory.context.finds import EDITED, of_this_world, replace_by_notes, with_notes
from memory.context.notes_block import NO_BLOCK, NOTHING_SINCE, Block, Since
from memory.ledger.apply import apply
from memory.ledger.types import Actor, Add, Change, End, Ledger
from memory.ledger.views import EVERYTHING, Scope
from memory.packets import RetrievedItem
from memory.testing import START_MS

TOURER = (
    "Order for the Dutch lad's tourer: two rims, a Son 28 dynamo, spokes in black, and the rack that he saw in Ghent."
)
NOTHING = (NO_BLOCK, NOTHING_SINCE)


def ledger_of(*notes, over=()):
    """The notes, given as (kind, text, fields); the numbers in `over` are done."""
    ledger, actor = Ledger("c"), Actor("keeper", START_MS, "r_1")
    for n, (kind, text, fields) in enumerate(notes, 1):
        ledger = apply(ledger, Add(kind=kind, text=text, note_id=f"n_{n}", fields=fields), actor).ledger
    for number in over:
        ledger = apply(ledger, End(number=number), actor).ledger
    return ledger


def find_of(text, ref="t_1"):
    return RetrievedItem(source="turn", ref=ref, text=text, at_ms=START_MS, score=1, share=1)


def replaced(found, message, ledger, scope=EVERYTHING):
    return replace_by_notes(found, message, ledger, scope, NOTHING, now_ms=START_MS, zone="UTC")


def test_a_note_stands_in_for_the_message_that_it_tells_whole():
    """A prompt that has the note nowhere is given it, and of several on one message those that the newest is about."""
    on = {"turn_ids": ("t_1",)}
    ledger = ledger_of(("person", "Lia is scared of storms", on), ("event", "Mum's eye is operated on", on))
    kept, news = replaced([find_of("User: lia fears storms, mum has her eye done")], "how is mum's eye?", ledger)

    assert kept == []
    assert news.changed == ("#2 event: Mum's eye is operated on",)
    assert news.numbers == {2}


@pytest.mark.parametrize(
    ("block", "since", "told"),
    [
        (Block(lines={1: "#1 task: Order for the Dutch lad's tourer…"}), NOTHING_SINCE, True),
        (Block(lines={1: f"#1 task: {TOURER}"}), NOTHING_SINCE, False),
        (
            NO_BLOCK,
            Since(events=("#1 Order for the Dutch lad's tourer…: rang at 17:00",), numbers=frozenset({1})),
            True,
        ),
        (NO_BLOCK, Since(changed=("#1 task: Order for the Dutch lad's tourer… (due Fri)",)), True),
        (NO_BLOCK, Since(numbers=frozenset({1})), False),  # a tool's result in the messages tells it
    ],
)
def test_a_note_that_the_prompt_cuts_is_told_whole_where_the_message_is_about_it(block, since, told):
    """Who changes its text writes it anew: "…" lost the rims of an order."""
    ledger = ledger_of(("task", TOURER, {}))
    _, news = replace_by_notes(
        [], "the tourer's rims came", ledger, EVERYTHING, (block, since), now_ms=START_MS, zone="UTC"
    )

    assert news.changed == ((f"#1 task: {TOURER}",) if told else ())


@pytest.mark.parametrize(
    ("message", "told"), [("aoife paid one of the lines", False), ("no digest on mondays, please", True)]
)
def test_work_by_the_clock_is_spoken_of_by_its_title(message, told):
    """The words that are put to the model at its time are not the person's matters."""
    work = "Morning digest: Tell me in a few short lines who paid; if nobody did, say so in one line."
    ledger = ledger_of(("task", work, {"owner": "assistant", "rings_from": "2023-11-20T07:00"}))
    _, news = replaced([], message, ledger)

    assert bool(news.changed) == told


def test_a_story_is_more_than_its_notes():
    on = {"turn_ids": ("t_1",), "about": "the tale", "persona": "bard"}
    ledger = ledger_of(("story", "The dragon owes the wolf a loaf", on))
    found = [find_of("User: the dragon owes the wolf a loaf")]
    kept, _ = replaced(found, "what of the wolf?", ledger, Scope(persona="bard"))

    assert kept == found


def test_a_message_whose_matter_is_over_is_kept_and_says_which_matter():
    """Its other notes tell that nowhere; a bare number would name a note that the prompt does not have."""
    on = {"turn_ids": ("t_1",)}
    notes = [("task", text, on) for text in ("Feed the sourdough", "Call mum", "Buy rye", "Book the oven")]
    ledger = ledger_of(*notes, over=(1, 2, 3))
    found = [find_of("User: sourdough, mum, rye, oven")]
    kept, news = replaced(found, "did I feed the sourdough?", ledger)
    (told,) = with_notes(kept, ledger, EVERYTHING, (NO_BLOCK, news), changed={}, now_ms=START_MS, zone="UTC")

    assert told.note == ("done: #1 Feed the sourdough; done: #2 Call mum; done: #3 Buy rye; #4 task: Book the oven")


def test_a_story_is_told_where_it_is_played_named_or_asked_about():
    """Real talk shares words with what a character says, and no matter; nor does another persona tell it.

    Text that somebody pasted beside a story (`t_2`) is of none: no note of the story rests on it.
    """
    on = {"turn_ids": ("t_1",), "about": "the tale", "persona": "bard", "session_id": "s_1"}
    real = {"turn_ids": ("t_3",), "session_id": "s_1"}
    ledger = ledger_of(("story", "The dragon owes the wolf a loaf", on), ("person", "Lia bakes bread", real))
    found = [
        find_of("User: a loaf by noon, growls the beast").model_copy(update={"ref": ref, "session_id": "s_1"})
        for ref in ("t_1", "t_2", "t_3")
    ]

    def told(message, persona="bard", session_id="s_2"):
        kept = of_this_world(found, message, ledger, Scope(persona=persona), session_id)
        return [item.ref for item in kept]

    everything = ["t_1", "t_2", "t_3"]
    assert told("the bread is done by noon") == ["t_2", "t_3"]
    assert told("the wolf comes by noon") == everything
    assert told("who comes by noon?") == everything
    assert told("who comes by noon?", persona="") == ["t_2", "t_3"]
    assert told("the bread is done by noon", session_id="s_1") == everything


@pytest.mark.parametrize(
    ("persona", "asked", "told"),
    [
        ("bard", "the captain waits at the door", ["played", "noted", "mixed", "unknown"]),
        ("bard", "who waits at the door?", ["played", "real", "noted", "mixed", "unknown"]),
        ("assistant", "the captain waits at the door", ["real", "noted", "mixed", "unknown"]),
        ("companion", "the captain waits at the door", ["real", "noted", "mixed", "unknown"]),
        ("assistant", "who waits at the door?", ["played", "real", "noted", "mixed", "unknown"]),
    ],
)
def test_fiction_is_found_in_fiction_and_real_talk_in_real_talk(persona, asked, told):
    """Told all the same are what is asked about, and in real talk the turns of real notes.

    Where somebody changed the persona within a session nobody knows which turns were played.
    """
    spoke = {"played": ("bard", "own"), "real": ("assistant",), "noted": ("own",), "mixed": ("bard", "assistant")}
    found = [
        find_of("User: the captain is at the door", ref).model_copy(update={"personas": spoke.get(ref, ())})
        for ref in ("played", "real", "noted", "mixed", "unknown")
    ]
    ledger = ledger_of(("event", "The captain comes on Friday", {"turn_ids": ("noted",)}))
    kept = of_this_world(found, asked, ledger, Scope(persona=persona), "s_2", plays={"bard", "own"})

    assert [item.ref for item in kept] == told


def test_a_find_whose_message_was_edited_says_that_the_answer_was_to_other_words():
    """The new words stood above the old answer, as if it had been to them."""
    found = [find_of(f"User: the {word} at {n}\nAssistant: At 5.", f"t_{n}") for n, word in ((6, "van"), (7, "tram"))]
    edited = [item.model_copy(update={"edited": item.ref == "t_6"}) for item in found]
    marked = with_notes(edited, ledger_of(), EVERYTHING, NOTHING, changed={}, now_ms=START_MS, zone="UTC")

    assert [item.note for item in marked] == [EDITED, ""]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_an_answer_that_tells_a_note_as_it_was_says_what_was_changed_later(is_replaced):
    """“Your dentist is Dr Keane” stood there as it was said; of an answer about something else nothing is said."""
    ledger = ledger_of(("fact", "Your dentist is Dr Keane", {"said_at_ms": START_MS - 1, "subject": "dentist"}))
    new = Add(kind="fact", text="Your dentist is Dr Byrne", note_id="n_2", fields={"subject": "dentist"})
    reword = Change(number=1, fields={"text": "Your dentist is Dr Byrne"})
    ledger = apply(ledger, new if is_replaced else reword, Actor("model", START_MS + 9, "t_9")).ledger
    changed = {"n_2" if is_replaced else "n_1": START_MS + 9}
    asked, other = (
        find_of("User: who is it?\nAssistant: Your dentist is Dr Keane, on Tuesdays.", ref="t_2"),
        find_of("User: and the tiles?\nAssistant: Halden brings the tiles on Monday.", ref="t_3"),
    )
    found = with_notes([asked, other], ledger, EVERYTHING, NOTHING, changed=changed, now_ms=START_MS + 10, zone="UTC")

    now = f"#{2 if is_replaced else 1} fact: Your dentist is Dr Byrne"
    assert [each.note for each in found] == [f"later changed: {now}", ""]


def test_an_answer_given_after_the_change_is_not_marked():
    """It tells the note as it is."""
    ledger = ledger_of(("event", "Dentist appointment, Dr Keane", {"said_at_ms": START_MS - 9}))
    said = find_of("User: when is it?\nAssistant: Your dentist appointment with Dr Keane is on Friday.", ref="t_2")
    changed = {"n_1": START_MS - 5}
    found = with_notes([said], ledger, EVERYTHING, NOTHING, changed=changed, now_ms=START_MS + 10, zone="UTC")

    assert [each.note for each in found] == [""]
