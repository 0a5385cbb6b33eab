"""The console as an application of its own below `/console`, whose errors are pages."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from bot.http.console.routes import NO_PAGE, OURS_FAILED, Console, LoggedOut, home, to_login
from bot.http.problems import Problem
from bot.http.served import Served
from memory.errors import ContinuityError

_STATUS_ONLY = {HTTPStatus.NOT_FOUND.phrase, HTTPStatus.METHOD_NOT_ALLOWED.phrase}


def add_console(api: FastAPI, bot: Served) -> None:
    """Add the console when there is a token to enter it with: an application of its own, whose errors are pages."""
    token = bot.settings.continuity_http_token
    if token is None:
        return
    console = Console(bot, token.get_secret_value())
    pages = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    pages.include_router(console.routes())
    pages.middleware("http")(console.look_up)

    async def logged_out(request: Request, _: Exception) -> Response:
        return to_login(request)

    async def problem(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, Problem)  # noqa: S101 - installed for this class; mypy cannot see that
        return console.error(request, exc.status, exc.detail)

    async def ours(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, ContinuityError)  # noqa: S101 - as above
        return console.refused(request, exc)

    async def refused(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, HTTPException)  # noqa: S101 - as above
        return console.error(request, exc.status_code, NO_PAGE if exc.detail in _STATUS_ONLY else str(exc.detail))

    async def unexpected(request: Request, _: Exception) -> Response:
        return console.error(request, HTTPStatus.INTERNAL_SERVER_ERROR, OURS_FAILED)

    for error, handler in (
        (LoggedOut, logged_out),
        (Problem, problem),
        (ContinuityError, ours),
        (HTTPException, refused),
        (Exception, unexpected),
    ):
        pages.add_exception_handler(error, handler)
    api.get("/console", include_in_schema=False)(home)
    api.mount("/console", pages)
