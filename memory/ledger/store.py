"""Notes and changes <-> rows: every statement about a ledger is built here, every row of one is read here. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import orjson

from memory.ledger.types import Actor, Ledger, Note, NoteChange, Occurrence, Operation, Refusal
from memory.ports import Reads, Row, Statement

_JSON = {"turn_ids": "turn_ids_json"}
_FLAGS = ("due_exact", "offered", "doubtful")


def note_row(note: Note) -> dict[str, Any]:
    """The columns of a note; its dates are rows of their own."""
    values = note.model_dump(exclude={"occurrences", "turn_ids"})
    flags = {name: int(values[name]) for name in _FLAGS}
    return values | flags | {"turn_ids_json": orjson.dumps(list(note.turn_ids)).decode()}


def read_note(row: Row, occurrences: Sequence[Occurrence] = ()) -> Note:
    """The note in a row. Raises `ValidationError` for a row that holds none."""
    values = {name: row[name] for name in row if name != "turn_ids_json"}
    flags = {name: bool(row[name]) for name in _FLAGS}
    turn_ids = tuple(orjson.loads(row["turn_ids_json"]))
    return Note.model_validate(values | flags | {"turn_ids": turn_ids, "occurrences": tuple(occurrences)})


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
    """What writes a ledger that was at `before` as it is `after` these changes; `Conflict` when it moved meanwhile."""
    if not changes:
        return []
    move = {
        "conversation_id": after.conversation_id,
        "version": after.version,
        "next_number": after.next_number,
        "from_version": before.version,
    }
    changed = {change.note_id: after.notes[change.number] for change in changes}
    return [
        Statement("ledger_move", move, expect=1),
        *(each for note in changed.values() for each in put_note(note, before.by_id(note.note_id))),
        *(Statement("note_change_put", change_row(change)) for change in changes),
    ]


def put_note(note: Note, before: Note | None) -> list[Statement]:
    """What writes a note as it stands, with its dates where they changed."""
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
    """What writes down that an operation had no place, for the console and for the model's next message."""
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
    """What takes notes away with their dates and everything that was done to them (P13)."""
    names = ("erase_note_changes", "occurrences_clear", "erase_note")
    return [Statement(name, {"note_id": note_id}) for note_id in note_ids for name in names]


def begin(conversation_id: str, left: dict[str, int] | None = None) -> Statement:
    """What opens a conversation's ledger; nothing happens where it is open."""
    left_json = orjson.dumps(left or {}).decode()
    values = {"conversation_id": conversation_id, "version": 0, "next_number": 1, "left_json": left_json}
    return Statement("ledger_begin", values)


def reading(conversation_id: str) -> Reads[Ledger | None]:
    """The reads that load a ledger; None for one that was never opened."""
    here = {"conversation_id": conversation_id}
    head = yield Statement("ledger_of", here)
    if not head:
        return None
    rows = yield Statement("notes_of", here)
    dated = (
        yield Statement("occurrences_of", here)
        if any(row["rings_from"] for row in rows)
        else Statement("ledger_of", here)
    )
    dates: dict[str, list[Occurrence]] = {}
    for row in dated:
        if "original_local" in row:
            values = {name: row[name] for name in ("original_local", "moved_to_ms", "state")}
            dates.setdefault(row["note_id"], []).append(Occurrence.model_validate(values))
    notes = [read_note(row, dates.get(row["note_id"], ())) for row in rows]
    return Ledger(conversation_id, head[0]["version"], head[0]["next_number"], {note.number: note for note in notes})
