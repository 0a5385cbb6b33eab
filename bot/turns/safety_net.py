"""When the model cannot be reached, an explicit "remind me …" is set all the same: the one thing that cannot wait."""

from __future__ import annotations

from bot.answers.responder import Ask
from bot.turns.services import Services
from memory.ledger import views
from memory.ledger.types import Actor, Note


async def set_without_model(services: Services, ask: Ask) -> list[Note]:
    """Set what this message asks to be reminded of, bound to its turn, and return it; nothing where it does not ask.

    A message that is tried again sets it once: the note's id is the turn's. Raises `StorageUnavailable`.
    """
    if ask.third_party or not services.settings.by_model:
        return []
    from bot.offline.safety import reminder_of  # noqa: PLC0415 - only when the model fails

    operations = reminder_of(ask)
    if operations:
        by = Actor("offline", services.clock.now_ms(), ask.turn_id)
        await services.memory.change(ask.conversation_id, operations, by)
        services.reminders.look()
    ledger = await services.memory.ledgers.read(ask.conversation_id)
    return [note for note in views.standing(ledger) if ask.turn_id in note.turn_ids]
