"""Errors over HTTP as problem+json (RFC 9457): the fault and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from memory.errors import (
    CheckpointError,
    Conflict,
    ContinuityError,
    Locked,
    StorageUnavailable,
    UnknownSession,
    Unstorable,
)

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
_UNREADABLE = "There was an error parsing the body"
"""FastAPI's words when JSON cannot be read for another reason than its syntax."""


class ProblemBody(BaseModel):
    """The text in the body of an error."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int
    detail: str = Field(description="What went wrong here, and what to do.")


class Problem(Exception):
    """An answer that is an error: its status and its fault; `retry_after_s` when trying again makes sense."""

    def __init__(self, status: int, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after_s = retry_after_s


def body_of(status: int, detail: str) -> dict[str, Any]:
    """Return the body of an error."""
    return ProblemBody(title=HTTPStatus(status).phrase, status=status, detail=detail).model_dump()


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a path's errors."""
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
    api.add_exception_handler(Exception, _unexpected)


FAILED_HERE = "this failed here; the log of the bot says why"
_ANSWERS: tuple[tuple[type[ContinuityError], HTTPStatus, str], ...] = (
    (StorageUnavailable, HTTPStatus.SERVICE_UNAVAILABLE, "the database cannot be used just now"),
    (Unstorable, HTTPStatus.BAD_REQUEST, "a value of this request is none that can be looked up or stored"),
    (Conflict, HTTPStatus.CONFLICT, "somebody else changed this just now; look again and decide again"),
    (Locked, HTTPStatus.CONFLICT, "another process works on this; try again when it is done"),
    (
        CheckpointError,
        HTTPStatus.CONFLICT,
        "the checkpoint of this session cannot be used; the log of the bot says why",
    ),
)
"""Kind of error → the client's answer: the error itself may name a path, an address, a query, a driver's sentence."""


def of(error: ContinuityError) -> Problem:
    """Return the problem of an error of ours for a client; the words of the error itself stand in the log alone."""
    if isinstance(error, UnknownSession):
        return Problem(HTTPStatus.NOT_FOUND, str(error))
    log.info("a request was refused", kind=type(error).__name__, error=str(error))
    found = ((status, said) for kind, status, said in _ANSWERS if isinstance(error, kind))
    status, said = next(found, (HTTPStatus.INTERNAL_SERVER_ERROR, FAILED_HERE))
    return Problem(status, said, retry_after_s=5 if status is HTTPStatus.SERVICE_UNAVAILABLE else None)


def answer(problem: Problem) -> JSONResponse:
    """Return the response of a problem."""
    return _answer(problem.status, problem.detail, retry_after_s=problem.retry_after_s)


def _answer(
    status: int, detail: str, headers: dict[str, str] | None = None, *, retry_after_s: int | None = None
) -> JSONResponse:
    known = dict(headers or {})
    if retry_after_s is not None:
        known["Retry-After"] = str(retry_after_s)
    return JSONResponse(body_of(status, detail), status, headers=known, media_type=MEDIA_TYPE)


async def _problem(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, Problem)  # noqa: S101 - installed for this class; mypy cannot see that
    return answer(exc)


async def _http(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)  # noqa: S101 - as above
    return _answer(exc.status_code, in_words(exc), dict(exc.headers or {}))


def in_words(error: HTTPException) -> str:
    """Return the fault in words; where the library gives only the status again, the remedy."""
    if error.status_code == HTTPStatus.NOT_FOUND and error.detail == HTTPStatus.NOT_FOUND.phrase:
        return "there is nothing at this path; GET /openapi.json lists what there is"
    if error.status_code == HTTPStatus.BAD_REQUEST and error.detail == _UNREADABLE:
        return "the body cannot be read as JSON: it is nested too deep, or a number is too long"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return f"this path takes {(error.headers or {}).get('Allow', 'other methods')}"
    return str(error.detail)


async def _invalid(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, RequestValidationError)  # noqa: S101 - as above
    return _answer(HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(_fault(error) for error in exc.errors()))


_FAULTS = {
    "missing": "is missing",
    "json_invalid": "is no JSON",
    "model_attributes_type": "has to be an object",
    "string_type": "has to be a text",
    "string_unicode": "has half a character in it",
    "int_parsing": "has to be a whole number",
    "int_type": "has to be a whole number",
    "bool_type": "has to be true or false",
    "bool_parsing": "has to be true or false",
    "list_type": "has to be a list",
    "string_too_short": "has at least {min_length} characters",
    "string_too_long": "has at most {max_length} characters",
    "too_long": "has at most {max_length} entries",
    "greater_than_equal": "is at least {ge}",
    "less_than_equal": "is at most {le}",
    "literal_error": "has to be {expected}",
    "string_pattern_mismatch": "has to match {pattern}",
}
"""Kind of fault → the words about the field."""


def _fault(error: Mapping[str, Any]) -> str:
    """Return the fault of one field, in a few words of ours."""
    kind, where = error["type"], error["loc"]
    field = "the body" if kind == "json_invalid" else ".".join(map(str, where[1:])) or "the body"
    return f"{field} {_FAULTS.get(kind, 'cannot be read').format_map(error.get('ctx') or {})}"


async def _ours(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, ContinuityError)  # noqa: S101 - as above
    return answer(of(exc))


async def _unexpected(_: Request, __: Exception) -> JSONResponse:
    """Answer an unexpected error; the log has its traceback, the client has no word of it."""
    return _answer(HTTPStatus.INTERNAL_SERVER_ERROR, FAILED_HERE)
