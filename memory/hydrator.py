"""Rebuild a session after a restart: the newest good checkpoint or row, then the turn-log tail; heal what differs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import ValidationError

from memory import state_manager
from memory.checkpoint import CheckpointFiles
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
from memory.fold import KEPT_TURNS, Fold
from memory.languages import Languages
from memory.ports import Clock, Statement, TokenCounter
from memory.store import (
    LoggedTurn,
    SessionRow,
    Store,
    adopt_conversation,
    chain,
    heal_turn,
    insert_session,
    insert_turn,
    mark_resuming,
    turn_digest,
    update_session,
)
from memory.types import STATE_SCHEMA, ConversationCheckpointSnapshot, ConversationTurn, SessionState

RAW_TURNS = 3
"""Turns that are always shown raw (002 section 5)."""
PAGE_TURNS = 500

Base = Literal["checkpoint", "session", "empty"]
CheckpointFate = Literal["used", "older", "newer", "missing", "damaged", "foreign", "unreadable"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HydrationReport:
    """What a hydration used and did, for the start report and for people."""

    session_id: str
    base: Base = "empty"
    checkpoint: CheckpointFate = "missing"
    turns_folded: int = 0
    turns_healed: int = 0
    session_restored: bool = False
    """True when the database had no row of this session any more."""
    quarantined: str | None = None
    """Where the unusable checkpoint was moved."""
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

    @property
    def raw_turns(self) -> tuple[ConversationTurn, ...]:
        """The last 3 turns; with `state.rolling_summary` they are where the conversation stood (002 section 5)."""
        return tuple(logged.turn for logged in self.tail[-RAW_TURNS:])


@dataclass(frozen=True, slots=True)
class Survey:
    """What a start found before any session was loaded."""

    resuming: int
    """Sessions that were at work when the process died; they are marked `resuming` now."""
    orphans: tuple[str, ...]
    """Sessions that have a checkpoint but no row."""
    leftovers: int
    """Half-written checkpoint files that were removed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is known of a session: its row, the end of its log, its checkpoint."""

    session_id: str
    row: SessionRow | None
    tail: tuple[LoggedTurn, ...]
    checkpoint: ConversationCheckpointSnapshot | None
    fate: CheckpointFate
    warnings: tuple[str, ...] = ()

    @property
    def log_seq(self) -> int:
        """The seq of the last turn in the log, 0 for none."""
        return self.tail[-1].turn.seq if self.tail else 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start from and what to repair."""

    base: Base
    state: SessionState
    fate: CheckpointFate
    missing: tuple[LoggedTurn, ...] = ()
    """Turns of the checkpoint that the log has lost."""
    damaged: tuple[LoggedTurn, ...] = ()
    """The checkpoint's copies of turns whose rows were altered."""
    warnings: tuple[str, ...] = field(default=())


# --- pure -----------------------------------------------------------------------------------------------------------


def state_of_row(row: SessionRow) -> tuple[SessionState | None, str | None]:
    """Return the state stored in a session's row, or None and a sentence that says why not."""
    try:
        state = SessionState.model_validate_json(row.state_json)
    except ValidationError as exc:
        return None, f"the stored state of session {row.session_id} is damaged ({exc.error_count()} faults)"
    if state.session_id != row.session_id or state.schema_version > STATE_SCHEMA:
        return None, f"the stored state of session {row.session_id} is another's or of a newer schema"
    return state, None


def altered(tail: Sequence[LoggedTurn], digest_before: str | None) -> list[LoggedTurn]:
    """Return the turns that do not match their chain digest; a turn whose predecessor is not known is not judged."""
    found = []
    previous = digest_before if digest_before is not None or not tail or tail[0].turn.seq > 1 else ""
    expected_seq = tail[0].turn.seq if tail else 0
    for logged in tail:
        known = previous is not None and logged.turn.seq == expected_seq
        if known and turn_digest(previous or "", logged.turn) != logged.digest:
            found.append(logged)
        previous, expected_seq = logged.digest, logged.turn.seq + 1
    return found


def other_history(evidence: Evidence, copies: dict[int, LoggedTurn]) -> str | None:
    """Return why the checkpoint cannot be of the log's history, or None when it can.

    An altered row is damage, not another history; so only rows that match their own digest speak against it.
    """
    suspects = {logged.turn.seq for logged in altered(evidence.tail, None)}
    for logged in evidence.tail:
        copy = copies.get(logged.turn.seq)
        sound = logged.turn.seq not in suspects and logged.turn.seq + 1 not in suspects
        if copy and sound and copy.turn.turn_id != logged.turn.turn_id:
            return f"turn {logged.turn.seq} is {copy.turn.turn_id} there and {logged.turn.turn_id} in the log"
    return None


def decide(evidence: Evidence) -> Plan:
    """Return what to start from: the checkpoint, the row's state or nothing, whichever knows the most.

    The highest (last_seq, edits) wins; at a tie the checkpoint, since it carries a digest of itself.
    """
    warnings = list(evidence.warnings)
    checkpoint, fate = evidence.checkpoint, evidence.fate
    copies = {c.turn.seq: c for c in chain(checkpoint.previous_digest, checkpoint.last_turns)} if checkpoint else {}
    difference = other_history(evidence, copies)
    if checkpoint and difference:
        warnings.append(f"the checkpoint of session {evidence.session_id} is of another history: {difference}")
        checkpoint, fate, copies = None, "foreign", {}
    row_state, fault = state_of_row(evidence.row) if evidence.row else (None, None)
    warnings.extend([fault] if fault else [])
    base, state = _newest(evidence, checkpoint, row_state)
    if checkpoint:
        fate = _fate(checkpoint.state, state, evidence.log_seq)
    missing = tuple(copy for seq, copy in copies.items() if seq > evidence.log_seq)
    damaged = tuple(
        copies[logged.turn.seq] for logged in evidence.tail if copies.get(logged.turn.seq, logged) != logged
    )
    warnings.extend(_findings(evidence, copies, missing, damaged))
    return Plan(base, state, fate, missing, damaged, tuple(warnings))


def _newest(
    evidence: Evidence, checkpoint: ConversationCheckpointSnapshot | None, row_state: SessionState | None
) -> tuple[Base, SessionState]:
    candidates: list[tuple[tuple[int, int], Base, SessionState]] = []
    if checkpoint:
        candidates.append(((checkpoint.state.last_seq, checkpoint.state.edits), "checkpoint", checkpoint.state))
    if row_state:
        candidates.append(((row_state.last_seq, row_state.edits), "session", row_state))
    if candidates:
        _, base, state = max(candidates, key=lambda candidate: candidate[0])
        return base, state.model_copy(update={"status": _status(evidence.row, checkpoint, state)})
    source = evidence.row or evidence.tail[-1].turn
    state = state_manager.new_state(evidence.session_id, source.conversation_id)
    return "empty", state.model_copy(update={"status": evidence.row.status if evidence.row else "resuming"})


def _status(
    row: SessionRow | None, checkpoint: ConversationCheckpointSnapshot | None, state: SessionState
) -> Literal["active", "paused", "resuming", "awaiting_clarification", "shutdown_clean"]:
    """Return the row's status (a start changes only that column) unless the row is gone or older than the state."""
    if row and row.last_seq >= state.last_seq:
        return row.status
    return "shutdown_clean" if checkpoint and checkpoint.clean else "resuming"


def _fate(checkpoint: SessionState, chosen: SessionState, log_seq: int) -> CheckpointFate:
    if checkpoint.last_seq > log_seq:
        return "newer"
    known, wanted = (checkpoint.last_seq, checkpoint.edits), (max(chosen.last_seq, log_seq), chosen.edits)
    return "older" if known < wanted else "used"


def _findings(
    evidence: Evidence, copies: dict[int, LoggedTurn], missing: Sequence[LoggedTurn], damaged: Sequence[LoggedTurn]
) -> list[str]:
    sentences = []
    if missing:
        first, last = missing[0].turn.seq, missing[-1].turn.seq
        sentences.append(f"the log ended at turn {evidence.log_seq}; turns {first}-{last} come from the checkpoint")
        if first > evidence.log_seq + 1:
            lost = f"{evidence.log_seq + 1}-{first - 1}"
            sentences.append(f"turns {lost} are neither in the log nor in the checkpoint; only the summary knows them")
    healed = {copy.turn.seq for copy in damaged}
    sentences.extend(f"turn {seq} was altered in the log; it is restored from the checkpoint" for seq in sorted(healed))
    covered = set(copies)
    sentences.extend(_no_copy(logged) for logged in altered(evidence.tail, None) if logged.turn.seq not in covered)
    return sentences


def _no_copy(logged: LoggedTurn) -> str:
    return (
        f"turn {logged.turn.seq} ({logged.turn.turn_id}) does not match its digest and there is no copy of it; "
        "it is used as it is: compare it with a backup"
    )


def healed_tail(evidence: Evidence, plan: Plan) -> list[LoggedTurn]:
    """Return the end of the log as it is after the repairs."""
    repaired = {copy.turn.seq: copy for copy in plan.damaged}
    return [repaired.get(logged.turn.seq, logged) for logged in evidence.tail] + list(plan.missing)


# --- effects --------------------------------------------------------------------------------------------------------


class Hydrator:
    """Loads sessions. It blocks nobody: files are read in a thread, the database through its reader."""

    def __init__(
        self,
        store: Store,
        checkpoints: CheckpointFiles,
        languages: Languages,
        counter: TokenCounter,
        clock: Clock,
        *,
        summary_max_tokens: int = 1000,
    ) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._clock = clock
        self.fold = Fold(languages, counter, summary_max_tokens)

    async def survey(self) -> Survey:
        """Look around at start: mark what was interrupted, name what has no row. Loads no session.

        One statement, one query and one listing, whatever the number of sessions. Raises `StorageUnavailable`.
        """
        leftovers = await asyncio.to_thread(self._checkpoints.sweep)
        names = await asyncio.to_thread(self._checkpoints.session_ids)
        marked = await self._store.db.write(mark_resuming())
        known = await self._store.session_ids() if names else set()
        return Survey(marked[0].changed, tuple(sorted(set(names) - known)), leftovers)

    async def adopt(self, orphans: Sequence[str]) -> list[HydrationReport]:
        """Bring back the sessions that have only a checkpoint (the database was emptied or replaced)."""
        reports = []
        for session_id in orphans:
            try:
                reports.append((await self.hydrate(session_id)).report)
            except ContinuityError as exc:
                reports.append(HydrationReport(session_id, checkpoint="damaged", warnings=(str(exc),)))
        return reports

    async def hydrate(self, session_id: str, *, dry_run: bool = False) -> Hydrated:
        """Return the session as it stood after its last stored turn, with a report of what was used.

        A damaged or foreign checkpoint is moved aside and written anew; turns that the log has lost come back from
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
        row = await self._store.session(session_id)
        tail = await self._store.last_logged(session_id, KEPT_TURNS + 1)
        return Evidence(session_id, row, tuple(tail), checkpoint, fate, warnings)

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
        """Fold the turns that the base has not seen; the log is read only for what is not at hand already.

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
            warnings += [_no_copy(logged) for logged in altered([*recent[-1:], *page], None)]
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
        """Make database and checkpoint agree with what was found; the database first, since it is the truth."""
        statements = repairs(evidence, plan, hydrated.state)
        if statements:
            await self._store.db.write(*statements)
            wrote = {statement.name for statement in statements}
            hydrated = replace(
                hydrated, version=1 if evidence.row is None else hydrated.version + ("update_session" in wrote)
            )
        if (evidence.checkpoint is None or plan.fate != "used") and hydrated.state.last_seq:
            snapshot = snapshot_of(
                hydrated.state, hydrated.tail, hydrated.previous_digest, saved_at_ms=self._clock.now_ms()
            )
            try:
                await asyncio.to_thread(self._checkpoints.save, snapshot)
            except StorageUnavailable as exc:
                report = replace(hydrated.report, warnings=(*hydrated.report.warnings, str(exc)))
                hydrated = replace(hydrated, report=report)
        return hydrated


def repairs(evidence: Evidence, plan: Plan, state: SessionState) -> list[Statement]:
    """Return the statements that make the database agree with the hydrated state; [] when it does already."""
    statements = [insert_turn(logged.turn, logged.digest) for logged in plan.missing]
    statements += [heal_turn(logged.turn, logged.digest) for logged in plan.damaged]
    title, row = state_manager.session_title(state), evidence.row
    if row is None:
        turns = healed_tail(evidence, plan)
        opened_at_ms = turns[0].turn.created_at_ms if turns else state.last_turn_at_ms
        user_id = turns[-1].turn.user_id if turns else None
        statements.append(
            insert_session(state, user_id=user_id, origin="first", created_at_ms=opened_at_ms, title=title)
        )
        statements.append(adopt_conversation(state.conversation_id, state.session_id, state.last_turn_at_ms))
    else:
        stored, _ = state_of_row(row)
        if stored is None or (stored.last_seq, stored.edits) < (state.last_seq, state.edits):
            statements.append(update_session(state, version=row.version, title=title, at_ms=row.created_at_ms))
    return statements


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


def unbroken(tail: Sequence[LoggedTurn], previous_digest: str | None) -> tuple[Sequence[LoggedTurn], str]:
    """Return the longest end of the tail that chains without a hole, and the digest before it.

    A checkpoint holds only such turns, since their digests are computed anew from the first.
    """
    for index in range(len(tail) - 1, 0, -1):
        if tail[index].turn.seq != tail[index - 1].turn.seq + 1:
            tail, previous_digest = tail[index:], None
            break
    if previous_digest is None and tail:
        return tail[1:], tail[0].digest
    return tail, previous_digest or ""


def snapshot_of(
    state: SessionState,
    tail: Sequence[LoggedTurn],
    previous_digest: str | None,
    *,
    saved_at_ms: int,
    clean: bool = False,
) -> ConversationCheckpointSnapshot:
    """Return the checkpoint of a session."""
    turns, before = unbroken(tail, previous_digest)
    return ConversationCheckpointSnapshot(
        session_id=state.session_id,
        conversation_id=state.conversation_id,
        state=state,
        last_turns=tuple(logged.turn for logged in turns),
        previous_digest=before,
        summary_delta=state.rolling_summary if clean else "",
        last_seq=state.last_seq,
        clean=clean,
        saved_at_ms=saved_at_ms,
    )
