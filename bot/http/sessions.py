"""`GET /sessions` and `GET /sessions/{id}`: the output of the operator's `sessions` and `show`, as JSON."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from bot.http.bodies import Value
from bot.http.problems import responses
from bot.http.served import Served
from bot.ops.records.sessions import list_sessions, listed_as_json, show_session, shown_as_json


class SessionOfList(BaseModel):
    """One session of the list."""

    session_id: str
    conversation_id: str
    user_id: int | None
    origin: str
    status: str
    title: str
    turn_count: int
    last_seq: int
    version: int
    created_at_ms: int
    last_turn_at_ms: int
    current: bool


class SessionList(BaseModel):
    """The latest sessions, the newest first."""

    sessions: list[SessionOfList]


class Checkpoint(BaseModel):
    """The file that a restart would begin from."""

    file: str
    bytes: int
    saved_at_ms: int
    last_seq: int = Field(description="The last turn in it; the turn log has the rest.")
    clean: bool = Field(description="Written by an orderly stop.")
    digest: str = Field(description="Over its content; the file holds it, and it was just checked.")


class SessionPage(BaseModel):
    """Everything about one session."""

    session: dict[str, Any] | None
    state: dict[str, Any]
    hydration: dict[str, Any] = Field(description="How it would come back after a restart now, and what was repaired.")
    turns: list[dict[str, Any]]
    context_snapshots: list[dict[str, Any]]
    compactions: list[dict[str, Any]]
    jobs: list[dict[str, Any]]
    packet: dict[str, Any] | None
    checkpoint: Checkpoint | None = Field(description="Its file; null when there is none that can be read.")


def session_routes(bot: Served) -> APIRouter:
    """Return the routes over one bot."""
    routes = APIRouter(prefix="/sessions", tags=["sessions"], responses=responses(401, 404, 422, 503))

    @routes.get("")
    async def sessions(
        conversation: Annotated[Value | None, Query(max_length=200, description="A key, or its chat's number.")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    ) -> SessionList:
        """List the latest sessions."""
        found = await list_sessions(bot.workspace(), conversation=conversation, limit=limit)
        return SessionList(sessions=[SessionOfList.model_validate(listed_as_json(one)) for one in found])

    @routes.get("/{session_id}")
    async def session(
        session_id: Annotated[Value, Path(max_length=200)],
        turns: Annotated[int, Query(ge=0, le=1000, description="How many of the last turns.")] = 20,
        packet: Annotated[bool, Query(description="Build what the model would be given now.")] = False,  # noqa: FBT002 - a query parameter
    ) -> SessionPage:
        """Show one session; its id may be shortened as long as it names one."""
        workspace = bot.workspace()
        found = await workspace.find(session_id)
        shown = await show_session(workspace, found, turns=turns, packet=packet, message="")
        return SessionPage.model_validate(shown_as_json(shown))

    return routes
