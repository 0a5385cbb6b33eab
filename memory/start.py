"""The start of a memory: its database locked, brought up to date and opened; the leftovers of the time before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.errors import StorageUnavailable
from memory.parts import Given, Parts
from memory.sessions.hydrator import HydrationReport
from memory.storage import migrate
from memory.storage.engine import OpenDatabase, lock_alone, open_database
from memory.storage.extension import Extension, digests_with
from memory.storage.folders import make_folder
from memory.storage.named_queries import QUERY_FILES

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpeningReport:
    """The leftovers of the time before, found by an opening."""

    resuming: int = 0
    """Sessions that were at work when the process before died."""
    rebuilt: tuple[HydrationReport, ...] = ()
    """Sessions of which only a checkpoint was left, brought back into the database."""
    applied: tuple[str, ...] = ()
    """Migrations that brought the schema up to date."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A database, open, with the lock held."""

    db: OpenDatabase
    only_one: bool
    """False when other processes work on it."""
    applied: tuple[str, ...]
    """Migrations that it needed."""


async def start(
    held: AsyncExitStack, path: Path | str, checkpoints: Path, given: Given, *, exclusive: bool, worker: str | None
) -> Entry:
    """Lock the database, bring it up to date and open it; `held` lets go of it, of the lock last.

    Raises `Locked` when another process works there, `StorageError` as the database does.
    """
    lock = lock_alone(path, shared=worker is not None) if exclusive and not given.read_only else None
    if lock:
        held.callback(lock.release)
    applied = () if given.read_only else await _bring_up_to_date(path, checkpoints, given)
    name, read_only, observers = worker or "", given.read_only, given.observers
    queries, digests = _queries(given.extensions), digests_with(given.extensions)
    db = await open_database(path, queries, digests, worker=name, read_only=read_only, observers=observers)
    held.push_async_callback(db.close)
    return Entry(db, not lock or await db.join(lock, boot_id=name, alone=worker is None), applied)


async def leftovers(memory: Parts, entry: Entry) -> OpeningReport:
    """Mark interrupted sessions, bring back those with only a checkpoint (P8), and empty the write-ahead log.

    A process that died while it forgot may have left words in the log (P13). Where others are at work, nothing is
    marked: a session that looks interrupted is theirs.
    """
    try:
        await memory.db.wal_truncate()
    except StorageUnavailable as exc:
        log.warning("the write-ahead log could not be emptied: %s", exc)
    if entry.only_one:
        await memory.keeper.free_leases()
    survey = await memory.hydrator.survey(marking=entry.only_one)
    return OpeningReport(survey.resuming, tuple(await memory.hydrator.adopt(survey.orphans)), entry.applied)


def work_behind(held: AsyncExitStack, work: Coroutine[Any, Any, None]) -> None:
    """Do this work in a task, until `held` lets go."""
    task = asyncio.create_task(work, name="memory")

    async def stop() -> None:
        task.cancel()
        await asyncio.wait([task])

    held.push_async_callback(stop)


async def log_failure(what: str, work: Callable[[], Awaitable[object]]) -> None:
    """Begin and await work behind the replies; its failure is logged and ends nothing else."""
    try:
        await work()
    except Exception:
        log.exception("%s: the work behind the replies has ended", what)


def _queries(extensions: tuple[Extension, ...]) -> list[Path]:
    return [*QUERY_FILES, *(file for each in extensions for file in each.queries)]


async def _bring_up_to_date(path: Path | str, checkpoints: Path, given: Given) -> tuple[str, ...]:
    """Make the folder of checkpoints and migrate the database; return the migrations that it needed."""
    make_folder(checkpoints)
    folders = [migrate.FOLDER, *(each.migrations for each in given.extensions if each.migrations)]
    digests, now_ms = digests_with(given.extensions), given.measures.clock.now_ms()
    applied = await asyncio.to_thread(migrate.migrate, path, folders, digests, now_ms=now_ms)
    if applied:
        log.info("database schema brought up to date: %s", ", ".join(applied))
    return applied
