"""`checkpoint verify|rebuild` and `hydrate`: compare the checkpoints with the turn log, and make them agree."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import orjson

from bot.ops.copies.altered import accept, altered_seqs, bring_back
from bot.ops.copies.folder import open_copy
from bot.ops.format import joined
from bot.ops.workspace import Told, Workspace, one_by_one, untold
from bot.replies import plural
from memory.errors import ContinuityError, StorageError
from memory.sessions.hydrator import CheckpointFate, HydrationReport, snapshot_of
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.store import Store

AS_IT_IS = "it is used as it is"
"""The sentence about a turn that does not match its digest and has no copy."""

Level = Literal["ok", "behind", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class LogFacts:
    """A session as the turn log itself shows it."""

    turns: int = 0
    last_seq: int = 0
    altered_seqs: tuple[int, ...] = ()
    """Turns that do not match their chain digest."""


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """The file that a restart would begin from."""

    file: str
    bytes: int
    saved_at_ms: int
    last_seq: int
    """The last turn in it; the turn log has the rest."""
    clean: bool
    """Whether an orderly stop wrote it."""
    digest: str
    """Over its content; the file holds it, and it was just checked."""


def file_of(files: CheckpointFiles, session_id: str) -> CheckpointFile | None:
    """Return the content of a session's file, None when there is none that can be read; it blocks."""
    path = files.path(session_id)
    try:
        snapshot, data = files.load(session_id), path.read_bytes()
    except (ContinuityError, OSError):
        return None
    digest = orjson.loads(data)["digest"]
    return CheckpointFile(path.name, len(data), snapshot.saved_at_ms, snapshot.last_seq, snapshot.clean, digest)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One session's checkpoint against its log."""

    session_id: str
    level: Level
    checkpoint: CheckpointFate
    checkpoint_seq: int | None
    log_seq: int
    findings: tuple[str, ...] = ()
    file: CheckpointFile | None = None
    """The content of its file; None when there is none that can be read."""


def judge(report: HydrationReport, checkpoint_seq: int | None, log: LogFacts) -> Verdict:
    """Return the verdict.

    A checkpoint behind the log is in order: it is written behind the reply, and the turn-log tail makes up for it.
    A difference that a hydration would have to repair is wrong.
    """
    findings = list(report.warnings)
    if report.session_restored and log.turns == 0:
        findings.append("the database does not know this session; only its checkpoint does")
    told = " ".join(findings)
    findings += [
        f"turn {seq} of the log does not match its digest"
        for seq in log.altered_seqs
        if f"turn {seq} was altered" not in told and f"turn {seq} (" not in told
    ]
    level = _level(report, log, wrong=bool(findings))
    if log.turns < log.last_seq:
        gone = plural(log.last_seq - log.turns, "turn")
        findings.append(f"{gone} of {log.last_seq} not in the log any more (forgotten, or lost)")
    return Verdict(report.session_id, level, report.checkpoint, checkpoint_seq, log.last_seq, tuple(findings))


def _level(report: HydrationReport, log: LogFacts, *, wrong: bool) -> Level:
    if wrong or report.checkpoint in ("newer", "damaged", "foreign", "unreadable"):
        return "wrong"
    if report.checkpoint == "missing":
        return "missing" if log.last_seq else "ok"
    return "behind" if report.checkpoint == "older" else "ok"


async def verify(workspace: Workspace, session_ids: Sequence[str], told: Told = untold) -> list[Verdict]:
    """Return a verdict for each session, every turn's digest proven; changes nothing.

    Raises `StorageError` when the database cannot be read.
    """
    return await one_by_one(session_ids, lambda session_id: _verify(workspace, session_id), told)


async def _verify(workspace: Workspace, session_id: str) -> Verdict:
    file = await asyncio.to_thread(file_of, workspace.memory.checkpoints, session_id)
    seq = file.last_seq if file else None
    try:
        report = (await workspace.memory.hydrator.hydrate(session_id, dry_run=True)).report
    except StorageError:
        raise
    except ContinuityError as exc:
        return Verdict(session_id, "wrong", "damaged", seq, 0, (str(exc),), file)
    turns, last_seq = await workspace.memory.store.count_turns(session_id)
    bad = await altered_seqs(workspace.memory.store, session_id)
    return replace(judge(report, seq, LogFacts(turns, last_seq, bad)), file=file)


async def hydrate(
    workspace: Workspace,
    session_ids: Sequence[str],
    *,
    dry_run: bool,
    backup: Path | None = None,
    accepting: bool = False,
    told: Told = untold,
) -> list[HydrationReport]:
    """Hydrate each session and return the sources; without `dry_run` differences are repaired.

    `backup` is the folder of a backup from which altered and lost turns come back; `accepting` then takes those
    that are still altered as they are, and other altered rows too. A session that cannot be rebuilt is reported, the
    others go on. Raises OpsError, `StorageError`.
    """
    if accepting and not dry_run:
        await workspace.memory.db.accept_altered_rows()
    async with open_copy(backup) as copy:

        async def one(session_id: str) -> HydrationReport:
            work = _hydrate(workspace, session_id, copy, dry_run=dry_run, accepting=accepting)
            return await _each(work, session_id)

        return await one_by_one(session_ids, one, told)


async def rebuild(workspace: Workspace, session_ids: Sequence[str], told: Told = untold) -> list[HydrationReport]:
    """Write each session's checkpoint again from its hydrated state; one that cannot be rebuilt is reported.

    The log is healed first where the checkpoint knows more: a rebuild never loses a turn. Raises `StorageError`.
    """
    return await one_by_one(session_ids, lambda each: _each(_rebuild(workspace, each), each), told)


async def _each(work: Awaitable[HydrationReport], session_id: str) -> HydrationReport:
    try:
        return await work
    except StorageError:
        raise
    except ContinuityError as exc:
        return HydrationReport(session_id, checkpoint="damaged", warnings=(str(exc),))


async def _hydrate(
    workspace: Workspace, session_id: str, copy: Store | None, *, dry_run: bool, accepting: bool
) -> HydrationReport:
    hydrator, notes = workspace.memory.hydrator, []
    back = await bring_back(workspace, copy, session_id, dry_run=dry_run) if copy else []
    if back:
        notes.append(f"{_turns(back)} {'would come' if dry_run else 'came'} back from the backup")
    report = (await hydrator.hydrate(session_id, dry_run=dry_run)).report
    warnings = list(report.warnings)
    if accepting and not dry_run and (taken := await accept(workspace, session_id)):
        notes.append(f"{_turns(taken)} accepted as in the log")
        warnings = [each for each in warnings if AS_IT_IS not in each]
        await hydrator.hydrate(session_id)
    told = " ".join(warnings)
    wrong = set(await altered_seqs(workspace.memory.store, session_id)).difference(back if dry_run else ())
    left = sorted(seq for seq in wrong if f"turn {seq} " not in told)
    if left:
        notes.append(f"{_turns(left)} of the log not as stored, and no checkpoint has a copy; {AS_IT_IS}")
    notes += await _mend_notes(workspace, session_id, dry_run=dry_run)
    return replace(report, warnings=(*warnings, *notes))


async def _mend_notes(workspace: Workspace, session_id: str, *, dry_run: bool) -> list[str]:
    """Write the notes of the session's conversation again where they differ from their changes; say so."""
    memory = workspace.memory
    row = await memory.store.session(session_id)
    if row is None or not await memory.ledgers.differs(row.conversation_id):
        return []
    if not dry_run:
        await memory.ledgers.rebuild(row.conversation_id)
    return [f"the notes {'would be' if dry_run else 'were'} written again from what was done to them"]


def _turns(seqs: Sequence[int]) -> str:
    return f"{'turn' if len(seqs) == 1 else 'turns'} {joined(map(str, seqs))}"


async def _rebuild(workspace: Workspace, session_id: str) -> HydrationReport:
    memory = workspace.memory
    found = await memory.hydrator.hydrate(session_id)
    snapshot = snapshot_of(
        found.state,
        found.tail,
        found.previous_digest,
        saved_at_ms=memory.clock.now_ms(),
        clean=found.state.status == "shutdown_clean",
        notes=await memory.ledgers.copy_of(found.state.conversation_id, session_id),
    )
    if found.state.last_seq:
        await asyncio.to_thread(memory.checkpoints.save, snapshot)
    return found.report
