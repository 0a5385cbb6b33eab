"""An HTTP transport whose answers end: one that is longer than anybody reads is cut off."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2


class Bounded(httpx2.AsyncBaseTransport):
    """Passes each request on once, and counts the bytes of its answer."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, most_bytes: int) -> None:
        self._transport = transport
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response, its body bounded."""
        response = await self._transport.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - for the type checker
        response.stream = _Counted(response.stream, self._most_bytes)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._stream = stream
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("the server wrote more than anybody reads")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
