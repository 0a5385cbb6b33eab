"""Descriptions of pictures: made once, behind the answer, and searched like the text of a document.

An attempt is counted before the model is asked: a process that dies meanwhile asks once more, and no more than that.
A disk that is full then is waited for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final

import structlog

from bot.answers.errors import ModelError
from bot.delivery.storing import until_stored
from bot.files.readings import DESCRIBED_CHARS, Readings
from bot.files.rows import StoredFile, read_row
from bot.meters.spent import Spend, Spent
from bot.pauses import Pauses
from bot.people.choices import PersonalChoices
from bot.sentences import base_of
from memory.context.transcript import clip
from memory.errors import Conflict, StorageUnavailable
from memory.keeper.surroundings import Purse
from memory.ports import Database, Statement
from memory.process import faults
from memory.text import clean

Describe = Callable[[bytes, str], Awaitable[tuple[str, Spent]]]
"""Makes a description of a JPEG in a language, by its code. Raises `ModelError`, ImportError."""
AT_ONCE: Final = 20
SIDE: Final = 512
"""A copy of this size costs a tenth of the whole one, and one or two sentences need no more."""

log = structlog.get_logger(__name__)


async def pictures_of(db: Database, conversation_id: str, turn_ids: Collection[str]) -> Mapping[str, str]:
    """Descriptions of the pictures that came with these turns: `picture #1: Grey hexagonal tiles`, for who keeps notes.

    By turn id; only turns with some. Raises `StorageUnavailable`.
    """
    found: dict[str, list[str]] = {}
    for file in map(read_row, await db.read("files_described", conversation_id=conversation_id)):
        if file.turn_id in turn_ids:
            found.setdefault(str(file.turn_id), []).append(f"{file.called()}: {file.described}")
    return {turn_id: " ".join(seen) for turn_id, seen in found.items()}


class Describer:
    """Describes pictures that were answered."""

    def __init__(
        self,
        db: Database,
        readings: Readings,
        *,
        people: PersonalChoices,
        purse: Purse | None,
        describe: Describe | None,
        spend: Spend,
        pauses: Pauses,
        behind: Callable[..., object],
    ) -> None:
        self._db = db
        self._readings = readings
        self._people = people
        self._purse = purse
        self._describe = describe
        self._spend = spend
        self._pauses = pauses
        self._behind = behind
        self._at_work: set[str] = set()

    def look(self) -> None:
        """Describe pictures not described yet, behind everything else."""
        if self._describe is not None and self._readings.sees:
            self._behind(self.describe_all(), "descriptions")

    async def describe_all(self) -> None:
        """Describe pictures not described yet, one after another. Never raises but for a stop."""
        try:
            rows = await self._db.read("files_undescribed", most=AT_ONCE)
            for row in rows:
                if row["file_id"] not in self._at_work:
                    await self._one(read_row(row))
        except StorageUnavailable:
            return  # the next picture, or the next start, looks again

    async def _one(self, file: StoredFile) -> None:
        self._at_work.add(file.file_id)
        try:
            await self._described(file)
        except Conflict:
            log.info("a picture was described or forgotten meanwhile", file_id=file.file_id)
        except (ModelError, ImportError, TimeoutError) as exc:
            log.info("a picture is not described", file_id=file.file_id, error=type(exc).__name__)
        finally:
            self._at_work.discard(file.file_id)

    async def _described(self, file: StoredFile) -> None:
        if self._purse is not None and not await self._purse.may_spend(file.user_id):
            return
        data = await self._readings.picture(file, SIDE)
        await self._stored(Statement("file_attempt", {"file_id": file.file_id}, expect=1))
        if data is None or self._describe is None:
            return
        faults.point("file_describing")
        text, spent = await self._describe(
            data, base_of(await self._people.language(file.conversation_id, file.user_id))
        )
        self._spend(spent)
        rows: list[Statement] = []
        if self._purse is not None:
            rows += await self._purse.booked(file.user_id, spent.tokens, spent.cost_nanodollars)
        kept = clip(" ".join(clean(text).split()), DESCRIBED_CHARS)
        if kept:
            described = Statement("file_described", {"file_id": file.file_id, "described": kept}, expect=1)
            rows += [described, *self._readings.findable(file, kept)]
        await self._stored(*rows)
        faults.point("file_described")

    async def _stored(self, *rows: Statement) -> None:
        """Store rows as soon as there is room: nobody waits for them. Raises `Conflict`."""
        await until_stored(lambda: self._db.write(*rows), self._pauses)
