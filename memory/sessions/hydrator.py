"""Rebuild a session after a restart: the newest good checkpoint or row, then the turn-log tail; heal differences."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory.errors import (
    CheckpointDamaged,
    CheckpointError,
    CheckpointForeign,
    CheckpointMissing,
    Conflict,
    ContinuityError,
    StorageUnavailable,
    UnknownSession,
)
from memory.ledger.ledgers import Ledgers
from memory.ports import Statement
from memory.sessions.evidence import (
    Base,
    CheckpointFate,
    Evidence,
    Plan,
    altered,
    borne_out,
    copy_in,
    decide,
    healed_tail,
    no_copy,
    repairs,
    snapshot_of,
)
from memory.sessions.fold import KEPT_TURNS, Fold
from memory.sessions.measures import Measures
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.store import Store, mark_resuming
from memory.storage.turn_rows import LoggedTurn
from memory.types import ConversationCheckpointSnapshot, ConversationTurn, SessionState

__all__ = ["CheckpointFate", "Hydrated", "HydrationReport", "Hydrator", "Survey", "altered", "snapshot_of"]

PAGE_TURNS = 500
ATTEMPTS = 3

Derive = Callable[[ConversationTurn], Sequence[Statement]]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HydrationReport:
    """Sources and repairs of a hydration, for the start report and for people."""

    session_id: str
    base: Base = "empty"
    checkpoint: CheckpointFate = "missing"
    turns_folded: int = 0
    turns_healed: int = 0
    session_restored: bool = False
    """True when the database had no row of this session any more."""
    quarantined: str | None = None
    """The path to which the unusable checkpoint was moved."""
    warnings: tuple[str, ...] = ()
    """Sentences for the operator; () when all was well."""


@dataclass(frozen=True, slots=True)
class Hydrated:
    """A session ready for its next turn."""

    state: SessionState
    tail: tuple[LoggedTurn, ...]
    """Its last turns, oldest first, at most 13; the last 3 are the raw window of 002 section 5."""
    previous_digest: str | None
    """The chain digest of the turn before `tail[0]`; "" at the very beginning, None when that turn is gone."""
    version: int
    report: HydrationReport


@dataclass(frozen=True, slots=True)
class Survey:
    """Finds of a start before any session was loaded."""

    resuming: int
    """Sessions that were at work when the process died; they are marked `resuming` now."""
    orphans: tuple[str, ...]
    """Sessions that have a checkpoint but no row."""
    leftovers: int
    """Half-written checkpoint files that were removed."""


LONG_CHARS = 2_000
"""A turn with more characters is worked on beside the loop: a word that nobody said before takes 0.1 ms to stem."""


def nothing(_: ConversationTurn) -> Sequence[Statement]:
    """Return no statements: a turn is its row alone."""
    return ()


@dataclass(frozen=True, slots=True)
class Beside:
    """The statements that belong to a stored turn beside its row."""

    reading: Derive = nothing
    """In the turn's own transaction: it is read when the session falls quiet."""
    index: Derive = nothing
    """Behind its reply: it is found by search."""


class Hydrator:
    """Loads sessions and blocks nobody: files are read in a thread, the database through its reader."""

    def __init__(
        self,
        store: Store,
        checkpoints: CheckpointFiles,
        measures: Measures,
        *,
        summary_max_tokens: int = 1000,
        beside: Beside = Beside(),
        ledgers: Ledgers | None = None,
        rows_alone: bool = False,
    ) -> None:
        """`rows_alone`: other processes may have gone on with a session, so that a checkpoint proves nothing.

        A checkpoint is a copy then: read where the rows bear it out, else removed, and never healed from (P13).
        """
        self._rows_alone = rows_alone
        self._ledgers = ledgers or Ledgers(store.db)
        self._store = store
        self._checkpoints = checkpoints
        self._clock = measures.clock
        self.beside = beside
        self.fold = Fold(measures.languages, measures.counter, summary_max_tokens)

    async def derived(self, turn: ConversationTurn) -> Sequence[Statement]:
        """Return all statements that belong to a turn beside its row."""
        return (*await self.indexed(turn), *self.beside.reading(turn))

    async def indexed(self, turn: ConversationTurn) -> Sequence[Statement]:
        """Return the statements that make a turn findable; for a long one they are made in a thread."""
        if len(turn.user_text) + len(turn.assistant_text) <= LONG_CHARS:
            return self.beside.index(turn)
        return await asyncio.to_thread(self.beside.index, turn)

    async def survey(self, *, marking: bool = True) -> Survey:
        """Look around at start: mark interrupted sessions, name those without a row. Loads no session.

        Without `marking` others are at work, and nothing is taken for interrupted. One statement, one query and one
        listing, for any number of sessions; copies of rows that other processes may have changed meanwhile are
        removed. Raises `StorageUnavailable`.
        """
        leftovers = await asyncio.to_thread(self._checkpoints.sweep)
        names = await asyncio.to_thread(self._checkpoints.session_ids)
        if self._rows_alone:
            for name in names:
                await asyncio.to_thread(self._checkpoints.remove, name)
            names = []
        marked = (await self._store.db.write(mark_resuming()))[0].changed if marking else 0
        known = await self._store.session_ids() if names else set()
        return Survey(marked, tuple(sorted(set(names) - known)), leftovers)

    async def adopt(self, orphans: Sequence[str]) -> list[HydrationReport]:
        """Bring back the sessions that have only a checkpoint (the database was emptied or replaced).

        Checkpoints from before there were notes come first: their open loops are carried over when the ledger opens.
        """
        reports = []
        order = await asyncio.to_thread(lambda: {each: self._age(each) for each in orphans})
        for session_id in sorted(orphans, key=lambda each: (order[each], each)):
            try:
                reports.append((await self.hydrate(session_id)).report)
            except ContinuityError as exc:
                reports.append(HydrationReport(session_id, checkpoint="damaged", warnings=(str(exc),)))
        return reports

    async def hydrate(self, session_id: str, *, dry_run: bool = False) -> Hydrated:
        """Return the session as it was after its last stored turn, with a report of the sources used.

        A damaged or foreign checkpoint is moved aside and written again; turns that the log has lost come back from
        the checkpoint; a row that is gone is made again. `dry_run` changes nothing. Raises `UnknownSession` when
        neither row, log nor checkpoint know it, `StorageUnavailable` when the database cannot be read or healed.
        """
        for last_try in (False, True):
            try:
                return await self._hydrate(session_id, dry_run=dry_run)
            except Conflict:
                if last_try:
                    raise
        raise AssertionError  # the loop returns or raises

    async def _hydrate(self, session_id: str, *, dry_run: bool) -> Hydrated:
        evidence = await self._gather(session_id)
        report = HydrationReport(session_id)
        if evidence.fate == "damaged" and not dry_run:
            report = replace(report, quarantined=await self._set_aside(session_id))
        if not evidence.row and not evidence.tail and not evidence.checkpoint:
            raise UnknownSession(" ".join((f"there is no session '{session_id}'", *evidence.warnings)))
        plan = decide(evidence)
        if plan.fate == "foreign" and not dry_run:
            report = replace(report, quarantined=await self._set_aside(session_id))
        state, tail, folded, warnings = await self._fold_tail(evidence, plan)
        report = replace(
            report,
            base=plan.base,
            checkpoint=plan.fate,
            turns_folded=folded,
            turns_healed=len(plan.missing) + len(plan.damaged),
            session_restored=evidence.row is None,
            warnings=(*plan.warnings, *warnings),
        )
        hydrated = _trimmed(state, tail, evidence, report)
        return hydrated if dry_run else await self._repair(evidence, plan, hydrated)

    async def _gather(self, session_id: str) -> Evidence:
        checkpoint, fate, warnings = await asyncio.to_thread(self._load_checkpoint, session_id)
        for _ in range(ATTEMPTS):  # a turn may be stored between the two reads; a log that stays ahead is damage
            row = await self._store.session(session_id)
            tail = await self._store.last_logged(session_id, KEPT_TURNS + 1)
            if not row or not tail or tail[-1].turn.seq <= row.last_seq:
                break
        evidence = Evidence(session_id, row, tuple(tail), checkpoint, fate, warnings)
        if not self._rows_alone or borne_out(evidence):
            return evidence
        await asyncio.to_thread(self._checkpoints.remove, session_id)
        return Evidence(session_id, row, tuple(tail), None, "missing")

    def _load_checkpoint(
        self, session_id: str
    ) -> tuple[ConversationCheckpointSnapshot | None, CheckpointFate, tuple[str, ...]]:
        try:
            return self._checkpoints.load(session_id), "used", ()
        except CheckpointMissing:
            return None, "missing", ()
        except (CheckpointDamaged, CheckpointForeign) as exc:
            fate: CheckpointFate = "damaged" if isinstance(exc, CheckpointDamaged) else "foreign"
            return None, fate, (str(exc),)
        except (CheckpointError, StorageUnavailable) as exc:
            return None, "unreadable", (str(exc),)

    async def _set_aside(self, session_id: str) -> str | None:
        try:
            aside = await asyncio.to_thread(self._checkpoints.quarantine, session_id)
        except StorageUnavailable as exc:
            log.warning("%s", exc)
            return None
        return str(aside) if aside else None

    async def _fold_tail(self, evidence: Evidence, plan: Plan) -> tuple[SessionState, list[LoggedTurn], int, list[str]]:
        """Fold the turns that the base has not seen; the log is read only for those not at hand already.

        Reading begins where the rolling summary ends, since a summary that falls due is folded from those turns.
        """
        tail = healed_tail(evidence, plan)
        state, first = plan.state, tail[0].turn.seq if tail else 1
        recent: list[LoggedTurn] = []
        folded, warnings, next_seq = 0, [], state.summarized_through_seq + 1
        while state.last_seq + 1 < first:
            page = await self._store.logged_between(state.session_id, next_seq, first - 1, limit=PAGE_TURNS)
            if not page:
                break
            warnings += [no_copy(logged) for logged in altered([*recent[-1:], *page], None)]
            folded += sum(logged.turn.seq > state.last_seq for logged in page)
            state, recent = self._fold_all(state, page, recent)
            next_seq = page[-1].turn.seq + 1
        folded += sum(logged.turn.seq > state.last_seq for logged in tail)
        state, recent = self._fold_all(state, tail, recent)
        return state.model_copy(update={"status": plan.state.status}), tail, folded, warnings

    def _fold_all(
        self, state: SessionState, turns: Sequence[LoggedTurn], recent: list[LoggedTurn]
    ) -> tuple[SessionState, list[LoggedTurn]]:
        for logged in turns:
            state = self.fold.advance(state, logged, [before.turn for before in recent])
            recent = [*recent, logged][-KEPT_TURNS:]
        return state, recent

    async def _repair(self, evidence: Evidence, plan: Plan, hydrated: Hydrated) -> Hydrated:
        """Make database and checkpoint agree with the hydrated session; the database first, since it is the truth."""
        statements = repairs(evidence, plan, hydrated.state)
        if statements:
            healed = [logged.turn for logged in (*plan.missing, *plan.damaged)]
            statements += [each for turn in healed for each in await self.derived(turn)]
            await self._write_repairs(evidence, plan, statements)
            wrote = {statement.name for statement in statements}
            hydrated = replace(
                hydrated, version=1 if evidence.row is None else hydrated.version + ("update_session" in wrote)
            )
        if (evidence.checkpoint is None or plan.fate != "used") and hydrated.state.last_seq:
            known = copy_in(evidence.checkpoint)
            try:
                if evidence.row is not None:
                    known = await self._ledgers.copy_of(hydrated.state.conversation_id, hydrated.state.session_id)
                snapshot = snapshot_of(
                    hydrated.state,
                    hydrated.tail,
                    hydrated.previous_digest,
                    saved_at_ms=self._clock.now_ms(),
                    notes=known,
                )
                await asyncio.to_thread(self._checkpoints.save, snapshot)
            except StorageUnavailable as exc:
                report = replace(hydrated.report, warnings=(*hydrated.report.warnings, str(exc)))
                hydrated = replace(hydrated, report=report)
        return hydrated

    def _age(self, session_id: str) -> tuple[bool, int]:
        """The sort key of a checkpoint: whether it has notes, then its time; the later of two is current."""
        checkpoint, _, _ = self._load_checkpoint(session_id)
        return (bool(checkpoint.notes), checkpoint.saved_at_ms) if checkpoint else (False, 0)

    async def _write_repairs(self, evidence: Evidence, plan: Plan, statements: Sequence[Statement]) -> None:
        """Store repairs, with the notes that only the checkpoint has where the database lost turns, or the session.

        Where the session has a row, a note comes back only if all its turns are there: forgotten ones stay away (P13).
        """
        copy = copy_in(evidence.checkpoint)
        if not copy.notes or (evidence.row is not None and not plan.missing):
            await self._store.db.write(*statements)
            return
        healed = {logged.turn.turn_id for logged in plan.missing}
        rests_on = {turn_id for note in copy.notes for turn_id in note.turn_ids} if evidence.row else set()
        there = {turn.turn_id for turn in await self._store.turns(rests_on)}
        conversation_id = plan.state.conversation_id
        async with self._ledgers.writing(conversation_id) as writing:
            writing.restore(
                await self._ledgers.since(conversation_id, 0),
                copy,
                lambda note: evidence.row is None or healed | there >= set(note.turn_ids),
            )
            await self._store.db.write(*statements, *writing.statements)
            writing.stored()


def _trimmed(state: SessionState, tail: list[LoggedTurn], evidence: Evidence, report: HydrationReport) -> Hydrated:
    kept = tuple(tail[-KEPT_TURNS:])
    previous: str | None = None
    if not kept:
        previous = state.last_turn_digest
    elif len(tail) > len(kept) and tail[-len(kept) - 1].turn.seq == kept[0].turn.seq - 1:
        previous = tail[-len(kept) - 1].digest
    elif kept[0].turn.seq == 1:
        previous = ""
    elif evidence.checkpoint and evidence.checkpoint.last_turns[:1] == (kept[0].turn,):
        previous = evidence.checkpoint.previous_digest
    return Hydrated(state, kept, previous, evidence.row.version if evidence.row else 0, report)
