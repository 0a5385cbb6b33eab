"""Keeps the playground's bot running: starts it, kills it when asked, starts it again and tells its finds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import httpx

from bot.ops.lock import holder
from bot.ops.runs.status import report_in_words

RESTART_AFTER_S = 1.2
"""Long enough to be seen."""
MAX_QUICK_DEATHS = 3
KEPT_PORTS = range(20_000, 32_000)
"""Below those that a system hands out by itself: what connects meanwhile takes none of these."""


def free_port() -> int:
    """Return a port on 127.0.0.1 that nobody listens on, and that none gets who asks for any."""
    for port in random.sample(KEPT_PORTS, len(KEPT_PORTS)):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("no port is free")


class Child(Protocol):
    """A process that was started."""

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        ...

    def send_signal(self, number: int, /) -> None:
        """Send a signal."""
        ...

    async def wait(self) -> int:
        """Return the exit code once it has ended."""
        ...


Start = Callable[[dict[str, str], Path, Path], Awaitable[Child]]
"""Starts the bot with this environment and clock; it prints into the file."""


async def start_program(env: dict[str, str], clock_path: Path, log_path: Path) -> Child:
    """Start the bot as a program of its own."""
    with log_path.open("ab") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot.playground.child", str(clock_path),
            env=env, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip


class ProcessKeeper:
    """One child process after another on the same data. `changed` is called whenever `state` or `note` is new."""

    def __init__(
        self,
        env: dict[str, str],
        clock_path: Path,
        log_path: Path,
        changed: Callable[[], None],
        start: Start = start_program,
    ) -> None:
        self.port = free_port()
        self.token = os.urandom(16).hex()
        self.state = "starting"
        """starting, running, killed or failed."""
        self.note = ""
        """The finds of the last start, in words."""
        self._env = {**env, "CONTINUITY_HTTP_PORT": str(self.port), "CONTINUITY_HTTP_TOKEN": self.token}
        self._database = Path(env["CONTINUITY_DATABASE_URL"].removeprefix("sqlite:///"))
        self._clock_path = clock_path
        self._log_path = log_path
        self._changed = changed
        self._start = start
        self._process: Child | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin to keep the bot running."""
        self._task = asyncio.create_task(self._keep(), name="keeper")

    async def end(self) -> None:
        """Stop keeping the bot running, and stop it in good order."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._stop()

    def kill(self) -> None:
        """Kill -9."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    async def _stop(self) -> None:
        """Stop the child, kill it when that takes too long."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), 12)
        except TimeoutError:
            self.kill()
            await self._process.wait()

    def point_to(self, api_url: str) -> None:
        """Give the child the address of its Telegram, before it starts."""
        self._env["TELEGRAM_API_URL"] = api_url

    def _say(self, state: str, note: str = "") -> None:
        self.state, self.note = state, note
        self._changed()

    async def _keep(self) -> None:
        quick_deaths = 0
        while quick_deaths < MAX_QUICK_DEATHS:
            await self._without_rival()
            self._say("starting", self.note)
            began_s = asyncio.get_running_loop().time()
            self._process = await self._start(self._env, self._clock_path, self._log_path)
            reading = asyncio.create_task(self._report())
            code = await self._process.wait()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            came_up = self.state == "running"
            quick = not came_up and asyncio.get_running_loop().time() - began_s < 10  # noqa: PLR2004 - seconds
            quick_deaths = quick_deaths + 1 if quick else 0
            self._say("killed", "killed -9" if code == -signal.SIGKILL else f"ended with {code}")
            await asyncio.sleep(RESTART_AFTER_S)
        self._say("failed", f"the bot doesn't start; see {self._log_path}")

    async def _without_rival(self) -> None:
        """Wait until no other process works on the data, and name the one that does: ours could not start meanwhile."""
        while rival := holder(self._database):
            who = f"another bot (process {rival.pid})" if rival.pid else "another bot"
            note = f"{who} works in this folder; this one starts as soon as that has ended"
            if (self.state, self.note) != ("failed", note):
                self._say("failed", note)
            await asyncio.sleep(RESTART_AFTER_S)

    async def _report(self) -> None:
        """Wait until the child answers, then say the finds of its start."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", headers=headers) as client:
            while True:
                with contextlib.suppress(httpx.HTTPError, ValueError):
                    report: dict[str, Any] = (await client.get("/health")).json()
                    found = report_in_words(report.get("start", {}))
                    self._say("running", ", ".join(found))
                    return
                await asyncio.sleep(0.1)
