"""A model on this machine in a child: started when it is needed, asked one thing at a time, and gone when it idles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import orjson
import structlog

from bot.files.hearing.errors import NotHeard
from bot.process import children

IDLE_S: Final = 120.0
"""So long the model stays in memory after its last work: the next time it need not be loaded again."""
START_S: Final = 300.0
"""To import the library and load a large model from a slow disk takes minutes at most."""
LINE_BYTES: Final = 16 * 1024 * 1024

log = structlog.get_logger(__name__)


class SoundChild:
    """A child that answers a line of JSON with lines, of which the last has `end` or `error`."""

    def __init__(self, command: tuple[str, ...], silent_s: float, idle_s: float) -> None:
        self._command = command
        self._silent_s = silent_s
        self._idle_s = idle_s
        self._one = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Process id of the child, None while there is none."""
        return self._child.pid if self._child else None

    async def ask(self, asked: Mapping[str, object]) -> AsyncGenerator[dict[str, Any]]:
        """The lines of its answer. Raises `NotHeard`: then, and when nobody waits for the last line, it is ended."""
        async with self._one:
            if self._leaving is not None:
                self._leaving.cancel()
            is_idle = False
            try:
                child = await self._started()
                if child.stdin is None or child.stdout is None:
                    raise AssertionError("its pipes are ours")
                child.stdin.write(orjson.dumps(asked) + b"\n")
                await child.stdin.drain()
                patience_s = START_S
                while True:
                    said = await _line(child.stdout, patience_s)
                    patience_s = self._silent_s
                    is_last = bool(said.get("end") or said.get("error"))
                    is_idle = is_last and said.get("error") != "missing"
                    yield said
                    if is_last:
                        return
            except (BrokenPipeError, ConnectionResetError) as exc:
                raise NotHeard("away", "the model's process ended") from exc
            finally:
                if is_idle:
                    self._leaving = asyncio.get_running_loop().call_later(self._idle_s, self._leave)
                else:  # who leaves in the middle leaves it talking
                    await self._end()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._child is not None and self._child.returncode is None:
            return self._child
        self._child = await children.start(
            *self._command, env={"HF_HUB_OFFLINE": "1"}, limit=LINE_BYTES, stdin=asyncio.subprocess.PIPE
        )
        log.info("a model on this machine was started", command=self._command[:2], pid=self._child.pid)
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


async def _line(out: asyncio.StreamReader, patience_s: float) -> dict[str, Any]:
    try:
        async with asyncio.timeout(patience_s):
            line = await out.readline()
        said = orjson.loads(line) if line else None
    except TimeoutError:
        raise NotHeard("slow", "the model says nothing") from None
    except ValueError:
        raise NotHeard("garbage", "the model says something else") from None
    if not isinstance(said, dict):
        raise NotHeard("away", "the model's process ended")
    return said
