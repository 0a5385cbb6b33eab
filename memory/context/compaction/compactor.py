"""Compaction as a stored record that can be undone: plan, summarize, check, write (004)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeVar

from memory.context.budget import Budget
from memory.context.compaction.plan import CompactionPlan, Method, held, mark_of, plan, truncation
from memory.context.compaction.summary_check import problems
from memory.ports import Statement
from memory.sessions.measures import Measures
from memory.sessions.summarizer import HEADER, summarize
from memory.storage.store import Compaction, Store
from memory.types import CompactionMark, ConversationTurn, OpenLoop, SessionState

MODEL_LIMIT_S: Final = 10.0
"""A model that has not written its summary by then is not waited for (DESIGN section 7)."""

log = logging.getLogger(__name__)
_T = TypeVar("_T")

SummaryWriter = Callable[[Sequence[ConversationTurn], str], Awaitable[str]]
"""`(turns, previous summary) -> summary`: a cheap model, if there is one."""

Hurry = Callable[[], Awaitable[None]]
"""Returns when somebody waits for the session, and no model is to be waited for any longer."""

AtWork = Callable[[SessionState], Awaitable[tuple[str, Sequence[OpenLoop]]]]
"""The subject of a session now (004: its current task), and its open matters."""


async def nobody_waits() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


History = Callable[[SessionState], Awaitable[Sequence[ConversationTurn]]]
"""The turns of a session as the prompt would show them."""


class Edit(Protocol):
    """Change a session between its turns: store the changed state and the statements in one transaction."""

    async def __call__(
        self, session_id: str, change: Callable[[SessionState], SessionState], *statements: Statement
    ) -> SessionState:
        """Return the state that was stored. Raises `StorageError` when nothing was."""
        ...


class Compactor:
    """Keeps the history of a session within its budget before each model call.

    `write_summary` is asked first when there is one; its summary is checked by code. Without it, after `limit_s`, on
    any error or when the check fails, the deterministic summarizer writes.
    """

    def __init__(
        self,
        store: Store,
        measures: Measures,
        *,
        budget: Budget,
        write_summary: SummaryWriter | None = None,
        at_work: AtWork | None = None,
        limit_s: float = MODEL_LIMIT_S,
    ) -> None:
        self._store = store
        self._budget = budget
        self._languages, self._counter = measures.languages, measures.counter
        self._clock, self._ids = measures.clock, measures.ids
        self._write_summary = write_summary
        self._at_work = at_work
        self._limit_s = limit_s

    async def compact_if_due(
        self,
        state: SessionState,
        history: History,
        edit: Edit,
        *,
        reserved_tokens: int = 0,
        models: bool = True,
        hurry: Hurry = nobody_waits,
    ) -> SessionState:
        """Return the state to build the packet with: compacted and stored when the history is over budget.

        With the strategy `truncate` (000 section 3) nothing is: the packet leaves the oldest turns out.
        `history` is `Assembler.history`, `edit` is `Recorder.edit`; `reserved_tokens` are those of instructions, tools
        and bootstrap under the cap (004). Without `models` none is asked, and when `hurry` returns none is waited for:
        the deterministic summarizer writes. Runs at most once per call, so it never loops: a summary that does not make
        the prompt smaller is replaced by plain truncation. Never raises: when it fails the state is the old one, and
        the packet cuts the oldest turns.
        """
        if self._budget.strategy == "truncate":
            return state
        try:
            turns = await history(state)
            budget = self._budget.beside(reserved_tokens)
            due = plan(state, turns, budget, self._counter)
            if due is None or await self._is_held(state.session_id, turns):
                return state
            task, loops = await self._about(state)
            written = await unless(hurry, lambda: self._by_model(due, loops)) if models else None
            mark, method = self._outcome(due, written or "")
            mark = mark.model_copy(update={"current_task": task})
            record = _insert(due, mark, method, state.compaction, self._clock.now_ms())
            after = await edit(state.session_id, lambda now: with_mark(now, mark), record)
        except Exception:
            log.exception("compaction of session %s failed; the oldest turns are cut instead", state.session_id)
            return state
        log.info("compacted session %s (%s): %s", state.session_id, method, due.reason)
        return after

    async def last(self, session_id: str) -> Compaction | None:
        """Return the newest compaction of the session that is still in force, None when there is none."""
        return next((each for each in await self._store.compactions(session_id) if each.undone_at_ms is None), None)

    async def undo(self, session_id: str, edit: Edit) -> Compaction | None:
        """Take back the newest compaction: the turns are verbatim again; return it, or None when there was none.

        For the next ten turns nothing is compacted, the history is truncated instead. Raises `StorageError` when the
        undo cannot be stored; then nothing has changed.
        """
        newest = await self.last(session_id)
        if newest is None:
            return None
        params = {"compaction_id": newest.compaction_id, "undone_at_ms": self._clock.now_ms()}
        await edit(
            session_id, lambda now: with_mark(now, newest.previous), Statement("undo_compaction", params, expect=1)
        )
        return newest

    async def _is_held(self, session_id: str, turns: Sequence[ConversationTurn]) -> bool:
        newest = await self._store.compactions(session_id, limit=1)
        return bool(newest) and held(turns, newest[0].undone_at_ms)

    async def _about(self, state: SessionState) -> tuple[str, Sequence[OpenLoop]]:
        """Return the subject of the session and its open matters; nothing when they cannot be read now."""
        try:
            return await self._at_work(state) if self._at_work else ("", ())
        except Exception as error:  # noqa: BLE001 - the compaction does not depend on it
            log.warning("session %s is compacted without its task: %s", state.session_id, type(error).__name__)
            return "", ()

    def _outcome(self, due: CompactionPlan, written: str) -> tuple[CompactionMark, Method]:
        """Return the mark to store: the model's summary if it holds, else the deterministic one, else truncation."""
        compaction_id = self._ids.new("c")
        mark = mark_of(due, compaction_id, written, self._counter) if written else None
        if mark:
            return mark, "model"
        summary = summarize(due.segment, due.previous, self._languages, self._counter, due.summary_max_tokens)
        mark = mark_of(due, compaction_id, summary, self._counter)
        if mark:
            return mark, "deterministic"
        return truncation(due, compaction_id, self._counter), "truncation"

    async def _by_model(self, due: CompactionPlan, loops: Sequence[OpenLoop]) -> str:
        """Return the model's summary if it is in time, short enough and passes the check; else an empty text."""
        if self._write_summary is None:
            return ""
        try:
            async with asyncio.timeout(self._limit_s):
                written = (await self._write_summary(due.segment, due.previous)).strip()
        except Exception as error:  # noqa: BLE001 - any failure of the model means the same: write it ourselves
            log.warning("the summary model failed (%s); the deterministic summarizer writes", type(error).__name__)
            return ""
        wrong = problems(written, due.segment, due.previous, loops, self._languages)
        text = f"{HEADER}\n{written}"
        if self._counter.count(text) > due.summary_max_tokens:
            wrong.append(f"it is longer than {due.summary_max_tokens} tokens")
        if wrong:
            log.warning(
                "the model's summary was refused (%d problems); the deterministic summarizer writes", len(wrong)
            )
            return ""
        return text


async def unless(hurry: Hurry, work: Callable[[], Awaitable[_T]]) -> _T | None:
    """Return the result of the work, None when `hurry` returned before: then the work is broken off."""
    waits = asyncio.ensure_future(hurry())
    works = asyncio.ensure_future(work())
    try:
        await asyncio.wait({waits, works}, return_when=asyncio.FIRST_COMPLETED)
        return works.result() if works.done() else None
    finally:
        for each in (waits, works):
            each.cancel()
        await asyncio.gather(waits, works, return_exceptions=True)


def with_mark(state: SessionState, mark: CompactionMark | None) -> SessionState:
    """Return the state with another compaction in force, or none."""
    return state.model_copy(update={"compaction": mark})


def _insert(
    due: CompactionPlan, mark: CompactionMark, method: Method, previous: CompactionMark | None, now_ms: int
) -> Statement:
    """Return the record of a compaction: turns that went in, the summary, tokens before and after, the reason."""
    params = {
        "compaction_id": mark.compaction_id,
        "session_id": due.session_id,
        "reason": due.reason,
        "method": method,
        "from_seq": due.from_seq,
        "through_seq": due.through_seq,
        "tokens_before": due.tokens_before,
        "tokens_after": due.verbatim_tokens + mark.summary_tokens,
        "previous_json": previous.model_dump_json() if previous else "null",
        "mark_json": mark.model_dump_json(),
        "undone_at_ms": None,
        "created_at_ms": now_ms,
    }
    return Statement("insert_compaction", params, expect=1)
