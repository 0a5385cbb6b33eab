"""Notes and changes <-> rows: every statement about a ledger is built here, every row of one is read here. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from memory.ledger.erasing import Erased
from memory.ledger.types import Actor, Ledger, Note, NoteChange, Occurrence, Operation, Refusal
from memory.ports import Reads, Row, Statement

_FLAGS = ("due_exact", "offered", "doubtful")
_LISTS = {"turn_ids": "turn_ids_json", "rings_again_min": "rings_again_json"}


def note_row(note: Note) -> dict[str, Any]:
    """The columns of a note; its dates are rows of their own."""
    values = note.model_dump(exclude={"occurrences", *_LISTS})
    flags = {name: int(values[name]) for name in _FLAGS}
    return values | flags | {column: orjson.dumps(getattr(note, name)).decode() for name, column in _LISTS.items()}


def read_note(row: Row, occurrences: Sequence[Occurrence] = ()) -> Note:
    """The note in a row. Raises `ValidationError` for a row that holds none."""
    values = {name: row[name] for name in row if name not in _LISTS.values()}
    flags = {name: bool(row[name]) for name in _FLAGS}
    lists = {name: tuple(orjson.loads(row[column])) for name, column in _LISTS.items()}
    return Note.model_validate(values | flags | lists | {"occurrences": tuple(occurrences)})


def change_row(change: NoteChange) -> dict[str, Any]:
    """The columns of a change."""
    values = change.model_dump(exclude={"before", "after"})
    return values | {
        "before_json": orjson.dumps(change.before).decode(),
        "after_json": orjson.dumps(change.after).decode(),
    }


def read_change(row: Row) -> NoteChange:
    """The change in a row. Raises `ValidationError` for a row that holds none."""
    values = {name: row[name] for name in row if name not in {"before_json", "after_json"}}
    before, after = orjson.loads(row["before_json"]), orjson.loads(row["after_json"])
    return NoteChange.model_validate(values | {"before": before, "after": after})


def statements(before: Ledger, after: Ledger, changes: Sequence[NoteChange]) -> list[Statement]:
    """Statements that write a ledger at `before` as it is `after` these changes; `Conflict` when it moved meanwhile."""
    if not changes:
        return []
    move = {
        "conversation_id": after.conversation_id,
        "version": after.version,
        "next_number": after.next_number,
        "from_version": before.version,
        "epoch": before.epoch,
    }
    changed = {change.note_id: after.notes[change.number] for change in changes}
    return [
        Statement("ledger_move", move, expect=1),
        *(each for note in changed.values() for each in put_note(note, before.by_id(note.note_id))),
        *(Statement("note_change_put", change_row(change)) for change in changes),
    ]


def put_note(note: Note, before: Note | None) -> list[Statement]:
    """The statements that write a note as it stands, with its dates where they changed."""
    dates: list[Statement] = []
    if note.occurrences != (before.occurrences if before else ()):
        here = {"note_id": note.note_id}
        dates = [
            Statement("occurrences_clear", here),
            *(Statement("occurrence_put", here | each.model_dump()) for each in note.occurrences),
        ]
    return [Statement("note_put", note_row(note)), *dates]


def refusal_row(
    refusal_id: str, conversation_id: str, session_id: str, refused: tuple[Operation, Refusal], by: Actor
) -> Statement:
    """The row of an operation that had no place, for the console and for the model's next message."""
    operation, refusal = refused
    wanted = {name: value for name, value in asdict(operation).items() if value not in ("", (), None)}
    values = {
        "refusal_id": refusal_id,
        "conversation_id": conversation_id,
        "session_id": session_id,
        "change_json": orjson.dumps({"op": type(operation).__name__.lower(), **wanted}, default=str).decode(),
        "reason": f"{refusal.code} {refusal.detail}".strip(),
        "turn_ids_json": orjson.dumps([by.cause]).decode(),
        "hand": by.hand,
        "at_ms": by.at_ms,
    }
    return Statement("note_refusal_put", values)


def erase_notes(note_ids: Sequence[str]) -> list[Statement]:
    """The statements that take notes away with their dates and everything that was done to them (P13)."""
    names = ("erase_note_changes", "occurrences_clear", "erase_note")
    return [Statement(name, {"note_id": note_id}) for note_id in note_ids for name in names]


def erase_everything(conversation_id: str) -> list[Statement]:
    """The statements that take a whole ledger away (P13)."""
    names = ("erase_all_occurrences", "erase_all_notes", "erase_all_note_changes", "erase_note_refusals",
             "erase_session_lines", "keeper_lease_revoke", "erase_ledger")  # fmt: skip
    return [Statement(name, {"conversation_id": conversation_id}) for name in names]


def rewrite(before: Ledger, erased: Erased) -> list[Statement]:
    """The statements that remove the erased notes, under a new epoch; `Conflict` when the ledger moved meanwhile."""
    after = erased.ledger
    renew = {
        "conversation_id": after.conversation_id,
        "version": after.version,
        "epoch": new_epoch(),
        "from_version": before.version,
        "from_epoch": before.epoch,
    }
    here = {"conversation_id": after.conversation_id}
    return [
        Statement("ledger_renew", renew, expect=1),
        *erase_notes([note.note_id for note in erased.gone]),
        *(Statement("erase_note_changes", {"note_id": change.note_id}) for change in erased.anew),
        *(Statement("note_change_unsay", here | {"version": change.version}) for change in erased.unsaid),
        *(Statement("note_change_put", change_row(change)) for change in (*erased.traces, *erased.anew)),
        *(each for note in erased.rewritten for each in put_note(note, note)),
        *(each for change in erased.traces for each in put_note(after.notes[change.number], None)),
    ]


def written_anew(ledger: Ledger, left: str) -> list[Statement]:
    """Statements that write a ledger's row and all its notes anew: one of them was altered on the disk."""
    here = {"conversation_id": ledger.conversation_id}
    values = here | {"version": ledger.version, "next_number": ledger.next_number, "epoch": ledger.epoch}
    clear = [
        Statement(name, here | {"note_id": note.note_id, "number": note.number})
        for note in ledger
        for name in ("occurrences_clear", "erase_note", "erase_notes_of_number")
    ]
    clear = [Statement(each.name, {name: each.params[name] for name in _KEYS[each.name]}) for each in clear]
    return [
        Statement("ledger_mend", values | {"left_json": left}),
        *clear,
        *(each for note in ledger for each in put_note(note, None)),
    ]


_KEYS = {
    "occurrences_clear": ("note_id",),
    "erase_note": ("note_id",),
    "erase_notes_of_number": ("conversation_id", "number"),
}


def new_epoch() -> str:
    """A word that was never used."""
    return secrets.token_hex(8)


def unforgotten(ledger: Ledger) -> Statement:
    """The statement that fails work made from this ledger (`Conflict`), if something was forgotten since."""
    return Statement("ledger_unforgotten", {"conversation_id": ledger.conversation_id, "epoch": ledger.epoch}, expect=1)


def begin(ledger: Ledger, left: Mapping[str, int] | None = None) -> Statement:
    """The statement that opens a conversation's ledger; `Conflict` where it is open already."""
    values = {
        "conversation_id": ledger.conversation_id,
        "version": ledger.version,
        "next_number": ledger.next_number,
        "epoch": ledger.epoch,
        "left_json": orjson.dumps(dict(left or {})).decode(),
    }
    return Statement("ledger_begin", values, expect=1)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A ledger as its rows have it."""

    ledger: Ledger
    is_sound: bool = True
    """False when a row was altered or is missing: its changes have to make it again."""
    left: str = "{}"
    """JSON: reason → number of rows of the stores before that were not carried over."""


def reading(conversation_id: str) -> Reads[Loaded | None]:
    """The reads that load a ledger; None for one that was never opened. Begun anew when it moves between them."""
    here = {"conversation_id": conversation_id}
    found = yield Statement("ledger_of", here)
    if not found:
        return None
    head = found[0]
    rows = yield Statement("notes_of", here)
    dated: Sequence[Row] = ()
    if any(row["rings_from"] or row["repeats"] for row in rows):
        dated = yield Statement("occurrences_of", here)
    if (rows or head["added"]) and (yield Statement("ledger_of", here)) != found:
        return (yield from reading(conversation_id))
    dates: dict[str, list[Occurrence]] = {}
    try:
        for row in dated:
            values = {name: row[name] for name in Occurrence.model_fields}
            dates.setdefault(row["note_id"], []).append(Occurrence.model_validate(values))
        notes = {row["number"]: read_note(row, dates.get(row["note_id"], ())) for row in rows}
    except (ValidationError, orjson.JSONDecodeError):
        notes = {}
    is_sound = len(notes) >= head["added"] and all(note.version <= head["version"] for note in notes.values())
    ledger = Ledger(conversation_id, head["version"], head["next_number"], notes, head["epoch"])
    return Loaded(ledger, is_sound and bool(head["epoch"]), head["left_json"])
