"""The routes of the HTTP service: health and webhook for all, the rest with the bearer token."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from bot.http import problems
from bot.http.bodies import BodyLimit, is_json
from bot.http.chat import chat_routes
from bot.http.continuity import continuity_routes
from bot.http.door import Door
from bot.http.guesses import Guesses
from bot.http.metrics import metrics_route
from bot.http.served import Served
from bot.http.sessions import session_routes

_bearer = HTTPBearer(auto_error=False, description="CONTINUITY_HTTP_TOKEN")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def add_api(api: FastAPI, bot: Served, guesses: Guesses) -> None:
    """Add every route that needs the token; errors of the whole application become problem+json."""
    refused = (HTTPStatus.BAD_REQUEST, HTTPStatus.TOO_MANY_REQUESTS)
    guarded = APIRouter(dependencies=[Depends(_token), Depends(is_json)], responses=problems.responses(*refused))
    for routes in (chat_routes(bot), continuity_routes(bot), session_routes(bot), metrics_route(bot)):
        guarded.include_router(routes)

    @guarded.get("/openapi.json", include_in_schema=False)
    async def openapi(_: Request) -> dict[str, object]:
        schema = get_openapi(
            title="Continuity",
            version="1",
            summary="A conversation that survives crashes and silences.",
            routes=api.routes,
        )
        body = problems.ProblemBody.model_json_schema()
        schema.setdefault("components", {}).setdefault("schemas", {})["ProblemBody"] = body
        return schema

    api.include_router(guarded)
    api.add_middleware(
        Door,
        token=bot.settings.continuity_http_token,
        routes=tuple(guarded.routes),
        guesses=guesses,
        now_ms=lambda: bot.services.clock.now_ms(),  # noqa: PLW0108 - there are services once the bot has started
    )
    api.add_middleware(BodyLimit)  # before the door: what could be two requests is not even asked for a token
    problems.install(api)


async def _token(_: Credentials) -> None:
    """Let the description say that the token is needed; the `Door` has asked for it."""
