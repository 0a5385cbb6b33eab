"""Taking back what was noted: the note steps down, and an older one that it had replaced counts again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot import replies
from bot.delivery.outbox import Button
from memory.language.languages import Languages
from memory.ports import Statement
from memory.search.searcher import index_memory, unindex_memory
from memory.types import Memory

UNDO_NOTE: Final = "note_undo"


def taken_back(memory_ids: Iterable[str]) -> list[Statement]:
    """Return what makes these memories count no more; they stay known, so that they are not promoted again."""
    return [
        statement
        for memory_id in memory_ids
        for statement in (Statement("memory_withdraw", {"memory_id": memory_id}), unindex_memory(memory_id))
    ]


def restored(
    known: Sequence[Memory], gone: Iterable[str], conversation_id: str, languages: Languages
) -> list[Statement]:
    """Return what lets older values count again whose place those that are gone had taken."""
    gone = frozenset(gone)
    back = [each for each in known if each.superseded_by in gone]
    return [
        statement
        for each in back
        for statement in (
            Statement("memory_restore", {"memory_id": each.memory_id}),
            index_memory(each, conversation_id, languages),
        )
    ]


def undo_buttons(turn_id: str) -> tuple[tuple[Button, ...], ...]:
    """Return [Undo] for what a turn noted; `bot/features/undo.py` obeys it."""
    return ((Button(replies.say("undo"), UNDO_NOTE, {"turn_id": turn_id}),),)
