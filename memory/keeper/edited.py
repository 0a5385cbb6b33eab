"""What becomes of notes whose message was edited: they are doubtful until it is answered again, then they go. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory.ledger.types import Change, End, Ledger, Note, NoteChange, Operation

TIMES: Final = frozenset({"due_at_ms", "due_exact", "rings_from", "repeats", "rings_at_ms", "time_zone", "occurrences"})
"""The fields that say when."""


def doubted(ledger: Ledger, turn_id: str) -> list[Operation]:
    """What marks the notes that rest on an edited message."""
    certain = (note.number for note in _resting(ledger, turn_id) if not note.doubtful)
    return [Change(number=number, fields={"doubtful": True}) for number in certain]


def undoable(changes: Sequence[NoteChange], since: Sequence[NoteChange]) -> list[NoteChange]:
    """The changes of an edited message that are taken back: a day and its ring together, or neither.

    Where somebody moved a note after the message did, its times stay as they stand now. `since` is what was done to
    the ledger from the first of the changes on.
    """
    own = {(change.number, change.version) for change in changes}
    last = {change.number: change.version for change in sorted(changes, key=lambda each: each.version)}
    moved = {
        each.number
        for each in since
        if (each.number, each.version) not in own
        and each.version > last.get(each.number, each.version)
        and not TIMES.isdisjoint(each.after)
    }
    return [each for each in changes if each.number not in moved or TIMES.isdisjoint(each.after)]


def withdrawn(ledger: Ledger, turn_id: str) -> list[Operation]:
    """What is done once it is answered again: what rests on it alone goes, what others bear out holds again."""
    found: list[Operation] = []
    for note in _resting(ledger, turn_id):
        if set(note.turn_ids) == {turn_id} and note.source in {"keeper", "offline", "model"}:
            found.append(End(number=note.number, how="dropped"))
        elif note.doubtful:
            found.append(Change(number=note.number, fields={"doubtful": False}))
    return found


def _resting(ledger: Ledger, turn_id: str) -> list[Note]:
    return [note for note in ledger if note.is_open and turn_id in note.turn_ids]
