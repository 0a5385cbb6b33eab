"""The memory of one bot: everything of `memory/`, built over one database and joined."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from bot.query_files import QUERY_FILES
from bot.settings import Settings
from memory.context.assembler import Assembler
from memory.context.compactor import Compactor, SummaryWriter
from memory.context.tokens import TiktokenCounter
from memory.continuity.bootstrap import Bootstrap
from memory.errors import StorageUnavailable
from memory.language.languages import Languages
from memory.longterm.promoter import Promoter
from memory.ports import Clock, Ids
from memory.privacy.forget import Forgetter, database_files
from memory.search.searcher import Searcher, index_turn
from memory.search.semantic import Semantic
from memory.sessions.hydrator import Hydrator
from memory.sessions.recorder import Recorder
from memory.storage import migrate
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.sqlite import SqliteDatabase
from memory.storage.store import Store
from memory.types import ConversationTurn, SessionState

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Mind:
    """The rooms of `memory/` that work on one database."""

    db: SqliteDatabase
    store: Store
    counter: TiktokenCounter
    languages: Languages
    checkpoints: CheckpointFiles
    hydrator: Hydrator
    semantic: Semantic
    recorder: Recorder
    searcher: Searcher
    assembler: Assembler
    compactor: Compactor
    bootstrap: Bootstrap
    forgetter: Forgetter


async def open_mind(settings: Settings, clock: Clock, ids: Ids, write_summary: SummaryWriter | None = None) -> Mind:
    """Bring the schema up to date, open the database and build everything that lives on it.

    Raises `StorageError` as the database does.
    """
    applied = await asyncio.to_thread(migrate.migrate, settings.database_path)
    if applied:
        log.info("database schema brought up to date", applied=applied)
    db = await SqliteDatabase.open(settings.database_path, QUERY_FILES)
    await _empty_log(db)
    return _join(settings, db, clock, ids, write_summary)


async def _empty_log(db: SqliteDatabase) -> None:
    """Empty the write-ahead log: a process that died while it forgot may have left words in it (P13)."""
    try:
        await db.wal_truncate()
    except StorageUnavailable as exc:
        log.warning("the write-ahead log could not be emptied", error=str(exc))


def _join(settings: Settings, db: SqliteDatabase, clock: Clock, ids: Ids, write_summary: SummaryWriter | None) -> Mind:
    store, counter, languages = Store(db), TiktokenCounter(), Languages.load()
    checkpoints = CheckpointFiles(settings.checkpoint_dir, clock)
    hydrator = Hydrator(
        store,
        checkpoints,
        languages,
        counter,
        clock,
        summary_max_tokens=settings.continuity_summary_tokens,
        derive=lambda turn: (index_turn(turn, languages),),
    )
    promoter, semantic = Promoter(db, languages), Semantic(db)

    async def notice(state: SessionState, turns: Sequence[ConversationTurn]) -> None:
        try:
            await promoter.notice(state, turns)
        finally:
            semantic.wake()

    recorder = Recorder(
        store, hydrator, checkpoints, languages, counter, clock, ids, promote=promoter.promote, notice=notice
    )
    searcher = Searcher(db, languages, counter=counter, semantic=semantic)
    assembler = Assembler(store, searcher, settings.budget(), languages, counter)
    compactor = Compactor(
        store,
        budget=settings.budget(),
        languages=languages,
        counter=counter,
        clock=clock,
        ids=ids,
        write_summary=write_summary,
    )
    bootstrap = Bootstrap(db, clock, counter)
    forgetter = Forgetter(
        db,
        recorder,
        checkpoints,
        bootstrap,
        hydrator.fold,
        clock,
        files=database_files(settings.database_path),
        caches=[assembler.clear_cache, searcher.clear_cache],
    )
    return Mind(
        db,
        store,
        counter,
        languages,
        checkpoints,
        hydrator,
        semantic,
        recorder,
        searcher,
        assembler,
        compactor,
        bootstrap,
        forgetter,
    )
