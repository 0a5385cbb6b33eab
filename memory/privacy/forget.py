"""Forgetting (P13): turns, a session or everything of a conversation leaves every row, index, file and cache.

`Forgetter.forget` holds the order of effects; `planner` gathers the rows that go; `file_scan` looks afterwards.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from memory.context.restating import Known, Matter, Said, known_by
from memory.continuity.bootstrap import Bootstrap
from memory.errors import Conflict, StorageUnavailable
from memory.keeper.job import Keeper
from memory.ledger.ledgers import Ledgers
from memory.ledger.types import Note
from memory.ledger.views import forgotten_words, standing
from memory.ports import Database, Statement
from memory.privacy import erasure, file_scan
from memory.privacy.cutting import Cut
from memory.privacy.plan import ForgetCounts, ForgetPlan, ForgetRequest
from memory.privacy.planner import ForgetPlanner
from memory.process.faults import point
from memory.search.same_words import held, telling_forms
from memory.search.searcher import merge_index
from memory.sessions.recorder import Recorder
from memory.storage.checkpoint import BEFORE_RESTORE, CheckpointFiles

PAGE: Final = 50
SHARED_WORDS: Final = 2

log = logging.getLogger(__name__)


class ScrubbedDatabase(Database, Protocol):
    """A database that can also be emptied of deleted rows."""

    @property
    def files(self) -> Sequence[Path]:
        """Its files on this machine."""
        ...

    async def wal_truncate(self) -> None:
        """Move the log into the database and empty it. Raises `StorageUnavailable` when somebody holds on to it."""
        ...


@dataclass(frozen=True, slots=True)
class Echo:
    """A message, or an answer, that tells a forgotten matter again."""

    turn_id: str
    text: str
    word: str
    """The word that gives it away."""
    by_person: bool = False


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The effects of a forgetting, before it is done."""

    counts: ForgetCounts
    said: tuple[str, ...] = ()
    """Words of people in the messages that go, oldest first; of long sessions only their last messages."""
    parts: tuple[Echo, ...] = ()
    """Parts that go of messages and answers whose rest stays."""
    notes: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    """Open notes of the same messages, which keep their own words."""
    reminders: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    """Notes that are out of use already."""
    echoes: tuple[Echo, ...] = ()
    """Messages and answers that would stay and tell again notes that are out of use."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of a call of `forget`."""

    counts: ForgetCounts
    words: tuple[str, ...] = ()
    """Pieces of the texts, to look for in the files; kept in memory only until `prove` has looked."""
    log_emptied: bool = True
    """False when another process was reading: the next start, or the next forgetting, empties the log."""
    conversation_id: str = ""
    user_id: int | None = None
    told: tuple[str, ...] = ()
    """The notes that went, or where none was named the messages: to find their echoes; kept in memory only until
    `echoes` has looked."""
    around: tuple[str, ...] = ()
    """Words of people in the messages that went: names are known by these; kept as long."""
    resting: frozenset[str] = frozenset()
    """Staying turns that nobody asked for, on which notes rested that went."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Finds in the raw bytes of the files afterwards."""

    files: int
    found: int | None
    """Pieces of forgotten text that are still there and said nowhere else; None when the search failed."""
    set_aside: tuple[str, ...] = ()
    """Copies of the database that `restore` set aside: whole ones, of everybody, so they are not touched."""


def nothing_more(_: ForgetCounts) -> Sequence[Statement]:
    """Return no statements: nothing is said about it."""
    return ()


def _echo(matter: Matter, known: Known, turn_id: str, message: str, answer: str) -> Echo | None:
    """The echo in a turn: its answer, which tells what a message may only ask; else its message."""
    asked, told = matter.told_by(Said.of(message), known), matter.told_by(Said.of(answer), known)
    text, word = (answer, told) if told else (message, asked)
    return Echo(turn_id, text, word, by_person=bool(asked)) if word else None


def _stays(note: Note, plan: ForgetPlan) -> bool:
    """Return whether a note stays that rests on these turns, or shares people and things with a part that goes."""
    if not plan.touched.isdisjoint(note.turn_ids):
        return note.text not in plan.values
    cut = "\n".join(each.said for each in plan.cuts.values())
    return note.note_id in plan.staying and len(held(telling_forms(note.text), cut)) >= SHARED_WORDS


def _parts(cuts: Mapping[str, Cut]) -> Iterator[Echo]:
    """The parts cut from messages, and from answers whose message stays as it is."""
    for turn_id, cut in cuts.items():
        text = cut.said or cut.answered
        yield Echo(turn_id, text, text, by_person=bool(cut.said))


class Forgetter:
    """Forgets. One call at a time per conversation; turns of other conversations go on meanwhile."""

    def __init__(
        self,
        db: ScrubbedDatabase,
        planner: ForgetPlanner,
        *,
        recorder: Recorder,
        checkpoints: CheckpointFiles,
        bootstrap: Bootstrap,
        ledgers: Ledgers,
        keeper: Keeper,
        caches: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._db = db
        self._recorder = recorder
        self._checkpoints = checkpoints
        self._bootstrap = bootstrap
        self._ledgers = ledgers
        self._keeper = keeper
        self._caches = tuple(caches)
        self._planner = planner

    async def forget(
        self,
        request: ForgetRequest,
        *,
        first: Sequence[Statement] = (),
        last: Callable[[ForgetCounts], Sequence[Statement]] = nothing_more,
    ) -> Forgotten:
        """Forget, and return the counts. `first` and `last(counts)` are committed with it, before and behind it.

        A crash leaves behind, line by line (the same request once more finishes it in every case):
        1. while it is planned: nothing has changed;
        2. when the checkpoints are gone: nothing is lost, the rows are the truth; they are written again when the
           session is loaded. They go first, since a checkpoint would bring its turns back;
        3. in the transaction: all of it or nothing: turns, states refolded, notes with all their changes (their other
           turns are to be read again), summaries, jobs, snapshots, compactions, search entries, arcs and bootstrap, the
           extensions' copies, `first` and `last`;
        4. after the transaction: the rows are gone, but the write-ahead log may still hold old pages; every start
           empties it, and so does the next call;
        5. after the log is emptied: nothing readable is left (`secure_delete` overwrites freed pages).
        Out of reach are backups made before, and the copies of those who carried the messages.
        Answers and messages that stay and tell a forgotten note again reach no model any more.
        Raises `Conflict` (of `first`) and `StorageUnavailable` with no row changed.
        """
        request = await self._silencing(request)
        for last_try in (False, True):
            before = await self._ledgers.read(request.conversation_id)
            try:
                plan = await self._forget(request, first, last)
                break
            except Conflict:
                self._ledgers.evict(lambda each: each == request.conversation_id)
                after = await self._ledgers.read(request.conversation_id)
                if last_try or (after.version, after.epoch) == (before.version, before.epoch):
                    raise
        for clear_cache in self._caches:
            clear_cache()
        emptied = await self._empty_log()
        words = erasure.traces(plan.gone_texts, plan.left_texts)
        return Forgotten(
            plan.counts,
            tuple(words),
            emptied,
            conversation_id=request.conversation_id,
            user_id=request.user_id,
            told=tuple(plan.matters if request.note_ids else (*(plan.told or plan.said), *plan.matters)),
            around=tuple(plan.said),
            resting=plan.resting,
        )

    async def _silencing(self, request: ForgetRequest) -> ForgetRequest:
        """Return the request with the turns that stay and tell its notes again."""
        if not request.note_ids:
            return request
        plan = await self._planner.plan(request, await self._ledgers.read(request.conversation_id))
        echoes = await self._echoes(request.conversation_id, request.user_id, plan.matters, plan.said, plan)
        return replace(request, silent_ids=tuple(each.turn_id for each in echoes))

    async def _forget(
        self, request: ForgetRequest, first: Sequence[Statement], last: Callable[[ForgetCounts], Sequence[Statement]]
    ) -> ForgetPlan:
        """Plan and do it alone in the conversation; raises `Conflict` when another process was at work."""
        here = request.conversation_id
        session_ids = [row.session_id for row in await self._planner.sessions(here)]
        async with (
            self._keeper.alone(here),
            self._recorder.alone(here, session_ids),
            self._ledgers.alone(here) as ledger,
        ):
            plan = await self._planner.plan(request, ledger)
            copies = await asyncio.to_thread(self._checkpoints.mentioning, session_ids, plan.note_ids)
            for session_id in {*plan.checkpoints, *copies}:
                await asyncio.to_thread(self._checkpoints.remove, session_id)
            if request.wholly:
                await asyncio.to_thread(self._checkpoints.remove_set_aside, here)
            point("forget_checkpoints_gone")
            clear = self._bootstrap.forget_conversation if request.wholly else self._bootstrap.clear_conversation
            await clear(here, also=[*first, *plan.statements, *last(plan.counts), merge_index()])
            point("forget_rows_gone")
        return plan

    async def foresee(self, request: ForgetRequest) -> Foreseen:
        """Return the effects that `forget` would have, without changing anything. Raises `StorageUnavailable`."""
        ledger = await self._ledgers.read(request.conversation_id)
        plan = await self._planner.plan(request, ledger)
        forgotten = set(forgotten_words(ledger))
        notes = tuple(dict.fromkeys(plan.notes))
        gone = tuple(text for text in notes if text in forgotten)
        echoes = await self._echoes(request.conversation_id, request.user_id, gone, plan.said, plan)
        whole = tuple(plan.whole)
        if echoes:
            turn_ids = (*request.turn_ids, *(each.turn_id for each in echoes))
            plan = await self._planner.plan(replace(request, turn_ids=turn_ids), ledger)
        return Foreseen(
            plan.counts,
            whole,
            tuple(_parts(plan.cuts)),
            tuple(text for text in notes if text not in forgotten),
            tuple(note.text for note in standing(ledger) if _stays(note, plan)),
            tuple(job["title"] for job in plan.jobs),
            gone,
            tuple(echoes),
        )

    async def echoes(self, forgotten: Forgotten) -> list[Echo]:
        """Return the remaining turns whose message or answer tells the forgotten matter again.

        Turns on which it rested, and that the person let stay, are left out.
        """
        here, whose = forgotten.conversation_id, forgotten.user_id
        found = await self._echoes(here, whose, forgotten.told, forgotten.around)
        return [each for each in found if each.turn_id not in forgotten.resting]

    async def _echoes(
        self,
        conversation_id: str,
        user_id: int | None,
        told: Sequence[str],
        said: Sequence[str],
        going: ForgetPlan | None = None,
    ) -> list[Echo]:
        """Return the echoes of texts, but for turns that are going.

        A name in a remaining message of a person, or in a note that stays, is known anyway: alone it tells nothing.
        """
        ledger = await self._ledgers.read(conversation_id)
        gone = {*(each.partition("\n")[0] for each in told), *(going.values if going else ())}
        stay = [note for note in ledger if not note.is_wordless and not note.is_forgotten and note.text not in gone]
        matter, known = Matter(told, (*said, *(note.text for note in stay))), known_by(stay)
        found: list[tuple[str, str, str]] = []
        page = {"conversation_id": conversation_id, "user_id": user_id, "after": "", "limit": PAGE}
        while matter and (rows := await self._db.read("turns_left", **page)):
            page["after"] = rows[-1]["turn_id"]
            for row in (row for row in rows if going is None or row["turn_id"] not in going.gone):
                mine, answer = Said.of(row["user_text"]), Said.of(row["assistant_text"])
                known.forms |= mine.forms & matter.forms
                if matter.told_by(mine, known) or matter.told_by(answer, known):
                    found.append((row["turn_id"], row["user_text"], row["assistant_text"]))
            await asyncio.sleep(0)
        echoes = (_echo(matter, known, *each) for each in found)
        return [each for each in echoes if each]

    async def prove(self, forgotten: Forgotten) -> Proof:
        """Look for the forgotten words in the raw bytes of database, log and checkpoints; raises nothing of theirs."""
        folder, aside = self._checkpoints.folder, self._copies_set_aside()
        try:
            files = [*self._db.files, *sorted(folder.iterdir() if folder.is_dir() else [])]
        except OSError as exc:
            log.warning("the checkpoints could not be looked through: %s", exc)
            return Proof(0, None, aside)
        found = await file_scan.search(forgotten.words, files)
        if found is None:
            return Proof(len(files), None, aside)
        words = {word for each in found.values() for word in each}
        rest = [word for word in words if not await self._db.read_one("said_elsewhere", words=word)]
        if rest:
            log.warning("%d pieces of forgotten text are still readable in the files", len(rest))
        return Proof(len(found), len(rest), aside)

    def _copies_set_aside(self) -> tuple[str, ...]:
        """Return the names of the copies of this database that a restore left beside it."""
        found = [
            each.name for file in self._db.files[:1] for each in file.parent.glob(f"{file.name}.{BEFORE_RESTORE}*")
        ]
        return tuple(sorted(name for name in found if not name.endswith(("-wal", "-shm"))))

    async def _empty_log(self) -> bool:
        try:
            await self._db.wal_truncate()
        except StorageUnavailable as exc:
            log.warning("forgotten rows are gone, but the write-ahead log is not empty yet: %s", exc)
            return False
        return True
