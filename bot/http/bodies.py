"""Limits of a request: its bytes and its form."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import HTTPException, Request
from pydantic import AfterValidator

from bot.http.problems import Problem, answer
from memory.text import clean

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1_048_576
"""Far more than the longest message as JSON, and than any update that Telegram sends."""
_TOO_LARGE = f"a request has at most {MAX_BODY_BYTES:,} bytes"
_TWO_LENGTHS = "send a length or pieces, not both"


Value = Annotated[str, AfterValidator(clean)]
"""A text of a query, a path or a body, without characters that databases refuse (NUL, halves of characters)."""


class BodyLimit:
    """Refuses a body that is too large with 413: at once when the header gives its length, else once so much has come.

    Nothing larger is ever held in memory. The library's own limit answers in plain text. A body of two lengths is
    refused with 400 and its connection closed: a proxy before us may have read the other one, and the rest would be a
    request that nobody sent (RFC 9112 section 6.1).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, its body watched."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if told_bytes(scope) > MAX_BODY_BYTES:
            await answer(Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE))(scope, receive, send)
            return
        if {b"content-length", b"transfer-encoding"} <= dict(scope["headers"]).keys():
            refusal = answer(Problem(HTTPStatus.BAD_REQUEST, _TWO_LENGTHS))
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        seen = 0

        async def watched() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MAX_BODY_BYTES:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
            return message

        await self._app(scope, watched, send)


def told_bytes(scope: Scope) -> int:
    """Return the length in a request's header, 0 without one."""
    told = dict(scope["headers"]).get(b"content-length", b"")
    return int(told) if told.isdigit() else 0


async def is_json(request: Request) -> None:
    """Refuse a body in another form than JSON with 415. Raises `Problem`."""
    form = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and form != "application/json" and not form.endswith("+json"):
        detail = "send JSON, with the header Content-Type: application/json"
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)
