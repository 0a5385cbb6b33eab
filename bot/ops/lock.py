"""Whether a bot works on a database just now, and which process it is. Looking creates nothing and holds nobody up."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from memory.storage.place import lock_path, take_lock, written_pid

__all__ = ["Holder", "holder", "take_lock"]


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the lock; `pid` is None when it is not one that can be seen from here."""

    pid: int | None


def holder(file: Path) -> Holder | None:
    """Return the process that works on this file, None when its lock is free or was never taken. Never raises.

    The lock itself tells whether it is held: the id that a dead process left in the file is not believed. To see
    that, a shared lock is tried and let go at once; `take_lock` has the patience for it.
    """
    lock = lock_path(file)
    if not _taken(lock):
        return None
    pid = written_pid(lock)
    return Holder(pid if pid and _is_seen(pid) else None)


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


def _is_seen(pid: int) -> bool:
    """Return whether there is such a process here; one of another container has a number that means nothing here."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
