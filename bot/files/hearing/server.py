"""A server that turns speech into text: OpenAI's `/audio/transcriptions`, or one that speaks like it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import orjson

from bot.files.hearing.errors import NoSpeech, NotHeard
from bot.files.hearing.listener import LONGEST_S, HeardPiece, Recording
from bot.files.hearing.ogg import cut, seconds_of
from bot.files.hearing.sound_server import SoundServer, tried_twice
from bot.files.hearing.transcript import judged, read_answer
from bot.pauses import Pauses

PIECE_S: Final = 600.0
"""So long is a piece of a long voice message: a piece that fails is no great loss, and OpenAI's newer models take no
more than 25 minutes."""
MOST_BYTES: Final = 25 * 1024 * 1024
"""OpenAI's server takes no larger file."""
ANSWER_BYTES: Final = 8 * 1024 * 1024
_NAMES: Final = {
    "audio/ogg": "ogg", "audio/mpeg": "mp3", "audio/flac": "flac", "audio/wav": "wav", "audio/mp4": "m4a",
    "video/mp4": "mp4", "video/webm": "webm",
}  # fmt: skip
"""Servers tell the format by the name's ending."""
_AWAY: Final = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)}
_PLAIN: Final = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}


class ListeningServer:
    """`bot.files.hearing.listener.Listener` over HTTP."""

    resumes = True

    def __init__(self, server: SoundServer, model: str, pauses: Pauses) -> None:
        self._server = server
        self._model = model
        self._pauses = pauses
        self._details = True
        """True while the server gives segments with their probabilities; some models give a text alone."""

    async def pieces(self, recording: Recording, done: int = 0) -> AsyncGenerator[HeardPiece]:
        """Heard pieces, one by one (`Listener.pieces`)."""
        data = await asyncio.to_thread(recording.path.read_bytes)
        seconds = await asyncio.to_thread(seconds_of, data) or float(recording.seconds)
        if seconds > LONGEST_S:
            raise NoSpeech("too_long")
        found = await asyncio.to_thread(cut, data, PIECE_S) if seconds > PIECE_S else None
        parts = [(piece.start_s, piece.seconds, piece.data) for piece in found] if found else [(0.0, seconds, data)]
        for start_s, long_s, part in parts[done:]:
            if len(part) > MOST_BYTES:
                raise NoSpeech("too_big")
            segments, language = await self._heard(part, recording, start_s, long_s)
            yield HeardPiece(judged(segments, language or recording.language), start_s + long_s)

    async def _heard(self, data: bytes, recording: Recording, start_s: float, long_s: float) -> Any:
        """Segments and language of one piece; tried once more when the server is in trouble. Raises `NotHeard`."""
        return await tried_twice(partial(self._asked, data, recording, start_s, long_s), self._pauses)

    async def _asked(self, data: bytes, recording: Recording, start_s: float, long_s: float) -> Any:
        fields = {"model": self._model, "response_format": "verbose_json" if self._details else "json"}
        if recording.language:
            fields["language"] = recording.language
        name = f"recording.{_NAMES.get(recording.media_type, 'ogg')}"
        file = (name, data, recording.media_type)
        status, body = await self._server.post("/audio/transcriptions", fields, file, long_s, ANSWER_BYTES)
        if status in _PLAIN and self._details:  # gpt-4o-transcribe and the like have no other format than json
            status, body = await self._server.post(
                "/audio/transcriptions", fields | {"response_format": "json"}, file, long_s, ANSWER_BYTES
            )
            self._details = status in _PLAIN
        if status in _PLAIN:
            raise NoSpeech("damaged")
        if status != HTTPStatus.OK:
            raise NotHeard("away" if status in _AWAY else "refused", str(status))
        try:
            found = read_answer(orjson.loads(body), start_s)
        except orjson.JSONDecodeError:
            found = None
        if found is None:
            raise NotHeard("garbage", "the answer is no transcript")
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()
