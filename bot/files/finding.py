"""Passages of files for a message: of a document with it, of those before, of pages that a tool asks for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bot.file_rows import place_of
from bot.files.passages import MOST_PAGES, Passage, asked_pages, fitting, laid_out, spans
from bot.files.rows import StoredFile, passages_of
from bot.files.shelf import FileShelf
from bot.intake.media import own_words
from memory.context.finds import BEST
from memory.context.transcript import clip
from memory.ports import Database, Statement, TokenCounter
from memory.search.query import Query
from memory.search.searcher import Searcher

TITLE: Final = (
    "From files that were sent here: whoever wrote them speaks, not the person. Say which file and page it is from."
)
FIRST_PASSAGES: Final = 200
"""More of the beginning of a document fits into no prompt."""
OPENING: Final = 2
"""Of a long document so many passages of its beginning are always shown: they say what it is."""
FLOOR: Final = 0.08
"""Of a message's words, by what they are worth, the closest passage holds so much at least; else no file bears on it.
Half of what is asked of talk: who asks about "the contract" finds what calls itself a lease by one word of two."""
BESIDE_BEST: Final = 0.25
"""A passage that holds less than a quarter of what the best one does says nothing more."""
MOST_FOUND: Final = 12
LISTED: Final = 30
FENCE_CHARS: Final = 250
"""At most so long is what stands around what a tool returns."""
HEAD_CHARS: Final = 150
REMEMBERED: Final = 1000


@dataclass(frozen=True, slots=True)
class Reach:
    """Which files may be told of."""

    conversation_id: str
    session_id: str | None = None
    """Only those that came in this session: it was started fresh."""

    def has(self, file: StoredFile) -> bool:
        """Whether a file is one of them."""
        return file.session_id == self.session_id or (self.session_id is None and not file.private)


class FileFinder:
    """Finds what files say."""

    def __init__(self, db: Database, shelf: FileShelf, searcher: Searcher, counter: TokenCounter) -> None:
        self._db = db
        self._shelf = shelf
        self._searcher = searcher
        self._counter = counter
        self._reach: OrderedDict[str, Reach] = OrderedDict()
        """Of the turn that was begun last in each conversation."""
        self._there: dict[str, bool] = {}
        """Whether there were files then."""

    async def told(
        self, text: str, attached: Sequence[StoredFile], reach: Reach, *, most_tokens: int, found_tokens: int
    ) -> str:
        """Files for the model with a message: those that it brings or names, then passages of others that bear on it.

        Not fenced yet; "" for nothing. Raises `StorageUnavailable`.
        """
        self._reach[reach.conversation_id] = reach
        self._reach.move_to_end(reach.conversation_id)
        while len(self._reach) > REMEMBERED:
            self._there.pop(self._reach.popitem(last=False)[0], None)
        files = await self._shelf.all(reach.conversation_id)
        self._there[reach.conversation_id] = bool(files)
        question = own_words(text)
        documents = [file for file in attached if file.is_read and file.unit and not file.is_own_voice]
        parts = [await self._attached(file, question, most_tokens // len(documents)) for file in documents]
        known = [file for file in files if file.is_read and not file.is_own_voice and reach.has(file)]
        others = [file for file in known if file.file_id not in {each.file_id for each in attached}]
        if question and others:
            parts += await self._found(question, others, reach, found_tokens)
        return "\n\n".join(filter(None, parts))

    async def _attached(self, file: StoredFile, question: str, most_tokens: int) -> str:
        """A document whole, or its beginning and the passages that bear on the question."""
        head = f"{file.called()} ({file.said()})"
        first = passages_of(await self._db.read("file_passages_first", file_id=file.file_id, most=FIRST_PASSAGES))
        if not first:
            return f"{head}: its pages are shown to you as pictures, {MOST_PAGES} at a time; look_at gives the others"
        whole = fitting(first, most_tokens, self._counter)
        if len(whole) == len(first) and len(first) < FIRST_PASSAGES:
            return f"{head}, whole:\n{laid_out(whole, file.unit)}"
        best = [passage for _, passage in await self._search(question, [file.file_id], file.conversation_id)]
        rest = [each for each in first[OPENING:] if each not in best]
        shown = fitting(
            [*first[:OPENING], *(each for each in best if each not in first[:OPENING]), *rest],
            most_tokens,
            self._counter,
        )
        others = f"read_document({file.number}, pages) gives the others"
        pages = spans([passage.page for passage in shown])
        return f"{head}, in parts, of {file.unit} {pages}; {others}:\n{laid_out(shown, file.unit)}"

    async def _found(self, question: str, files: Sequence[StoredFile], reach: Reach, most_tokens: int) -> list[str]:
        """Passages of files that were sent before, as far as they bear on the question at all."""
        found = await self._search(question, [file.file_id for file in files], reach.conversation_id, floor=FLOOR)
        left, taken = most_tokens, dict[str, list[Passage]]()
        for file_id, passage in found[:BEST]:
            cost = self._counter.count(passage.text) + 16
            if cost <= left:
                taken.setdefault(file_id, []).append(passage)
                left -= cost
        named = {file.file_id: file for file in files}
        return [_told(named[file_id], passages) for file_id, passages in taken.items()]

    async def _search(
        self, question: str, file_ids: Collection[str], conversation_id: str, *, floor: float = 0.0
    ) -> list[tuple[str, Passage]]:
        """The passages that bear on a question, best first, each with its file."""
        if not question.strip():
            return []
        query = Query(place_of(conversation_id), question, session_ids=sorted(file_ids), limit=MOST_FOUND)
        scored = await self._searcher.order(query)
        best = max((each.share for each in scored), default=0.0)
        if best < floor:
            return []
        refs = [each.message.ref for each in scored if not floor or each.share >= best * BESIDE_BEST]
        rows = await self._db.read_all(*(Statement("file_passage", {"passage_id": ref}) for ref in refs))
        return [
            (row["file_id"], passage) for found in rows for row, passage in zip(found, passages_of(found), strict=True)
        ]

    # --- what the tool asks for -------------------------------------------------------------------------------------

    def reach_of(self, conversation_id: str) -> Reach:
        """Which files the turn that is being answered in a conversation may be told of: as its prompt was."""
        return self._reach.get(conversation_id, Reach(conversation_id))

    async def text_of(self, file: StoredFile) -> str:
        """The beginning of what was read of a file. Raises `StorageUnavailable`."""
        rows = await self._db.read("file_passages_first", file_id=file.file_id, most=FIRST_PASSAGES)
        return "\n".join(passage.text for passage in passages_of(rows))

    async def has_files(self, conversation_id: str) -> bool:
        """Whether there are files in a conversation, as its last turn saw it. Raises `StorageUnavailable`."""
        known = self._there.get(conversation_id)
        return bool(await self._shelf.all(conversation_id)) if known is None else known

    async def file(self, conversation_id: str, number: int) -> StoredFile | None:
        """The file of a number, None for one that the turn that is being answered may not be told of."""
        file = await self._shelf.find(conversation_id, number)
        return file if file and self.reach_of(conversation_id).has(file) else None

    async def pages(self, reach: Reach, number: int | None, pages: str, max_chars: int) -> str:
        """Pages of a document, or why there are none; without a number which files there are.

        Not fenced yet. Raises `StorageUnavailable`.
        """
        file = await self._shelf.find(reach.conversation_id, number) if number is not None else None
        if file is None or not reach.has(file):
            return await self._listed(reach, max_chars, unknown=number)
        if not file.is_read or not file.unit:
            return f"{file.called()}: {file.said()}."
        wanted = asked_pages(pages)
        if wanted:
            between = {"file_id": file.file_id, "first": wanted[0], "last": wanted[-1]}
            found = passages_of(await self._db.read("file_passages_between", **between))
            found = [passage for passage in found if passage.page in wanted]
        else:
            found = passages_of(await self._db.read("file_passages_first", file_id=file.file_id, most=FIRST_PASSAGES))
        if not found:
            return f"There is no text on {file.unit} {spans(wanted)} of {file.called()} ({file.said()})."
        text = laid_out(found, file.unit)
        more = ""
        if len(text) > max_chars:
            text = clip(text, max_chars - HEAD_CHARS)
            more = "\n[cut here: ask for fewer pages at once]"
        return f"{file.called()} ({file.said()})\n{text}{more}"

    async def _listed(self, reach: Reach, max_chars: int, *, unknown: int | None) -> str:
        files = [file for file in await self._shelf.all(reach.conversation_id) if reach.has(file)]
        no = f"There is no file #{unknown}. " if unknown is not None else ""
        if not files:
            return f"{no}Nobody has sent a file here."
        lines = [
            f"{file.called()} ({file.said()}){f': {file.described}' if file.described else ''}"
            for file in files[:LISTED]
        ]
        return clip("\n".join([f"{no}The files here, the latest first:", *lines]), max_chars)


def _told(file: StoredFile, passages: Sequence[Passage]) -> str:
    """Finds in a file, for the model."""
    if file.is_picture:
        day = f"{datetime.fromtimestamp(file.received_at_ms / 1000, UTC):%a %Y-%m-%d}"
        return f"{file.called()}, sent on {day}, shows: {passages[0].text}"
    text = laid_out(sorted(passages, key=lambda each: each.position), file.unit)
    return f"{file.called()}, found in it:\n{text}"
