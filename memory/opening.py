"""A memory that opens itself: everything of `memory` over one database, joined here and nowhere else."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from filelock import FileLock, Timeout

from memory.clock import RandomIds, SystemClock
from memory.context.assembler import Assembler
from memory.context.budget import Budget
from memory.context.chat import chat_messages
from memory.context.compactor import Compactor, SummaryWriter
from memory.context.packet_text import prompt
from memory.context.tokens import TiktokenCounter
from memory.continuity.bootstrap import Bootstrap
from memory.errors import Locked, StorageUnavailable
from memory.language.languages import Languages
from memory.longterm.promoter import Promoter
from memory.notes.readings import Readings, ZoneOf, utc
from memory.notes.store import ask_to_read
from memory.ports import Clock, Ids, Statement, TokenCounter
from memory.privacy.forget import Forgetter, database_files
from memory.search.embeddings import Embedder
from memory.search.embeddings import load as load_embedder
from memory.search.searcher import Searcher, index_turn
from memory.search.semantic import Semantic
from memory.sessions.choice import choose
from memory.sessions.hydrator import HydrationReport, Hydrator
from memory.sessions.recorder import MAX_LIVE_SESSIONS, Exchange, Promote, Recorder
from memory.storage import migrate
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.extension import Erase, Extension
from memory.storage.named_queries import QUERY_FILES
from memory.storage.sqlite import SqliteDatabase
from memory.storage.store import Store
from memory.types import ConversationContextPacket, ConversationTurn, SessionState, ToolCall

DATABASE: Final = "continuity.db"
CHECKPOINTS: Final = "checkpoints"
SESSION_GAP_S: Final = 6 * 3600.0
REST_S: Final = 5.0
NO_BUDGET_GIVEN: Final = Budget()

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """What an opening found left over from the time before."""

    resuming: int = 0
    """Sessions that were at work when the process before died."""
    rebuilt: tuple[HydrationReport, ...] = ()
    """Sessions of which only a checkpoint was left, brought back into the database."""
    applied: tuple[str, ...] = ()
    """Migrations that brought the schema up to date."""


@dataclass(slots=True, kw_only=True, eq=False)
class PendingTurn:
    """A message that waits for its answer, with what the model has to know. Answer it, then `record`."""

    conversation_id: str
    text: str
    state: SessionState
    packet: ConversationContextPacket
    turn_id: str
    exchange: dict[str, Any]
    recorder: Recorder
    clock: Clock

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The prompt as `role` and `content`, within the budget; your own instructions go before it.

        Roles alternate, the last message is what the user said, and what is older stands in fenced blocks that are
        marked as data.
        """
        return chat_messages(prompt(self.packet, self.text))

    async def record(
        self,
        answer: str,
        *also: Statement,
        tool_calls: Sequence[ToolCall] = (),
        model: str | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> ConversationTurn:
        """Store the turn with `also` in one transaction; when this returns it survives a power cut.

        Raises `Conflict` when it was stored already, `StorageUnavailable` when the disk refuses: nothing is stored.
        """
        exchange = Exchange(
            turn_id=self.turn_id,
            session_id=self.state.session_id,
            conversation_id=self.conversation_id,
            user_text=self.text,
            assistant_text=answer,
            tool_calls=tuple(tool_calls),
            model=model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            created_at_ms=self.clock.now_ms(),
            **self.exchange,
        )
        return await self.recorder.record(exchange, self.packet, *also)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What an opening was given, defaults filled in."""

    clock: Clock
    ids: Ids
    languages: Languages
    counter: TokenCounter
    budget: Budget
    write_summary: SummaryWriter | None
    embedder: Callable[[], Embedder | None]
    promoting: bool
    zone_of: ZoneOf
    session_gap_s: float
    max_live_sessions: int
    erase: tuple[Erase, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class ConversationMemory:
    """The memory of many conversations over one database; `open` makes it, `async with` closes it in good order.

    One process works on a database at a time, from as many tasks as it likes. Nothing depends on the good order: a
    process that is killed loses no turn that was recorded.
    """

    clock: Clock
    ids: Ids
    languages: Languages
    counter: TokenCounter
    db: SqliteDatabase
    store: Store
    checkpoints: CheckpointFiles
    hydrator: Hydrator
    semantic: Semantic
    searcher: Searcher
    promoter: Promoter
    recorder: Recorder
    assembler: Assembler
    compactor: Compactor
    readings: Readings
    bootstrap: Bootstrap
    forgetter: Forgetter
    session_gap_ms: int
    found: Found = field(default_factory=Found)
    _held: AsyncExitStack = field(default_factory=AsyncExitStack)

    # --- open and close ---------------------------------------------------------------------------------------------

    @classmethod
    async def open(
        cls,
        where: str | os.PathLike[str],
        *,
        checkpoints: Path | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        languages: Languages | None = None,
        counter: TokenCounter | None = None,
        budget: Budget = NO_BUDGET_GIVEN,
        write_summary: SummaryWriter | None = None,
        embedder: Callable[[], Embedder | None] | None = load_embedder,
        promoting: bool = True,
        zone_of: ZoneOf = utc,
        session_gap_s: float = SESSION_GAP_S,
        max_live_sessions: int = MAX_LIVE_SESSIONS,
        extensions: Sequence[Extension] = (),
        exclusive: bool = True,
        recover: bool = True,
        background: bool = True,
        read_only: bool = False,
    ) -> Self:
        """Open the memory in a folder (made if need be) or at `sqlite:///path`, with its schema up to date.

        Replaceable: `clock`, `ids`, `languages`, the token `counter`, the `budget` of a packet, who writes summaries
        (`write_summary`: a model, checked by code), who makes vectors (`embedder`: the extra `semantic` when it is
        installed; None = words alone), whether facts are kept beyond their session (`promoting`), and by whose clock a
        day is meant (`zone_of`). After `session_gap_s` of silence a new session begins. `extensions` bring tables of
        the caller. `exclusive` takes the
        lock file, `recover` looks for what a crash left, `background` works behind the replies in a task (else call
        `run`); `read_only` does none of these.

        Raises `Locked` when another process works there, `StorageError` as the database does.
        """
        path, folder = places(where, checkpoints)
        clock = clock or SystemClock()
        async with AsyncExitStack() as held:
            applied: tuple[str, ...] = ()
            if not read_only:
                if exclusive:
                    held.callback(_locked(path).release)
                folders = [migrate.FOLDER, *(each.migrations for each in extensions if each.migrations)]
                applied = await asyncio.to_thread(migrate.migrate, path, folders, now_ms=clock.now_ms())
            queries = [*QUERY_FILES, *(file for each in extensions for file in each.queries)]
            db = await SqliteDatabase.open(path, queries, read_only=read_only)
            held.push_async_callback(db.close)
            given = _Given(
                clock=clock,
                ids=ids or RandomIds(),
                languages=languages or Languages.load(),
                counter=counter or TiktokenCounter(),
                budget=budget,
                write_summary=write_summary,
                embedder=embedder or _no_embedder,
                promoting=promoting,
                zone_of=zone_of,
                session_gap_s=session_gap_s,
                max_live_sessions=max_live_sessions,
                erase=tuple(each.erase for each in extensions if each.erase),
            )
            memory = cls._join(db, CheckpointFiles(folder, clock), given)
            if not read_only:
                if applied:
                    log.info("database schema brought up to date: %s", ", ".join(applied))
                if recover:
                    await memory._recover(applied)  # noqa: SLF001 - its own class
                if background:
                    memory._work_behind(held)  # noqa: SLF001 - its own class
            memory._held = held.pop_all()  # noqa: SLF001 - its own class
            return memory

    @classmethod
    def _join(cls, db: SqliteDatabase, checkpoints: CheckpointFiles, given: _Given) -> Self:
        clock, ids, languages, counter, budget = given.clock, given.ids, given.languages, given.counter, given.budget
        store, semantic, promoter = Store(db), Semantic(db, given.embedder), Promoter(db, languages)
        hydrator = Hydrator(
            store,
            checkpoints,
            languages,
            counter,
            clock,
            summary_max_tokens=budget.summary_tokens,
            derive=lambda turn: () if turn.unfiled else (index_turn(turn, languages), ask_to_read(turn)),
        )
        recorder = Recorder(
            store,
            hydrator,
            checkpoints,
            languages,
            counter,
            clock,
            ids,
            promote=promoter.promote if given.promoting else None,
            notice=_notice(promoter if given.promoting else None, semantic),
            max_live=given.max_live_sessions,
        )
        searcher = Searcher(db, languages, counter=counter, semantic=semantic)
        assembler = Assembler(store, searcher, budget, languages, counter)
        bootstrap = Bootstrap(db, clock, counter)
        readings = Readings(store, languages, clock, zone_of=given.zone_of)
        return cls(
            clock=clock,
            ids=ids,
            languages=languages,
            counter=counter,
            db=db,
            store=store,
            checkpoints=checkpoints,
            hydrator=hydrator,
            semantic=semantic,
            searcher=searcher,
            promoter=promoter,
            recorder=recorder,
            assembler=assembler,
            compactor=_compactor(store, readings, given),
            readings=readings,
            bootstrap=bootstrap,
            forgetter=Forgetter(
                db,
                recorder,
                checkpoints,
                bootstrap,
                hydrator.fold,
                readings,
                clock,
                files=database_files(db.path),
                caches=[assembler.clear_cache, searcher.clear_cache],
                erase=given.erase,
            ),
            session_gap_ms=round(given.session_gap_s * 1000),
        )

    async def _recover(self, applied: tuple[str, ...]) -> None:
        """Mark what was interrupted, bring back what only a checkpoint remembers (P8), and empty the write-ahead log.

        A process that died while it forgot may have left words in the log (P13).
        """
        try:
            await self.db.wal_truncate()
        except StorageUnavailable as exc:
            log.warning("the write-ahead log could not be emptied: %s", exc)
        survey = await self.hydrator.survey()
        self.found = Found(survey.resuming, tuple(await self.hydrator.adopt(survey.orphans)), applied)

    def _work_behind(self, held: AsyncExitStack) -> None:
        task = asyncio.create_task(self.run(), name="memory")

        async def stop() -> None:
            task.cancel()
            await asyncio.wait([task])

        held.push_async_callback(stop)

    async def run(self) -> None:
        """Do what is done behind the replies until cancelled: load the counter, make vectors, read. Never raises."""
        if isinstance(self.counter, TiktokenCounter):
            await asyncio.to_thread(self.counter.warm)
        await asyncio.gather(_logged("vectors", self.semantic.run()), _logged("readings", self.readings.run()))

    async def rest(self, deadline_s: float = REST_S) -> list[str]:
        """Bring the sessions that changed to rest: last summary, clean checkpoint; return their ids. Never raises."""
        return await self.recorder.shutdown(deadline_s)

    async def settle(self) -> None:
        """Wait until the checkpoints that are due are written and the promotion that is under way is over."""
        await self.recorder.settle()

    async def close(self) -> None:
        """Let go of the files, the lock last. A second call does nothing."""
        await self.settle()
        await self._held.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.rest()
        await self.close()

    # --- turns ------------------------------------------------------------------------------------------------------

    async def begin(
        self,
        conversation_id: str,
        text: str,
        *,
        user_id: int | None = None,
        third_party: bool = False,
        time_zone: str = "UTC",
        reserved_tokens: int = 0,
    ) -> PendingTurn:
        """Take a message in and gather what the model has to know: hydrated, compacted if due, within the budget.

        Nothing is stored but a session that begins; what you `record` counts. `third_party` marks text that the user
        forwarded or quoted: it is never promoted. `reserved_tokens` is what your instructions and tools take.
        Raises `StorageUnavailable`.
        """
        state = await self._session(conversation_id, user_id)
        state = await self.compactor.compact_if_due(state, self.assembler.history, self.recorder.edit)
        packet = await self.assembler.packet(
            state, text, now_ms=self.clock.now_ms(), time_zone=time_zone, reserved_tokens=reserved_tokens
        )
        return PendingTurn(
            conversation_id=conversation_id,
            text=text,
            state=state,
            packet=packet,
            turn_id=self.ids.new("t"),
            exchange={"user_id": user_id, "third_party": third_party},
            recorder=self.recorder,
            clock=self.clock,
        )

    async def _session(self, conversation_id: str, user_id: int | None) -> SessionState:
        current = await self.recorder.current(conversation_id)
        choice = choose(current, self.clock.now_ms(), self.session_gap_ms)
        if choice == "same" and current is not None:
            return current
        return await self.recorder.open_session(conversation_id, user_id, choice)


# --- pure -----------------------------------------------------------------------------------------------------------


def places(where: str | os.PathLike[str], checkpoints: Path | None = None) -> tuple[Path, Path]:
    """Return the database file and the folder of checkpoints for a folder or an address.

    Raises `ValueError` for an address of another kind than `sqlite:///path`.
    """
    text = os.fspath(where)
    scheme, found, rest = text.partition("://")
    if not found:
        folder = Path(text).absolute()
        return folder / DATABASE, checkpoints or folder / CHECKPOINTS
    if scheme != "sqlite" or len(rest) < 2 or not rest.startswith("/"):  # noqa: PLR2004 - a slash and a name
        raise ValueError(f"a memory opens in a folder or at sqlite:///path/to/file.db, not at {scheme}://…")
    path = Path(rest[1:]).absolute()
    return path, checkpoints or path.with_name(CHECKPOINTS)


# --- small things ---------------------------------------------------------------------------------------------------


def lock_path(database: Path) -> Path:
    """Return the file that the one process that works on a database holds locked (P9)."""
    return database.with_name(database.name + ".lock")


def _locked(database: Path) -> FileLock:
    lock = FileLock(lock_path(database), timeout=0)
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise Locked(f"another process works on {database} (its lock is held); stop that one first") from None
    except OSError as exc:  # after Timeout, which is one
        raise StorageUnavailable(f"{exc.filename}: {exc.strerror}; choose another path or mend this one") from exc
    return lock


def _notice(promoter: Promoter | None, semantic: Semantic) -> Promote:
    """Return what is told of each stored turn, behind the reply."""

    async def notice(state: SessionState, turns: Sequence[ConversationTurn]) -> None:
        try:
            if promoter:
                await promoter.notice(state, turns)
        finally:
            semantic.wake()

    return notice


def _compactor(store: Store, readings: Readings, given: _Given) -> Compactor:
    return Compactor(
        store,
        budget=given.budget,
        languages=given.languages,
        counter=given.counter,
        clock=given.clock,
        ids=given.ids,
        write_summary=given.write_summary,
        read_first=readings.catch_up_session,
    )


def _no_embedder() -> None:
    """Return no embedder: words alone find things."""


async def _logged(what: str, work: Awaitable[object]) -> None:
    """Await what runs behind the replies; what fails there is logged and ends nothing else."""
    try:
        await work
    except Exception:
        log.exception("%s: the work behind the replies has ended", what)
