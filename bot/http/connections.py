"""Connections to the HTTP port: idle ones end, first of all when others need their place."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

RECEIVE_S = 10.0
"""Time for a client to send one request, from the connection or from the last answer on."""
MAX_CONNECTIONS = 512
MADE_ROOM: Final = 8
"""When all places are taken, an eighth of them is freed at once: looking at all of them for each new one is slow."""


class TimedConnection(H11Protocol):
    """A connection that is closed when no whole request comes, or nobody reads its answer.

    uvicorn's own timer begins with the first answer, and its own limit refuses everybody, health and webhook too. Here
    a new connection always gets a place as long as another one only waits: the one that waited longest loses it, of
    the address that has most of them.
    """

    _watch: asyncio.TimerHandle | None = None
    _answered: object = None
    _unread = 0
    waits_since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch; when there are too many, let others go that only wait."""
        super().connection_made(transport)
        self.waits_since_s = self.loop.time()
        self._look_again()
        if len(self.connections) > MAX_CONNECTIONS:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request from here on."""
        self.waits_since_s = self.loop.time()
        super().on_response_complete()

    def _make_room(self) -> None:
        """End connections that only wait; while all others are answered just now, a few more than usual are taken."""
        room = max(1, MAX_CONNECTIONS // MADE_ROOM)
        here = [each for each in self.connections if isinstance(each, TimedConnection) and each is not self]
        going = longest_waiting(here, most=room)
        if not going and len(here) >= MAX_CONNECTIONS + room:
            going = [self]
        for connection in going:
            connection.connections.discard(connection)
            connection.transport.abort()

    @property
    def address(self) -> str:
        """The address of the client, "" for none."""
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn: to send a whole request, or to read its answer."""
        request = self.cycle
        return request is None or request.more_body or request.response_complete or self.flow.write_paused

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no HTTP, once: an answer to the same request that is under way is not sent any more."""
        super().send_400_response(msg)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _look_again(self) -> None:
        self._watch = self.loop.call_later(RECEIVE_S, self._close_if_waiting)

    def _close_if_waiting(self) -> None:
        """Close when the same request is waited for as last time; one that is being answered may take longer.

        Close also when the client has read nothing of the bytes that were there for it the last time.
        """
        unread, self._unread = self._unread, self.transport.get_write_buffer_size()
        if 0 < unread <= self._unread:
            self.transport.abort()
            return
        request = self.cycle
        whole = request is not None and not request.more_body
        if whole and not request.response_complete:
            self._answered = None
        elif whole and self._answered is not request:
            self._answered = request
        elif self._unread:
            self.transport.abort()
            return
        else:
            self.transport.close()
            return
        self._look_again()


def longest_waiting(connections: Iterable[TimedConnection], most: int) -> list[TimedConnection]:
    """Return at most so many connections that only wait, in the order in which they should go."""
    waiting = [each for each in connections if each.is_waiting]
    of_address = Counter(each.address for each in waiting)
    waiting.sort(key=lambda each: (-of_address[each.address], each.waits_since_s))
    return waiting[:most]
