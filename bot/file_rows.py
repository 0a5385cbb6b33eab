"""Rows of files that go with forgotten turns and sessions, and their number (P13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.ports import Database, Row, Statement
from memory.storage.extension import Erasure


def place_of(conversation_id: str) -> str:
    """The place where the passages of a conversation's files are searched, apart from its turns."""
    return f"files of {conversation_id}"


def text_gone(file_id: str, conversation_id: str) -> list[Statement]:
    """Return the statements that delete everything read from a file."""
    return [
        Statement("file_passages_drop", {"file_id": file_id}),
        Statement("file_terms_drop", {"conversation_id": place_of(conversation_id), "file_id": file_id}),
    ]


async def erase_files(db: Database, going: Erasure) -> list[Statement]:
    """The statements that delete the files of forgotten turns; their bytes go with the next sweep."""
    statements: list[Statement] = []
    for row in await _going(db, going):
        statements.append(Statement("erase_file", {"file_id": row["file_id"]}))
        statements += text_gone(row["file_id"], going.conversation_id)
    return statements


async def count_files(db: Database, going: Erasure) -> Mapping[str, int]:
    """Return how many files go; what was read from them goes with them."""
    return {"file": len(await _going(db, going))}


async def _going(db: Database, going: Erasure) -> Sequence[Row]:
    rows = await db.read("erased_files", conversation_id=going.conversation_id)
    return [
        row
        for row in rows
        if going.everything or row["turn_id"] in going.turn_ids or row["session_id"] in going.session_ids
    ]
