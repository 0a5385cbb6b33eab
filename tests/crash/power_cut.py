"""What a child did to its files, system call by system call, and the disks that a power cut may leave of it.

A disk keeps what was synced. Of the rest it keeps any part, in any order: whole writes, pieces of 512 bytes of them, or
nothing; likewise the names in a folder (made, renamed, removed) until the folder itself was synced. That is less than
what ext4 promises, and all that POSIX does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core_child import live
from loopback.traced import traced

SECTOR_BYTES = 512
WATCHED = (
    "openat,write,pwrite64,fsync,fdatasync,ftruncate,rename,unlink,mkdir,close,"
    "writev,pwritev,pwritev2,fallocate,truncate,link,symlink,renameat,renameat2,unlinkat,mkdirat,sendfile,rmdir,"
    "copy_file_range,sync_file_range,sync,syncfs"
)
NAMING = {"create", "mkdir", "unlink", "rename"}
UNDERSTOOD = {"write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir", "openat"}

_CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)")
_HEX = re.compile(r"((?:\\x[0-9a-f]{2})+)")
_STRING = re.compile(r'(?:<|")((?:\\x[0-9a-f]{2})*)(?:>|")')


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened to a file or folder, or a line that the child said."""

    kind: str
    """`create`, `mkdir`, `write`, `truncate`, `sync`, `rename`, `unlink` or `said`."""
    path: str = ""
    """Below the folder that was watched; "." is that folder."""
    target: str = ""
    offset: int = 0
    """For a write where it begins, -1 for the end of the file; for a truncation the new size."""
    data: bytes = b""


def record(root: Path, *words: str) -> list[Step]:
    """Run the child to its end under strace and return all that it did below `root`, in order.

    Skips the test where strace may not attach; fails on a call that this module does not understand.
    """
    log = root.with_name(f"{root.name}.strace")
    strace = ("-y", "-xx", "-s", "1000000", "-o", str(log), "-e", f"trace={WATCHED}")
    done = traced(strace, live, *words, env={})
    assert done.returncode == 0, done.stderr[-2000:]
    return list(_steps(log.read_text(encoding="ascii").splitlines(), root))


def _whole_calls(lines: Iterable[str]) -> Iterator[str]:
    """Return each call in one line, at the moment of its end; what was said counts from its beginning."""
    begun: dict[str, str] = {}
    for line in lines:
        thread = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            start = line.removesuffix("<unfinished ...>").rstrip()
            if re.search(r" write\(1<", start):
                yield f"{start}) = 0"
            else:
                begun[thread] = start
        elif " resumed>" in line and thread in begun:
            yield begun.pop(thread) + line.partition(" resumed>")[2]
        else:
            yield line


def _steps(lines: Iterable[str], root: Path) -> Iterator[Step]:
    for line in _whole_calls(lines):
        match = _CALL.match(line)
        if not match or int(match[4]) < 0:
            continue
        call, arguments = match[2], match[3]
        texts = [bytes.fromhex(each.replace("\\x", "")) for each in _STRING.findall(arguments)]
        if call == "write" and arguments.startswith("1<"):
            for said in texts[-1].decode().splitlines():
                yield Step("said", data=said.encode())
            continue
        written = call in {"write", "pwrite64"}
        names = [each.decode("utf-8", "replace") for each in (texts[:1] if written else texts)]
        below = [str(Path(name).relative_to(root)) for name in names if Path(name).is_relative_to(root)]
        if below and call != "close":
            assert call in UNDERSTOOD, f"{call} is not understood: {line[:300]}"
            yield from _step(call, arguments, below, texts)


def _step(call: str, arguments: str, below: list[str], texts: list[bytes]) -> Iterator[Step]:
    path, last = below[0], arguments.rsplit(", ", 1)[-1]
    if call == "openat":
        assert "O_TRUNC" not in arguments, "a file is emptied at its opening: that is not understood"
        if "O_CREAT" in arguments:
            yield Step("create", below[-1])
    elif call == "write":
        yield Step("write", path, offset=-1, data=texts[-1])
    elif call == "pwrite64":
        yield Step("write", path, offset=int(last), data=texts[-1])
    elif call == "ftruncate":
        yield Step("truncate", path, offset=int(last))
    elif call in {"fsync", "fdatasync"}:
        yield Step("sync", path)
    else:
        yield Step(call, path, target=below[-1])


class Disk:
    """Files and folders as they come about step by step; a step that finds nothing to work on does nothing."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.contents: dict[int, bytearray] = {}
        self.folders = {"."}

    def apply(self, number: int, step: Step, inode: int | None, pieces: Sequence[tuple[int, bytes]]) -> None:
        """Do one step; `inode` is the file it was about, `pieces` what of a write arrived."""
        if step.kind == "create":
            self.contents.setdefault(number, bytearray())
            self.names[step.path] = number
        elif step.kind == "mkdir":
            self.folders.add(step.path)
        elif step.kind == "rename" and step.path in self.names:
            self.names[step.target] = self.names.pop(step.path)
        elif step.kind == "unlink":
            self.names.pop(step.path, None)
        elif step.kind == "truncate" and inode is not None:
            content = self.contents.setdefault(inode, bytearray())
            content[:] = content[: step.offset].ljust(step.offset, b"\0")
        elif step.kind == "write" and inode is not None:
            content = self.contents.setdefault(inode, bytearray())
            for offset, data in pieces:
                content.extend(b"\0" * (offset - len(content)))
                content[offset : offset + len(data)] = data

    def lay_out(self, root: Path) -> None:
        """Write it below `root`: what stands in a folder that the disk has lost is lost with it."""
        root.mkdir(parents=True)
        for folder in sorted(self.folders - {"."}):
            if str(Path(folder).parent) in self.folders:
                (root / folder).mkdir(mode=0o700)
        for path, inode in self.names.items():
            if (root / path).parent.is_dir():
                (root / path).write_bytes(self.contents.get(inode, b""))
                (root / path).chmod(0o600)


class Recording:
    """The steps of one life, or of several on the same files, and the disks that a cut may leave of them."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = [step for step in steps if not step.path.endswith("-shm")]  # made again by whoever opens
        self._inodes, self._offsets = self._follow()

    def _follow(self) -> tuple[list[int | None], list[int]]:
        """Return for each step the file it is about, named by the step that made it, and where a write begins."""
        names: dict[str, int] = {}
        sizes: dict[int, int] = {}
        inodes: list[int | None] = []
        offsets = []
        for number, step in enumerate(self.steps):
            if step.kind == "create" and step.path not in names:
                names[step.path] = number
            inode = names.get(step.path)
            if step.kind == "rename" and inode is not None:
                names[step.target] = names.pop(step.path)
            elif step.kind == "unlink":
                names.pop(step.path, None)
            size = sizes.get(inode, 0) if inode is not None else 0
            offset = size if step.offset < 0 else step.offset
            if step.kind == "write" and inode is not None:
                sizes[inode] = max(size, offset + len(step.data))
            inodes.append(inode)
            offsets.append(offset)
        return inodes, offsets

    def cuts(self) -> list[int]:
        """Return the moments worth a look: before each sync and each word, and the end."""
        return [number for number, step in enumerate(self.steps) if step.kind in {"sync", "said"}] + [len(self.steps)]

    def unsynced(self, cut: int) -> list[int]:
        """Return the steps before `cut` that no sync made lasting."""
        synced_files: set[int | None] = set()
        synced_folders: set[str] = set()
        open_steps = []
        for number in range(cut - 1, -1, -1):
            step, inode = self.steps[number], self._inodes[number]
            if step.kind == "sync":
                (synced_folders.add(step.path) if inode is None else synced_files.add(inode))
            elif step.kind in {"write", "truncate"} and inode not in synced_files:
                open_steps.append(number)
            elif step.kind in NAMING and not self._found_its_file(number):
                open_steps += [number] * (str(Path(step.path).parent) not in synced_folders)
        return open_steps[::-1]

    def _found_its_file(self, number: int) -> bool:
        """Say whether a `create` found its file there already."""
        return self.steps[number].kind == "create" and self._inodes[number] != number

    def without_folder_syncs(self) -> Recording:
        """Return the same lives on a disk to which nobody ever said that the names in a folder should last."""
        kept = [s for s, inode in zip(self.steps, self._inodes, strict=True) if s.kind != "sync" or inode is not None]
        return Recording(kept)

    def said(self, cut: int) -> list[str]:
        """Return what the child had said before `cut`."""
        return [step.data.decode("utf-8") for step in self.steps[:cut] if step.kind == "said"]

    def disk(self, cut: int, arrived: set[int] | None = None, torn: random.Random | None = None) -> Disk:
        """Return the disk with all that lasts, and of the rest what `arrived` (None = all), of that perhaps pieces."""
        unsynced, disk = set(self.unsynced(cut)), Disk()
        for number, step in enumerate(self.steps[:cut]):
            was_lost = arrived is not None and number in unsynced and number not in arrived
            if was_lost or self._found_its_file(number):
                continue
            pieces = [(self._offsets[number], step.data)]
            if torn and number in unsynced and step.kind == "write" and torn.random() < 0.3:
                pieces = [each for each in _sectors(self._offsets[number], step.data) if torn.random() < 0.5]
            disk.apply(number, step, self._inodes[number], pieces)
        return disk

    def images(self, chance: random.Random, per_cut: int) -> Iterator[tuple[int, str, Disk]]:
        """Return (cut, what arrived, disk) for every cut: nothing, all, and `per_cut` random parts."""
        for cut in self.cuts():
            waiting = self.unsynced(cut)
            yield cut, "nothing", self.disk(cut, set())
            if waiting:
                yield cut, "all", self.disk(cut)
            for nth in range(per_cut if waiting else 0):
                share = chance.random()
                arrived = {number for number in waiting if chance.random() < share}
                yield cut, f"part {nth}", self.disk(cut, arrived, chance)


def _sectors(offset: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    for begin in range(0, len(data), SECTOR_BYTES):
        yield offset + begin, data[begin : begin + SECTOR_BYTES]
