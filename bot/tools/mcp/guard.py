"""Guard of an MCP server's process: nothing of it outlives the bot, takes all memory, or floods us.

Started as a program of its own (`python -I guard.py '<json>'`): it starts the server, passes its output on, and kills
it with all its children when the bot is gone, when they take too much memory or write too much, or when told to.
The standard library is enough for it, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CHUNK_BYTES = 65_536
LINE_BYTES = 8_000_000
"""A longer line is no message but a flood."""
FLOOD_BYTES = 64_000_000
"""So many bytes within ten seconds are a flood, too."""
FLOOD_S = 10.0
LOOK_S = 0.5
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


def control(option: int, value: int) -> None:
    """Ask Linux for something about this process; elsewhere nothing is asked."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def processes() -> dict[int, tuple[int, int]]:
    """Return parent and memory in KB of every process; nothing where there is no /proc."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat") if sys.platform == "linux" else ():
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            found[int(entry.parent.name)] = (int(fields[1]), int(fields[21]) * PAGE_KB)
    return found


def below(top: int, known: dict[int, tuple[int, int]]) -> set[int]:
    """Return the processes that stem from one."""
    found, newest = set[int](), {top}
    while newest:
        newest = {pid for pid, (parent, _) in known.items() if parent in newest} - found
        found |= newest
    return found


class Guard:
    """One server's process, from its start to its end."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.setup = setup
        self.parent = os.getppid()
        self.record = Path(setup["record"]) / str(os.getpid()) if setup.get("record") else None
        self.server: subprocess.Popen[bytes] | None = None
        self.line = 0
        self.flood = 0
        self.flood_at = time.monotonic()

    def run(self) -> int:
        """Start the server and pass its output on until it or the bot ends."""
        control(PR_SET_PDEATHSIG, signal.SIGTERM)
        control(PR_SET_CHILD_SUBREAPER, 1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self.end("told to end"))
        if self.record:
            self.record.write_text(started_at(os.getpid()), encoding="utf-8")
        setup = self.setup
        try:
            self.server = subprocess.Popen(  # noqa: S603 - the operator's own command
                [setup["command"], *setup["args"]],
                stdout=subprocess.PIPE,
                env=setup["env"],
                cwd=setup["cwd"] or None,
                preexec_fn=lambda: control(PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509 - there are no threads
            )
        except OSError as exc:
            sys.stderr.write(f"cannot be started: {exc}\n")
            self.forget()
            return 127
        os.close(0)
        self.pass_on()
        self.end("")
        return 0

    def pass_on(self) -> None:
        """Copy the server's output, and measure the whole group now and then."""
        assert self.server is not None and self.server.stdout is not None  # noqa: S101, PT018 - for the type checker
        source, looked = self.server.stdout.fileno(), 0.0
        while True:
            ready, _, _ = select.select([source], [], [], LOOK_S)
            if ready:
                data = os.read(source, CHUNK_BYTES)
                if not data:
                    return
                self.measure(data)
                write_all(data)
            if time.monotonic() - looked >= LOOK_S:
                looked = time.monotonic()
                self.look()

    def measure(self, data: bytes) -> None:
        """End a server that writes without an end."""
        head, newline, _ = data.partition(b"\n")
        longest = self.line + len(head)
        self.line = len(data) - data.rfind(b"\n") - 1 if newline else longest
        now = time.monotonic()
        if now - self.flood_at > FLOOD_S:
            self.flood, self.flood_at = 0, now
        self.flood += len(data)
        if longest > LINE_BYTES or self.flood > FLOOD_BYTES:
            self.end("it wrote more than anybody reads")

    def look(self) -> None:
        """End a server whose bot is gone, or that takes too much memory."""
        if os.getppid() != self.parent:
            self.end("the bot is gone")
        known = processes()
        kilobytes = sum(known[pid][1] for pid in below(os.getpid(), known))
        if kilobytes > self.setup["memory_mb"] * 1024:
            self.end(f"it took more than {self.setup['memory_mb']} MB of memory")

    def end(self, why: str) -> None:
        """Kill everything that stems from here, and leave."""
        if why:
            sys.stderr.write(f"ended: {why}\n")
        for _ in range(20):
            left = below(os.getpid(), processes()) or ({self.server.pid} if self.server else set())
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
                time.sleep(0.02)
                continue
            break
        self.forget()
        sys.stderr.flush()
        os._exit(1 if why else 0)

    def forget(self) -> None:
        """Take the record away: nothing is left to be ended by the next start."""
        if self.record:
            self.record.unlink(missing_ok=True)


def write_all(data: bytes) -> None:
    """Write to the bot; one that reads no more is gone."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def started_at(pid: int) -> str:
    """Return when a process was started, in the kernel's ticks; "" where that cannot be told."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return ""


if __name__ == "__main__":
    try:
        sys.exit(Guard(json.loads(sys.argv[1])).run())
    except BrokenPipeError:
        os._exit(1)
