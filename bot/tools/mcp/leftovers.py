"""Remains of servers of a process that was killed: their guards are known by a file each, and ended."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import structlog

from bot.tools.mcp.guard import below, processes, started_at

log = structlog.get_logger(__name__)


def begin_records(folder: Path) -> None:
    """Make the folder, and kill the servers that an earlier process left running."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if ended := end_leftovers(folder):
        log.warning("MCP servers of an earlier process were ended", count=ended)


def end_leftovers(folder: Path) -> int:
    """Kill servers that guards of earlier processes left running, and return their number. Never raises.

    A guard that was killed itself leaves its file behind. Its process id may be another program's by now, which the
    time of its start shows.
    """
    ended = 0
    with contextlib.suppress(OSError):
        for record in list(folder.iterdir()):
            pid = int(record.name) if record.name.isdigit() else 0
            began = record.read_text(encoding="utf-8")
            if pid and began and started_at(pid) == began:
                for each in {pid, *below(pid, processes())}:
                    with contextlib.suppress(OSError):
                        os.kill(each, signal.SIGKILL)
                ended += 1
            elif pid:
                ended += _group(pid)
            record.unlink(missing_ok=True)
    return ended


def _group(pgid: int) -> int:
    """Kill the rest of a group whose leader is gone; its number can be nobody else's while a process is in it."""
    if Path(f"/proc/{pgid}").exists():
        return 0
    try:
        os.killpg(pgid, signal.SIGKILL)
    except OSError:
        return 0
    return 1
