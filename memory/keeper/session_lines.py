"""Title and standing of a session in the keeper's words, and how far it was read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from memory.ledger.types import Ledger, Note
from memory.ledger.views import Scope, forgotten_turns, is_story, to_do
from memory.ports import Database, Row, Statement


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session as the keeper left it; `version` 0 = never read."""

    session_id: str
    conversation_id: str
    title: str = ""
    """A few words; "" when there was nothing to name."""
    standing: str = ""
    """Where it stands, in two to four sentences."""
    turn_ids: tuple[str, ...] = ()
    """The turns that both rest on."""
    read_through_seq: int = 0
    version: int = 0
    written_at_ms: int = 0
    """The time it was worded: the notes may say something else since."""
    worked_on: tuple[str, ...] = ()
    """The turns with text that was pasted, drafted, translated or played."""


def without(line: SessionLine, turn_ids: Collection[str]) -> SessionLine:
    """The line, or one that says nothing where it rests on one of these turns."""
    return line if set(turn_ids).isdisjoint(line.turn_ids) else replace(line, title="", standing="")


def played_elsewhere(line: SessionLine | None, ledger: Ledger, scope: Scope) -> frozenset[str]:
    """The turns of a session that tell the story of another persona than that of the scope, and nothing real.

    Such are those on which its notes rest alone, and text that was played in a session that has some.
    """
    if line is None:
        return frozenset()
    stories = [note for note in ledger if is_story(note) and note.session_id == line.session_id]
    if not any(note.persona != scope.persona for note in stories):
        return frozenset()
    here = (note for note in ledger if not is_story(note) or note.persona == scope.persona)
    told = {turn_id for note in here for turn_id in note.turn_ids}
    return frozenset([*line.worked_on, *(turn_id for note in stories for turn_id in note.turn_ids)]) - told


def is_elsewhere(line: SessionLine, ledger: Ledger, scope: Scope) -> bool:
    """Whether title and standing rest on nothing but another persona's story: they are told there."""
    return bool(line.turn_ids) and played_elsewhere(line, ledger, scope).issuperset(line.turn_ids)


def is_read(line: SessionLine | None) -> bool:
    """Whether a keeper has read a session, or found too little in it to read: how it began is not told any more."""
    return line is not None and bool(line.title or line.written_at_ms)


def main_matter(notes: Iterable[Note], session_id: str) -> Note | None:
    """The weightiest note of a session that stands, else one that was done; None for none."""
    own = [note for note in notes if note.session_id == session_id and note.status in {"open", "done"}]
    return max(own, key=lambda note: (note.is_open, note.weight, -note.number), default=None)


def current_task(notes: Iterable[Note], session_id: str, title: str) -> str:
    """The current task of a session: its newest open matter, else its title (004 phase 3)."""
    mine = [note for note in to_do(notes, 0) if note.session_id == session_id]
    return max(mine, key=lambda note: (note.said_at_ms, note.number)).text if mine else title


def put_session_line(line: SessionLine) -> Statement:
    """The statement that writes a line over the one with its `version`; `Conflict` when somebody else wrote since."""
    values = {
        "session_id": line.session_id,
        "conversation_id": line.conversation_id,
        "title": line.title,
        "standing": line.standing,
        "turn_ids_json": orjson.dumps(list(line.turn_ids)).decode(),
        "worked_on_json": orjson.dumps(list(line.worked_on)).decode(),
        "read_through_seq": line.read_through_seq,
        "version": line.version,
        "written_at_ms": line.written_at_ms,
    }
    return Statement("session_line_update" if line.version else "session_line_insert", values, expect=1)


def read_session_line(row: Row) -> SessionLine:
    """The line in a row."""
    values = {name: row[name] for name in row if name not in {"turn_ids_json", "worked_on_json"}}
    turn_ids, worked_on = (tuple(orjson.loads(row[name])) for name in ("turn_ids_json", "worked_on_json"))
    return SessionLine(**values, turn_ids=turn_ids, worked_on=worked_on)


async def session_lines(db: Database, ledger: Ledger) -> Mapping[str, SessionLine]:
    """The lines of a conversation's sessions by session id, as they may be told: none rests on a forgotten turn.

    Raises `StorageUnavailable`.
    """
    silent = forgotten_turns(ledger)
    return {key: without(line, silent) for key, line in (await stored_lines(db, ledger.conversation_id)).items()}


async def stored_lines(db: Database, conversation_id: str) -> Mapping[str, SessionLine]:
    """The stored lines by session id, for writers. Raises `StorageUnavailable`."""
    rows: Sequence[Row] = await db.read("session_lines_of", conversation_id=conversation_id)
    return {row["session_id"]: read_session_line(row) for row in rows}
