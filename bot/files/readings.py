"""Reading of files whose bytes are here: the text of a document, the words of a recording, a picture for a model.

A recording is listened to piece by piece, and each piece is stored with their number: after a crash it
goes on behind the last one where the recogniser can, else begins again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson
import structlog

from bot.files.hearing.errors import NoSpeech
from bot.files.hearing.listener import LONGEST, LONGEST_S, HeardPiece, Listener, Recording
from bot.files.hearing.transcript import by_minute
from bot.files.passages import Passage, blank_pages, parted, tidy
from bot.files.reader import LONGEST_SIDE, Reader, Reading, SmallPicture
from bot.files.rows import StoredFile, failed, index_rows, passage_rows, passages_of, typed
from bot.files.store import Blobs, Missing
from bot.files.types import FileType, type_of
from bot.intake.media import HEARD
from bot.tables import text_gone
from memory.ports import Database, Statement, unobserved
from memory.process import faults
from memory.search.languages import Languages

ROWS_AT_ONCE: Final = 100
"""So many passages are stored in one transaction: nobody waits long behind it."""
SAMPLE_CHARS: Final = 2000
"""Of a text so much tells its language."""
SMALL_KEPT: Final = 20
MINUTE: Final = "minute"
DESCRIBED_CHARS: Final = 300

Kept = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]
"""Stores a result that was paid for, waiting for room. Raises `StorageUnavailable` when patience is at its end."""

log = structlog.get_logger(__name__)


async def at_once(write: Callable[[], Awaitable[object]]) -> object:
    """Store in one try."""
    return await write()


@dataclass(frozen=True, slots=True)
class HeardBy:
    """For whom a recording is listened to."""

    language: str = ""
    """Code of the language that they chose to be spoken to in; "" for none."""
    progress: Callable[[float, int], None] = unobserved
    """Told how far it is, in seconds, and of how many, behind each piece that is not the last."""


NOBODY: Final = HeardBy()


class Readings:
    """Reads files, and notes their text or the reason why not."""

    def __init__(
        self,
        db: Database,
        blobs: Blobs,
        *,
        reader: Reader,
        listener: Listener | None,
        languages: Languages,
        sees: bool,
        kept: Kept = at_once,
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._reader = reader
        self._listener = listener
        self._languages = languages
        self._sees = sees
        self._kept = kept
        self._small: OrderedDict[str, bytes] = OrderedDict()
        """Copies of the pictures that were looked at last, by digest."""
        self._drawn: tuple[tuple[str, tuple[int, ...]], list[bytes]] = ("", ()), []
        """The pages that were drawn last, if all came, by digest and numbers: a look asks twice for the same."""

    @property
    def sees(self) -> bool:
        """Whether there is a model that may be shown pictures."""
        return self._sees

    async def close(self) -> None:
        """End its processes."""
        if self._listener is not None:
            await self._listener.close()

    async def failed(
        self, file: StoredFile, why: str, detail: str = "", *, keeps: bool = False, pages: int = 0
    ) -> StoredFile:
        """Note why a file is not read. Raises `StorageUnavailable`."""
        statement = failed(file, why, detail, keeps=keeps, pages=pages)
        await self._db.write(statement)
        now = {name: str(statement.params[name]) for name in ("state", "digest", "reason")}
        log.info("a file is not read", file_id=file.file_id, reason=now["reason"])
        return replace(file, pages=pages, **now)  # type: ignore[arg-type]  # texts, all three

    async def read(self, file: StoredFile, by: HeardBy) -> StoredFile:
        """A file whose text is stored, or why there is none. Raises `Missing`, `NotHeard`, `StorageUnavailable`."""
        async with self._blobs.at(file.digest) as path:
            found = await asyncio.to_thread(type_of, path)
            if found.reader == "picture":
                return await self._picture(file, found, path)
            if found.reader == "sound" or (file.kind in HEARD and found.reader):
                return await self._recording(file, found, path, by)
            if not found.reader:
                return await self.failed(file, "kind", found.label)
            return await self._document(file, found, path)

    # --- pictures ---------------------------------------------------------------------------------------------------

    async def _picture(self, file: StoredFile, found: FileType, path: Path) -> StoredFile:
        """A picture that can be shown to a model, or why it cannot."""
        if not self._sees:
            return await self.failed(file, "no_model", keeps=True)
        small = await self._reader.picture(path)
        faults.point("file_read")
        if isinstance(small, str):
            return await self.failed(file, small)
        self._remember(file, small)
        read = replace(file, state="read", reason="place" if small.has_place else "", media_type=typed(found))
        await self._store(read, ())
        return read

    def _remember(self, file: StoredFile, small: SmallPicture) -> None:
        self._small[file.digest] = small.data
        if len(self._small) > SMALL_KEPT:
            self._small.popitem(last=False)

    async def picture(self, file: StoredFile, side: int = LONGEST_SIDE) -> bytes | None:
        """A small copy of a picture as JPEG, without data beside the picture; None when it cannot be had.

        Raises `StorageUnavailable`.
        """
        if side == LONGEST_SIDE and file.digest in self._small:
            return self._small[file.digest]
        try:
            async with self._blobs.at(file.digest) as path:
                small = await self._reader.picture(path, side)
        except Missing:
            log.warning("a picture's bytes are not here any more", file_id=file.file_id)
            return None
        if isinstance(small, str):
            return None
        if side == LONGEST_SIDE:
            self._remember(file, small)
        return small.data

    async def pages(self, file: StoredFile, numbers: Sequence[int]) -> list[bytes]:
        """Pages of a PDF as JPEGs; none for another file, and of pages that it has not. `StorageUnavailable`."""
        if not file.media_type.startswith("application/pdf") or not numbers:
            return []
        asked = file.digest, tuple(numbers)
        if self._drawn[0] == asked:
            return self._drawn[1]
        try:
            async with self._blobs.at(file.digest) as path:
                found = await self._reader.page_pictures(path, numbers)
        except Missing:
            return []
        if len(found) == len(numbers):
            self._drawn = asked, found
        return found

    def findable(self, file: StoredFile, described: str) -> list[Statement]:
        """The statements that let a picture be found by its description."""
        passages, language = [Passage(0, 1, described)], self._languages.detect(described).code
        return [
            *text_gone(file.file_id, file.conversation_id),
            *passage_rows(file, passages),
            *index_rows(file, passages, language, self._languages),
        ]

    # --- documents --------------------------------------------------------------------------------------------------

    async def _document(self, file: StoredFile, found: FileType, path: Path) -> StoredFile:
        reading = await self._reader.read(found.reader, path)
        faults.point("file_read")
        pages = [(number, tidy(text)) for number, text in reading.pages]
        blank = blank_pages(pages)
        passages = parted([page for page in pages if page[0] not in blank], found.unit)
        if reading.error:
            return await self.failed(file, reading.error)
        if not passages and not (self._sees and found.reader == "pdf" and pages):
            return await self.failed(file, "blank" if found.unit == "page" else "empty", pages=len(pages))
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
            rows = await asyncio.to_thread(index_rows, file, some, language, self._languages)
            await self._db.write(*passage_rows(file, some), *rows)
            faults.point("file_indexed")
        await self._db.write(_known(file, language))
        faults.point("file_known")

    # --- recordings -------------------------------------------------------------------------------------------------

    async def _recording(self, file: StoredFile, found: FileType, path: Path, by: HeardBy) -> StoredFile:
        """A recording whose words are stored, or why there are none. Raises `NotHeard`."""
        listener = self._listener
        if listener is None:
            return await self.failed(file, "deaf", keeps=True)
        if file.seconds > LONGEST_S:
            return await self.failed(file, "too_long", LONGEST)
        done, unsure = _progress(file) if listener.resumes else (0, False)
        if not done:
            await self._db.write(*text_gone(file.file_id, file.conversation_id))
        language = ""
        recording = Recording(path, found.media_type, file.seconds, by.language)
        try:
            async with aclosing(listener.pieces(recording, done)) as pieces:
                async for piece in pieces:
                    done, unsure = done + 1, unsure or piece.transcript.unsure
                    language = language or piece.transcript.language
                    await self._heard(file, piece, f"pieces {done} {int(unsure)}")
                    by.progress(piece.until_s, file.seconds)
        except NoSpeech as exc:
            return await self.failed(file, exc.why, LONGEST if exc.why == "too_long" else "")
        return await self._whole(replace(file, media_type=typed(found)), language, unsure=unsure)

    async def _heard(self, file: StoredFile, piece: HeardPiece, progress: str) -> None:
        """Store the words of a piece, and the number of pieces so far."""
        known = (await self._db.read("file_passages_count", file_id=file.file_id))[0]["n"]
        found = parted(by_minute(piece.transcript.segments), MINUTE)
        new = [replace(passage, position=passage.position + known) for passage in found]
        heard = Statement("file_heard", {"file_id": file.file_id, "reason": progress})
        await self._kept(lambda: self._db.write(*passage_rows(file, new), heard))
        faults.point("file_heard")

    async def _whole(self, file: StoredFile, language: str, *, unsure: bool) -> StoredFile:
        """Note that a recording was listened to; the person's words are found where they said them, not as a file."""
        rows = await self._db.read("file_passages_first", file_id=file.file_id, most=1_000_000)
        if not rows:
            return await self.failed(file, "silent", keeps=True)
        passages = passages_of(rows)
        text = " ".join(passage.text for passage in passages)
        language = language or self._languages.detect(text[:SAMPLE_CHARS]).code
        read = replace(
            file,
            state="read",
            reason="unsure" if unsure else "",
            unit=MINUTE,
            pages=passages[-1].page,
            described=text[:DESCRIBED_CHARS],
        )
        indexed: list[Statement] = []
        if not file.is_own_voice:
            indexed = await asyncio.to_thread(index_rows, read, passages, language, self._languages)
        await self._db.write(*indexed, _known(read, language))
        faults.point("file_known")
        return read

    async def spoken(self, file: StoredFile) -> str:
        """The words of a recording that was listened to. Raises `StorageUnavailable`."""
        rows = await self._db.read("file_passages_first", file_id=file.file_id, most=1_000_000)
        return " ".join(row["text"] for row in rows)

    def corrected(self, file: StoredFile, text: str) -> list[Statement]:
        """The statements that let the words of the person stand for those that were heard."""
        passages = parted([(1, tidy(text))], MINUTE)
        read = replace(file, reason="corrected", pages=1, described=text[:DESCRIBED_CHARS])
        known = _known(read, self._languages.detect(text[:SAMPLE_CHARS]).code)
        return [*text_gone(file.file_id, file.conversation_id), *passage_rows(file, passages), known]


def _known(file: StoredFile, language: str) -> Statement:
    same = {name: getattr(file, name) for name in ("file_id", "media_type", "reason", "unit", "pages", "described")}
    return Statement("file_known", same | {"blank_json": orjson.dumps(file.blank).decode(), "language": language})


def _progress(file: StoredFile) -> tuple[int, bool]:
    """The number of pieces that were listened to, and whether one of them is doubtful."""
    if file.why != "pieces":
        return 0, False
    done, _, unsure = file.detail.partition(" ")
    return int(done), unsure == "1"


def _ended(reading: Reading) -> str:
    """The reason why a reading ended early, and its extent: `long 1-2000 of 10000`; "" when it is whole."""
    if reading.ended == "whole":
        return ""
    last = max(number for number, _ in reading.pages)
    return f"{reading.ended} 1-{last} of {max(last, reading.total)}"
