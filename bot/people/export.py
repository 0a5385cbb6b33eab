"""Rows about a person beside conversations: their choices and the tokens they used."""

from __future__ import annotations

from typing import Any

import orjson

from memory.ports import Database


async def about_person(db: Database, user_id: int) -> dict[str, Any]:
    """Return a person's settings, return modes, tools, logins and tokens per day, as JSON values."""
    person = await db.read_one("exported_person", user_id=user_id)
    preferences = await db.read("exported_preferences", prefix=f"{user_id}|")
    return {
        "user_id": user_id,
        "settings": orjson.loads(person["settings_json"]) if person else {},
        "paired": bool(person and person["allowed"]),
        "continuity": [dict(row) for row in preferences],
        "tools": [dict(row) for row in await db.read("exported_tool_choices", user_id=user_id)],
        "logins": [dict(row) for row in await db.read("exported_tool_logins", user_id=user_id)],
        "tokens_per_day": {row["day"]: row["tokens"] for row in await db.read("exported_usage", user_id=user_id)},
    }


async def tool_calls(db: Database, conversation_id: str) -> list[dict[str, Any]]:
    """Return the calls of tools that were made in a conversation, with all that they returned, as JSON values."""
    rows = await db.read("exported_tool_calls", conversation_id=conversation_id)
    return [{**row, "arguments_json": orjson.loads(row["arguments_json"])} for row in rows]


async def tasks(db: Database, conversation_id: str) -> list[dict[str, Any]]:
    """Return the tasks of a conversation, each with its runs, as JSON values."""
    runs = [dict(row) for row in await db.read("exported_task_runs", conversation_id=conversation_id)]
    found = []
    for row in await db.read("exported_tasks", conversation_id=conversation_id):
        first = orjson.loads(row["first_json"]) if row["first_json"] else None
        mine = [run for run in runs if run["note_id"] == row["note_id"]]
        found.append({**row, "first_json": first, "runs": mine})
    return found
