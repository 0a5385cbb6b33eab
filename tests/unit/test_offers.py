"""Which notes the message under an edit names at its end."""

from bot.turns.steps.offers import settled_notes
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Add, Change, End, Ledger, Note

BY = Actor("model", 0, "t2")


def a_ledger() -> Ledger:
    """Two notes on the message of turn `t`, and one on another."""
    of = {"conversation_id": "c", "kind": "task", "said_at_ms": 0}
    turns = {1: "t", 2: "t", 3: "t0"}
    notes = {
        number: Note.model_validate(
            of | {"note_id": f"n{number}", "number": number, "text": f"Thing {number}", "turn_ids": (turn,)}
        )
        for number, turn in turns.items()
    }
    return Ledger("c", notes=notes, next_number=4)


def test_only_what_an_edit_or_the_answer_to_it_touched_is_named():
    """The other notes of the message stand as they did, and those of other messages are not the edit's."""
    changes = [Change(number=number, fields={"text": f"Matter {number}"}) for number in (2, 3)]
    after, outcomes = apply_all(a_ledger(), changes, BY)

    assert [note.text for note in settled_notes(after, "t", [], outcomes)] == ["Matter 2"]


def test_what_an_answer_notes_in_place_of_a_note_is_named_behind_it():
    """That one was dropped tells half of it."""
    again = Add(kind="task", text="Thing 1 at five", note_id="n4", fields={"turn_ids": ("t2",)})
    after, outcomes = apply_all(a_ledger(), [End(number=1, how="dropped"), again], BY)

    named = [(note.text, note.is_open) for note in settled_notes(after, "t", [], outcomes)]
    assert named == [("Thing 1", False), ("Thing 1 at five", True)]
