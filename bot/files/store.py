"""Bytes of files by their digest: in a folder beside a database that is a file, in rows where the database is a server.

On a server every worker reads files that another one has fetched; rows are backed up, moved and forgotten with the
rest, so that no second store (S3 or the like) has to be run and kept in step.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final

from memory.errors import StorageUnavailable, reason
from memory.ports import Database, Statement
from memory.process import faults
from memory.storage.folders import make_folder, sync_folder

CHUNK_BYTES: Final = 256 * 1024
INCOMING: Final = ".incoming-"
DIGEST_CHARS: Final = 64


class Missing(Exception):
    """The bytes are missing or damaged: they have to be fetched again."""


@dataclass(slots=True)
class Incoming:
    """A file that is being fetched: its bytes as they come, their digest and how many they are."""

    path: Path
    file: BufferedRandom | BufferedReader
    digest: str = ""
    size_bytes: int = 0

    def write(self, data: bytes) -> None:
        """Take the next bytes. Raises `OSError`."""
        self.file.write(data)
        self.size_bytes += len(data)


def digest_at(path: Path) -> str:
    """The digest of a file at rest. Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open(folder: Path) -> Incoming:
    path = folder / f"{INCOMING}{secrets.token_hex(8)}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    return Incoming(path, os.fdopen(descriptor, "w+b"))


def _finish(incoming: Incoming) -> None:
    """Make the bytes last and take their digest."""
    incoming.file.flush()
    os.fsync(incoming.file.fileno())
    incoming.file.seek(0)
    incoming.digest = hashlib.file_digest(incoming.file, "sha256").hexdigest()
    incoming.file.close()


def _close(incoming: Incoming) -> None:
    with suppress(OSError):
        incoming.file.close()
    with suppress(OSError):
        incoming.path.unlink(missing_ok=True)


class Blobs(ABC):
    """A store of bytes by their digest."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._folder = folder

    async def begin(self) -> Incoming:
        """Open a place for a file that is about to come. Raises `StorageUnavailable`."""
        try:
            await asyncio.to_thread(make_folder, self._folder)
            return await asyncio.to_thread(_open, self._folder)
        except OSError as exc:
            raise StorageUnavailable(reason(exc)) from exc

    async def finish(self, incoming: Incoming) -> None:
        """Take the digest of the bytes that came. Raises `StorageUnavailable`."""
        try:
            await asyncio.to_thread(_finish, incoming)
        except OSError as exc:
            raise StorageUnavailable(reason(exc)) from exc

    async def drop(self, incoming: Incoming) -> None:
        """Let go of the bytes that came."""
        await asyncio.to_thread(_close, incoming)

    @abstractmethod
    async def keep(self, incoming: Incoming, *rows: Statement) -> None:
        """Keep the bytes under their digest, then store the rows that name it. Raises `StorageUnavailable`, `Conflict`.

        A crash in between leaves bytes that nothing names; the next sweep takes them.
        """

    @abstractmethod
    def at(self, digest: str) -> AbstractAsyncContextManager[Path]:
        """Lend the bytes as a file, proven by their digest. Raises `Missing`, `StorageUnavailable`."""

    @abstractmethod
    async def sweep(self) -> int:
        """Delete files that no row names; return their number. Raises `StorageUnavailable`."""

    @abstractmethod
    def clean(self) -> None:
        """Delete files that an earlier process was fetching when it died; called before anything is fetched."""


class FolderBlobs(Blobs):
    """A folder (0700) with a file (0600) for each digest."""

    def __init__(self, db: Database, folder: Path) -> None:
        super().__init__(db, folder)
        self._placing = asyncio.Lock()
        """Held while bytes are here that no row names yet."""

    async def keep(self, incoming: Incoming, *rows: Statement) -> None:
        """Move the file under its digest, make the name last, then store the rows (`Blobs.keep`)."""
        async with self._placing:
            try:
                await asyncio.to_thread(self._place, incoming)
            except OSError as exc:
                raise StorageUnavailable(reason(exc)) from exc
            faults.point("file_placed")
            await self._db.write(*rows)

    def _place(self, incoming: Incoming) -> None:
        incoming.path.replace(self._folder / incoming.digest)
        sync_folder(self._folder)

    @asynccontextmanager
    async def at(self, digest: str) -> AsyncIterator[Path]:
        """Lend the file itself. Raises `Missing`, `StorageUnavailable`."""
        path = self._folder / digest
        try:
            found = await asyncio.to_thread(digest_at, path)
        except FileNotFoundError:
            found = await self._from_rows(digest)
        except OSError as exc:
            raise StorageUnavailable(reason(exc)) from exc
        if found != digest:
            raise Missing(digest)
        yield path

    async def _from_rows(self, digest: str) -> str:
        """Bring a file from the database, where a copy of a server's put it; return its digest, "" for none."""
        incoming = await self.begin()
        try:
            await copy_out(self._db, digest, incoming)
            await self.finish(incoming)
            if incoming.digest == digest:
                await self.keep(incoming, Statement("file_chunks_drop", {"digest": digest}))
            return incoming.digest
        finally:
            await self.drop(incoming)

    async def sweep(self) -> int:
        """Delete files that no row names, and those that an earlier process was fetching when it died."""
        async with self._placing:
            named = {row["digest"] for row in await self._db.read("file_digests")}
            return await asyncio.to_thread(self._sweep, named) + await sweep_rows(self._db)

    def _sweep(self, named: Collection[str]) -> int:
        gone = 0
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            is_ours = len(path.name) == DIGEST_CHARS and not set(path.name) - set("0123456789abcdef")
            if is_ours and path.name not in named:
                path.unlink(missing_ok=True)
                gone += 1
        if gone:
            sync_folder(self._folder)
        return gone

    def clean(self) -> None:
        """Delete files that an earlier process was fetching when it died; to be called before anything is fetched."""
        for path in self._folder.glob(f"{INCOMING}*") if self._folder.is_dir() else ():
            path.unlink(missing_ok=True)


class TableBlobs(Blobs):
    """Rows of `file_chunks`; bytes fetched or read pass through the system's folder for temporary files."""

    def __init__(self, db: Database, folder: Path | None = None) -> None:
        super().__init__(db, folder or Path(tempfile.gettempdir()) / f"continuity-{os.getuid()}")

    async def keep(self, incoming: Incoming, *rows: Statement) -> None:
        """Store the pieces and the rows as one transaction (`Blobs.keep`)."""
        pieces = await asyncio.to_thread(_pieces, incoming)
        await self._db.write(*pieces, *rows)
        await self.drop(incoming)

    @asynccontextmanager
    async def at(self, digest: str) -> AsyncIterator[Path]:
        """Lend a copy. Raises `Missing`, `StorageUnavailable`."""
        incoming = await self.begin()
        try:
            await copy_out(self._db, digest, incoming)
            await self.finish(incoming)
            if incoming.digest != digest:
                raise Missing(digest)
            yield incoming.path
        finally:
            await self.drop(incoming)

    async def sweep(self) -> int:
        """Delete the pieces that no row names."""
        return await sweep_rows(self._db)

    def clean(self) -> None:
        """Delete nothing: another worker may be fetching just now, and the system empties the folder."""


async def sweep_rows(db: Database) -> int:
    """Delete the pieces of files that nothing names; on one machine a copy of a server's database left them."""
    gone = await db.read("file_orphans")
    for row in gone:
        await db.write(Statement("file_chunks_sweep", {"digest": row["digest"]}))
    return len(gone)


def _pieces(incoming: Incoming) -> list[Statement]:
    with incoming.path.open("rb") as file:
        return [Statement("file_chunk_put", piece) for piece in _read_pieces(file, incoming.digest)]


def _read_pieces(file: BinaryIO, digest: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of `file_chunks` for a file. Raises `OSError`."""
    for position, data in enumerate(iter(lambda: file.read(CHUNK_BYTES), b"")):
        yield {"digest": digest, "position": position, "data": data}


async def copy_out(db: Database, digest: str, incoming: Incoming) -> None:
    """Write the pieces of a file out, one after another. Raises `StorageUnavailable`."""
    position = 0
    while row := await db.read_one("file_chunk", digest=digest, position=position):
        try:
            await asyncio.to_thread(incoming.write, bytes(row["data"]))
        except OSError as exc:
            raise StorageUnavailable(reason(exc)) from exc
        position += 1


def pieces_at(folder: Path, digest: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of `file_chunks` for a file of a folder; none when it is lost or damaged."""
    with suppress(FileNotFoundError):
        if digest_at(folder / digest) == digest:
            with (folder / digest).open("rb") as file:
                yield from _read_pieces(file, digest)


def copy_files(source: Path, target: Path) -> int:
    """Copy the files of one folder into another (0600, made to last); return how many. Raises `OSError`.

    A copy that is cut off has no name of a file, so that it can be made again.
    """
    copied = 0
    for path in sorted(source.iterdir()) if source.is_dir() else ():
        if len(path.name) != DIGEST_CHARS or path.is_symlink() or not path.is_file():
            continue
        with suppress(FileNotFoundError), path.open("rb") as origin:  # deleted since we looked
            coming = _open(target)
            with coming.file as copy:
                shutil.copyfileobj(origin, copy)
                copy.flush()
                os.fsync(copy.fileno())
            coming.path.replace(target / path.name)
            copied += 1
    sync_folder(target)
    return copied
