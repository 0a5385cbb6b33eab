"""The recogniser on this machine: one child for all recordings, started when it is needed and gone when it idles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

import orjson
import structlog

from bot.files.hearing.errors import NoSpeech, NotHeard
from bot.files.hearing.listener import LONGEST_S, HeardPiece, Recording
from bot.files.hearing.transcript import Stretch, judged
from bot.process import children

IDLE_S: Final = 120.0
"""So long the model stays in memory behind a recording: the next one need not load it again."""
PIECE_S: Final = 60.0
START_S: Final = 300.0
"""To import the library and load a large model from a slow disk takes minutes at most."""
LINE_BYTES: Final = 1024 * 1024

log = structlog.get_logger(__name__)


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
        self._model = model
        self._silent_s = silent_s
        self._idle_s = idle_s
        self._command = command
        self._one = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Process id of the child, None while there is none."""
        return self._child.pid if self._child else None

    async def pieces(self, recording: Recording, done: int = 0) -> AsyncGenerator[HeardPiece]:  # noqa: ARG002 - always anew
        """Heard pieces, a minute or so at a time (`Listener.pieces`)."""
        if recording.seconds > LONGEST_S:
            raise NoSpeech("too_long")
        async with self._one:
            if self._leaving is not None:
                self._leaving.cancel()
            is_idle = False
            try:
                async with aclosing(self._heard(recording)) as found:
                    async for piece in found:
                        yield piece
                is_idle = True
            except NoSpeech:
                is_idle = True
                raise
            finally:
                if is_idle:
                    self._leaving = asyncio.get_running_loop().call_later(self._idle_s, self._leave)
                else:  # who leaves in the middle leaves it talking
                    await self._end()

    async def _heard(self, recording: Recording) -> AsyncGenerator[HeardPiece]:
        child = await self._started()
        asked = {"path": str(recording.path), "language": recording.language, "longest_s": LONGEST_S}
        if child.stdin is None or child.stdout is None:
            raise AssertionError("its pipes are ours")
        segments: list[Stretch] = []
        begins_s, language, patience_s = 0.0, recording.language, START_S
        try:
            child.stdin.write(orjson.dumps(asked) + b"\n")
            await child.stdin.drain()
            while True:
                said = await self._line(child.stdout, patience_s)
                patience_s = self._silent_s + PIECE_S
                if error := said.get("error"):
                    raise NoSpeech(error) if error in {"damaged", "too_long"} else NotHeard(str(error))
                language = str(said.get("language") or language)
                if "text" in said:
                    segments.append(_segment(said))
                until_s = segments[-1].start_s if segments else begins_s
                if said.get("end") or until_s - begins_s >= PIECE_S:
                    yield HeardPiece(judged(segments, language), until_s)
                    segments, begins_s = [], until_s
                if said.get("end"):
                    return
        except (BrokenPipeError, ConnectionResetError) as exc:
            raise NotHeard("away", "the recogniser ended") from exc

    async def _line(self, out: asyncio.StreamReader, patience_s: float) -> dict[str, Any]:
        try:
            async with asyncio.timeout(patience_s):
                line = await out.readline()
            said = orjson.loads(line) if line else None
        except TimeoutError:
            raise NotHeard("slow", "the recogniser says nothing") from None
        except ValueError:
            raise NotHeard("garbage", "the recogniser says something else") from None
        if not isinstance(said, dict):
            raise NotHeard("away", "the recogniser ended")
        return said

    async def _started(self) -> asyncio.subprocess.Process:
        if self._child is not None and self._child.returncode is None:
            return self._child
        self._child = await children.start(
            *self._command,
            str(self._model),
            env={"HF_HUB_OFFLINE": "1"},
            limit=LINE_BYTES,
            stdin=asyncio.subprocess.PIPE,
        )
        log.info("the recogniser was started", pid=self._child.pid)
        return self._child

    def _leave(self) -> None:
        task = asyncio.ensure_future(self._end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        children.kill(child)
        if child.stdin is not None:
            child.stdin.close()
        if child.stdout is not None:
            await child.stdout.read()
        await child.wait()

    async def close(self) -> None:
        """End the child."""
        if self._leaving is not None:
            self._leaving.cancel()
        await self._end()
        await asyncio.gather(*self._ending)


def _segment(said: dict[str, Any]) -> Stretch:
    try:
        return Stretch(
            float(said["start_s"]), str(said["text"]), float(said["sureness"]), float(said.get("silence") or 0.0)
        )
    except (KeyError, TypeError, ValueError):
        raise NotHeard("garbage", "the recogniser says something else") from None
