"""Requests to a server carry the token of one person; a refused one is renewed once, and the refusal remembered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from http import HTTPStatus

import httpx2

GiveToken = Callable[[str], Awaitable[str | None]]
"""Returns the token; given the one that was refused, another one, or None when there is none any more."""


class Bearer(httpx2.Auth):
    """Adds the token. A request that was refused with 401 was not carried out, so it may go once more."""

    def __init__(self, give: GiveToken, *, notes: Callable[[bool], None]) -> None:
        """`notes` is told with each answer whether the server wants a login."""
        self._give = give
        self._notes = notes

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request, with another token once more when it is refused."""
        token = await self._give("")
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == HTTPStatus.UNAUTHORIZED and token:
            fresh = await self._give(token)
            if fresh and fresh != token:
                request.headers["Authorization"] = f"Bearer {fresh}"
                response = yield request
        self._notes(response.status_code == HTTPStatus.UNAUTHORIZED)
