"""Every error that `memory` raises; each docstring is its default message and says what to do.

ContinuityError
├── StorageError
│   ├── StorageUnavailable     disk full, read-only, locked or I/O error: try again later
│   │   └── StorageDamaged     the file is damaged, or no longer where it was: trying again mends nothing
│   │       └── Fenced         others have declared this process dead
│   ├── Conflict               somebody else wrote first
│   │   └── Outdated           what it was made from was forgotten or edited
│   ├── Unstorable             a value that no database takes: the caller's fault, trying again mends nothing
│   ├── Locked                 another process works on the database
│   ├── SchemaMismatch         the database is newer than the code, or not ours
│   └── UnsafeSettings         WAL or synchronous could not be switched on
├── CheckpointError
│   ├── CheckpointMissing
│   ├── CheckpointDamaged
│   └── CheckpointForeign      it belongs to another session or another history
└── UnknownSession
"""

from __future__ import annotations

import errno

_SYSTEM_WORDS = {
    errno.EACCES: "access is denied",
    errno.EPERM: "access is denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it may not grow any more (the disk is full, or a limit of the system)",
    errno.EIO: "the disk reports an I/O error",
    errno.ENOENT: "it is not there",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a file is where a folder should be",
    errno.EEXIST: "it exists already",
    errno.ENOTEMPTY: "the folder is not empty",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "it is a link to itself",
    errno.EMFILE: "too many files are open",
    errno.ENOMEM: "there is no memory left",
}


def reason(exc: OSError) -> str:
    """Return the system's reason for a refusal, in words, with the path: `access is denied: /srv/data`."""
    words = _SYSTEM_WORDS.get(exc.errno or 0) or (exc.strerror or type(exc).__name__).lower()
    return f"{words}: {exc.filename}" if exc.filename else words


class ContinuityError(Exception):
    """Something in the conversation memory went wrong."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.about())

    @classmethod
    def about(cls) -> str:
        """Return the class's docstring as the text of an error: small at the beginning, no stop at the end."""
        words = (cls.__doc__ or "").strip().removesuffix(".")
        return words[:1].lower() + words[1:]


class StorageError(ContinuityError):
    """The database refused a call."""


class StorageUnavailable(StorageError):
    """The database cannot be written or read just now (disk full, read-only, locked); nothing was stored, try again."""


class StorageDamaged(StorageUnavailable):
    """The database file is damaged, or not where it was opened; stop, keep a copy and restore a backup."""


class Fenced(StorageDamaged):
    """Others have declared this process dead and go on with its work; nothing was stored. End."""


class Conflict(StorageError):
    """Another writer was first; nothing of this transaction was stored. Load again and decide again."""


class Outdated(Conflict):
    """Its sources were forgotten or edited meanwhile; nothing was stored. Make it again from the rest."""


class Unstorable(StorageError):
    """A value is none that the database takes (NUL, half a character, a number beyond 64 bits); nothing was stored."""


class Locked(StorageError):
    """Another process works on this database; stop that one first."""


class SchemaMismatch(StorageError):
    """The database was written by a newer version of the program; upgrade the program or restore a backup."""


class UnsafeSettings(StorageError):
    """The database could not be put into WAL mode with synchronous=FULL; move it to a local disk."""


class CheckpointError(ContinuityError):
    """A checkpoint file cannot be used."""


class CheckpointMissing(CheckpointError):
    """There is no checkpoint for this session; it is rebuilt from the turn log."""


class CheckpointDamaged(CheckpointError):
    """The checkpoint file is torn or altered; it is moved aside and rebuilt from the turn log."""


class CheckpointForeign(CheckpointError):
    """The checkpoint belongs to another session or another history; it is moved aside."""


class UnknownSession(ContinuityError):
    """There is no session with this id; ask for the sessions of its conversation."""
