"""The ledger as the tools of one turn see it: their changes are there at once, and committed with the turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memory.ledger.apply import CHANGEABLE, apply
from memory.ledger.types import Actor, Add, Applied, Ledger, Note, NoteChange, Operation, Outcome
from memory.ledger.undo import restores
from memory.ledger.views import Scope, belongs, is_story, standing

_ADDED = (CHANGEABLE | {"session_id", "user_id", "persona"}) - {"kind", "text"}


class WorkingCopy:
    """A copy of the ledger; `operations` bring the real one to the same state."""

    def __init__(self, ledger: Ledger, scope: Scope, by: Actor, reserve: Callable[[Ledger], int]) -> None:
        """Begin with the stored ledger; `reserve` gives numbers that nobody else is given."""
        self.ledger = ledger
        self.by = by
        self._scope = scope
        self._reserve = reserve
        self._begun = frozenset(ledger.notes)
        self._done: list[Operation] = []
        self._changes: list[NoteChange] = []

    def apply(self, operation: Operation) -> Outcome:
        """Apply an operation to the copy; a refusal changes nothing."""
        if isinstance(operation, Add) and self.ledger.by_id(operation.note_id) is None:
            operation = replace(operation, number=self._reserve(self.ledger))
        outcome = apply(self.ledger, operation, self.by)
        if isinstance(outcome, Applied):
            self.ledger = outcome.ledger
            self._done.append(operation)
            self._changes += outcome.changes
        return outcome

    def now(self) -> tuple[Ledger, int]:
        """The notes as they stand and the number of operations done, to come `back_to`."""
        return self.ledger, len(self._done)

    def restores(self, begun: Ledger, earlier: Sequence[NoteChange]) -> bool:
        """Whether what was done since then only puts notes back as they were before one of these changes."""
        return restores([each for each in self._changes if each.version > begun.version], earlier)

    def back_to(self, begun: Ledger, done: int) -> None:
        """Take off all that was done since then."""
        self.ledger, self._done = begun, self._done[:done]
        self._changes = [each for each in self._changes if each.version <= begun.version]

    def all(self) -> list[Note]:
        """Every note that these tools may see, ended ones too."""
        return [note for note in self.ledger if belongs(note, self._scope)]

    def open(self) -> list[Note]:
        """The open notes that the scope shows."""
        return standing(self.all())

    def find(self, number: int) -> Note | None:
        """The note of this number, if these tools may see it."""
        note = self.ledger.find(number)
        return note if note is not None and belongs(note, self._scope) else None

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, a new note as it is now: nothing names a number that is not stored yet.

        One that was made and ended in the same turn is not made.
        """
        return tuple(each for operation in self._done if (each := self._stored(operation)) is not None)

    @property
    def changes_the_world(self) -> bool:
        """Whether something was done to a note that is not made up."""
        return not all(map(is_story, self.changed))

    @property
    def changed(self) -> list[Note]:
        """The notes to which something was done, as they are now, each once."""
        found = (
            self.ledger.by_id(each.note_id) if isinstance(each, Add) else self.ledger.find(each.number)
            for each in self.operations
        )
        return list({note.number: note for note in found if note is not None}.values())

    @property
    def changes(self) -> int:
        """The number of operations on notes that were there."""
        return sum(not isinstance(each, Add) for each in self._done)

    def _stored(self, operation: Operation) -> Operation | None:
        if not isinstance(operation, Add):
            return operation if operation.number in self._begun else None
        note = self.ledger.by_id(operation.note_id)
        if note is None or not note.is_open:
            return None
        return replace(operation, kind=note.kind, text=note.text, fields=fields_of(note))


def fields_of(note: Note) -> dict[str, Any]:
    """The fields that differ from those of an empty note."""
    defaults = {name: field.default for name, field in Note.model_fields.items()}
    return {name: getattr(note, name) for name in sorted(_ADDED) if getattr(note, name) != defaults[name]}
