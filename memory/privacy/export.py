"""The export of one conversation: everything kept about it, as plain JSON values for a person to take along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import orjson

from memory.keeper.session_lines import session_lines
from memory.ledger.ledgers import Ledgers
from memory.ports import Clock, Database, Row
from memory.sessions.evidence import state_of_row
from memory.storage.store import SessionRow, read_session_row

FORMAT = "continuity-export"
FORMAT_VERSION = 2
"""1 had memories, and notes of each session, instead of notes and their changes."""
PAGE_TURNS = 500
_MARKS = re.compile(r"[\\`*_\[\]<>#|~]")


# --- pure -----------------------------------------------------------------------------------------------------------


def turn_values(row: Row) -> dict[str, Any]:
    """Return a turn's words, with the signs read from it and its tokens."""
    values = {name: value for name, value in row.items() if name not in {"digest", "tool_calls_json", "job_refs"}}
    return values | {
        "third_party": bool(row["third_party"]),
        "tool_calls": orjson.loads(row["tool_calls_json"]),
        "job_refs": orjson.loads(row["job_refs"]),
    }


def session_values(row: SessionRow, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a session with its summary, topics, open loops and turns."""
    state = state_of_row(row)[0]
    return {
        "session_id": row.session_id,
        "title": row.title,
        "origin": row.origin,
        "status": row.status,
        "created_at_ms": row.created_at_ms,
        "last_turn_at_ms": row.last_turn_at_ms,
        "summary": row.rolling_summary,
        "topics": [topic.name for topic in state.active_topics] if state else [],
        "loops": [loop.model_dump(mode="json") for loop in state.open_loops] if state else [],
        "pending_clarifications": [each.model_dump(mode="json") for each in state.pending_clarifications]
        if state
        else [],
        "turns": turns,
    }


# --- orchestration --------------------------------------------------------------------------------------------------


async def gather(
    db: Database, ledgers: Ledgers, clock: Clock, conversation_id: str, *, user_id: int | None = None
) -> dict[str, Any]:
    """Return all that is kept about a conversation: sessions with turns, notes with their changes, jobs, arcs.

    `user_id` restricts it to one person's words, as in a group: summaries and loops, which hold the others' words too,
    are left out then. Raises `StorageUnavailable`.
    """
    here = {"conversation_id": conversation_id}
    ledger = await ledgers.read(conversation_id)
    lines = await session_lines(db, ledger)
    sessions = []
    for found in await db.read("erased_sessions", **here):
        row = read_session_row(found)
        values = session_values(row, await _turns(db, row.session_id, user_id))
        line = lines.get(row.session_id)
        values |= {"title": line.title, "standing": line.standing} if line and line.title else {}
        if user_id is not None:
            values = {name: value for name, value in values.items() if name in {"session_id", "origin", "turns"}}
        if values["turns"] or user_id is None:
            sessions.append(values)
    notes = [note for note in ledger if user_id in (None, note.user_id) and not note.is_wordless]
    ids = {note.note_id for note in notes}
    changes = await ledgers.since(conversation_id, 0)
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "conversation_id": conversation_id,
        "exported_at_ms": clock.now_ms(),
        "sessions": sessions,
        "notes": [note.model_dump(mode="json", exclude={"conversation_id"}) for note in notes],
        "note_changes": [
            change.model_dump(mode="json", exclude={"conversation_id"}) for change in changes if change.note_id in ids
        ],
        "jobs": [dict(row) for row in await db.read("exported_jobs", **here) if user_id in (None, row["user_id"])],
    }
    if user_id is None:
        document["arcs"] = [dict(row) for row in await db.read("exported_arcs", prefix=f"{conversation_id}|")]
    return document


async def _turns(db: Database, session_id: str, user_id: int | None) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    seq = 0
    while True:
        page = await db.read(
            "turns_between", session_id=session_id, from_seq=seq + 1, through_seq=2**62, limit=PAGE_TURNS
        )
        turns += [turn_values(row) for row in page if user_id in (None, row["user_id"])]
        if len(page) < PAGE_TURNS:
            return turns
        seq = page[-1]["seq"]


async def conversations_of(db: Database, user_id: int) -> list[str]:
    """Return the conversations in which a person said something. Reads every turn: for operators."""
    return [row["conversation_id"] for row in await db.read("conversations_of", user_id=user_id)]


def as_markdown(pages: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return notes as Markdown: a heading with its lines for each page, none for a page without lines."""
    whole = [
        f"# {_plain(title)}\n\n" + "".join(f"- {_plain(line)}\n" for line in lines) for title, lines in pages if lines
    ]
    return "\n".join(whole)


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split()))


def as_bytes(document: dict[str, Any]) -> bytes:
    """Return the document as indented JSON."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2, default=str)
