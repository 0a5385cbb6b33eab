"""The routes of the HTTP service, and who may use which: health and webhook for all, the rest with the bearer token."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import SecretStr

from bot.http import problems
from bot.http.bodies import BodyLimit, is_json
from bot.http.chat import chat_routes
from bot.http.continuity import continuity_routes
from bot.http.metrics import metrics_route
from bot.http.problems import Problem
from bot.http.served import Served
from bot.http.sessions import session_routes

_bearer = HTTPBearer(auto_error=False, description="CONTINUITY_HTTP_TOKEN")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def knows(token: SecretStr | None, authorization: str) -> bool:
    """Return True when a header carries the token; compared in constant time, as bytes of whatever was sent."""
    if token is None:
        return False
    scheme, _, given = authorization.partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.get_secret_value().encode())
    return scheme.lower() == "bearer" and same


def add_api(api: FastAPI, bot: Served) -> None:
    """Add everything that needs the token; errors of the whole application become problem+json."""
    token = bot.settings.continuity_http_token

    async def allowed(request: Request, _: Credentials) -> None:
        if token is None:
            raise Problem(HTTPStatus.UNAUTHORIZED, "set CONTINUITY_HTTP_TOKEN to use this service")
        if not knows(token, request.headers.get("authorization", "")):
            raise Problem(HTTPStatus.UNAUTHORIZED, "send the header Authorization: Bearer <CONTINUITY_HTTP_TOKEN>")

    guarded = APIRouter(
        dependencies=[Depends(allowed), Depends(is_json)], responses=problems.responses(HTTPStatus.BAD_REQUEST)
    )
    for routes in (chat_routes(bot), continuity_routes(bot), session_routes(bot), metrics_route(bot)):
        guarded.include_router(routes)
    api.include_router(guarded)
    api.add_middleware(BodyLimit)
    problems.install(api)
    described = APIRouter(dependencies=[Depends(allowed)])

    @described.get("/openapi.json", include_in_schema=False)
    async def openapi(_: Request) -> dict[str, object]:
        return description(api)

    api.include_router(described)


def description(api: FastAPI) -> dict[str, object]:
    """Return the OpenAPI description of every path."""
    schema = get_openapi(
        title="Continuity", version="1", summary="A conversation that survives crashes and silences.", routes=api.routes
    )
    body = problems.ProblemBody.model_json_schema()
    schema.setdefault("components", {}).setdefault("schemas", {})["ProblemBody"] = body
    return schema
