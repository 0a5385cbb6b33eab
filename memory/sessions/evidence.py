"""The remains of a session (row, log, checkpoint), the conclusions from them, and the repairs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import ValidationError

from memory.ledger.restoring import NotesCopy, as_values, read_copy
from memory.ports import Statement
from memory.state import state_manager
from memory.storage.store import SessionRow, adopt_conversation, insert_session, update_session
from memory.storage.turn_rows import LoggedTurn, chain, heal_turn, insert_turn, turn_digest
from memory.types import PRIVATE, STATE_SCHEMA, ConversationCheckpointSnapshot, SessionState, SessionStatus

Base = Literal["checkpoint", "session", "empty"]
NO_NOTES: Final = NotesCopy()

CheckpointFate = Literal["used", "older", "newer", "missing", "damaged", "foreign", "unreadable"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The remains of one session: its row, the end of its log, its checkpoint."""

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
    """The base to start from, and the repairs."""

    base: Base
    state: SessionState
    fate: CheckpointFate
    missing: tuple[LoggedTurn, ...] = ()
    """Turns of the checkpoint that the log has lost."""
    damaged: tuple[LoggedTurn, ...] = ()
    """The checkpoint's copies of turns whose rows were altered."""
    warnings: tuple[str, ...] = ()


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


def borne_out(evidence: Evidence) -> bool:
    """Return whether the rows hold all of the checkpoint: then it is a copy of them, else it is stale."""
    checkpoint = evidence.checkpoint
    if checkpoint is None or evidence.row is None:
        return False
    logged = {each.turn.seq: each.turn for each in evidence.tail}
    known = (evidence.row.last_seq, state.edits if (state := state_of_row(evidence.row)[0]) else -1)
    same = all(logged.get(turn.seq) == turn for turn in checkpoint.last_turns)
    return same and (checkpoint.state.last_seq, checkpoint.state.edits) <= known


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
    """Return the base to start from: the newest of the checkpoint and the row's state, or nothing.

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
) -> SessionStatus:
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
    sentences.extend(no_copy(logged) for logged in altered(evidence.tail, None) if logged.turn.seq not in covered)
    return sentences


def no_copy(logged: LoggedTurn) -> str:
    """Return the sentence about a turn that does not match its digest and cannot be healed."""
    return (
        f"turn {logged.turn.seq} ({logged.turn.turn_id}) does not match its digest and there is no copy of it; "
        "it is used as it is: compare it with a backup"
    )


def healed_tail(evidence: Evidence, plan: Plan) -> list[LoggedTurn]:
    """Return the end of the log as it is after the repairs."""
    repaired = {copy.turn.seq: copy for copy in plan.damaged}
    return [repaired.get(logged.turn.seq, logged) for logged in evidence.tail] + list(plan.missing)


def repairs(evidence: Evidence, plan: Plan, state: SessionState) -> list[Statement]:
    """Return the statements that make the database agree with the hydrated state; [] when it does already."""
    statements = [insert_turn(logged.turn, logged.digest) for logged in plan.missing]
    statements += [heal_turn(logged.turn, logged.digest) for logged in plan.damaged]
    title, row = state_manager.session_title(state), evidence.row
    if row is None:
        turns = healed_tail(evidence, plan)
        saved_at_ms = evidence.checkpoint.saved_at_ms if evidence.checkpoint else 0
        opened_at_ms = turns[0].turn.created_at_ms if turns else state.last_turn_at_ms or saved_at_ms
        newest_ms = state.last_turn_at_ms or opened_at_ms
        user_id = turns[-1].turn.user_id if turns else None
        statements.append(
            insert_session(
                state,
                user_id=user_id,
                origin=PRIVATE if state.private else "first",
                created_at_ms=opened_at_ms,
                title=title,
            )
        )
        statements.append(adopt_conversation(state.conversation_id, state.session_id, newest_ms))
    else:
        stored, _ = state_of_row(row)
        if stored is None or (stored.last_seq, stored.edits) < (state.last_seq, state.edits):
            statements.append(update_session(state, version=row.version, title=title, at_ms=row.created_at_ms))
    return statements


def copy_in(checkpoint: ConversationCheckpointSnapshot | None) -> NotesCopy:
    """Return the copy of its session's notes in a checkpoint."""
    if checkpoint is None:
        return NO_NOTES
    return read_copy(
        checkpoint.notes, checkpoint.note_changes, checkpoint.ledger_version, checkpoint.ledger_next_number
    )


def unbroken(tail: Sequence[LoggedTurn], previous_digest: str | None) -> tuple[Sequence[LoggedTurn], str]:
    """Return the longest end of the tail that chains without a hole, and the digest before it.

    A checkpoint holds only such turns, since their digests are computed again from the first.
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
    summary_delta: str = "",
    notes: NotesCopy = NO_NOTES,
) -> ConversationCheckpointSnapshot:
    """Return the checkpoint of a session; `clean` and the summary delta belong to an orderly shutdown."""
    turns, before = unbroken(tail, previous_digest)
    return ConversationCheckpointSnapshot(
        session_id=state.session_id,
        conversation_id=state.conversation_id,
        state=state,
        last_turns=tuple(logged.turn for logged in turns),
        previous_digest=before,
        summary_delta=summary_delta,
        last_seq=state.last_seq,
        clean=clean,
        saved_at_ms=saved_at_ms,
        **as_values(notes),
    )
