"""The parts of a memory over one database, joined here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from memory.context.assembler import Assembler
from memory.context.budget import Budget
from memory.context.compaction.compactor import Compactor, SummaryWriter
from memory.continuity.bootstrap import Bootstrap
from memory.continuity.types import Mode
from memory.keeper.contract import KeepingModel
from memory.keeper.job import Keeper
from memory.keeper.queue import ask_to_read
from memory.keeper.session_lines import current_task, session_lines
from memory.keeper.surroundings import Purse, Surroundings
from memory.ledger.ledgers import Ledgers
from memory.ledger.migration.old_stores import OldStores
from memory.ledger.views import standing
from memory.ports import Clock, Database, Ids, Observers, TokenCounter
from memory.privacy.forget import Forgetter
from memory.privacy.planner import ForgetPlanner
from memory.privacy.rewording import Rewording
from memory.search.embeddings import Embedder
from memory.search.languages import Languages
from memory.search.searcher import Searcher, index_turn
from memory.search.semantic import Semantic
from memory.sessions.hydrator import Beside, Hydrator
from memory.sessions.index_writer import IndexWriter
from memory.sessions.measures import Measures
from memory.sessions.recorder import Recorder
from memory.state.fields import loops_of
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.engine import OpenDatabase
from memory.storage.extension import Extension
from memory.storage.store import Store
from memory.types import OpenLoop, SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The options of an opening, defaults filled in."""

    measures: Measures
    budget: Budget
    write_summary: SummaryWriter | None
    embedder: Callable[[], Embedder | None] | None
    around: Surroundings
    keeper_model: KeepingModel | None
    return_mode: Mode
    session_gap_s: float
    max_live_sessions: int
    extensions: tuple[Extension, ...]
    observers: Observers
    purse_of: Callable[[Database], Purse] | None
    read_only: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Parts:
    """The parts of a memory; each has its own promises."""

    clock: Clock
    ids: Ids
    languages: Languages
    counter: TokenCounter
    db: OpenDatabase
    ledgers: Ledgers
    store: Store
    checkpoints: CheckpointFiles
    hydrator: Hydrator
    semantic: Semantic
    searcher: Searcher
    recorder: Recorder
    assembler: Assembler
    compactor: Compactor
    keeper: Keeper
    bootstrap: Bootstrap
    forgetter: Forgetter
    rewording: Rewording
    session_gap_ms: int

    @classmethod
    def join(cls, db: OpenDatabase, checkpoints: CheckpointFiles, given: Given) -> Self:
        """Return everything that works on this database, joined."""
        measures, budget = given.measures, given.budget
        clock, languages, counter = measures.clock, measures.languages, measures.counter
        store, semantic = Store(db), Semantic(db, given.embedder or _no_embedder)
        ledgers = Ledgers(db, OldStores(db), read_only=given.read_only, shared=db.shared)
        hydrator = _hydrator(store, checkpoints, given, ledgers, rows_alone=db.shared)
        index = IndexWriter(store, hydrator.indexed, notice=semantic.wake, read_only=given.read_only)
        recorder = Recorder(
            store, hydrator, checkpoints, measures, ledgers, index=index, max_live=given.max_live_sessions
        )
        searcher = Searcher(db, languages, counter=counter, semantic=semantic, catch_up=index.catch_up)
        keeper = Keeper(
            store,
            ledgers,
            measures,
            given.keeper_model,
            around=given.around,
            purse=given.purse_of(db) if given.purse_of else None,
            observers=given.observers,
        )
        assembler = Assembler(store, searcher, budget, counter, ledgers, at_hand=recorder.at_hand)
        bootstrap = Bootstrap(db, clock, counter, ledgers, zone_of=given.around.zone_of, default_mode=given.return_mode)
        return cls(
            clock=clock,
            ids=measures.ids,
            languages=languages,
            counter=counter,
            db=db,
            ledgers=ledgers,
            store=store,
            checkpoints=checkpoints,
            hydrator=hydrator,
            semantic=semantic,
            searcher=searcher,
            recorder=recorder,
            assembler=assembler,
            keeper=keeper,
            compactor=_compactor(store, ledgers, given),
            bootstrap=bootstrap,
            forgetter=Forgetter(
                db,
                ForgetPlanner(db, hydrator, counter, clock, given.extensions),
                recorder=recorder,
                checkpoints=checkpoints,
                bootstrap=bootstrap,
                ledgers=ledgers,
                keeper=keeper,
                caches=[assembler.clear_cache, searcher.clear_cache],
            ),
            rewording=Rewording(
                store,
                recorder,
                checkpoints,
                hydrator,
                keeper,
                languages,
                counter,
                clock,
                ledgers,
                caches=[assembler.evict, searcher.evict],
            ),
            session_gap_ms=round(given.session_gap_s * 1000),
        )


def _no_embedder() -> None:
    """Return no embedder: words alone find things."""


def _hydrator(
    store: Store, checkpoints: CheckpointFiles, given: Given, ledgers: Ledgers, *, rows_alone: bool
) -> Hydrator:
    return Hydrator(
        store,
        checkpoints,
        given.measures,
        summary_max_tokens=given.budget.summary_tokens,
        ledgers=ledgers,
        rows_alone=rows_alone,
        beside=Beside(
            reading=lambda turn: () if turn.unfiled or not given.keeper_model else (ask_to_read(turn),),
            index=lambda turn: () if turn.unfiled else (index_turn(turn, given.measures.languages),),
        ),
    )


def _compactor(store: Store, ledgers: Ledgers, given: Given) -> Compactor:
    async def at_work(state: SessionState) -> tuple[str, Sequence[OpenLoop]]:
        """Return the current task of a session, and the open matters of its conversation."""
        ledger = await ledgers.read(state.conversation_id)
        notes = standing(ledger)
        line = (await session_lines(store.db, ledger)).get(state.session_id)
        title = line.title if line else ""
        return current_task(notes, state.session_id, title), loops_of(notes, given.measures.clock.now_ms())

    return Compactor(
        store,
        given.measures,
        budget=given.budget,
        write_summary=given.write_summary,
        at_work=at_work,
    )
