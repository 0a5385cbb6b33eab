"""Turns whose rows were altered or lost: found by digest, brought back from a backup, or accepted as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ops.workspace import Workspace
from memory.sessions.evidence import state_of_row
from memory.sessions.hydrator import altered
from memory.storage.store import Store, update_session
from memory.storage.turn_rows import LoggedTurn, heal_turn, insert_turn, rewrite_turn, turn_digest

PAGE_TURNS = 500


@dataclass(frozen=True, slots=True)
class Fitting:
    """Turns of a backup that fit into the log: in the place of altered rows, or where rows are missing."""

    healed: tuple[LoggedTurn, ...] = ()
    lost: tuple[LoggedTurn, ...] = ()

    @property
    def seqs(self) -> list[int]:
        """The numbers of these turns."""
        return sorted(logged.turn.seq for logged in (*self.healed, *self.lost))


async def altered_seqs(store: Store, session_id: str) -> tuple[int, ...]:
    """Return the turns of the whole log that do not match their digest, read page by page. Raises `StorageError`."""
    found: list[int] = []
    next_seq, before = 1, ""
    while page := await store.logged_between(session_id, next_seq, limit=PAGE_TURNS):
        known = before if page[0].turn.seq == next_seq else None
        found += [logged.turn.seq for logged in altered(page, known)]
        next_seq, before = page[-1].turn.seq + 1, page[-1].digest
    return tuple(found)


def fitting(log: Sequence[LoggedTurn], copies: Sequence[LoggedTurn]) -> Fitting:
    """Return the copies that belong into the log: the chain of digests proves each of them.

    A copy heals a row when it has the digest that the row was stored with; it fills a hole when it follows the turn
    before it in both, and the turn after it still follows.
    """
    digests = {logged.turn.seq: logged.digest for logged in log}
    digests[0] = ""
    wrong = {logged.turn.seq for logged in altered(log, "" if log and log[0].turn.seq == 1 else None)}
    last_seq = log[-1].turn.seq if log else 0
    healed, lost = [], []
    for copy in copies:
        seq, before = copy.turn.seq, digests.get(copy.turn.seq - 1)
        if before is None or turn_digest(before, copy.turn) != copy.digest:
            continue
        if seq in wrong and digests[seq] == copy.digest:
            healed.append(copy)
        elif seq not in digests and seq <= last_seq:
            lost.append(copy)
            digests[seq] = copy.digest
    return Fitting(tuple(healed), tuple(lost))


async def bring_back(workspace: Workspace, copy: Store, session_id: str, *, dry_run: bool) -> list[int]:
    """Write a backup's copies of a session's altered and lost turns into the log; return the numbers of these turns.

    Raises `StorageError` with nothing of this session changed.
    """
    memory = workspace.memory
    log, copies = await memory.store.logged_between(session_id, 1), await copy.logged_between(session_id, 1)
    fits = await asyncio.to_thread(fitting, log, copies)
    if fits.seqs and not dry_run:
        statements = [heal_turn(logged.turn, logged.digest) for logged in fits.healed]
        statements += [insert_turn(logged.turn, logged.digest) for logged in fits.lost]
        for logged in (*fits.healed, *fits.lost):
            statements += await memory.hydrator.derived(logged.turn)
        await memory.db.write(*statements)
    return fits.seqs


def rechained(log: Sequence[LoggedTurn]) -> list[LoggedTurn]:
    """Return the log with digests that fit the turns as they are; behind a hole the chain begins as it is stored."""
    found: list[LoggedTurn] = []
    for logged in log:
        before = found[-1] if found else None
        follows = logged.turn.seq == (before.turn.seq if before else 0) + 1
        digest = turn_digest(before.digest if before else "", logged.turn) if follows else logged.digest
        found.append(LoggedTurn(logged.turn, digest))
    return found


async def accept(workspace: Workspace, session_id: str) -> list[int]:
    """Make the digests of a session's turns again, as they stand in the log; return the numbers that did not match.

    The checkpoint goes first, since it would bring its turns back; after a crash the same call does the rest.
    Raises `StorageError` with no row changed.
    """
    memory = workspace.memory
    log, row = await memory.store.logged_between(session_id, 1), await memory.store.session(session_id)
    wrong = await altered_seqs(memory.store, session_id)
    state = state_of_row(row)[0] if row else None
    if not wrong or row is None or state is None:
        return []
    new = await asyncio.to_thread(rechained, log)
    await asyncio.to_thread(memory.checkpoints.remove, session_id)
    changed = [rewrite_turn(now) for before, now in zip(log, new, strict=True) if before.digest != now.digest]
    state = state.model_copy(update={"last_turn_digest": new[-1].digest, "edits": state.edits + 1})
    await memory.db.write(
        *changed, update_session(state, version=row.version, title=row.title, at_ms=row.created_at_ms)
    )
    return list(wrong)
