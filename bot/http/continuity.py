"""`/continuity/*`: the context for a new session, the person's choice, making it again (001)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StrictBool

from bot.http.bodies import Value
from bot.http.problems import Problem, responses
from bot.http.served import Served
from bot.intake.local import local_chat_id
from bot.intake.updates import conversation_key
from memory.continuity.bootstrap import BootstrapPreview
from memory.continuity.types import BootstrapOwner, ScoredArc, SessionChoice


class Choice(BaseModel):
    """The person's wish for the conversation that begins."""

    session_id: Value = Field(description="The session of `POST /chat`, or the id of a session that `/sessions` lists.")
    mode: Literal["use", "off"] = Field(description="use = continue, off = start fresh.")
    remember: StrictBool = Field(default=False, description="Do the same for new conversations from now on.")
    skip_preview: StrictBool = Field(default=False, description="With `remember`: do not show the preview either.")
    dropped: list[Value] = Field([], max_length=20, description="Ids of arcs to leave out.")


class Which(BaseModel):
    """The session of a conversation."""

    session_id: Value = Field(description="The session of `POST /chat`, or the id of a session that `/sessions` lists.")


class Refreshed(BaseModel):
    """The result of a generation."""

    preview: str
    internal_packet: str
    arcs: list[ScoredArc] = Field(description="In order of score, each with what its score is made of.")


def continuity_routes(bot: Served) -> APIRouter:
    """Return the routes over one bot."""
    routes = APIRouter(
        prefix="/continuity", tags=["continuity"], responses=responses(401, 404, 409, 413, 415, 422, 503)
    )

    @routes.get("/preview")
    async def preview(session_id: Annotated[Value, Query(description=Which.model_fields["session_id"].description)],
                      ) -> BootstrapPreview:  # fmt: skip
        """Show the context to carry forward, in the words that a person reads."""
        owner, _ = await _owner(bot, session_id)
        return await bot.services.memory.bootstrap.preview(owner, asked_for=True)

    @routes.post("/choice")
    async def choice(chosen: Choice) -> SessionChoice:
        """Continue or start fresh; a message that waits for this word is answered then."""
        owner, current_id = await _owner(bot, chosen.session_id)
        return await bot.continuity_gate.decide(
            owner,
            current_id,
            chosen.mode,
            remember=chosen.remember,
            skip_preview=chosen.skip_preview,
            dropped=chosen.dropped,
        )

    @routes.post("/refresh")
    async def refresh(which: Which) -> Refreshed:
        """Make the context again now, without the cache."""
        owner, _ = await _owner(bot, which.session_id)
        stages = await bot.services.memory.bootstrap.refresh(owner)
        return Refreshed(preview=stages.preview, internal_packet=stages.internal_packet, arcs=list(stages.scored))

    return routes


async def _owner(bot: Served, session: str) -> tuple[BootstrapOwner, str]:
    """Return the owner of the context and the conversation's current session. Raises `Problem` 404."""
    row = await bot.services.memory.store.session(session)
    chat_id = local_chat_id(session)
    conversation_id = row.conversation_id if row else conversation_key(bot.services.me.bot_id, chat_id, None)
    current = await bot.services.memory.recorder.current(conversation_id)
    if current is None:
        raise Problem(HTTPStatus.NOT_FOUND, f"nothing was said in '{session}' yet; GET /sessions lists what there is")
    user_id = row.user_id if row and row.user_id is not None else chat_id
    return await bot.continuity_gate.carried.owner(conversation_id, user_id), current.session_id
