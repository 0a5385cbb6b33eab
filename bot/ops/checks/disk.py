"""Checks of files and folders: owner, file system, room left. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.ops.checks.check import Check
from bot.ops.format import joined, size
from bot.replies import plural

DISK_FAIL_BYTES = 50 * 1024**2


DISK_WARN_BYTES = 500 * 1024**2


NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "vboxsf", "afs", "ceph"})


def permissions(modes: Mapping[str, int]) -> list[Check]:
    """Judge the modes of files (0600) and folders (0700): path → st_mode."""
    open_to_others = {path: mode for path, mode in modes.items() if mode & 0o077}
    if not open_to_others:
        return [Check("files.permissions", "ok", "files and folders are their owner's alone")]
    return [
        Check(
            "files.permissions",
            "warn",
            f"{path} can be {'written' if mode & 0o022 else 'seen'} by others (mode {mode & 0o777:04o})",
            f"chmod {mode & 0o700:o} {path}",
        )
        for path, mode in open_to_others.items()
    ]


def writable(denied: Sequence[str]) -> Check:
    """Judge whether this user may write the files and folders that the bot writes."""
    if denied:
        do = "run it as their owner, or change their owner"
        return Check("files.writable", "fail", f"this user cannot write {joined(denied)}", do)
    return Check("files.writable", "ok", "data and checkpoints can be written")


def checkpoint_folder(folder: str, *, there: bool, is_folder: bool, readable: bool) -> Check:
    """Judge the folder of checkpoints; a missing one is made when it is needed."""
    name = "checkpoints.folder"
    if there and not is_folder:
        return Check(name, "fail", f"{folder} is no folder", "move it away, or name another CONTINUITY_CHECKPOINT_DIR")
    if there and not readable:
        return Check(name, "fail", f"this user cannot read {folder}", "run it as their owner, or change their owner")
    return Check(name, "ok", folder if there else f"{folder} is made when it is needed")


def file_system(kind: str | None, folder: str) -> Check:
    """Judge the file system under the database: WAL needs shared memory, which network file systems do not give."""
    if kind in NETWORK_FILE_SYSTEMS:
        return Check("files.filesystem", "fail", f"{folder} is on {kind}", "move the database to a local disk")
    return Check("files.filesystem", "ok", f"{folder} is on {kind or 'a file system of unknown kind'}")


def disk_space(free_bytes: Mapping[str, int]) -> Check:
    """Judge the free space of each folder: path → bytes; those that cannot be looked at are not in it."""
    if not free_bytes:
        return Check("disk.space", "warn", "the free space cannot be seen", "run it as the owner of the data")
    folder, least = min(free_bytes.items(), key=lambda item: item[1])
    says = f"{size(least)} free at {folder}"
    if least < DISK_FAIL_BYTES:
        return Check("disk.space", "fail", says, "make room: without it no message is taken")
    if least < DISK_WARN_BYTES:
        return Check("disk.space", "warn", says, "make room soon")
    return Check("disk.space", "ok", says)


def files(count: int, count_bytes: int, missing: int) -> Check:
    """Judge the files that people sent: their number, their bytes, and the number whose bytes are missing."""
    if missing:
        do = "restore them from a backup; what was read from them is still known"
        return Check("files", "warn", f"the bytes of {plural(missing, 'file')} of {count} cannot be found", do)
    return Check("files", "ok", f"{plural(count, 'file')}, {size(count_bytes)}")
