"""What becomes of notes whose message was edited: they are doubtful until it is answered again, then they go. Pure."""

from __future__ import annotations

from memory.ledger.types import Change, End, Ledger, Note, Operation


def doubted(ledger: Ledger, turn_id: str) -> list[Operation]:
    """What marks the notes that rest on an edited message."""
    certain = (note.number for note in _resting(ledger, turn_id) if not note.doubtful)
    return [Change(number=number, fields={"doubtful": True}) for number in certain]


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
