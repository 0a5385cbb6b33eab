"""The ledger as the tools of one turn see it, its changes at once, and the notes that a model means by a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from memory.ledger import views
from memory.ledger.apply import CHANGEABLE, apply
from memory.ledger.types import Actor, Add, Applied, Ledger, Note, NoteChange, Operation, Outcome
from memory.ledger.undo import restores
from memory.ledger.views import Scope, belongs, is_story, standing
from memory.search.terms import little_words

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


# --- the notes that a model means -----------------------------------------------------------------------------------

CANDIDATES: Final = 8
_NUMBERS: Final = re.compile(r"[\s\[\]#,;\d]+")
_WORD: Final = re.compile(r"\w+")
SHORT: Final = 3
"""Letters of a word that have to be the same at least; of a longer one all but its last three, where endings are."""


@dataclass(frozen=True, slots=True)
class NamedNotes:
    """The notes that a call names: numbers, and words where a number was asked."""

    numbers: tuple[int, ...]
    words: tuple[str, ...] = ()


def wanted(given: Any) -> NamedNotes:
    """Numbers as a model gave them: 12, "12", "#12", [12, 13], "[12, 13]", or the words of a note."""
    numbers: dict[int, None] = {}
    words: list[str] = []
    for each in given if isinstance(given, (list, tuple)) else [given]:
        text = str(each).strip()
        if text and _NUMBERS.fullmatch(text):
            numbers.update(dict.fromkeys(int(found[:9]) for found in re.findall(r"\d+", text)))
        elif text:
            words.append(text)
    return NamedNotes(tuple(numbers), tuple(words))


def near(notes: Iterable[Note], words: str) -> list[Note]:
    """The notes that have some of these words, those with most of them first; little words count where all are."""
    asked = [word for word in _WORD.findall(words.casefold()) if len(word) >= SHORT or not word.isascii()]
    asked = [word for word in asked if word not in little_words()] or asked
    if not asked:
        return []
    shares = [(sum(_is_in(word, note.text.casefold()) for word in asked), note) for note in notes]
    return [note for share, note in sorted(shares, key=lambda each: (-each[0], -each[1].number)) if share]


def _is_in(word: str, text: str) -> bool:
    """Whether a word is in the text, with any ending."""
    stem = word[: max(SHORT, len(word) - SHORT)]
    return any(each.startswith(stem) for each in _WORD.findall(text)) or (not word.isascii() and word in text)


def candidates(notes: Sequence[Note], words: str, now_ms: int) -> list[Note]:
    """Notes that these words may mean: those that come near, else the open ones."""
    found = near(notes, words) if words else []
    return (found or views.to_do(notes, now_ms) or views.best_first(notes, now_ms))[:CANDIDATES]
