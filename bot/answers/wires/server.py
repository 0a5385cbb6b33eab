"""One streamed request to a server of a provider, over aiohttp alone."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import orjson

from bot.answers.errors import ModelError, broken, endless, garbage, refusal
from bot.intake.telegram_request import KEPT_S, proxy_of, trusted

CONNECT_S = 10.0
DRAIN_S = 0.2
"""So long the end of a stream is waited for behind its last piece: a connection that is read to its end is kept."""
LINE_MAX_BYTES = 4 * 1024 * 1024
ANSWER_MAX_BYTES = 32 * 1024 * 1024
"""One answer with all that its pieces carry along; the longest text with a piece for each letter has a quarter."""
_SENT: Final = {"Content-Type": "application/json", "Accept": "text/event-stream"}
_DONE: Final = b"[DONE]"
_LINE_END: Final = re.compile(rb"[\r\n]")


class ModelServer:
    """A server with its address and the headers of its requests. Made in an event loop.

    The number of requests at once is bounded by the lanes.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url, address = url, urlsplit(url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=trusted(), keepalive_timeout=KEPT_S),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_S),
            proxy=proxy_of(address.scheme, address.hostname or ""),
        )

    @property
    def is_here(self) -> bool:
        """Return whether the server is on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in {"localhost", "::1"} or host.startswith("127.")

    async def stream(
        self, path: str, body: dict[str, Any], is_over: Callable[[], bool]
    ) -> AsyncGenerator[list[dict[str, Any]]]:
        """Yield the pieces of the answer as they come, those that came together at once, until `is_over` says so.

        `{"type": "done"}` is the sign with which some end their streams. Close it when you leave early, so that the
        request ends. Raises `ModelError` for all that goes wrong on the way.
        """
        try:
            async with self._session.post(self.url + path, data=_dumped(body), headers=_SENT) as answer:
                if answer.status != HTTPStatus.OK:
                    raise refusal(answer.status)
                async with aclosing(_events(answer.content)) as events:
                    async for together in events:
                        end = together.index(_DONE) + 1 if _DONE in together else len(together)
                        yield list(map(_piece, together[:end]))
                        if is_over():
                            await _drain(events)
                            return
        except (TimeoutError, aiohttp.ClientError) as exc:
            raise broken(type(exc).__name__) from exc

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


async def _events(answer: aiohttp.StreamReader) -> AsyncGenerator[list[bytes]]:
    """Yield the data of the events of a stream, all that came together at once.

    CR and LF alone end a line: U+2028 may stand within a piece. Raises `ModelError` for a line or an answer that does
    not end, and aiohttp's errors.
    """
    begun, taken = b"", 0
    async for chunk in answer.iter_any():
        taken += len(chunk)
        if taken > ANSWER_MAX_BYTES:
            raise endless()
        *lines, begun = _LINE_END.split(begun + chunk)
        if data := [line[5:].strip() for line in lines if line.startswith(b"data:")]:
            yield data
        if len(begun) > LINE_MAX_BYTES:
            raise garbage("a line of the answer does not end")
    if begun.startswith(b"data:"):
        yield [begun[5:].strip()]


async def _drain(events: AsyncIterator[list[bytes]]) -> None:
    """Read an answer to its end, which a server may never send: then its connection is not kept."""
    with suppress(TimeoutError, aiohttp.ClientError, ModelError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in events:
                pass


def _dumped(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # a half of a character, in what a provider wants to see again as it sent it
        return json.dumps(body).encode()


def _piece(data: bytes) -> dict[str, Any]:
    if data == _DONE:
        return {"type": "done"}
    try:
        piece = orjson.loads(data)
    except orjson.JSONDecodeError:
        piece = _with_halves(data)
    if not isinstance(piece, dict):
        raise garbage("a piece of the answer is no object")
    return piece


def _with_halves(data: bytes) -> Any:
    """Return JSON with halves of characters in it: a server may cut a stream within one. Raises `ModelError`."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise garbage("a piece of the answer is no JSON") from None
