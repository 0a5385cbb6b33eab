"""The check of the token before a body is read, and a limit that leaves places to health and webhook."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr
from starlette.routing import BaseRoute, Match

from bot.http.guesses import Guesses
from bot.http.problems import Problem, answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_AT_ONCE: Final = 384
"""Requests with the token that are worked on side by side; the rest of the connections is for health and webhook."""
NO_TOKEN = "set CONTINUITY_HTTP_TOKEN to use this service"
ASK = "send the header Authorization: Bearer <CONTINUITY_HTTP_TOKEN>"
TOO_MANY_WRONG = "too many wrong tokens came from there; the right one is taken at any time"
BUSY = f"{MOST_AT_ONCE} requests are being worked on; try again in a moment"


def knows(token: SecretStr | None, authorization: str) -> bool:
    """Return True when a header carries the token; compared in constant time, as bytes."""
    if token is None:
        return False
    scheme, _, given = authorization.partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.get_secret_value().strip().encode())
    return scheme.lower() == "bearer" and same


def client_of(scope: Scope) -> str:
    """Return the address that a request came from: the connection's, or the one that a trusted proxy gives."""
    client = scope.get("client")
    return str(client[0]) if client else ""


class Door:
    """Lets those in who know the token, at most `MOST_AT_ONCE` together. Wrong tokens are counted by address.

    The token is asked for before the body is read: a request without it costs no parsing.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: SecretStr | None,
        routes: Sequence[BaseRoute],
        guesses: Guesses,
        now_ms: Callable[[], int],
    ) -> None:
        self._app = app
        self._token = token
        self._routes = routes
        self._guesses = guesses
        self._now_ms = now_ms
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or refuse it."""
        if scope["type"] != "http" or not self._guards(scope):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await answer(refusal)(scope, receive, send)  # the server drops its body as it comes, for a while
            return
        self._inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._inside -= 1

    def _guards(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is not Match.NONE for route in self._routes)

    def _refusal(self, scope: Scope) -> Problem | None:
        given = next((value.decode("latin-1") for key, value in scope["headers"] if key == b"authorization"), "")
        if self._token is None:
            return Problem(HTTPStatus.UNAUTHORIZED, NO_TOKEN)
        if not given:
            return Problem(HTTPStatus.UNAUTHORIZED, ASK)
        if not knows(self._token, given):
            wait_ms = self._guesses.failed(client_of(scope), self._now_ms())
            if wait_ms:
                wait_s = -(-wait_ms // 1000)
                return Problem(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_WRONG, retry_after_s=wait_s)
            return Problem(HTTPStatus.UNAUTHORIZED, ASK)
        if self._inside >= MOST_AT_ONCE:
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, BUSY, retry_after_s=1)
        return None
