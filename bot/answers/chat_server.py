"""One streamed request to a server that speaks OpenAI's chat completions, over aiohttp alone."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from http import HTTPStatus
from itertools import takewhile
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from bot.intake.telegram_request import KEPT_S, proxy_of, trusted

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_S = 10.0
DRAIN_S = 0.2
"""How long the end of a stream is waited for behind its last piece: a connection that is read to its end is kept."""
LINE_MAX_BYTES = 4 * 1024 * 1024
ANSWER_MAX_BYTES = 32 * 1024 * 1024
"""One answer with all that its pieces carry along; the longest text with a piece for each letter has a quarter."""
_END: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
"""What the end of a stream means when the server gave no reason itself."""
_DONE = b"[DONE]"
_LINE_END = re.compile(rb"[\r\n]")
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}


class ModelError(Exception):
    """A request to a model failed; its text never holds a word of the prompt."""

    def __init__(
        self, kind: str, why: str, detail: str = "", *, passing: bool = False, status_code: int | None = None
    ) -> None:
        super().__init__(detail or kind)
        self.kind = kind
        self.why = why
        """The name of the sentence that the person is told."""
        self.passing = passing
        """True for what may be gone in a moment."""
        self.status_code = status_code


def broken(detail: str) -> ModelError:
    """Return the error of an answer that broke off."""
    return ModelError("BrokenOff", "why_broken", detail, passing=True)


def garbage(detail: str) -> ModelError:
    """Return the error of an answer that makes no sense."""
    return ModelError("Garbage", "why_garbage", detail)


def endless() -> ModelError:
    """Return the error of an answer that does not end."""
    return ModelError("TooLong", "why_too_long", "the answer does not end")


def refusal(status: int) -> ModelError:
    """Return the error of an HTTP status that is no success."""
    busy = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    why = "why_busy" if busy else "why_refused"
    passing = status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return ModelError("Status", why, passing=passing, status_code=status)


class ChatServer:
    """A server with its address and key, as the variables of OpenAI's own client name them. Made in an event loop.

    How many are asked at once is bounded by who works on turns.
    """

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.url, address = url, urlsplit(url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=trusted(), keepalive_timeout=KEPT_S),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_S),
            proxy=proxy_of(address.scheme, address.hostname or ""),
        )

    @classmethod
    def of_environment(cls) -> ChatServer:
        """Return the server that the environment names.

        Raises `ModelError` for a key that can be none, or when OpenAI's own server has none.
        """
        url = (os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL).rstrip("/")
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key and url == OPENAI_URL:
            raise ModelError("NoKey", "why_refused", "OPENAI_API_KEY is not set")
        if not (key.isascii() and key.isprintable()):
            raise ModelError("NoKey", "why_refused", "OPENAI_API_KEY has a character that no key has")
        headers = {"Authorization": f"Bearer {key or 'none'}"}
        named = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
        headers |= {header: value for name, header in named.items() if (value := os.environ.get(name))}
        return cls(url, headers)

    @property
    def is_here(self) -> bool:
        """Return whether it is on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in {"localhost", "::1"} or host.startswith("127.")

    async def stream(self, body: dict[str, Any]) -> AsyncGenerator[list[dict[str, Any]]]:
        """Yield the pieces of the answer as they come, those that came together at once.

        Close it when you leave early, so that the request ends. Raises `ModelError` for all that goes wrong on the way.
        """
        whole = orjson.dumps({**body, "stream": True, "stream_options": {"include_usage": True}})
        sent = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        try:
            async with self._session.post(f"{self.url}/chat/completions", data=whole, headers=sent) as answer:
                if answer.status != HTTPStatus.OK:
                    raise refusal(answer.status)
                async with aclosing(_events(answer.content)) as events:
                    async for together in events:
                        said = list(takewhile(_DONE.__ne__, together))
                        pieces = list(map(_piece, said))
                        if len(said) < len(together):
                            await _drain(events)
                            yield [*pieces, _END]
                            return
                        yield pieces
        except (TimeoutError, aiohttp.ClientError) as exc:
            raise broken(type(exc).__name__) from exc

    async def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer in one piece. Raises as `stream` does."""
        content, sent = orjson.dumps({**body, "stream": False}), {"Content-Type": "application/json"}
        try:
            async with self._session.post(f"{self.url}/chat/completions", data=content, headers=sent) as answer:
                if answer.status != HTTPStatus.OK:
                    raise refusal(answer.status)
                begun = bytearray()
                async for chunk in answer.content.iter_any():
                    begun += chunk
                    if len(begun) > LINE_MAX_BYTES:
                        raise endless()
                return _piece(bytes(begun))
        except (TimeoutError, aiohttp.ClientError) as exc:
            raise broken(type(exc).__name__) from exc

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


async def _events(answer: aiohttp.StreamReader) -> AsyncGenerator[list[bytes]]:
    """Yield the data of the events of a stream, all that came together at once.

    CR and LF alone end a line: U+2028 may stand within a piece. Raises `ModelError` for a line or an answer that does
    not end, and what aiohttp raises.
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


def _piece(data: bytes) -> dict[str, Any]:
    try:
        piece = orjson.loads(data)
    except orjson.JSONDecodeError:
        piece = _with_halves(data)
    if not isinstance(piece, dict):
        raise garbage("a piece of the answer is no object")
    if piece.get("error"):
        raise ModelError("Error", "why_busy", "an error within the answer", passing=True)
    return piece


def _with_halves(data: bytes) -> Any:
    """Return JSON with halves of characters in it: a server may cut a stream within one. Raises `ModelError`."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise garbage("a piece of the answer is no JSON") from None
