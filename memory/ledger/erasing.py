"""A ledger without some of its notes and turns, and without a trace of them (P13). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from memory.ledger import series
from memory.ledger.types import NO_WORDS, Ledger, Note, NoteChange

WORDS: Final = frozenset({"text", "subject", "owner", "about"})
"""Fields that hold people's words."""


@dataclass(frozen=True, slots=True)
class Erased:
    """Rows that go, and rows that have to be written again without them."""

    ledger: Ledger
    """The ledger afterwards; its version moved on with the rewritten changes."""
    gone: tuple[Note, ...] = ()
    traces: tuple[NoteChange, ...] = ()
    """The remains of a note that goes without its messages: no word, only on which turns it rested."""
    anew: tuple[NoteChange, ...] = ()
    """The whole new history of each note that stays but whose old history told a gone matter."""
    unsaid: tuple[NoteChange, ...] = ()
    """Changes that stay without the turn they came with."""
    words: tuple[str, ...] = ()
    """The words of the notes and changes that go."""

    @property
    def rewritten(self) -> tuple[Note, ...]:
        """The notes whose history was written again."""
        return tuple(self.ledger.notes[change.number] for change in self.anew)

    @property
    def touched(self) -> set[str]:
        """The ids of all notes that go, or of which something goes."""
        return {note.note_id for note in self.gone} | {change.note_id for change in (*self.anew, *self.unsaid)}


def values_of(ledger: Ledger, note_ids: Collection[str]) -> list[Note]:
    """These notes with all older and newer values of the same thing: where one lives, and where one lived."""
    wanted = set(note_ids)
    notes = {note.note_id: note for note in ledger}
    while True:
        more = {note.note_id for note in ledger if note.replaced_by in wanted}
        more |= {notes[each].replaced_by or "" for each in wanted if each in notes}
        if more & notes.keys() <= wanted:
            return [note for note in ledger if note.note_id in wanted]
        wanted |= more & notes.keys()


def without(
    ledger: Ledger,
    changes: Sequence[NoteChange],
    note_ids: Collection[str],
    turn_ids: Collection[str],
    *,
    staying: Collection[str] = (),
    cut: Collection[str] = (),
    silent: Collection[str] = (),
) -> Erased:
    """The ledger without these notes, and without all that rests on these turns but for the notes `staying`.

    Those keep their own words, and nothing of the turns, but rest on those of which a part stays (`cut`). A note whose
    place one that goes had taken stands again. A note that stays although such a turn once changed it loses its
    history: it is told from now on as it is now. A note that goes while its turns stay leaves a trace, so that neither
    these nor the turns that tell it again (`silent`) are told; so does one that was forgotten before.
    """
    gone_turns, gone_ids, asked = frozenset(turn_ids), set(note_ids), frozenset(note_ids)
    by_note: dict[str, list[NoteChange]] = {}
    for change in changes:
        by_note.setdefault(change.note_id, []).append(change)
    for note in ledger:
        if note.note_id in staying:
            continue
        told = by_note.get(note.note_id, ())
        if not gone_turns.isdisjoint(note.turn_ids) or any(_stands(note, each, gone_turns) for each in told):
            gone_ids.add(note.note_id)
    gone = tuple(note for note in ledger if note.note_id in gone_ids)
    kept = {
        note.number: _standing_again(_off(note, gone_turns - set(cut)), gone_ids)
        for note in ledger
        if note.note_id not in gone_ids
    }
    after = replace(ledger, notes=kept)
    traces: list[NoteChange] = []
    for note in gone:
        tellers = dict.fromkeys((*note.turn_ids, *(silent if note.note_id in asked else ())))
        rest = tuple(each for each in tellers if each not in gone_turns)
        if rest and (note.note_id in asked or note.is_forgotten):
            after, change = _anew(after, _trace(note, rest), by_note.get(note.note_id, ()))
            traces.append(change)
    anew: list[NoteChange] = []
    words = [*_words_of(gone), *(word for note in gone for word in _words_in(by_note.get(note.note_id, ())))]
    for note in kept.values():
        told = by_note.get(note.note_id, [])
        if note != ledger.notes[note.number] or any(_tells(each, gone_turns, gone_ids) for each in told):
            after, change = _anew(after, note, told)
            anew.append(change)
            words += _words_in(each for each in told if each.cause in gone_turns)
    again = {change.note_id for change in anew}
    unsaid = tuple(
        each
        for each in changes
        if each.cause in gone_turns and each.note_id not in gone_ids and each.note_id not in again
    )
    left = {word for note in kept.values() for word in (note.text, note.subject)}
    told_of = dict.fromkeys(word for word in words if word not in left)
    return Erased(after, gone, tuple(traces), tuple(anew), unsaid, tuple(told_of))


def _off(note: Note, turn_ids: Collection[str]) -> Note:
    """A note that rests on these turns no more."""
    rest = tuple(each for each in note.turn_ids if each not in turn_ids)
    return note if rest == note.turn_ids else note.model_copy(update={"turn_ids": rest})


def _trace(note: Note, turn_ids: tuple[str, ...]) -> Note:
    """A note without its words."""
    return Note(
        note_id=note.note_id,
        conversation_id=note.conversation_id,
        number=note.number,
        kind="fact",
        text=NO_WORDS,
        status="dropped",
        confidence=0,
        said_at_ms=note.said_at_ms,
        session_id=note.session_id,
        user_id=note.user_id,
        turn_ids=turn_ids,
    )


def _stands(note: Note, change: NoteChange, turn_ids: Collection[str]) -> bool:
    """Whether words that came with one of these turns stand in the note."""
    if change.cause not in turn_ids:
        return False
    return change.verb == "add" or any(change.after[name] == getattr(note, name) for name in WORDS & set(change.after))


def _tells(change: NoteChange, turn_ids: Collection[str], note_ids: Collection[str]) -> bool:
    """Whether a change holds words of these turns, or names these notes."""
    if change.cause in turn_ids and WORDS & (set(change.after) | set(change.before)):
        return True
    return any(
        not set(turn_ids).isdisjoint(each.get("turn_ids", ())) or each.get("replaced_by") in note_ids
        for each in (change.before, change.after)
    )


def _standing_again(note: Note, gone: Collection[str]) -> Note:
    if note.replaced_by not in gone:
        return note
    note = note.model_copy(update={"status": "open", "replaced_by": None})
    ring = series.next_ring(note)
    return note.model_copy(update={"rings_at_ms": ring[1] if ring else None})


def _anew(ledger: Ledger, note: Note, told: Sequence[NoteChange]) -> tuple[Ledger, NoteChange]:
    """The ledger with a note whose history begins with its present form."""
    version = ledger.version + 1
    note = note.model_copy(update={"version": version})
    change = NoteChange(
        conversation_id=ledger.conversation_id,
        version=version,
        note_id=note.note_id,
        number=note.number,
        verb="add",
        after=note.model_dump(mode="json", exclude_defaults=True),
        hand=note.source,
        at_ms=told[0].at_ms if told else note.said_at_ms,
    )
    return replace(ledger, version=version, notes=dict(sorted({**ledger.notes, note.number: note}.items()))), change


def _words_of(notes: Iterable[Note]) -> Iterator[str]:
    return (word for note in notes for word in (note.text, note.subject) if word not in {"", NO_WORDS})


def _words_in(changes: Iterable[NoteChange]) -> Iterator[str]:
    for change in changes:
        if change.said:
            yield change.said
        for values in (change.before, change.after):
            words = (_text(values.get(name)) for name in ("text", "subject"))
            yield from (word for word in words if word not in {"", NO_WORDS})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
