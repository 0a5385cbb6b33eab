"""Errors over HTTP as problem+json (RFC 9457): what went wrong, and what to do now."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from memory.errors import ContinuityError, StorageUnavailable, UnknownSession

MEDIA_TYPE = "application/problem+json"


class ProblemBody(BaseModel):
    """What the body of an error says."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int
    detail: str = Field(description="What went wrong here, and what to do.")


class Problem(Exception):
    """An answer that is an error: status and what went wrong; `retry_after_s` when trying again makes sense."""

    def __init__(self, status: int, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after_s = retry_after_s


def body_of(status: int, detail: str) -> dict[str, Any]:
    """Return the body of an error."""
    return ProblemBody(title=HTTPStatus(status).phrase, status=status, detail=detail).model_dump()


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what the description of a path says about its errors."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}},
        }
        for status in statuses
    }


def install(api: FastAPI) -> None:
    """Make every error of this application problem+json; no driver's words reach a client."""
    api.add_exception_handler(Problem, _problem)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(ContinuityError, _ours)


def _answer(
    status: int, detail: str, headers: dict[str, str] | None = None, *, retry_after_s: int | None = None
) -> JSONResponse:
    known = dict(headers or {})
    if retry_after_s is not None:
        known["Retry-After"] = str(retry_after_s)
    return JSONResponse(body_of(status, detail), status, headers=known, media_type=MEDIA_TYPE)


async def _problem(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, Problem)  # noqa: S101 - installed for this class; mypy cannot see that
    return _answer(exc.status, exc.detail, retry_after_s=exc.retry_after_s)


async def _http(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)  # noqa: S101 - as above
    return _answer(exc.status_code, str(exc.detail), dict(exc.headers or {}))


async def _invalid(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, RequestValidationError)  # noqa: S101 - as above
    found = [f"{'.'.join(map(str, error['loc'][1:])) or 'body'}: {error['msg']}" for error in exc.errors()]
    return _answer(HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(found))


async def _ours(_: Request, exc: Exception) -> JSONResponse:
    if isinstance(exc, StorageUnavailable):
        return _answer(HTTPStatus.SERVICE_UNAVAILABLE, "the database cannot be used just now", retry_after_s=5)
    status = HTTPStatus.NOT_FOUND if isinstance(exc, UnknownSession) else HTTPStatus.CONFLICT
    return _answer(status, str(exc))
