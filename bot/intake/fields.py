"""Fields of raw JSON, each taken only when its type and size are right, else it counts as missing. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.intake.local import FIRST_LOCAL_ID
from memory.context.transcript import clip_ends
from memory.text import clean

MAX_ID = FIRST_LOCAL_ID - 1
"""Telegram's own ids have at most 52 bits; numbers above are ours, and larger ones fit into no database."""
MAX_TEXT_CHARS = 32_000
"""Of one message: the limit of our HTTP API, eight times Telegram's."""
MAX_NAME_CHARS = 256
LAST_DATE_S = 253_402_300_799
"""The end of the year 9999."""


def as_object(value: object) -> Mapping[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_id(value: object) -> int | None:
    """Return an id that a database can hold, None for anything else."""
    return value if type(value) is int and abs(value) <= MAX_ID else None


def as_digest(value: object) -> int | None:
    """Return a number of at most 60 bits, None for anything else."""
    return value if type(value) is int and 0 <= value <= MAX_ID else None


def as_text(value: object) -> str:
    """Return a text without signs that databases refuse, its middle left out when it is far too long; else "".

    It is cut before anything looks at its characters: Telegram's own are 4,096 at most, and a server of one's own may
    hand on a million of them.
    """
    return clean(clip_ends(value, MAX_TEXT_CHARS)) if isinstance(value, str) else ""


def as_name(value: object) -> str:
    """Return a name as `as_text` does, its end left out when it is far too long."""
    return as_text(value[:MAX_NAME_CHARS]) if isinstance(value, str) else ""
