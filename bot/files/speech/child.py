"""A voice on this machine, in a child of its own."""

from __future__ import annotations

import base64
import binascii
from contextlib import aclosing
from pathlib import Path
from typing import Final

from bot.files.hearing.errors import NotHeard
from bot.files.hearing.sound_child import IDLE_S, SoundChild

OGG: Final = b"OggS"
SENTENCE_S: Final = 60.0
"""A slow machine takes so long for a long sentence."""


class SpeakingChild:
    """`bot.files.speech.speaker.Voice` by sherpa-onnx; one answer after another."""

    def __init__(
        self,
        voice: Path,
        silent_s: float,
        *,
        command: tuple[str, ...] = ("-m", "bot.files.speech"),
    ) -> None:
        self._child = SoundChild((*command, str(voice)), silent_s + SENTENCE_S, IDLE_S)

    @property
    def pid(self) -> int | None:
        """Process id of the child, None while there is none."""
        return self._child.pid

    async def speak(self, text: str) -> bytes:
        """Return the sound of a text (`Voice.speak`)."""
        async with aclosing(self._child.ask({"text": text})) as lines:
            async for said in lines:
                if error := said.get("error"):
                    raise NotHeard(str(error), "the voice on this machine")
                if said.get("end"):
                    return _sound(said.get("data"))
        raise NotHeard("away", "the voice ended")

    async def close(self) -> None:
        """End the child."""
        await self._child.close()


def _sound(data: object) -> bytes:
    try:
        sound = base64.b64decode(str(data), validate=True)
    except binascii.Error:
        sound = b""
    if not sound.startswith(OGG):
        raise NotHeard("garbage", "the voice says something else")
    return sound
