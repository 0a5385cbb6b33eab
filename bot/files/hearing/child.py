"""The recogniser on this machine, in a child of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from bot.files.hearing.errors import NoSpeech, NotHeard
from bot.files.hearing.listener import LONGEST_S, HeardPiece, Recording
from bot.files.hearing.sound_child import IDLE_S, SoundChild
from bot.files.hearing.transcript import Stretch, judged

PIECE_S: Final = 60.0


class ListeningChild:
    """`bot.files.hearing.listener.Listener` by faster-whisper; one recording after another."""

    resumes = False

    def __init__(
        self,
        model: Path,
        silent_s: float,
        *,
        idle_s: float = IDLE_S,
        command: tuple[str, ...] = ("-m", "bot.files.hearing"),
    ) -> None:
        self._child = SoundChild((*command, str(model)), silent_s + PIECE_S, idle_s)

    @property
    def pid(self) -> int | None:
        """Process id of the child, None while there is none."""
        return self._child.pid

    async def pieces(self, recording: Recording, done: int = 0) -> AsyncGenerator[HeardPiece]:  # noqa: ARG002 - always anew
        """Heard pieces, a minute or so at a time (`Listener.pieces`)."""
        if recording.seconds > LONGEST_S:
            raise NoSpeech("too_long")
        asked = {"path": str(recording.path), "language": recording.language, "longest_s": LONGEST_S}
        segments: list[Stretch] = []
        begins_s, language = 0.0, recording.language
        async with aclosing(self._child.ask(asked)) as lines:
            async for said in lines:
                if error := said.get("error"):
                    raise NoSpeech(error) if error in {"damaged", "too_long"} else NotHeard(str(error))
                language = str(said.get("language") or language)
                if "text" in said:
                    segments.append(_segment(said))
                until_s = segments[-1].start_s if segments else begins_s
                if said.get("end") or until_s - begins_s >= PIECE_S:
                    yield HeardPiece(judged(segments, language), until_s)
                    segments, begins_s = [], until_s

    async def close(self) -> None:
        """End the child."""
        await self._child.close()


def _segment(said: dict[str, Any]) -> Stretch:
    try:
        return Stretch(
            float(said["start_s"]), str(said["text"]), float(said["sureness"]), float(said.get("silence") or 0.0)
        )
    except (KeyError, TypeError, ValueError):
        raise NotHeard("garbage", "the recogniser says something else") from None
