"""The copy of a session's notes in a checkpoint, and a ledger that lost some of them mended by it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from memory.ledger.types import Ledger, Note, NoteChange, Verb
from memory.ledger.undo import rebuilt

MOST_NOTES: Final = 500
"""The most notes of a session in a checkpoint, those that changed last."""
MOST_CHANGES: Final = 2_000
MOST_OTHERS: Final = 200
"""The latest notes of other sessions, at most so many, without their history: a word today may end an old note."""


@dataclass(frozen=True, slots=True)
class NotesCopy:
    """The notes of one session with their changes, as a checkpoint keeps them."""

    notes: tuple[Note, ...] = ()
    changes: tuple[NoteChange, ...] = ()
    """Oldest first; the beginning of a long history may be missing."""
    version: int = 0
    """The ledger's."""
    next_number: int = 1


def notes_of_session(ledger: Ledger, session_id: str) -> tuple[Note, ...]:
    """The notes that were made in a session, at most `MOST_NOTES`, the latest changed first."""
    return _latest((note for note in ledger if note.session_id == session_id), MOST_NOTES)


def notes_of_others(ledger: Ledger, session_id: str) -> tuple[Note, ...]:
    """The notes of other sessions that changed last, at most `MOST_OTHERS`."""
    return _latest((note for note in ledger if note.session_id != session_id), MOST_OTHERS)


def _latest(notes: Iterable[Note], most: int) -> tuple[Note, ...]:
    return tuple(sorted(notes, key=lambda note: -note.version)[:most])


def as_values(copy: NotesCopy) -> dict[str, Any]:
    """The fields of a checkpoint that hold it."""
    return {
        "notes": tuple(note.model_dump(mode="json", exclude_defaults=True) for note in copy.notes),
        "note_changes": tuple(change.model_dump(mode="json", exclude_defaults=True) for change in copy.changes),
        "ledger_version": copy.version,
        "ledger_next_number": copy.next_number,
    }


def read_copy(
    notes: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]], version: int, number: int
) -> NotesCopy:
    """The copy in these fields; values that are no notes are left out."""
    return NotesCopy(_read(Note, notes), _read(NoteChange, changes), version, number)


def _read(kind: type[Any], values: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    found = []
    for each in values:
        try:
            found.append(kind.model_validate(each, strict=False))
        except ValidationError:
            continue
    return tuple(found)


def restored(
    ledger: Ledger, known: Sequence[NoteChange], copy: NotesCopy, may_return: Callable[[Note], bool]
) -> tuple[Ledger, list[NoteChange]]:
    """The ledger with its losses back from this copy, and the changes to write down for that.

    Of a note that both have the later version stands, and no version and no number is lowered. A note that the ledger
    has not comes back if it `may_return`, with its history where that is whole and its versions are free, else with
    one change that has its present form.
    """
    taken = {change.version for change in known}
    ledger = replace(
        ledger, version=max(ledger.version, copy.version), next_number=max(ledger.next_number, copy.next_number)
    )
    made: list[NoteChange] = []
    for note in copy.notes:
        mine = ledger.by_id(note.note_id)
        if mine is not None and mine.version >= note.version:
            continue
        if mine is not None:
            ledger, change = _later(ledger, mine, note, taken)
            made.append(change)
        elif may_return(note):
            told = [each for each in copy.changes if each.note_id == note.note_id and each.version <= note.version]
            is_whole = note.number not in ledger.notes and taken.isdisjoint(each.version for each in told)
            if told and is_whole and rebuilt(ledger.conversation_id, told).by_id(note.note_id) == note:
                ledger = _with(ledger, note)
                made += told
            else:
                ledger, change = _as_it_is(ledger, note, taken)
                made.append(change)
        taken |= {change.version for change in made}
    return ledger, made


def _with(ledger: Ledger, note: Note) -> Ledger:
    notes = dict(sorted({**ledger.notes, note.number: note}.items()))
    return replace(
        ledger,
        notes=notes,
        version=max(ledger.version, note.version),
        next_number=max(ledger.next_number, note.number + 1),
    )


def _as_it_is(ledger: Ledger, note: Note, taken: Collection[int]) -> tuple[Ledger, NoteChange]:
    number = ledger.next_number if note.number in ledger.notes else note.number
    note = note.model_copy(update={"version": _free(ledger, note, taken), "number": number})
    after = note.model_dump(mode="json", exclude_defaults=True)
    return _with(ledger, note), _change(ledger, note, "add", {}, after)


def _later(ledger: Ledger, mine: Note, note: Note, taken: Collection[int]) -> tuple[Ledger, NoteChange]:
    note = note.model_copy(update={"version": _free(ledger, note, taken), "number": mine.number})
    was, now = mine.model_dump(mode="json"), note.model_dump(mode="json")
    fields = [name for name in now if now[name] != was[name] and name not in {"version", "rings_at_ms"}]
    before, after = ({name: values[name] for name in fields} for values in (was, now))
    return _with(ledger, note), _change(ledger, note, "change", before, after)


def _free(ledger: Ledger, note: Note, taken: Collection[int]) -> int:
    """The note's own version, by which it is compared with other copies, unless another change has it."""
    return ledger.version + 1 if note.version in taken else note.version


def _change(ledger: Ledger, note: Note, verb: Verb, before: dict[str, Any], after: dict[str, Any]) -> NoteChange:
    return NoteChange(
        conversation_id=ledger.conversation_id,
        version=note.version,
        note_id=note.note_id,
        number=note.number,
        verb=verb,
        before=before,
        after=after,
        hand=note.source,
        at_ms=note.said_at_ms,
    )
