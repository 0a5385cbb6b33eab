"""Files of conversations: each is brought from Telegram, kept, read once, and found again when it bears on a message.

What a crash leaves behind after each step of one file, which stands `wanted` since its update was written down:
link asked for        nothing: the next try asks for another one
bytes coming          a part of a file that nothing names; the next start deletes it
bytes in place        a file that no row names; it is fetched once more, the sweep deletes what is left over
`fetched` is stored   the bytes are here: nothing is fetched again, they are read
pieces being stored   some passages; the next try begins with deleting them
`read` is stored      done; the turn that waits for it goes on without fetching or reading anything
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson
import structlog

from bot.file_rows import text_gone
from bot.files.fetch import Fetcher, NotFetched
from bot.files.passages import Passage, blank_pages, parted, tidy
from bot.files.reader import Reader, Reading, SmallPicture
from bot.files.rows import StoredFile, failed, read_row, text_rows, typed
from bot.files.store import Blobs, Incoming, Missing
from bot.files.types import FileType, type_of
from bot.intake.media import HEARD, NamedFile, named_files
from memory import faults
from memory.errors import StorageUnavailable
from memory.ports import Database, Statement
from memory.search.languages import Languages

ROWS_AT_ONCE: Final = 100
"""So many passages are stored in one transaction: nobody waits long behind it."""
SAMPLE_CHARS: Final = 2000
"""Of a text so much tells its language."""
MOST_LISTED: Final = 500
SMALL_KEPT: Final = 20

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken."""

    most_bytes: int
    """Of one file."""
    quota_bytes: int
    """Of one person's files together."""
    sees: bool = False
    """True when a model may be shown pictures."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The turn that files come with."""

    conversation_id: str
    turn_id: str
    session_id: str
    private: bool = False


@dataclass(frozen=True, slots=True)
class Brought:
    """The files of a message, each read or with the reason why not, and the text with their lines."""

    text: str
    files: tuple[StoredFile, ...] = ()
    new: tuple[StoredFile, ...] = ()
    """Those that came with this message."""

    @property
    def troubled(self) -> tuple[StoredFile, ...]:
        """Of these, what could not be read, or not all of it: the person hears of it."""
        return tuple(file for file in self.new if not file.is_read or file.why or file.blank)


class FileShelf:
    """Brings, keeps and reads files."""

    def __init__(
        self, db: Database, blobs: Blobs, fetcher: Fetcher, *, reader: Reader, languages: Languages, limits: Limits
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._fetcher = fetcher
        self._reader = reader
        self._languages = languages
        self._limits = limits
        self._small: OrderedDict[str, bytes] = OrderedDict()
        """Copies of the pictures that were looked at last, by digest."""

    @property
    def sees(self) -> bool:
        """Whether there is a model that may be shown pictures."""
        return self._limits.sees

    @property
    def limits(self) -> Limits:
        """How much is taken."""
        return self._limits

    async def open(self) -> None:
        """Delete what an earlier process left half-fetched. Raises `OSError`."""
        await asyncio.to_thread(self._blobs.clean)

    async def sweep(self) -> int:
        """Delete bytes that nothing names any more; return of how many files. Raises `StorageUnavailable`."""
        gone = await self._blobs.sweep()
        if gone:
            log.info("files deleted that nothing names any more", files=gone)
        return gone

    async def sweep_or_later(self) -> None:
        """The same; what a disk refuses now, the next sweep does. Never raises."""
        try:
            await self.sweep()
        except (StorageUnavailable, OSError) as exc:
            log.error("files are deleted later", error=str(exc))  # noqa: TRY400 - expected

    async def find(self, conversation_id: str, number: int) -> StoredFile | None:
        """The file of this number. Raises `StorageUnavailable`."""
        row = await self._db.read_one("file_of_number", conversation_id=conversation_id, number=number)
        return read_row(row) if row else None

    @staticmethod
    def reads_of_turn(conversation_id: str) -> list[Statement]:
        """What every turn asks the database for, for `memory.storage.ahead`."""
        return [Statement("files_of", {"conversation_id": conversation_id, "most": MOST_LISTED})]

    async def all(self, conversation_id: str) -> list[StoredFile]:
        """The files of a conversation, the latest first. Raises `StorageUnavailable`."""
        rows = await self._db.read("files_of", conversation_id=conversation_id, most=MOST_LISTED)
        return [read_row(row) for row in rows]

    async def kept_bytes(self, user_id: int | None) -> int:
        """What a person's files take. Raises `StorageUnavailable`."""
        return int((await self._db.read("file_bytes_of", user_id=user_id))[0]["bytes"])

    async def bring(self, text: str, place: FilePlace) -> Brought:
        """Have the files that a text names here and read, one after another.

        Raises `NotFetched` when Telegram cannot be reached, `StorageUnavailable`: what is done stays done.
        """
        files: list[StoredFile] = []
        new: list[StoredFile] = []
        for named in named_files(text):
            file = await self._named(named, place)
            if file is None:
                continue
            file = await self._ready(file)
            text = text.replace(named.line, file.line(), 1)
            files.append(file)
            if named.number is None and file.turn_id == place.turn_id:
                new.append(file)
        return Brought(text, tuple(files), tuple(new))

    async def _named(self, named: NamedFile, place: FilePlace) -> StoredFile | None:
        """The file that a line means, with its number; None for a line that somebody made up."""
        here = {"conversation_id": place.conversation_id}
        if named.number is not None:
            return await self.find(place.conversation_id, named.number)
        row = await self._db.read_one("file_of_message", **here, message_id=named.message_id)
        if row is None:
            return None
        took = {"file_id": row["file_id"], "turn_id": place.turn_id, "session_id": place.session_id}
        took |= {"private": int(place.private)}
        await self._db.write(Statement("file_take", here | took))
        row = await self._db.read_one("file_of_message", **here, message_id=named.message_id)
        return read_row(row) if row else None

    async def _ready(self, file: StoredFile) -> StoredFile:
        """A file fetched and read as far as it can be; bytes that were lost meanwhile are fetched once more."""
        if file.state == "wanted":
            file = await self._fetched(file)
        if file.state != "fetched":
            return file
        try:
            return await self._read(file)
        except Missing:
            log.warning("a file is fetched again: its bytes are lost", file_id=file.file_id)
        await self._db.write(Statement("file_again", {"file_id": file.file_id}))
        file = await self._fetched(replace(file, digest="", state="wanted"))
        try:
            return await self._read(file) if file.state == "fetched" else file
        except Missing:
            return await self._failed(file, "damaged")

    # --- fetch ------------------------------------------------------------------------------------------------------

    async def _fetched(self, file: StoredFile) -> StoredFile:
        """A file whose bytes are here, or why they are not. Raises `NotFetched` for what trying again may mend."""
        if file.size_bytes > self._limits.most_bytes:
            return await self._failed(file, "too_big")
        if await self._has_no_room(file, file.size_bytes):
            return await self._failed(file, "quota")
        try:
            incoming = await self._fetcher.fetch(file.telegram_id, self._blobs)
        except NotFetched as exc:
            if exc.passing:
                raise
            return await self._failed(file, exc.why)
        try:
            if await self._has_no_room(file, incoming.size_bytes):
                return await self._failed(file, "quota")
            return await self._kept(file, incoming)
        finally:
            await self._blobs.drop(incoming)

    async def _has_no_room(self, file: StoredFile, more_bytes: int) -> bool:
        return await self.kept_bytes(file.user_id) + more_bytes > self._limits.quota_bytes

    async def _kept(self, file: StoredFile, incoming: Incoming) -> StoredFile:
        found = await asyncio.to_thread(type_of, incoming.path)
        values = {"digest": incoming.digest, "size_bytes": incoming.size_bytes, "media_type": typed(found)}
        await self._blobs.keep(incoming, Statement("file_fetched", {"file_id": file.file_id, **values}))
        faults.point("file_fetched")
        return replace(
            file,
            digest=incoming.digest,
            size_bytes=incoming.size_bytes,
            media_type=typed(found),
            state="fetched",
            reason="",
        )

    async def _failed(
        self, file: StoredFile, why: str, detail: str = "", *, keeps: bool = False, pages: int = 0
    ) -> StoredFile:
        """Note why a file is not read."""
        statement = failed(file, why, detail, keeps=keeps, pages=pages)
        await self._db.write(statement)
        now = {name: str(statement.params[name]) for name in ("state", "digest", "reason")}
        log.info("a file is not read", file_id=file.file_id, reason=now["reason"])
        return replace(file, pages=pages, **now)  # type: ignore[arg-type]  # texts, all three

    # --- read -------------------------------------------------------------------------------------------------------

    async def _read(self, file: StoredFile) -> StoredFile:
        """A file whose text is stored, or why there is none. Raises `Missing`."""
        async with self._blobs.at(file.digest) as path:
            found = await asyncio.to_thread(type_of, path)
            if found.reader == "picture":
                return await self._picture(file, found, path)
            if found.reader == "sound" or (file.kind in HEARD and found.reader):
                return await self._failed(file, "deaf", keeps=True)
            if not found.reader:
                return await self._failed(file, "kind", found.label)
            return await self._document(file, found, path)

    async def _picture(self, file: StoredFile, found: FileType, path: Path) -> StoredFile:
        """A picture that can be shown to a model, or why it cannot."""
        if not self._limits.sees:
            return await self._failed(file, "no_model", keeps=True)
        small = await self._reader.picture(path)
        faults.point("file_read")
        if isinstance(small, str):
            return await self._failed(file, small)
        self._remember(file, small)
        read = replace(file, state="read", reason="place" if small.has_place else "", media_type=typed(found))
        await self._store(read, ())
        return read

    def _remember(self, file: StoredFile, small: SmallPicture) -> None:
        self._small[file.digest] = small.data
        if len(self._small) > SMALL_KEPT:
            self._small.popitem(last=False)

    async def picture(self, file: StoredFile) -> bytes | None:
        """A small copy of a picture as JPEG, with nothing in it but what it shows; None when it cannot be had.

        Raises `StorageUnavailable`.
        """
        if file.digest in self._small:
            return self._small[file.digest]
        try:
            async with self._blobs.at(file.digest) as path:
                small = await self._reader.picture(path)
        except Missing:
            log.warning("a picture's bytes are not here any more", file_id=file.file_id)
            return None
        if not isinstance(small, str):
            self._remember(file, small)
        return self._small.get(file.digest)

    async def _document(self, file: StoredFile, found: FileType, path: Path) -> StoredFile:
        reading = await self._reader.read(found.reader, path)
        faults.point("file_read")
        pages = [(number, tidy(text)) for number, text in reading.pages]
        blank = blank_pages(pages)
        passages = parted([page for page in pages if page[0] not in blank], found.unit)
        if reading.error:
            return await self._failed(file, reading.error)
        if not passages:
            return await self._failed(file, "blank" if found.unit == "page" else "empty", pages=len(pages))
        read = replace(
            file,
            state="read",
            reason=_ended(reading),
            unit=found.unit,
            pages=max(reading.total, len(pages)),
            blank=tuple(blank),
            media_type=typed(found),
        )
        await self._store(read, passages)
        return read

    async def _store(self, file: StoredFile, passages: Sequence[Passage]) -> None:
        """Store passages, a hundred at a time, then that they are whole."""
        sample = " ".join(passage.text for passage in passages[:5])[:SAMPLE_CHARS]
        language = self._languages.detect(sample).code
        await self._db.write(*text_gone(file.file_id, file.conversation_id))
        for start in range(0, len(passages), ROWS_AT_ONCE):
            some = passages[start : start + ROWS_AT_ONCE]
            rows = await asyncio.to_thread(text_rows, file, some, language, self._languages)
            await self._db.write(*rows)
            faults.point("file_indexed")
        known = {
            "file_id": file.file_id,
            "reason": file.reason,
            "unit": file.unit,
            "pages": file.pages,
            "blank_json": orjson.dumps(file.blank).decode(),
            "language": language,
            "described": file.described,
        }
        await self._db.write(Statement("file_known", known))
        faults.point("file_known")

    # --- forget -----------------------------------------------------------------------------------------------------

    @staticmethod
    def gone(file: StoredFile) -> list[Statement]:
        """What lets go of a file and all that was read from it; its bytes go with the next sweep."""
        return [Statement("erase_file", {"file_id": file.file_id}), *text_gone(file.file_id, file.conversation_id)]


def _ended(reading: Reading) -> str:
    """Why a reading went no further, and how far: `long 1-2000 of 10000`; "" when it is whole."""
    if reading.ended == "whole":
        return ""
    last = max(number for number, _ in reading.pages)
    return f"{reading.ended} 1-{last} of {max(last, reading.total)}"
