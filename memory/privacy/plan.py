"""What goes when something is forgotten (P13), gathered by reading alone; `erasure` decides, `forget` does it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from memory.longterm.promoter import read_memory_row
from memory.notes.readings import Readings
from memory.notes.requests import rests_on, texts_of
from memory.notes.store import StoredNotes, erase_session, rewrite_notes
from memory.notes.types import SessionNotes
from memory.ports import Clock, Database, Row, Statement
from memory.privacy import erasure
from memory.sessions.evidence import state_of_row
from memory.sessions.fold import KEPT_TURNS, Fold
from memory.state import state_manager
from memory.storage.extension import Erase, Erasure
from memory.storage.store import LoggedTurn, SessionRow, Store, read_session_row, update_session
from memory.types import ConversationTurn, Memory, SessionState

SAMPLED_TURNS = 50
"""Of a session that goes as a whole, at most this many of its last turns are looked for in the files afterwards."""
YIELD_EVERY = 20


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What shall be forgotten of one conversation."""

    conversation_id: str
    turn_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()
    """With all values of the same subject and the turns that they were said in."""
    session_ids: tuple[str, ...] = ()
    everything: bool = False
    user_id: int | None = None
    """Only what this person said, as in a group; None = whoever said it."""

    @property
    def wholly(self) -> bool:
        """True when the conversation itself goes."""
        return self.everything and self.user_id is None


@dataclass(frozen=True, slots=True)
class ForgetCounts:
    """How much was forgotten."""

    turns: int = 0
    memories: int = 0
    summaries: int = 0
    sessions: int = 0
    jobs: int = 0


@dataclass(slots=True)
class ForgetPlan:
    """What goes, gathered piece by piece."""

    statements: list[Statement] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    turn_ids: set[str] = field(default_factory=set)
    session_ids: set[str] = field(default_factory=set)
    gone_texts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_texts: list[str] = field(default_factory=list)
    left: dict[str, list[ConversationTurn]] = field(default_factory=dict)
    """The turns that stay, of each session that loses some."""
    jobs: list[Row] = field(default_factory=list)
    states: dict[str, tuple[SessionRow, SessionState]] = field(default_factory=dict)
    """Sessions that stay, by id, as they are without it."""
    turns: int = 0
    memories: int = 0
    summaries: int = 0

    def add(self, name: str, **params: object) -> None:
        """Have this query run, too."""
        self.statements.append(Statement(name, params))

    @property
    def counts(self) -> ForgetCounts:
        """How much goes."""
        return ForgetCounts(self.turns, self.memories, self.summaries, len(self.session_ids), len(self.jobs))


class ForgetPlanner:
    """Plans what `Forgetter.forget` does; reads only."""

    def __init__(self, db: Database, fold: Fold, readings: Readings, clock: Clock, erase: Sequence[Erase]) -> None:
        self._db = db
        self._store = Store(db)
        self._fold = fold
        self._readings = readings
        self._clock = clock
        self._erase = tuple(erase)

    async def sessions(self, conversation_id: str) -> list[SessionRow]:
        """Return the sessions of a conversation. Raises `StorageUnavailable`."""
        return [
            read_session_row(row) for row in await self._db.read("erased_sessions", conversation_id=conversation_id)
        ]

    async def plan(self, request: ForgetRequest) -> ForgetPlan:
        """Return what goes. Raises `StorageUnavailable`."""
        plan = ForgetPlan()
        rows = await self._db.read("erased_memories", conversation_id=request.conversation_id)
        memories = [read_memory_row(row) for row in rows]
        facts = erasure.related(memories, request.memory_ids)
        named = {*request.turn_ids, *(each.turn_id for each in facts)}
        touched = await self._sessions_of(named)
        for row in await self.sessions(request.conversation_id):
            wanted = request.everything or row.session_id in request.session_ids
            if wanted and request.user_id is None:
                await self._drop_session(plan, row)
            elif wanted or row.session_id in touched:
                await self._thin_session(plan, row, request, None if wanted else named)
            else:
                plan.states[row.session_id] = row, state_of_row(row)[0] or _new_state(row)
        await self._reread(plan, request.conversation_id)
        self._drop_memories(plan, request, memories, {each.memory_id for each in facts})
        await self._drop_jobs(plan, request)
        await self._clear_states(plan)
        await self._drop_elsewhere(plan, request)
        return plan

    async def _sessions_of(self, turn_ids: Collection[str]) -> set[str]:
        found = [await self._store.turn(turn_id) for turn_id in turn_ids]
        return {turn.session_id for turn in found if turn}

    async def _drop_session(self, plan: ForgetPlan, row: SessionRow) -> None:
        """Let a whole session go; of a long one only the last turns are looked for afterwards."""
        key = row.session_id
        plan.checkpoints.append(key)
        plan.session_ids.add(key)
        plan.turns += (await self._store.count_turns(key))[0]
        plan.summaries += bool(row.rolling_summary)
        for turn in await self._store.last_turns(key, SAMPLED_TURNS):
            plan.turn_ids.add(turn.turn_id)
            plan.gone_texts += erasure.texts_of(turn)
            plan.said.append(turn.user_text)
        for name in ("erase_turns", "erase_snapshots", "erase_compactions", "erase_choice", "erase_session"):
            plan.add(name, session_id=key)
        plan.statements += erase_session(key)
        plan.add("unpoint_conversation", conversation_id=row.conversation_id, session_id=key)

    async def _thin_session(
        self, plan: ForgetPlan, row: SessionRow, request: ForgetRequest, named: Collection[str] | None
    ) -> None:
        """Let some turns of a session go (`named`, None = all), and rebuild it from those that are left."""
        before = await self._store.logged_between(row.session_id, 1)
        doomed = [
            logged.turn
            for logged in before
            if (named is None or logged.turn.turn_id in named) and request.user_id in (None, logged.turn.user_id)
        ]
        if not doomed:
            return
        gone = {turn.turn_id for turn in doomed}
        after = erasure.renumbered([logged for logged in before if logged.turn.turn_id not in gone])
        old = state_of_row(row)[0] or _new_state(row)
        state = await self._refolded(old, doomed, after)
        plan.checkpoints.append(row.session_id)
        plan.turn_ids |= gone
        plan.turns += len(gone)
        plan.summaries += bool(old.rolling_summary)
        plan.gone_texts += [text for turn in doomed for text in erasure.texts_of(turn)]
        plan.said += [turn.user_text for turn in doomed]
        plan.left_texts += [text for logged in after for text in erasure.texts_of(logged.turn)]
        plan.left[row.session_id] = [logged.turn for logged in after]
        for turn_id in sorted(gone):
            plan.add("erase_turn", turn_id=turn_id, session_id=row.session_id)
            plan.add("erase_snapshot", turn_id=turn_id)
        for logged in erasure.moved(before, after):
            plan.add("rewrite_turn", turn_id=logged.turn.turn_id, seq=logged.turn.seq, digest=logged.digest)
        plan.add("erase_compactions", session_id=row.session_id)
        plan.states[row.session_id] = row, state

    async def _clear_states(self, plan: ForgetPlan) -> None:
        """Write the sessions that lost turns, and those that spoke of what goes: a list that they showed, its lines."""
        ended = {job["job_id"] for job in plan.jobs}
        for session_id, (row, state) in plan.states.items():
            gone = {turn_id for turn_id in erasure.cited_by(state) if await self._goes(plan, turn_id)}
            cleared = erasure.without(state, gone | ended)
            if cleared is state and session_id not in plan.left:
                continue
            if session_id not in plan.left:
                plan.checkpoints.append(session_id)
            title = state_manager.session_title(cleared)
            plan.statements.append(update_session(cleared, version=row.version, title=title, at_ms=row.created_at_ms))

    async def _goes(self, plan: ForgetPlan, turn_id: str) -> bool:
        return turn_id in plan.turn_ids or bool(
            plan.session_ids and await self._sessions_of([turn_id]) & plan.session_ids
        )

    async def _refolded(
        self, old: SessionState, gone: Sequence[ConversationTurn], left: Sequence[LoggedTurn]
    ) -> SessionState:
        """Return the state as if the turns had never been; others are let in while a long session is folded."""
        state = erasure.blank(old)
        recent: list[ConversationTurn] = []
        for number, logged in enumerate(left):
            state = self._fold.advance(state, logged, recent)
            recent = [*recent, logged.turn][-KEPT_TURNS:]
            if number % YIELD_EVERY == YIELD_EVERY - 1:
                await asyncio.sleep(0)
        return erasure.carried(state, old, gone, [logged.turn for logged in left])

    async def _reread(self, plan: ForgetPlan, conversation_id: str) -> None:
        """Have the notes that rest on what goes read again from what stays, also those of other sessions."""
        kept: list[SessionNotes] = []
        for stored in await self._readings.notes.stored(conversation_id):
            if stored.session_id not in plan.session_ids and not await self._rests_on_gone(plan, stored):
                kept += [stored.notes] if stored.notes else []
                continue
            plan.gone_texts += texts_of(stored.notes) if stored.notes else ()
            if stored.session_id in plan.session_ids:
                continue
            left = plan.left.get(stored.session_id)
            turns = await self._store.turns_after(stored.session_id, 0) if left is None else left
            if not turns:
                plan.statements += erase_session(stored.session_id)
                continue
            new = await self._readings.reread(turns, kept, stored.notes)
            plan.left_texts += texts_of(new)
            plan.statements += rewrite_notes(stored, new, turns[-1], self._clock.now_ms())
            kept.append(new)

    async def _rests_on_gone(self, plan: ForgetPlan, stored: StoredNotes) -> bool:
        if stored.notes is None or stored.session_id in plan.left:
            return True
        turn_ids = rests_on(stored.notes)
        if turn_ids & plan.turn_ids:
            return True
        return bool(plan.session_ids and await self._sessions_of(turn_ids) & plan.session_ids)

    def _drop_memories(
        self, plan: ForgetPlan, request: ForgetRequest, memories: Sequence[Memory], facts: Collection[str]
    ) -> None:
        for memory in memories:
            theirs = request.user_id in (None, memory.user_id)
            source = memory.turn_id in plan.turn_ids or memory.session_id in plan.session_ids
            if theirs and (request.everything or source or memory.memory_id in facts):
                plan.memories += 1
                plan.gone_texts.append(memory.text)
                plan.notes.append(memory.text)
                plan.add("erase_memory", memory_id=memory.memory_id)
                plan.add("unlink_memory", memory_id=memory.memory_id)

    async def _drop_jobs(self, plan: ForgetPlan, request: ForgetRequest) -> None:
        jobs = await self._db.read("erased_jobs", conversation_id=request.conversation_id)
        jobs = [job for job in jobs if request.user_id in (None, job["user_id"])]
        plan.jobs = jobs if request.everything else erasure.jobs_of(jobs, plan.turn_ids, plan.session_ids)
        for job in plan.jobs:
            plan.gone_texts.append(job["title"])
            plan.add("erase_job", job_id=job["job_id"])

    async def _drop_elsewhere(self, plan: ForgetPlan, request: ForgetRequest) -> None:
        """Let the extensions' copies go, and with everything the conversation itself."""
        going = Erasure(
            request.conversation_id,
            everything=request.wholly,
            turn_ids=frozenset(plan.turn_ids),
            session_ids=frozenset(plan.session_ids),
            words=tuple(erasure.traces(plan.gone_texts, ())),
            at_ms=self._clock.now_ms(),
        )
        for erase in self._erase:
            plan.statements += await erase(self._db, going)
        if going.everything:
            plan.add("erase_conversation", conversation_id=request.conversation_id)


def _new_state(row: SessionRow) -> SessionState:
    return state_manager.new_state(row.session_id, row.conversation_id)
