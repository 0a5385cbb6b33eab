"""Requests to a server for speech, in either direction: an address, a key, and a time that it may be silent."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr

from bot.answers.wires.providers import OPENAI_URL
from bot.files.hearing.errors import NotHeard
from bot.intake.telegram_request import KEPT_S, proxy_of, trusted
from bot.pauses import Pauses

CONNECT_S: Final = 10.0
_T = TypeVar("_T")


def sound_server(url: str | None, key: SecretStr | None, silent_s: float) -> SoundServer:
    """The server of these settings; OpenAI's key goes to OpenAI's own address, and to no other."""
    openai = "" if url else os.environ.get("OPENAI_API_KEY", "").strip()
    address = url or os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
    return SoundServer(address, key.get_secret_value() if key else openai, silent_s)


async def tried_twice(ask: Callable[[], Awaitable[_T]], pauses: Pauses) -> _T:
    """The answer of a server, which is asked once more, a second later, when it is in trouble. Raises `NotHeard`."""
    try:
        return await ask()
    except NotHeard as exc:
        if exc.why == "refused":
            raise
    await pauses.rest(1.0)
    return await ask()


class SoundServer:
    """A server of OpenAI's form. It connects at its first call."""

    def __init__(self, url: str, key: str, silent_s: float) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._silent_s = silent_s
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, path: str, fields: Mapping[str, str], file: tuple[str, bytes, str] | None, long_s: float, most_bytes: int
    ) -> tuple[int, bytes]:
        """Status and body of the answer; `long_s` is how long the sound plays, which working on it may take as well.

        With a file a form is sent, without one JSON. Raises `NotHeard`, whose text holds no word and no key.
        """
        body: dict[str, Any] = {"json": dict(fields)}
        if file is not None:
            form = aiohttp.FormData()
            for name, value in fields.items():
                form.add_field(name, value)
            form.add_field("file", file[1], filename=file[0], content_type=file[2])
            body = {"data": form}
        patience = aiohttp.ClientTimeout(total=None, connect=CONNECT_S, sock_read=self._silent_s + long_s)
        try:
            async with self._open().post(self._url + path, timeout=patience, allow_redirects=False, **body) as answer:
                taken = bytearray()
                async for piece in answer.content.iter_any():
                    taken += piece
                    if len(taken) > most_bytes:
                        raise NotHeard("garbage", "the answer does not end")
                return answer.status, bytes(taken)
        except TimeoutError as exc:
            raise NotHeard("slow", type(exc).__name__) from None
        except aiohttp.ClientError as exc:
            raise NotHeard("away", type(exc).__name__) from None

    @property
    def address(self) -> str:
        """The server's address."""
        return self._url

    @property
    def has_key(self) -> bool:
        """Whether requests bear a key."""
        return bool(self._key)

    async def status(self, path: str) -> int:
        """The status code for a question that costs nothing. Raises `NotHeard`."""
        patience = aiohttp.ClientTimeout(total=self._silent_s)
        try:
            async with self._open().get(self._url + path, timeout=patience, allow_redirects=False) as answer:
                return answer.status
        except TimeoutError as exc:
            raise NotHeard("slow", type(exc).__name__) from None
        except aiohttp.ClientError as exc:
            raise NotHeard("away", type(exc).__name__) from None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            address = urlsplit(self._url)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=trusted(), keepalive_timeout=KEPT_S),
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                proxy=proxy_of(address.scheme, address.hostname or ""),
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None
