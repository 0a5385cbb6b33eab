"""Reactions to answers: kept for the operator, with the answer below which they are; nobody is answered."""

from __future__ import annotations

from bot.delivery.commit import Committer
from bot.intake.updates import Envelope
from memory.ports import Database, Statement


async def keep_reaction(db: Database, committer: Committer, reaction: Envelope) -> None:
    """Finish a reaction, and keep it. Raises `Conflict`, `StorageUnavailable`."""
    await committer.done([reaction], [], *await _kept(db, reaction))


async def _kept(db: Database, reaction: Envelope) -> list[Statement]:
    """The statements that keep a reaction, or delete one that was taken back; none under a message that is no answer.

    Raises `StorageUnavailable`.
    """
    where = {"bot_id": reaction.bot_id, "chat_id": reaction.chat_id, "message_id": reaction.message_id}
    row = await db.read_one("answer_of_message", **where)
    if row is None:
        return []
    whose = where | {"user_id": reaction.user_id}
    if not reaction.text:
        return [Statement("reaction_drop", whose)]
    about = {"conversation_id": row["conversation_id"], "turn_id": row["turn_id"]}
    return [Statement("reaction_keep", whose | about | {"emoji": reaction.text, "at_ms": reaction.sent_at_ms})]
