"""`bootstrap run` and `bootstrap clear`: every stage of what would be carried forward, and starting it anew (001)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ops.desk import Desk, OpsError
from bot.people import People
from bot.personas import PersonaError, Personas
from memory.bootstrap import Bootstrap
from memory.continuity.types import BootstrapOwner, Stages
from memory.errors import UnknownSession
from memory.tokens import TiktokenCounter


async def run(desk: Desk, session_id: str) -> Stages:
    """Return every stage for the owner of a session; nothing is stored. Raises OpsError and `ContinuityError`."""
    bootstrap = _bootstrap(desk)
    return await bootstrap.stages(await _owner(desk, bootstrap, session_id))


async def clear(desk: Desk, session_ids: Sequence[str], *, every: bool) -> int:
    """Remove relationship states, arcs, caches and chosen packets; preferences stay. Return how many were cleared.

    One session stands for its user with their present persona; all sessions stand for everybody in every conversation.
    """
    bootstrap = _bootstrap(desk)
    if not every:
        for session_id in session_ids:
            await bootstrap.clear(await _owner(desk, bootstrap, session_id))
        return len(session_ids)
    rows = [await desk.store.session(session_id) for session_id in session_ids]
    conversations = sorted({row.conversation_id for row in rows if row is not None})
    for conversation_id in conversations:
        await bootstrap.clear_conversation(conversation_id)
    return len(conversations)


def _bootstrap(desk: Desk) -> Bootstrap:
    return Bootstrap(desk.db, desk.clock, TiktokenCounter())


async def _owner(desk: Desk, bootstrap: Bootstrap, session_id: str) -> BootstrapOwner:
    """Return whose bootstrap a session shows, with the persona that they chose."""
    row = await desk.store.session(session_id)
    if row is None:
        raise UnknownSession(f"session '{session_id}' is in no table, only in a checkpoint; hydrate it first")
    people = People(desk.db, desk.clock, desk.settings.continuity_timezone)
    try:
        persona = await Personas(people, desk.settings.continuity_persona).of(row.user_id)
    except PersonaError as exc:
        raise OpsError(str(exc)) from exc
    return await bootstrap.owner_of(session_id, persona)
