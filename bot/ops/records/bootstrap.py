"""`bootstrap list|run|refresh|prefer|clear`: preferences of people, and every stage of a bootstrap (001)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.ops.records.sessions import list_sessions
from bot.ops.workspace import OpsError, Workspace
from bot.people.choices import PersonalChoices
from bot.people.personas import PersonaError, Personas
from memory.continuity.types import BootstrapOwner, Mode, Persona, Preference, Stages
from memory.errors import UnknownSession


async def run(workspace: Workspace, session_id: str) -> Stages:
    """Return every stage for the owner of a session; nothing is stored. Raises OpsError and `ContinuityError`."""
    return await workspace.memory.bootstrap.stages(await _owner(workspace, session_id))


async def refresh(workspace: Workspace, session_id: str) -> Stages:
    """Make and store the bootstrap of a session's owner; return every stage. Raises OpsError and `ContinuityError`."""
    return await workspace.memory.bootstrap.refresh(await _owner(workspace, session_id))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Somebody's wish in one conversation after a silence; `session_id` is its present session."""

    session_id: str
    conversation_id: str
    persona: str
    preference: Preference


async def list_chosen(workspace: Workspace, limit: int) -> list[Chosen]:
    """Return everybody's choice, the latest conversation first. Raises OpsError and `ContinuityError`."""
    found = []
    for one in await list_sessions(workspace, conversation=None, limit=limit):
        row = one.row
        if one.current and row.user_id is not None:
            persona = await _persona(workspace, row.user_id)
            owner = BootstrapOwner(conversation_id=row.conversation_id, user_id=row.user_id, persona=persona)
            chosen = await workspace.memory.bootstrap.preference(owner)
            found.append(Chosen(row.session_id, row.conversation_id, persona.name, chosen))
    return found


async def prefer(workspace: Workspace, session_id: str, mode: Mode, *, skip_preview: bool) -> None:
    """Store the preference of a session's owner for after a silence. Raises OpsError and `ContinuityError`."""
    owner = await _owner(workspace, session_id)
    await workspace.memory.bootstrap.prefer(owner, Preference(mode=mode, skip_preview=skip_preview))


async def clear(workspace: Workspace, session_ids: Sequence[str], *, every: bool) -> int:
    """Remove relationship states, arcs, caches and chosen packets; preferences stay. Return how many were cleared.

    One session stands for its user with their present persona; all sessions stand for everybody in every conversation.
    """
    bootstrap = workspace.memory.bootstrap
    if not every:
        for session_id in session_ids:
            await bootstrap.clear(await _owner(workspace, session_id))
        return len(session_ids)
    rows = [await workspace.memory.store.session(session_id) for session_id in session_ids]
    conversations = sorted({row.conversation_id for row in rows if row is not None})
    for conversation_id in conversations:
        await bootstrap.clear_conversation(conversation_id)
    return len(conversations)


async def _owner(workspace: Workspace, session_id: str) -> BootstrapOwner:
    """Return the owner of a session's bootstrap, with the persona that they chose."""
    row = await workspace.memory.store.session(session_id)
    if row is None:
        raise UnknownSession(f"session '{session_id}' is in no table, only in a checkpoint; hydrate it first")
    return await workspace.memory.bootstrap.owner_of(session_id, await _persona(workspace, row.user_id))


async def _persona(workspace: Workspace, user_id: int | None) -> Persona:
    """Return the persona that somebody chose. Raises OpsError for one that cannot be read."""
    people = PersonalChoices(workspace.memory.db, workspace.memory.clock, workspace.settings.continuity_timezone)
    try:
        return await Personas(people, workspace.settings.continuity_persona).of(user_id)
    except PersonaError as exc:
        raise OpsError(str(exc)) from exc
