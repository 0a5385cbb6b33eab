"""The list that was shown last is remembered, so that `/forget 2` has a meaning; in the transaction that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from bot.turns.services import Services
from memory.errors import UnknownSession
from memory.ports import Statement
from memory.state.listed import show, shown_last
from memory.types import ListedItem, SessionState


async def shown_now(services: Services, conversation_id: str, items: Sequence[ListedItem], *also: Statement) -> None:
    """Store `also`, and the lines of a list in the session that goes on, as one. Raises `Conflict` of `also`."""
    now_ms = services.clock.now_ms()
    session_id = await services.memory.store.current_session_id(conversation_id)

    def shown(state: SessionState) -> SessionState:
        return show(state, items, now_ms)

    if session_id is not None:
        with suppress(UnknownSession):
            await services.memory.recorder.edit(session_id, shown, *also)
            return
    await services.db.write(*also)


async def listed_last(services: Services, conversation_id: str) -> tuple[ListedItem, ...]:
    """The lines of the list that was shown last, in their order; none when that is too long ago."""
    current = await services.memory.recorder.current(conversation_id)
    return shown_last(current) if current else ()
