"""A server on 127.0.0.1 that listens and speaks as OpenAI's does, and recordings for it to listen to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from bot.files.hearing.ogg import Page, _written

SAMPLES = 48_000


def ogg(*pages: tuple[float, bytes]) -> bytes:
    """Return an Ogg file that calls itself Opus: for each page its end in seconds and its bytes (at most 255)."""
    heads = [_page(b"OpusHead" + bytes(11), 0, flags=2), _page(b"OpusTags" + bytes(8), 0)]
    return _written([*heads, *(_page(data, round(until_s * SAMPLES)) for until_s, data in pages)], 0, is_end=True)


def _page(data: bytes, samples: int, flags: int = 0) -> Page:
    head = b"OggS\0" + bytes([flags]) + bytes(8) + b"\x01\0\0\0" + bytes(8) + bytes([1, len(data)])
    return Page(head + data, flags, samples)


def voice(text: str, seconds: float = 3.0) -> bytes:
    """Return a short recording; the server hears the text that stands in it."""
    return ogg((seconds, f"say:{text}".encode()))


def heard(data: bytes) -> str:
    """Return what is said in a recording that was made here."""
    return " ".join(each.partition(b"OggS")[0].rstrip(b"\0").decode() for each in data.split(b"say:")[1:])


def certain(text: str) -> Any:
    """Return what is answered for a text that was clear."""
    segments = [{"start": 0.0, "text": text, "avg_logprob": -0.2, "no_speech_prob": 0.01}]
    return {"text": text, "language": "english", "segments": segments}


@dataclass
class LoopbackSounds:
    """The server. `url` is CONTINUITY_TRANSCRIBE_URL and CONTINUITY_SPEECH_URL."""

    answer: Callable[[str], Any] = certain
    """Makes the answer from the text in a recording."""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The fields of every request, with the file under `file`."""
    spoken: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Any] = field(default_factory=list)
    """For each of the next requests: a status, "hang", or bytes that are sent instead."""
    plain: bool = False
    """It has no format but json."""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/audio/transcriptions", self._hear)
        app.router.add_post("/v1/audio/speech", self._speak)
        self._stopping = asyncio.Event()
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping.set()
        await self._runner.cleanup()

    def release(self) -> None:
        """Let go of what hangs."""
        self._stopping.set()

    async def _fault(self) -> web.Response | None:
        fault = self.faults.pop(0) if self.faults else None
        if fault == "hang":
            await self._stopping.wait()
            return web.Response(status=500)
        if isinstance(fault, bytes):
            return web.Response(body=fault)
        return web.json_response({"error": {"message": "no"}}, status=fault) if isinstance(fault, int) else None

    async def _hear(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        data = file.file.read()
        file.file.close()
        self.asked.append({**form, "file": (file.filename, data), "key": request.headers.get("Authorization")})
        if refused := await self._fault():
            return refused
        if self.plain and form["response_format"] != "json":
            return web.json_response({"error": {"message": "response_format is not compatible"}}, status=400)
        answer = self.answer(heard(data))
        return web.json_response({"text": answer["text"]} if self.plain else answer)

    async def _speak(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.spoken.append(body)
        if refused := await self._fault():
            return refused
        return web.Response(body=voice(body["input"][:200]), content_type="audio/ogg")
