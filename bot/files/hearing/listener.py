"""The port to a recogniser of speech, and the longest recording."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from bot.files.hearing.transcript import Transcript

LONGEST_S: Final = 2 * 3600
"""A recording that plays longer is refused: at the slowest, listening takes as long as it plays."""
LONGEST: Final = "2 h"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file with speech in it."""

    path: Path
    media_type: str
    seconds: int = 0
    """Length as Telegram tells it; 0 for unknown."""
    language: str = ""
    """Code of the language that the person chose to be spoken to in; "" = find out."""


@dataclass(frozen=True, slots=True)
class HeardPiece:
    """A part of a recording that was listened to."""

    transcript: Transcript
    until_s: float
    """End of the piece in the recording."""


class Listener(Protocol):
    """Turns recordings into text."""

    resumes: bool
    """True when it can go on behind the pieces that were done before."""

    def pieces(self, recording: Recording, done: int = 0) -> AsyncGenerator[HeardPiece]:
        """Heard pieces without the first `done`. Raises `NotHeard`, `NoSpeech`, `OSError`."""
        ...

    async def close(self) -> None:
        """End its processes."""
        ...
