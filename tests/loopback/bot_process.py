"""The bot as a child process that can be killed and started again on the same data."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.playground.bot_api.server import LoopbackBotApi
from bot.tables import BOT_TABLES
from loopback.forked import OURS, Forked, cli
from memory.testing import lay_tables


class BotProcess:
    """One bot with its data folder. `start` waits until it polls; each start keeps the data of the one before.

    Without a command it is forked from a process that has imported everything, on tables that are there already; with
    one it starts as a program, from nothing.
    """

    def __init__(
        self,
        api: LoopbackBotApi,
        folder: Path,
        env: Mapping[str, str],
        command: tuple[str, ...] | None = None,
        server: str | None = None,
    ) -> None:
        self.api = api
        self.folder = folder
        self.database = server or folder / "continuity.db"
        self.checkpoints = folder / "checkpoints"
        self.log_path = folder / "bot.log"
        self.env = {
            "TELEGRAM_BOT_TOKEN": api.token,
            "TELEGRAM_API_URL": api.url,
            "CONTINUITY_DATABASE_URL": server or f"sqlite:///{self.database}",
            "CONTINUITY_CHECKPOINT_DIR": str(self.checkpoints),
            "CONTINUITY_ALLOWED_USERS": "*",
            "CONTINUITY_SEND_GAP_MS": "0",
            **env,
        }
        self.work = cli
        """What a forked child does with its arguments."""
        self._command = command
        self._process: asyncio.subprocess.Process | Forked | None = None

    @property
    def log(self) -> str:
        """Everything the process printed, over all its starts."""
        return self.log_path.read_text(encoding="utf-8", errors="replace") if self.log_path.exists() else ""

    @property
    def pid(self) -> int:
        """The process id of the running child."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Say whether the child has not ended."""
        return self._process is not None and self._process.returncode is None

    async def start(
        self, *, ready: Callable[[], object] | None = None, timeout_s: float = 30, **env: str
    ) -> BotProcess:
        """Start the child and wait until it polls, or until `ready` is true; `env` is for this start only.

        Raises AssertionError with what it printed when it ends before.
        """
        polls = self.api.poll_count
        await self.launch(**env)
        waits = asyncio.ensure_future(self.api.until(ready or (lambda: self.api.poll_count > polls), timeout_s))
        ends = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({waits, ends}, return_when=asyncio.FIRST_COMPLETED)
        if not waits.done():
            waits.cancel()
            raise AssertionError(f"the bot ended with {ends.result()} before it was ready:\n{self.log}")
        if not ends.done():
            ends.cancel()
        if waits.exception():
            raise AssertionError(f"{waits.exception()}\nthe bot printed:\n{self.log}")
        return self

    async def launch(self, *arguments: str, **env: str) -> None:
        """Start the child and return at once; `arguments` replace `run` (`status`, `doctor`, …)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        env = {**self.env, **env}
        if self._command is None:
            words = arguments or ("run",)
            lay_tables(self.database, [BOT_TABLES])
            self._process = Forked(self.work, *words, folder=self.folder, env=env, log_path=self.log_path)
            return
        outer = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        command = (*self._command[:-1], *arguments) if arguments else self._command
        with self.log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.folder,
                env=outer | env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def wait(self, timeout_s: float = 30) -> int:
        """Wait for the end and return the exit code (negative: the signal). Raises AssertionError after `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._process.wait()
        except TimeoutError:
            raise AssertionError(f"the bot did not end within {timeout_s} s:\n{self.log}") from None

    async def kill(self) -> int:
        """Kill -9 and return the exit code; a child that ended already is left alone."""
        return await self._signal(signal.SIGKILL)

    async def terminate(self, timeout_s: float = 15) -> int:
        """Ask it to stop (SIGTERM) and return the exit code."""
        return await self._signal(signal.SIGTERM, timeout_s)

    async def restart(self, **env: str) -> BotProcess:
        """Kill -9 and start again on the same data."""
        await self.kill()
        return await self.start(**env)

    async def _signal(self, number: int, timeout_s: float = 15) -> int:
        if self._process is None:
            return 0
        if self.is_running:
            self._process.send_signal(number)
        return await self.wait(timeout_s)


def is_stopped(pid: int) -> bool:
    """Say whether the process sleeps after SIGSTOP; one that is gone doesn't."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] == "T"


RUN = (sys.executable, "-m", "bot", "run")
