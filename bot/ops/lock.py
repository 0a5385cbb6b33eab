"""Whether a bot works on a database just now: who holds its lock. Looking creates nothing and holds nobody up."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOCKS = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the lock; `pid` is None when the system does not tell."""

    pid: int | None


def pid_in(lines: Iterable[str], device: int, inode: int) -> int | None:
    """Return who holds a `flock` on a file, by the lines of /proc/locks; None when nobody is seen to."""
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}:{inode}"
    for line in lines:
        words = line.split()
        if "->" not in words and wanted in words and "FLOCK" in words:
            pid = words[words.index(wanted) - 1]
            return int(pid) if pid.isdigit() and int(pid) else None
    return None


def holder(lock: Path) -> Holder | None:
    """Return who holds the lock, None when it is free or was never taken. Never raises.

    /proc/locks is asked first, since that touches nothing. Where it shows nobody (another container, another system),
    a shared lock is tried and let go at once: a bot that starts within that microsecond would find its lock taken.
    """
    try:
        found = lock.stat()
    except OSError:
        return None
    with suppress(OSError):
        pid = pid_in(LOCKS.read_text(encoding="ascii").splitlines(), found.st_dev, found.st_ino)
        if pid:
            return Holder(pid)
    return Holder(None) if _taken(lock) else None


def _taken(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
