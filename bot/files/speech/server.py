"""A server of OpenAI's form that speaks (`/audio/speech`)."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Final

from bot.files.hearing.errors import NotHeard
from bot.files.hearing.sound_server import SoundServer, tried_twice
from bot.pauses import Pauses
from bot.settings.model_names import SoundModel

MOST_BYTES: Final = 10_000_000
SPOKEN_S: Final = 60.0
"""So long the server may take on top of its silence: speech takes a while to be made."""
VOICE_OF_ALL: Final = "alloy"
_SOUNDS: Final = (b"OggS", b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")
"""Formats that Telegram takes for a voice message: Ogg with Opus, or MP3."""


class SpeakingServer:
    """`bot.files.speech.speaker.Voice` by a server."""

    def __init__(self, server: SoundServer, model: SoundModel, pauses: Pauses) -> None:
        self._server = server
        self._model = model
        self._pauses = pauses

    async def speak(self, text: str) -> bytes:
        """Return the sound of a text (`Voice.speak`)."""
        return await tried_twice(partial(self._asked, text), self._pauses)

    async def _asked(self, text: str) -> bytes:
        voice = self._model.voice or VOICE_OF_ALL
        asked = {"model": self._model.name, "voice": voice, "input": text, "response_format": "opus"}
        status, sound = await self._server.post("/audio/speech", asked, None, SPOKEN_S, MOST_BYTES)
        if status != HTTPStatus.OK:
            raise NotHeard("away" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "refused", str(status))
        if not sound.startswith(_SOUNDS):
            raise NotHeard("garbage", "the answer is no sound")
        return sound

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()
