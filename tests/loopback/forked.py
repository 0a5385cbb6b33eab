"""Children forked from one process that has imported everything: they are killed like any other, and start at once."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

OURS = ("TELEGRAM_", "CONTINUITY_", "OPENAI_")
"""Variables of the machine that no child of a test may see."""

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.loopback.warm"])


class Forked:
    """A child that runs `work(*arguments)` in its own process, folder and environment, and prints into a file."""

    def __init__(
        self, work: Callable[..., Any], *arguments: Any, folder: Path, env: Mapping[str, str], log_path: Path
    ) -> None:
        self._process = _forks.Process(target=_child, args=(work, arguments, str(folder), dict(env), str(log_path)))
        self._process.start()
        self.pid: int = self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    async def wait(self) -> int:
        """Return the exit code once it has ended."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        while self._process.exitcode is None:
            watched = os.dup(self._process.sentinel)  # several may wait, and a loop watches a descriptor for one
            loop.add_reader(watched, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(watched)
                os.close(watched)
        return self._process.exitcode

    def join(self) -> int:
        """Block until it has ended and return the exit code."""
        self._process.join()
        code = self._process.exitcode
        assert code is not None
        return code


def _child(work: Callable[..., Any], arguments: tuple[Any, ...], folder: str, env: dict[str, str], log: str) -> None:
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(env)
    target = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for descriptor in (1, 2):
        os.dup2(target, descriptor)
    importlib.reload(sys.modules.get("memory.faults") or importlib.import_module("memory.faults"))  # armed by env
    work(*arguments)


def cli(*arguments: str) -> None:
    """Do what `python -m bot ARGUMENTS` does."""
    from bot.cli import app  # noqa: PLC0415 - the tests' own process needs no commands

    app(arguments, prog_name="python -m bot")
