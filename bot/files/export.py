"""A person's files in their export: fields of each, and the text that was read from it."""

from __future__ import annotations

from typing import Any

from bot.files.rows import read_row
from memory.ports import Database


async def exported(db: Database, conversation_id: str, user_id: int | None) -> list[dict[str, Any]]:
    """Return the fields and read texts of a conversation's files; of one person's alone with an id."""
    found: list[dict[str, Any]] = []
    for row in await db.read("files_of", conversation_id=conversation_id, most=1_000_000):
        file = read_row(row)
        if user_id not in (None, file.user_id):
            continue
        passages = await db.read("file_passages_first", file_id=file.file_id, most=1_000_000)
        found.append(
            {
                "number": file.number,
                "name": file.name,
                "kind": file.kind,
                "type": file.label,
                "size_bytes": file.size_bytes,
                "sha256": file.digest,
                "sent_at_ms": file.received_at_ms,
                "user_id": file.user_id,
                "turn_id": file.turn_id,
                "described": file.described,
                "text": [{"page": each["page"], "text": each["text"]} for each in passages],
            }
        )
    return found
