"""What is kept about a person beside conversations: their choices and the tokens they used."""

from __future__ import annotations

from typing import Any

import orjson

from memory.ports import Database


async def about_person(db: Database, user_id: int) -> dict[str, Any]:
    """Return a person's settings, what they chose to carry forward, and their tokens per day, as JSON values."""
    person = await db.read_one("exported_person", user_id=user_id)
    preferences = await db.read("exported_preferences", prefix=f"{user_id}|")
    return {
        "user_id": user_id,
        "settings": orjson.loads(person["settings_json"]) if person else {},
        "paired": bool(person and person["allowed"]),
        "continuity": [dict(row) for row in preferences],
        "tokens_per_day": {row["day"]: row["tokens"] for row in await db.read("exported_usage", user_id=user_id)},
    }
