"""Files of conversations: each is brought from Telegram, kept, read once, and found again when it bears on a message.

Left behind by a crash after each step of one file, which is `wanted` since its update was written down:
link asked for        nothing: the next try asks for another one
bytes coming          a part of a file that nothing names; the next start deletes it
bytes in place        a file that no row names; it is fetched once more, the sweep deletes the leftover
`fetched` is stored   the bytes are here: nothing is fetched again, they are read
pieces being stored   some passages; the next try begins with deleting them
`read` is stored      done; the turn that waits for it goes on without fetching or reading anything
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog

from bot.files.fetch import Fetcher, NotFetched
from bot.files.readings import NOBODY, HeardBy, Readings
from bot.files.rows import StoredFile, read_row, typed
from bot.files.store import Blobs, Incoming, Missing
from bot.files.types import type_of
from bot.intake.media import NamedFile, named_files
from bot.tables import text_gone
from memory.errors import StorageUnavailable
from memory.foreign import foreign
from memory.ports import Database, Statement
from memory.process import faults

MOST_LISTED: Final = 500

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of size and number."""

    most_bytes: int
    """Of one file."""
    quota_bytes: int
    """Of one person's files together."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The turn that files come with."""

    conversation_id: str
    turn_id: str
    session_id: str
    private: bool = False
    by: HeardBy = NOBODY


@dataclass(frozen=True, slots=True)
class Brought:
    """The files of a message, each read or with the reason why not, and the text with their lines."""

    text: str
    files: tuple[StoredFile, ...] = ()
    new: tuple[StoredFile, ...] = ()
    """The files that came with this message."""

    @property
    def troubled(self) -> tuple[StoredFile, ...]:
        """New files that could not be read, or not wholly: the person hears of them."""
        return tuple(
            file for file in self.new if file not in self.spoken and (not file.is_read or file.why or file.blank)
        )

    @property
    def spoken(self) -> tuple[StoredFile, ...]:
        """New recordings of the person's own words, which are in the text."""
        return tuple(file for file in self.new if file.is_spoken)


class FileShelf:
    """Brings, keeps and reads files."""

    def __init__(self, db: Database, blobs: Blobs, fetcher: Fetcher, readings: Readings, limits: Limits) -> None:
        self._db = db
        self._blobs = blobs
        self._fetcher = fetcher
        self._readings = readings
        self.limits = limits

    async def open(self) -> None:
        """Delete files that an earlier process left half-fetched. Raises `OSError`."""
        await asyncio.to_thread(self._blobs.clean)

    async def sweep(self) -> int:
        """Delete bytes that nothing names any more; return of how many files. Raises `StorageUnavailable`."""
        gone = await self._blobs.sweep()
        if gone:
            log.info("files deleted that nothing names any more", files=gone)
        return gone

    async def sweep_or_later(self) -> None:
        """Sweep; files that a disk refuses to delete are left to the next sweep. Never raises."""
        try:
            await self.sweep()
        except (StorageUnavailable, OSError) as exc:
            log.error("files are deleted later", error=str(exc))  # noqa: TRY400 - expected

    async def find(self, conversation_id: str, number: int) -> StoredFile | None:
        """The file of this number. Raises `StorageUnavailable`."""
        row = await self._db.read_one("file_of_number", conversation_id=conversation_id, number=number)
        return read_row(row) if row else None

    async def of_message(self, conversation_id: str, message_id: int | None) -> StoredFile | None:
        """The file that came with a message, not numbered before a turn took it. Raises `StorageUnavailable`."""
        row = await self._db.read_one("file_of_message", conversation_id=conversation_id, message_id=message_id)
        return read_row(row) if row else None

    @staticmethod
    def reads_of_turn(conversation_id: str) -> list[Statement]:
        """Reads of every turn, for `memory.storage.ahead`."""
        return [Statement("files_of", {"conversation_id": conversation_id, "most": MOST_LISTED})]

    async def all(self, conversation_id: str) -> list[StoredFile]:
        """The files of a conversation, the latest first. Raises `StorageUnavailable`."""
        rows = await self._db.read("files_of", conversation_id=conversation_id, most=MOST_LISTED)
        return [read_row(row) for row in rows]

    async def kept_bytes(self, user_id: int | None) -> int:
        """Bytes of a person's files. Raises `StorageUnavailable`."""
        return int((await self._db.read("file_bytes_of", user_id=user_id))[0]["bytes"])

    async def bring(self, text: str, place: FilePlace) -> Brought:
        """Have the files that a text names here and read, one after another.

        Raises `NotFetched` when Telegram cannot be reached, `StorageUnavailable`: files done by then stay done.
        """
        files: list[StoredFile] = []
        new: list[StoredFile] = []
        for named in named_files(text):
            file = await self._named(named, place)
            if file is None:
                continue
            file = await self._ready(file, place.by)
            text = text.replace(named.line, await self._line(named, file, place), 1)
            files.append(file)
            if named.number is None and file.turn_id == place.turn_id:
                new.append(file)
        return Brought(text, tuple(files), tuple(new))

    async def _named(self, named: NamedFile, place: FilePlace) -> StoredFile | None:
        """The file that a line means, with its number; None for a line that somebody made up."""
        if named.number is not None:
            return await self.find(place.conversation_id, named.number)
        file = await self.of_message(place.conversation_id, named.message_id)
        if file is None:
            return None
        took = {
            "conversation_id": place.conversation_id,
            "file_id": file.file_id,
            "turn_id": place.turn_id,
            "session_id": place.session_id,
            "private": int(place.private),
        }
        await self._db.write(Statement("file_take", took))
        return await self.of_message(place.conversation_id, named.message_id)

    async def _line(self, named: NamedFile, file: StoredFile, place: FilePlace) -> str:
        """The line in a message for its file: of speech, the words too.

        Of a recording that is only replied to, they are told as said before.
        """
        if named.number is not None or not file.is_spoken:
            return file.line()
        said = (await self._readings.spoken(file)).lstrip("> ")
        return f"{file.line()}\n{said if file.turn_id == place.turn_id else foreign(said, 'Said in it')}"

    async def _ready(self, file: StoredFile, by: HeardBy) -> StoredFile:
        """A file fetched and read as far as it can be; bytes that were lost meanwhile are fetched once more."""
        if file.state == "wanted":
            file = await self._fetched(file)
        if file.state != "fetched":
            return file
        try:
            return await self._readings.read(file, by)
        except Missing:
            log.warning("a file is fetched again: its bytes are lost", file_id=file.file_id)
        await self._db.write(Statement("file_again", {"file_id": file.file_id}))
        file = await self._fetched(replace(file, digest="", state="wanted"))
        try:
            return await self._readings.read(file, by) if file.state == "fetched" else file
        except Missing:
            return await self._readings.failed(file, "damaged")

    # --- fetch ------------------------------------------------------------------------------------------------------

    async def _fetched(self, file: StoredFile) -> StoredFile:
        """A file whose bytes are here, or the reason why not. Raises `NotFetched` where trying again may help."""
        if file.size_bytes > self.limits.most_bytes:
            return await self._readings.failed(file, "too_big")
        if await self._has_no_room(file, file.size_bytes):
            return await self._readings.failed(file, "quota")
        try:
            incoming = await self._fetcher.fetch(file.telegram_id, self._blobs)
        except NotFetched as exc:
            if exc.passing:
                raise
            return await self._readings.failed(file, exc.why)
        try:
            if await self._has_no_room(file, incoming.size_bytes):
                return await self._readings.failed(file, "quota")
            return await self._kept(file, incoming)
        finally:
            await self._blobs.drop(incoming)

    async def _has_no_room(self, file: StoredFile, more_bytes: int) -> bool:
        return await self.kept_bytes(file.user_id) + more_bytes > self.limits.quota_bytes

    async def _kept(self, file: StoredFile, incoming: Incoming) -> StoredFile:
        found = await asyncio.to_thread(type_of, incoming.path)
        values: dict[str, Any] = {
            "digest": incoming.digest,
            "size_bytes": incoming.size_bytes,
            "media_type": typed(found),
        }
        await self._blobs.keep(incoming, Statement("file_fetched", {"file_id": file.file_id, **values}))
        faults.point("file_fetched")
        return replace(file, **values, state="fetched", reason="")

    # --- forget -----------------------------------------------------------------------------------------------------

    @staticmethod
    def gone(file: StoredFile) -> list[Statement]:
        """The statements that let go of a file and all that was read from it; its bytes go with the next sweep."""
        return [Statement("erase_file", {"file_id": file.file_id}), *text_gone(file.file_id, file.conversation_id)]
