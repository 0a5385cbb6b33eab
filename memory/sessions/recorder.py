"""The order of effects of one turn, and what is written behind the reply: search index and checkpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from memory.errors import ContinuityError, Outdated, StorageUnavailable, UnknownSession
from memory.ledger.ledgers import Ledgers
from memory.ledger.store import unforgotten
from memory.packets import ConversationContextPacket
from memory.ports import Statement
from memory.process.faults import point
from memory.process.turn_taking import TurnTaking
from memory.sessions.exchange import Exchange, StateChange, kept_private, refusals, turn_of
from memory.sessions.hydrator import HydrationReport, Hydrator, snapshot_of
from memory.sessions.index_writer import IndexWriter
from memory.sessions.live import LiveSession, LiveSessions, once_more
from memory.sessions.measures import Measures
from memory.state import state_manager
from memory.state.fields import filled
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.checkpoint_writer import CheckpointWriter
from memory.storage.store import (
    Store,
    insert_session,
    pause_session,
    point_conversation,
    set_session_status,
    snapshot_row,
    update_session,
)
from memory.storage.turn_rows import LoggedTurn, insert_turn, turn_digest
from memory.types import PRIVATE, ConversationCheckpointSnapshot, ConversationTurn, SessionState

MAX_LIVE_SESSIONS = 256

log = logging.getLogger(__name__)


class Recorder:
    """Writes turns and keeps the sessions they belong to. One writer per session at a time, many side by side."""

    def __init__(
        self,
        store: Store,
        hydrator: Hydrator,
        checkpoints: CheckpointFiles,
        measures: Measures,
        ledgers: Ledgers,
        *,
        index: IndexWriter | None = None,
        max_live: int = MAX_LIVE_SESSIONS,
    ) -> None:
        self._store = store
        self._hydrator = hydrator
        self._measures = measures
        self._ledgers = ledgers
        self.index = index or IndexWriter(store, hydrator.indexed)
        """Of the turns that were stored: it is written behind their replies."""
        self._taking = TurnTaking()
        self._live = LiveSessions(hydrator, self._taking, max_live)
        self._changed: dict[str, None] = {}
        self._behind = CheckpointWriter(checkpoints, self.index.try_to_flush)

    # --- sessions ---------------------------------------------------------------------------------------------------

    async def open_session(
        self, conversation_id: str, user_id: int | None, origin: str, *also: Statement
    ) -> SessionState:
        """Open a new session and make it the conversation's current one; the one before is paused. One transaction.

        `origin` is first, gap, fresh or private; a fresh one is isolated: nothing of other sessions reaches it. Nothing
        of a private one is noted or reaches another session.
        Raises `StorageUnavailable` or `Conflict` with nothing changed.
        """
        now_ms = self._measures.clock.now_ms()
        state = state_manager.new_state(self._measures.ids.new("s"), conversation_id)
        is_private = origin == PRIVATE
        state = state.model_copy(update={"isolated": is_private or origin == "fresh", "private": is_private})
        async with self._taking.of(conversation_id):
            before = await self._store.current_session_id(conversation_id)
            async with self._taking.of(before):
                live = self._live.find(before)
                state = state_manager.behind(state, live.state) if live else state
                await self._store.db.write(
                    *(pause_session(before, now_ms) if before else []),
                    insert_session(state, user_id=user_id, origin=origin, created_at_ms=now_ms),
                    point_conversation(conversation_id, state.session_id, now_ms),
                    *also,
                )
                self._live.status_written(before, "paused")
        self._live.keep(state.session_id, LiveSession(state, (), "", 1, None))
        return state

    async def current(self, conversation_id: str) -> SessionState | None:
        """Return the session of the next message, hydrated if need be; None before the first.

        Raises `StorageUnavailable`.
        """
        session_id = await self._store.current_session_id(conversation_id)
        return (await self._live.read(session_id)).state if session_id else None

    async def session(self, session_id: str) -> SessionState:
        """Return a session's state, hydrated if need be. Raises `UnknownSession`, `StorageUnavailable`."""
        return (await self._live.read(session_id)).state

    async def report(self, session_id: str) -> HydrationReport | None:
        """Return the report of the session's hydration; None when it was opened by this process."""
        return (await self._live.read(session_id)).report

    async def recent_turns(self, session_id: str) -> tuple[ConversationTurn, ...]:
        """Return the session's last turns, oldest first, at most 13, without asking the database if it is live."""
        return (await self._live.read(session_id)).turns

    def at_hand(self, session_id: str) -> tuple[ConversationTurn, ...]:
        """Return the last turns of a live session, oldest first; () for one that would have to be loaded."""
        live = self._live.find(session_id)
        return live.turns if live else ()

    async def switch(self, conversation_id: str, session_id: str, *also: Statement) -> SessionState:
        """Make an earlier session of the conversation its current one again; the one before is paused.

        However long ago its last turn was, the next message goes on in it.
        Raises `UnknownSession` for a session of another conversation, `StorageUnavailable`, `Conflict`.
        """
        if (await self.session(session_id)).conversation_id != conversation_id:
            raise UnknownSession(f"session '{session_id}' is not one of conversation '{conversation_id}'")
        async with self._taking.of(conversation_id):
            before = await self._store.current_session_id(conversation_id)
            paused = before if before != session_id else None
            now_ms = self._measures.clock.now_ms()
            async with self._taking.of(paused), self._taking.of(session_id):
                live = await self._live.load(session_id)
                await self._write(
                    live,
                    state_manager.taken_up(live.state, now_ms),
                    *(pause_session(paused, now_ms) if paused else []),
                    point_conversation(conversation_id, session_id, now_ms),
                    *also,
                )
                self._live.status_written(paused, "paused")
                self._checkpoint_later(live)
                return live.state

    # --- turns ------------------------------------------------------------------------------------------------------

    async def record(
        self, exchange: Exchange, packet: ConversationContextPacket | None, *also: Statement
    ) -> ConversationTurn:
        """Store one turn with everything that belongs to it, and return it as it was stored (002 section 7).

        A crash leaves behind:
        1. while the turn is read and folded: nothing; the caller's inbox row starts it again;
        2. before the commit: nothing, likewise;
        3. after the commit: turn, session state, context snapshot and `also` (outbox parts, inbox done) together;
           the checkpoint is one turn behind, which the turn-log tail makes up for at the next hydration, and so is
           the search index, which the next search makes up for;
        4. while index and checkpoint are written, behind the reply: the old ones or the new ones.

        When another writer moved the session on, it is loaded again and the turn is stored upon that.
        Raises `Conflict` when the turn or its update was stored already (the session is loaded again before its next
        use), `Outdated` when a source of its answer was forgotten or edited meanwhile, `StorageUnavailable` when the
        disk refuses, `UnknownSession`: nothing is stored.
        """
        return await once_more(lambda: self._record(exchange, packet, also))

    async def _record(
        self, exchange: Exchange, packet: ConversationContextPacket | None, also: Sequence[Statement]
    ) -> ConversationTurn:
        async with self._taking.of(exchange.session_id):
            live = await self._live.load(exchange.session_id)
            exchange = kept_private(exchange) if live.state.private else exchange
            turn = turn_of(exchange, live.state, self._measures.languages, self._measures.counter)
            logged = LoggedTurn(turn, turn_digest(live.state.last_turn_digest, turn))
            before, zone = live.state, exchange.time_zone
            if zone and zone != before.time_zone:
                before = before.model_copy(update={"time_zone": zone})
            state = self._hydrator.fold.advance(before, logged, live.turns)
            state = exchange.change(state) if exchange.change else state
            async with self._ledgers.writing(exchange.conversation_id) as writing:
                if exchange.epoch not in {"", writing.begun.epoch}:
                    raise Outdated
                refused = refusals(writing, exchange)
                state = filled(state, writing.ledger, exchange.created_at_ms)
                point("before_commit")
                await self._write(
                    live,
                    state,
                    *([unforgotten(writing.begun)] if exchange.epoch else []),
                    insert_turn(
                        turn,
                        logged.digest,
                        model=exchange.model,
                        input_tokens=exchange.input_tokens,
                        output_tokens=exchange.output_tokens,
                        dedupe_key=exchange.dedupe_key,
                    ),
                    *([snapshot_row(packet, turn.turn_id)] if packet else []),
                    *self._hydrator.beside.reading(turn),
                    *writing.statements,
                    *refused,
                    *also,
                )
                writing.stored()
            point("after_commit")
            live.append(logged)
            self.index.later(logged)
            self._checkpoint_later(live)
            return turn

    async def edit(self, session_id: str, change: StateChange, *also: Statement) -> SessionState:
        """Store a change made between turns (a loop closed by a button, a compaction) and return the new state.

        `change` is pure; its errors come through with nothing stored. A change without effect stores only `also`.
        Raises as `record` does.
        """
        return await once_more(lambda: self._edit(session_id, change, also))

    async def _edit(self, session_id: str, change: StateChange, also: Sequence[Statement]) -> SessionState:
        async with self._taking.of(session_id):
            live = await self._live.load(session_id)
            await self._ledgers.read(live.state.conversation_id)  # what an older state held open is in it from then on
            state = change(live.state)
            if state == live.state:
                if also:
                    await self._store.db.write(*also)
                return live.state
            state = state.model_copy(update={"edits": live.state.edits + 1})
            await self._write(live, state, *also)
            self._checkpoint_later(live)
            return state

    async def _write(self, live: LiveSession, state: SessionState, *statements: Statement) -> None:
        """Commit a new state with its statements; only then is it the live one."""
        title = state_manager.session_title(state)
        update = update_session(state, version=live.version, title=title, at_ms=self._measures.clock.now_ms())
        try:
            await self._store.db.write(*statements, update)
        except BaseException as exc:
            self.index.evict(lambda each: each == state.conversation_id)  # a turn may be stored after all
            if not isinstance(exc, StorageUnavailable):  # another writer was first, or we were cancelled: load it again
                self._live.drop(state.session_id)
                self._ledgers.evict(lambda each: each == state.conversation_id)
            raise
        live.state = state
        live.version += 1
        self._changed[state.session_id] = None

    async def release(self, session_id: str) -> None:
        """Forget the live session and any checkpoint of it that waits to be written; the disk stays as it is.

        Call it before rows are deleted or replaced by hand, then `CheckpointFiles.remove`, then delete the rows (P13).
        """
        await self._behind.drop(session_id)
        self._live.drop(session_id)
        self._changed.pop(session_id, None)

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop the live sessions of these conversations, with their checkpoints that wait; a stop leaves them alone."""
        self.index.evict(belongs)
        for session_id in self._live.of(belongs):
            self._behind.take_back(session_id)
            self._live.drop(session_id)
            self._changed.pop(session_id, None)

    @asynccontextmanager
    async def alone(self, conversation_id: str, session_ids: Sequence[str]) -> AsyncIterator[None]:
        """Keep everybody else from a conversation and these sessions of it, and have nothing of them in memory.

        For rewriting their rows (P13): a turn that is being answered meanwhile is stored upon the new rows. Do not call
        this recorder inside the block.
        """
        async with AsyncExitStack() as taken:
            await taken.enter_async_context(self._taking.of(conversation_id))
            for session_id in session_ids:
                await taken.enter_async_context(self._taking.of(session_id))
            for session_id in session_ids:
                await self.release(session_id)
            # of words that are rewritten or go, nothing may come into the index later
            await self.index.flush(conversation_id)
            yield

    # --- checkpoints behind the reply -------------------------------------------------------------------------------

    def _checkpoint_later(self, live: LiveSession) -> None:
        self._behind.later(live.state.session_id, lambda: self._snapshot(live))

    def noted(self, conversation_id: str) -> None:
        """Write the checkpoints of a conversation's live sessions again soon: its notes changed between turns."""
        for session_id in self._live.of(lambda each: each == conversation_id):
            live = self._live.find(session_id)
            if live and live.state.last_seq:
                self._checkpoint_later(live)

    async def _snapshot(self, live: LiveSession, *, clean: bool = False) -> ConversationCheckpointSnapshot:
        state, notes = live.state, await self._ledgers.copy_of(live.state.conversation_id, live.state.session_id)
        delta, at_ms = self._hydrator.fold.delta(state, live.turns) if clean else "", self._measures.clock.now_ms()
        before = live.previous_digest
        return snapshot_of(state, live.tail, before, saved_at_ms=at_ms, clean=clean, summary_delta=delta, notes=notes)

    async def settle(self) -> None:
        """Wait until the index and every checkpoint that is due have been tried."""
        await self._behind.settle()

    @property
    def checkpoint_error(self) -> str | None:
        """Why the last checkpoint could not be written, for `/health`; None when it could."""
        return self._behind.error

    # --- shutdown ---------------------------------------------------------------------------------------------------

    async def final(self, session_id: str) -> bool:
        """Bring a session to rest: summary, state, clean checkpoint with the delta (002 section 6, 2-4).

        Return True when its checkpoint is written, so that it may be marked `shutdown_clean`. Raises as `edit` does.
        """
        turns = await self.recent_turns(session_id)
        await self.edit(session_id, lambda state: self._hydrator.fold.summarize(state, turns))
        live = await self._live.read(session_id)
        await self._behind.drop(session_id)
        live.state = live.state.model_copy(update={"status": "shutdown_clean"})
        return await self._behind.now(session_id, lambda: self._snapshot(live, clean=True))

    async def shutdown(self, deadline_s: float) -> list[str]:
        """Bring every session that this process changed to rest and mark it; return the ids of those marked.

        Sessions that were only read are not written. Those left out by the deadline or an error stay as a crash would
        have left them, which loses nothing. Never raises for a disk that refuses.
        """
        rested: list[str] = []
        try:
            async with asyncio.timeout(deadline_s):
                await self.settle()
                for session_id in list(self._changed):
                    rested += [session_id] if await self.final(session_id) else []
        except (TimeoutError, ContinuityError) as exc:
            log.warning("%s of %s sessions came to rest: %s", len(rested), len(self._changed), exc)
        try:
            if rested:
                await self._store.db.write(*(set_session_status(each, "shutdown_clean") for each in rested))
        except ContinuityError as exc:
            log.warning("sessions could not be marked shutdown_clean: %s", exc)
            return []
        for session_id in rested:
            self._live.drop(session_id)
            self._changed.pop(session_id, None)
        return rested
