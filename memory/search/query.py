"""A query: the text, the places to look, and the facts that bear on the order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Query:
    """One question to the past of a conversation."""

    conversation_id: str
    text: str
    """The question; of a very long one the beginning and the end are read."""
    session_ids: Collection[str] | None = None
    """Only these sessions are searched (one that was started fresh); None: all of the conversation."""
    exclude_turn_ids: Collection[str] = ()
    """Turns that are shown anyway."""
    limit: int = 12
    now_ms: int = 0
    """The time for "recent" and "yesterday"; 0: neither matters."""
    language: str | None = None
    """The code of the text's language, None to have it guessed."""
    names: Mapping[str, int | None] = field(default_factory=dict)
    """The people of a chat of several: first name → user id, None for the assistant."""
    by_words: bool = False
    """These words are looked for in anybody's messages; else a question of the person, which their own words answer."""
    open_turn_ids: Collection[str] = ()
    """Turns that open loops rest on, preferred."""
