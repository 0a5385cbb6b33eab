"""Named fault points: a test kills the process at one of them; without the environment variable they do nothing.

`CONTINUITY_FAULT=<name>[:<nth>]` dies by SIGKILL at the nth time (1 by default) the point is passed.
`CONTINUITY_FAULT=#<n>` dies at the nth point passed, of any name.
`CONTINUITY_FAULT=@<path>` dies at the point named in a file, and removes the file: of several processes one dies.
`CONTINUITY_FAULT_SIGNAL=STOP` stops there instead, until somebody wakes it.
`CONTINUITY_FAULT_LOG=<path>` appends each point passed.
`CONTINUITY_FAULT_WITHOUT=<guard>` leaves a guard out, so that a test can show the harm it prevents.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

_armed = os.environ.get("CONTINUITY_FAULT", "")
_log = os.environ.get("CONTINUITY_FAULT_LOG", "")
_signal = getattr(signal, f"SIG{os.environ.get('CONTINUITY_FAULT_SIGNAL', 'KILL')}", signal.SIGKILL)
_left_out = os.environ.get("CONTINUITY_FAULT_WITHOUT", "")
_passed: dict[str, int] = {}


def point(name: str) -> None:
    """Die here if a test asked for it; otherwise return at once."""
    if not _armed and not _log:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _log:
        with Path(_log).open("a", encoding="utf-8") as log:
            log.write(f"{name}\n")
    if _armed.startswith("@"):
        _die_for(Path(_armed[1:]), name)
    wanted, _, nth = _armed.partition(":")
    if wanted == name and _passed[name] == int(nth or 1):
        os.kill(os.getpid(), _signal)
    if wanted == f"#{sum(_passed.values())}":
        os.kill(os.getpid(), _signal)


def _die_for(order: Path, name: str) -> None:
    try:
        if order.read_text(encoding="utf-8") != name:
            return
        order.unlink()
    except FileNotFoundError:  # another process was first
        return
    os.kill(os.getpid(), _signal)


def without(guard: str) -> bool:
    """Return whether a test asked to leave this guard out."""
    return _left_out == guard
