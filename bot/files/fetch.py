"""Bytes of a file from Telegram, by a link that lasts an hour and is never kept: the token is in it."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import aiohttp
from telegram.error import BadRequest, Forbidden, NetworkError, TelegramError

from bot.files.store import Blobs, Incoming
from bot.intake.telegram_request import proxy_of, trusted
from bot.pauses import Pauses
from bot.settings import TELEGRAM_URL
from memory.errors import StorageUnavailable, reason
from memory.process import faults

PIECE_BYTES: Final = 256 * 1024
SILENT_S: Final = 20.0
"""A server that sends nothing for so long has failed."""
LONGEST_S: Final = 180.0
TRIES: Final = 3


class NotFetched(Exception):
    """The file is not here; `why` is a word for a sentence, `passing` says whether trying again may help."""

    def __init__(self, why: str, *, passing: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.passing = passing


class FileLinks(Protocol):
    """The side of `telegram.Bot` that is used here."""

    async def get_file(self, file_id: str) -> object:
        """Return where the file is, in `file_path`."""
        ...


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches files of one bot, no more than `most_bytes` of each, even where its size was said to be less."""

    bot: FileLinks
    api_url: str
    files_url: str
    most_bytes: int
    pauses: Pauses
    silent_s: float = SILENT_S

    async def fetch(self, telegram_id: str, blobs: Blobs) -> Incoming:
        """Return the file, whole, with its digest. Raises `NotFetched`, `StorageUnavailable`: nothing is left here."""
        for left in range(TRIES - 1, -1, -1):
            incoming = await blobs.begin()
            try:
                link = await self._link(telegram_id)
                faults.point("file_linked")
                async with asyncio.timeout(LONGEST_S):
                    await self._take(link, incoming)
                await blobs.finish(incoming)
            except (NotFetched, TimeoutError) as exc:
                await blobs.drop(incoming)
                failed = exc if isinstance(exc, NotFetched) else NotFetched("unreachable", passing=True)
                if not failed.passing or not left:
                    raise failed from exc
                await self.pauses.rest(1.0)
            except BaseException:
                await blobs.drop(incoming)
                raise
            else:
                faults.point("file_downloaded")
                return incoming
        raise AssertionError("the last try either returns or raises")

    async def _link(self, telegram_id: str) -> str | Path:
        """Return the address of a file, or its path where a server of one's own has it. Raises `NotFetched`."""
        try:
            found = await self.bot.get_file(telegram_id)
        except BadRequest as exc:
            raise NotFetched("too_big" if "too big" in str(exc).lower() else "expired") from exc
        except Forbidden as exc:
            raise NotFetched("expired") from exc
        except NetworkError as exc:
            raise NotFetched("unreachable", passing=True) from exc
        except TelegramError as exc:
            raise NotFetched("unreachable") from exc
        place = str(getattr(found, "file_path", None) or "")
        if place.startswith(f"{self.files_url}/"):
            return place
        if place.startswith("/") and self.api_url != TELEGRAM_URL:
            return Path(place)
        if not place or place.startswith("/") or "://" in place:
            raise NotFetched("unreachable")
        return f"{self.files_url}/{place}"

    async def _take(self, link: str | Path, incoming: Incoming) -> None:
        """Let the bytes come in, as many as are taken. Raises `NotFetched`, `StorageUnavailable`."""
        pieces = _of_path(link) if isinstance(link, Path) else _of_address(link, self.silent_s)
        async with aclosing(pieces):  # who leaves in the middle closes the connection, too
            async for piece in pieces:
                if incoming.size_bytes + len(piece) > self.most_bytes:
                    raise NotFetched("too_big")
                try:
                    await asyncio.to_thread(incoming.write, piece)
                except OSError as exc:
                    raise StorageUnavailable(reason(exc)) from exc
        if not incoming.size_bytes:
            raise NotFetched("empty")


async def _of_address(address: str, silent_s: float) -> AsyncGenerator[bytes]:
    """The bytes behind an address, piece by piece. Raises `NotFetched`; no error names the address."""
    parts = urlsplit(address)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=silent_s, sock_read=silent_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.get(
                address,
                proxy=proxy_of(parts.scheme, parts.hostname or ""),
                ssl=trusted() if parts.scheme == "https" else True,
                allow_redirects=False,
            ) as answer,
        ):
            if answer.status != 200:  # noqa: PLR2004 - the link is too old, or the server is in trouble: ask again
                raise NotFetched("unreachable" if answer.status >= 500 else "expired", passing=True)  # noqa: PLR2004 - statuses of HTTP
            async for piece in answer.content.iter_chunked(PIECE_BYTES):
                yield piece
            if answer.content_length is not None and answer.content.total_bytes < answer.content_length:
                raise NotFetched("unreachable", passing=True)
    except (aiohttp.ClientError, TimeoutError, OSError) as exc:
        raise NotFetched("unreachable", passing=True) from exc


async def _of_path(path: Path) -> AsyncGenerator[bytes]:
    """The bytes of a file that the Bot API server has written, piece by piece. Raises `NotFetched`."""
    try:
        descriptor = await asyncio.to_thread(os.open, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NotFetched("unreachable")
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield piece
    except OSError as exc:
        raise NotFetched("unreachable") from exc
