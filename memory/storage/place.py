"""The place of a memory: its database, its checkpoints, and the lock of the one process that works there (P9)."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from memory.errors import Locked, StorageUnavailable, reason
from memory.storage.folders import make_folder

DATABASE: Final = "continuity.db"
CHECKPOINTS: Final = "checkpoints"
PATIENCE_S: Final = 0.2
"""A taken lock is tried so long: somebody may only be looking whether it is held."""


def is_server(where: str | os.PathLike[str]) -> bool:
    """Return whether this names a database on a server, not a file."""
    return isinstance(where, str) and where.startswith(("postgresql://", "postgres://"))


def shown(where: str | os.PathLike[str]) -> str:
    """Return the place of a database for people: a path, or an address without user, password and options."""
    if not is_server(where):
        return os.fspath(where)
    try:
        parts = urlsplit(os.fspath(where))
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "postgresql://…"
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}"


def places(where: str | os.PathLike[str], checkpoints: Path | None = None) -> tuple[Path | str, Path]:
    """Return the database (a file, or the address of a server) and the folder of checkpoints.

    Raises `ValueError` for an address of another kind than `sqlite:///path` and `postgresql://…`.
    """
    text = os.fspath(where)
    if is_server(text):
        return text, (checkpoints or Path(CHECKPOINTS)).absolute()
    scheme, found, rest = text.partition("://")
    if not found:
        folder = Path(text).absolute()
        return folder / DATABASE, checkpoints or folder / CHECKPOINTS
    if scheme != "sqlite" or len(rest) < 2 or not rest.startswith("/"):  # noqa: PLR2004 - a slash and a name
        raise ValueError(
            "a memory opens in a folder, at sqlite:///path/to/file.db "
            f"or at postgresql://host/name, not at {scheme}://…"
        )
    path = Path(rest[1:]).absolute()
    return path, checkpoints or path.with_name(CHECKPOINTS)


def lock_path(database: Path) -> Path:
    """Return the file that the one process that works on a database holds locked (P9)."""
    return database.with_name(database.name + ".lock")


def database_files(path: Path) -> tuple[Path, ...]:
    """Return the files in which SQLite keeps a database."""
    return (path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")))


def written_pid(lock: Path) -> int | None:
    """Return the process that the lock file names, read without locking; it may have died since. Never raises."""
    try:
        text = lock.read_bytes()[:20].strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and int(text) else None


def _sign(descriptor: int) -> None:
    """Write our process id into the lock file, which we hold; a full disk leaves it empty."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)


_HELD: Final[set[tuple[int, int]]] = set()
"""The files that this process holds: to open one of them again would drop SQLite's own locks when it is closed."""


class FolderLock(FileLock):
    """The lock file of the one process that works on a database (P9).

    Removing this file, or other entries of its folder, lets nobody in: the database's own file is held, too, by a lock
    of another kind than SQLite's.
    """

    _database: tuple[int, tuple[int, int]] | None = None

    def keep(self) -> None:
        """Do nothing: it is not lost while its process lives."""

    def hold(self, database: Path) -> None:
        """Hold the database's file as well, once it is there, until `release`. Raises `Locked`."""
        try:
            found = database.stat()
        except OSError:
            return
        if not stat.S_ISREG(found.st_mode):  # whoever opens it next says what it is instead
            return
        here = (found.st_dev, found.st_ino)
        if self._database is not None and self._database[1] == here:
            return
        if here in _HELD:
            raise Locked(f"this process works on {database} already")
        try:
            descriptor = os.open(database, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:  # the same
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise Locked(
                f"another process works on {database} (its lock file was removed); stop that one first"
            ) from None
        except OSError:  # a file system without such locks
            os.close(descriptor)
            return
        self._let_go()
        self._database = (descriptor, here)
        _HELD.add(here)

    def release(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - as the library has it
        """Let others in."""
        super().release(force)
        if not self.is_locked:
            self._let_go()

    def _let_go(self) -> None:
        if self._database is not None:
            descriptor, here = self._database
            self._database = None
            _HELD.discard(here)
            os.close(descriptor)


def take_lock(database: Path) -> FolderLock:
    """Return the lock, taken; the folder is made if need be, and the lock file names this process.

    Raises `Locked` when another process has it, `StorageUnavailable` when it cannot be made.
    """
    lock = FolderLock(
        lock_path(database), timeout=PATIENCE_S, poll_interval=PATIENCE_S / 4, mode=0o600, on_acquired=_sign
    )
    make_folder(database.parent)
    try:
        lock.acquire()
    except Timeout:
        pid = written_pid(lock_path(database))
        who = f"another process ({pid})" if pid else "another process"
        raise Locked(f"{who} works on {database} (its lock is held); stop that one first") from None
    except OSError as exc:  # after Timeout, which is one
        raise StorageUnavailable(f"{reason(exc)}; choose another path or mend this one") from exc
    try:
        lock.hold(database)
    except Locked:
        lock.release()
        raise
    return lock
