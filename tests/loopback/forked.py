"""Children forked from one process that has imported everything: they are killed like any other, and start at once."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

from bot.pauses import Pauses

OURS = ("TELEGRAM_", "CONTINUITY_", "OPENAI_")
"""Variables of the machine that no child of a test may see."""

_WRITES = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.loopback.warm"])
_SHARED = "TESTS_FORK_SERVER"


def share() -> None:
    """Start the process that is forked for all workers of this run: to make one ready takes as long as twenty bots."""
    forkserver.ensure_running()
    os.environ[_SHARED] = forkserver._forkserver._forkserver_address  # there is no public word for it


def _join(address: str) -> None:
    server: Any = forkserver._forkserver
    server._forkserver_address, server._forkserver_alive_fd = address, os.pipe()[1]
    server.ensure_running = resource_tracker.ensure_running


if _SHARED in os.environ:
    _join(os.environ[_SHARED])


@atexit.register
def _leave_nobody() -> None:
    """Kill what a test that was broken off left running: at its end this process would wait for it for ever."""
    for child in multiprocessing.active_children():
        child.kill()


class Forked:
    """A child that runs `work(*arguments)` in its own process, folder and environment, and prints into a file.

    It reads nothing unless it is given a file; its errors go where it prints unless they have a file of their own.
    """

    def __init__(
        self,
        work: Callable[..., Any],
        *arguments: Any,
        folder: Path,
        env: Mapping[str, str],
        log_path: Path,
        error_path: Path | None = None,
        input_path: Path = Path(os.devnull),
    ) -> None:
        streams = (str(input_path), str(log_path), str(error_path or log_path))
        self._process = _forks.Process(target=_child, args=(work, arguments, str(folder), dict(env), streams))
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
        """Block until it has ended and return the exit code. Raises AssertionError after a minute."""
        self._process.join(60)
        code = self._process.exitcode
        assert code is not None, "the child did not end"
        return code


def finished(work: Callable[..., Any], *arguments: Any, env: Mapping[str, str]) -> tuple[list[str], int]:
    """Run a child to its end, or until it kills itself; return the lines it printed and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        printed, errors = Path(folder) / "out", Path(folder) / "errors"
        code = Forked(work, *arguments, folder=Path.cwd(), env=env, log_path=printed, error_path=errors).join()
        assert code in {0, -signal.SIGKILL}, errors.read_text(encoding="utf-8")
        return printed.read_text(encoding="utf-8").splitlines(), code


def _child(
    work: Callable[..., Any], arguments: tuple[Any, ...], folder: str, env: dict[str, str], streams: tuple[str, ...]
) -> None:
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(env)
    for descriptor, path in enumerate(streams):
        os.dup2(os.open(path, _WRITES if descriptor else os.O_RDONLY, 0o600), descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    importlib.reload(
        sys.modules.get("memory.process.faults") or importlib.import_module("memory.process.faults")
    )  # armed by env
    work(*arguments)


def cli(*arguments: str) -> None:
    """Do what `continuity-bot ARGUMENTS` does, with a bot whose pauses are short: as `TEST_PAUSES` says, or shorter."""
    import bot.app
    from tests.loopback.warm import COMMANDS

    bot.app.App = partial(bot.app.App, pauses=Pauses(float(os.environ.get("TEST_PAUSES", "0.05"))))
    COMMANDS(arguments, prog_name="continuity-bot")
