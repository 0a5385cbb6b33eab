"""The buttons under an answer that did something to the notes; `bot/features` obeys them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot import replies
from bot.delivery.outbox import Button

UNDO_NOTE: Final = "note_undo"
FORGET_ASK: Final = "forget_ask"
JOIN_AGAIN: Final = "join_again"

Rows = tuple[tuple[Button, ...], ...]


def undo_buttons(turn_id: str) -> Rows:
    """[Undo] for the notes that a turn added, changed or ended."""
    return ((Button(replies.say("undo"), UNDO_NOTE, {"turn_id": turn_id}),),)


def join_buttons(turn_id: str) -> Rows:
    """[Bring back what was before]: it answers a turn's message again, with that at hand."""
    return ((Button(replies.say("join_again"), JOIN_AGAIN, {"turn_id": turn_id}),),)


def forget_buttons(turn_ids: Sequence[str], note_ids: Sequence[str], details: Mapping[str, str]) -> Rows:
    """[Delete the messages too] for notes that are used no more: it asks once more, and shows them.

    `details`: of a note of which only a detail goes, its id and the id of the note in its place.
    """
    if not (turn_ids or details):
        return ()
    payload = {"turn_ids": list(turn_ids), "note_ids": list(note_ids), "details": dict(details)}
    return ((Button(replies.say("forget_messages_too"), FORGET_ASK, payload),),)
