"""The ledger as it was: what was done since is taken off again. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from memory.ledger import series
from memory.ledger.types import Ledger, Note, NoteChange


def as_of(ledger: Ledger, since: Iterable[NoteChange]) -> Ledger:
    """The ledger before these changes, which are its latest, in their order.

    A note that was forgotten meanwhile is not in it: what is gone was never there.
    """
    notes = {number: note for number, note in ledger.notes.items() if not note.is_forgotten}
    version = ledger.version
    for change in sorted(since, key=lambda each: -each.version):
        version = min(version, change.version - 1)
        note = notes.get(change.number)
        if note is None or note.note_id != change.note_id:
            continue
        if change.verb == "add":
            del notes[change.number]
            continue
        before = Note.model_validate(note.model_dump(mode="json") | change.before, strict=False)
        ring = series.next_ring(before)
        notes[change.number] = before.model_copy(update={"rings_at_ms": ring[1] if ring else None})
    return Ledger(ledger.conversation_id, version, ledger.next_number, notes, ledger.epoch)
