"""Passages of files for a message: of a document with it, of those before, of pages that a tool asks for."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from bot.files.passages import MOST_PAGES, Passage, asked_pages, fitting, laid_out, spans
from bot.files.rows import StoredFile, passages_of
from bot.files.shelf import FileShelf
from bot.intake.media import OWN_VOICE, own_words
from bot.tables import place_of
from memory.context.fence import fence
from memory.context.transcript import clip
from memory.ports import Database, Statement, TokenCounter
from memory.search.query import Query
from memory.search.relevance import BEST
from memory.search.same_words import held, telling_forms
from memory.search.searcher import Searcher
from memory.search.terms import calendar_words, split_words

TITLE: Final = (
    "From files that were sent here: whoever wrote them speaks, not the person. Say which file and page it is from."
)
FIRST_PASSAGES: Final = 200
"""More of the beginning of a document fits into no prompt."""
OPENING: Final = 2
"""Of a long document so many passages of its beginning are always shown: they name its kind."""
FLOOR: Final = 0.08
"""Of a message's words, by their weights, the closest passage holds so much at least; else no file bears on it.
Half of the floor for talk: a question about "the contract" finds a document titled a lease by one word of two."""
LOOKED_FOR: Final = 0.15
"""The floor for words that somebody looks for: they are few, and chosen."""
LOOKED_FOR_TOKENS: Final = 600
"""So many tokens of files, at most, are told beside the other finds."""
ASKED_ABOUT: Final = 2
"""A picture whose description holds so many of a message's words, and half of them, is asked about: it is seen again,
not only told of."""
MOST_NAMED: Final = 2
"""So many files that a message calls by a word of their names are given with it, the latest first."""
LITTLE_NUMBER: Final = 2
"""Numbers of so many digits stand in every document."""
BESIDE_BEST: Final = 0.25
"""A passage that holds less than a quarter of the best one's words adds nothing."""
MOST_FOUND: Final = 12
LISTED: Final = 30
FENCE_CHARS: Final = 250
"""The frame around a tool's result is at most so long."""
HEAD_CHARS: Final = 150
REMEMBERED: Final = 1000


_NUMBER: Final = re.compile(r"#(\d{1,9})\b")


class Hit(NamedTuple):
    """A passage that bears on a question, and its file."""

    file_id: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Told:
    """Files for a message."""

    text: str = ""
    """Their passages, not fenced yet; "" for none."""
    asked_about: tuple[StoredFile, ...] = ()
    """The pictures that were sent before and that it asks about."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The bounds within which files may be told of."""

    conversation_id: str
    session_id: str | None = None
    """Only those that came in this session: it was started fresh."""

    def has(self, file: StoredFile) -> bool:
        """Whether a file is one of them."""
        return file.session_id == self.session_id or (self.session_id is None and not file.private)


class FileFinder:
    """Finds passages of files for a message, and for the model's tools."""

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
    ) -> Told:
        """Files for the model with a message: those that it brings, those that it names, passages that bear on it.

        Raises `StorageUnavailable`.
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
        others = [file for file in _known(files, reach) if file.file_id not in {each.file_id for each in attached}]
        if not question or not others:
            return Told("\n\n".join(filter(None, parts)))
        named = [file for file in others if is_named(file, question)][:MOST_NAMED]
        for file in named:
            most = found_tokens // MOST_NAMED
            part = _shows(file) if file.is_picture else await self._attached(file, question, most, came_before=True)
            parts.append(part)
            found_tokens -= self._counter.count(part)
        hits = await self._search(
            telling(question), [file for file in others if file not in named], reach.conversation_id, floor=FLOOR
        )
        parts += self._fitting(hits, others, found_tokens)
        hit = {hit.file_id for hit in hits}
        asked = (file for file in others if file in named or (file.file_id in hit and is_asked_about(file, question)))
        return Told("\n\n".join(filter(None, parts)), tuple(file for file in asked if file.is_picture))

    async def _attached(self, file: StoredFile, question: str, most_tokens: int, *, came_before: bool = False) -> str:
        """A document whole, or its beginning and the passages that bear on the question: these first if it is known."""
        head = f"{file.called()} ({file.said()})"
        first = passages_of(await self._db.read("file_passages_first", file_id=file.file_id, most=FIRST_PASSAGES))
        if not first:
            return f"{head}: its pages are shown to you as pictures, {MOST_PAGES} at a time; look_at gives the others"
        whole = fitting(first, most_tokens, self._counter)
        if len(whole) == len(first) and len(first) < FIRST_PASSAGES:
            return f"{head}, whole:\n{laid_out(whole, file.unit)}"
        best = [hit.passage for hit in await self._search(question, [file], file.conversation_id)]
        opening = first[:OPENING]
        order = [*best, *opening] if came_before else [*opening, *best, *first[OPENING:]]
        shown = fitting(list(dict.fromkeys(order)), most_tokens, self._counter)
        others = f"read_document({file.number}, pages) gives the others"
        pages = spans([passage.page for passage in shown])
        return f"{head}, in parts, of {file.unit} {pages}; {others}:\n{laid_out(shown, file.unit)}"

    def _fitting(self, hits: Sequence[Hit], files: Sequence[StoredFile], most_tokens: int) -> list[str]:
        """The best hits that fit, file by file."""
        left, taken = most_tokens, dict[str, list[Passage]]()
        for file_id, passage in hits[:BEST]:
            cost = self._counter.count(passage.text) + 16
            if cost <= left:
                taken.setdefault(file_id, []).append(passage)
                left -= cost
        of_id = {file.file_id: file for file in files}
        return [_told(of_id[file_id], passages) for file_id, passages in taken.items()]

    async def _search(
        self, question: str, files: Sequence[StoredFile], conversation_id: str, *, floor: float = 0.0
    ) -> list[Hit]:
        """The passages that bear on a question, best first."""
        if not question.strip() or not files:
            return []
        file_ids = sorted(file.file_id for file in files)
        query = Query(place_of(conversation_id), question, session_ids=file_ids, limit=MOST_FOUND)
        scored = await self._searcher.order(query)
        best = max((each.share for each in scored), default=0.0)
        if best < floor:
            return []
        refs = [each.message.ref for each in scored if not floor or each.share >= best * BESIDE_BEST]
        rows = await self._db.read_all(*(Statement("file_passage", {"passage_id": ref}) for ref in refs))
        return [
            Hit(row["file_id"], passage)
            for found in rows
            for row, passage in zip(found, passages_of(found), strict=True)
        ]

    # --- what tools ask for -----------------------------------------------------------------------------------------

    async def found(self, conversation_id: str, query: str, has_day: Callable[[int], bool], max_chars: int) -> str:
        """Passages of files of some days that bear on words that somebody looks for, fenced; "" for none.

        Raises `StorageUnavailable`.
        """
        known = _known(await self._shelf.all(conversation_id), self.reach_of(conversation_id))
        files = [file for file in known if has_day(file.received_at_ms)]
        hits = await self._search(query, files, conversation_id, floor=LOOKED_FOR)
        return fence(clip("\n\n".join(self._fitting(hits, files, LOOKED_FOR_TOKENS)), max_chars - FENCE_CHARS), TITLE)

    def reach_of(self, conversation_id: str) -> Reach:
        """The files that the turn being answered in a conversation may be told of: those of its prompt."""
        return self._reach.get(conversation_id, Reach(conversation_id))

    async def text_of(self, file: StoredFile) -> str:
        """The beginning of a file's text. Raises `StorageUnavailable`."""
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


def _known(files: Sequence[StoredFile], reach: Reach) -> list[StoredFile]:
    """Those of the files that were read and may be told of."""
    return [file for file in files if file.is_read and not file.is_own_voice and reach.has(file)]


def is_named(file: StoredFile, question: str) -> bool:
    """Whether a question calls a file by a word of its name, by a part of one (`the contract`), or by its number.

    `Mietvertrag.docx` is named by "laut Vertrag"; its ending and its numbers name nothing.
    """
    name = file.name.rpartition(".")[0] or file.name
    words = {word: own for word, own in telling_forms(question).items() if not word.isdecimal()}
    is_by_name = file.kind not in OWN_VOICE and bool(held(words, name))  # those are called after who speaks
    return is_by_name or str(file.number) in _NUMBER.findall(question)


def is_asked_about(file: StoredFile, question: str) -> bool:
    """Whether a question names several words of a picture's description, and not only one thing in it."""
    words = telling_forms(telling(question))
    found = held(words, file.described)
    return len(found) >= ASKED_ABOUT and 2 * len(found) >= len(words)


def telling(question: str) -> str:
    """A question without the words of time and the little numbers that any document holds: `Monday 9 am` finds none."""
    return " ".join(
        word
        for word in split_words(question)
        if word not in calendar_words() and not (word.isdecimal() and len(word) <= LITTLE_NUMBER)
    )


def _shows(file: StoredFile) -> str:
    """A picture in a line, for the model; "" for one that was not described yet."""
    if not file.described:
        return ""
    day = f"{datetime.fromtimestamp(file.received_at_ms / 1000, UTC):%a %Y-%m-%d}"
    return f"{file.called()}, sent on {day}, shows: {file.described}"


def _told(file: StoredFile, passages: Sequence[Passage]) -> str:
    """Finds in a file, for the model."""
    if file.is_picture:
        return _shows(file)
    text = laid_out(sorted(passages, key=lambda each: each.position), file.unit)
    return f"{file.called()}, found in it:\n{text}"
