"""`checkpoint verify|rebuild` and `hydrate`: do the checkpoints and the turn log agree, and make them agree."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.ops.workspace import Workspace
from bot.replies import plural
from memory.errors import ContinuityError, StorageError
from memory.sessions.hydrator import CheckpointFate, HydrationReport, altered, snapshot_of
from memory.storage.checkpoint import CheckpointFiles

Level = Literal["ok", "behind", "missing", "wrong"]
PAGE_TURNS = 500


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What the turn log itself shows of a session."""

    turns: int = 0
    last_seq: int = 0
    altered_seqs: tuple[int, ...] = ()
    """Turns that do not match their chain digest."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One session's checkpoint against its log."""

    session_id: str
    level: Level
    checkpoint: CheckpointFate
    checkpoint_seq: int | None
    log_seq: int
    findings: tuple[str, ...] = ()


def judge(report: HydrationReport, checkpoint_seq: int | None, log: LogFacts) -> Verdict:
    """Return the verdict.

    A checkpoint behind the log is in order: it is written behind the reply, and the turn-log tail makes up for it.
    Whatever a hydration would have to repair is wrong.
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


async def verify(workspace: Workspace, session_ids: Sequence[str], *, whole_log: bool = True) -> list[Verdict]:
    """Return a verdict for each session; changes nothing. Raises `StorageError` when the database cannot be read.

    `whole_log` proves every turn's digest; without it only those of the last turns, at the same cost for any length.
    """
    return [await _verify(workspace, session_id, whole_log=whole_log) for session_id in session_ids]


async def _verify(workspace: Workspace, session_id: str, *, whole_log: bool) -> Verdict:
    seq = await asyncio.to_thread(_checkpoint_seq, workspace.memory.checkpoints, session_id)
    try:
        report = (await workspace.memory.hydrator.hydrate(session_id, dry_run=True)).report
    except StorageError:
        raise
    except ContinuityError as exc:
        return Verdict(session_id, "wrong", "damaged", seq, 0, (str(exc),))
    turns, last_seq = await workspace.memory.store.count_turns(session_id)
    bad = await _altered_seqs(workspace, session_id) if whole_log else ()
    return judge(report, seq, LogFacts(turns, last_seq, bad))


def _checkpoint_seq(files: CheckpointFiles, session_id: str) -> int | None:
    try:
        return files.load(session_id).last_seq
    except ContinuityError:
        return None


async def _altered_seqs(workspace: Workspace, session_id: str) -> tuple[int, ...]:
    """Return the turns of the whole log that do not match their digest, page by page."""
    found: list[int] = []
    next_seq, before = 1, ""
    while page := await workspace.memory.store.logged_between(session_id, next_seq, limit=PAGE_TURNS):
        known = before if page[0].turn.seq == next_seq else None
        found += [logged.turn.seq for logged in altered(page, known)]
        next_seq, before = page[-1].turn.seq + 1, page[-1].digest
    return tuple(found)


async def hydrate(workspace: Workspace, session_ids: Sequence[str], *, dry_run: bool) -> list[HydrationReport]:
    """Hydrate each session and return what was used; without `dry_run` what differs is repaired.

    A session that cannot be rebuilt is reported, the others go on. Raises `StorageError`.
    """
    return [await _each(_hydrate(workspace, session_id, dry_run=dry_run), session_id) for session_id in session_ids]


async def rebuild(workspace: Workspace, session_ids: Sequence[str]) -> list[HydrationReport]:
    """Write each session's checkpoint anew from what it hydrates to; what cannot be rebuilt is reported.

    The log is healed first where the checkpoint knows more: a rebuild never loses a turn. Raises `StorageError`.
    """
    return [await _each(_rebuild(workspace, session_id), session_id) for session_id in session_ids]


async def _each(work: Awaitable[HydrationReport], session_id: str) -> HydrationReport:
    try:
        return await work
    except StorageError:
        raise
    except ContinuityError as exc:
        return HydrationReport(session_id, checkpoint="damaged", warnings=(str(exc),))


async def _hydrate(workspace: Workspace, session_id: str, *, dry_run: bool) -> HydrationReport:
    return (await workspace.memory.hydrator.hydrate(session_id, dry_run=dry_run)).report


async def _rebuild(workspace: Workspace, session_id: str) -> HydrationReport:
    found = await workspace.memory.hydrator.hydrate(session_id)
    snapshot = snapshot_of(
        found.state,
        found.tail,
        found.previous_digest,
        saved_at_ms=workspace.memory.clock.now_ms(),
        clean=found.state.status == "shutdown_clean",
    )
    if found.state.last_seq:
        await asyncio.to_thread(workspace.memory.checkpoints.save, snapshot)
    return found.report
