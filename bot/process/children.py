"""Child processes that run Python of ours: each without our environment, killed together with its own children."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import bot

_ROOT: Final = str(Path(bot.__file__).parent.parent)


async def start(*arguments: str, env: Mapping[str, str], limit: int, stdin: int = DEVNULL) -> Process:
    """Start Python with these arguments and `env` on top of its own variables; a line holds at most `limit` bytes."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdin=stdin,
        stdout=PIPE,
        stderr=DEVNULL,
        env={"PYTHONPATH": _ROOT, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", **env},
        cwd="/",
        start_new_session=True,
        limit=limit,
    )


def kill(child: Process) -> None:
    """Kill a child with all that it started; one that is gone stays so."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
