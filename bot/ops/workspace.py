"""The workspace of the commands: the memory, opened for looking beside a running bot or with the bot's lock held."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bot.ops.format import find_session
from bot.ops.lock import Holder, holder
from bot.settings import Settings
from bot.tables import BOT_TABLES, MIGRATIONS
from memory.errors import Locked, StorageUnavailable
from memory.opening import ConversationMemory
from memory.storage import migrate
from memory.storage.engine import is_held, lock_alone
from memory.storage.place import lock_path, shown

_T = TypeVar("_T")

Told = Callable[[int, int], None]
"""Hears the progress of long work: the number done, and the number of all."""


def untold(_: int, __: int) -> None:
    """Tell nobody."""


async def one_by_one(names: Sequence[str], work: Callable[[str], Awaitable[_T]], told: Told) -> list[_T]:
    """Return the result of the work for each, one after another; `told` hears the progress."""
    found: list[_T] = []
    for number, name in enumerate(names):
        told(number, len(names))
        found.append(await work(name))
    told(len(names), len(names))
    return found


class OpsError(Exception):
    """A command that cannot be done; the message says why, and the remedy."""


class NoDatabaseYet(OpsError):
    """There is no database, and nothing beside its place says that there ever was one: the bot was never started."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The memory with the bot's tables, without the bot around it."""

    settings: Settings
    memory: ConversationMemory

    async def session_ids(self) -> set[str]:
        """Return every session that the database or a checkpoint knows."""
        return await self.memory.store.session_ids() | set(self.memory.checkpoints.session_ids())

    async def find(self, asked: str) -> str:
        """Return the session that was meant. Raises `UnknownSession` with the nearest ids."""
        return find_session(await self.session_ids(), asked)


def running(settings: Settings) -> Holder | None:
    """Return the process that works on the database, None when there is none."""
    file = settings.database_file
    if file is not None:
        return holder(file)
    return Holder(None) if is_held(settings.continuity_database_url) else None


def require_database(settings: Settings) -> None:
    """Raise `NoDatabaseYet` when there never was a database, OpsError when it is gone; looking creates nothing."""
    file = settings.database_file
    if file.exists() if file else migrate.status(settings.database, MIGRATIONS).current:
        return
    where = f"there is no database at {shown(settings.database)}"
    left = _left_behind(settings)
    if left is None:
        raise NoDatabaseYet(f"{where}; `continuity-bot run` makes it, or CONTINUITY_DATABASE_URL names another one")
    raise OpsError(
        f"{where}, but there was one: {left} is still there; "
        "`continuity-bot restore BACKUP` puts a backup in its place, or CONTINUITY_DATABASE_URL names the right one"
    )


def _left_behind(settings: Settings) -> Path | None:
    """Return a file that only a bot which had a database leaves behind, None when there is none."""
    file = settings.database_file
    beside = [lock_path(file), Path(f"{file}-wal")] if file else []
    found = (*(path for path in beside if path.exists()), *sorted(settings.checkpoint_dir.glob("*.json"))[:1])
    return next(iter(found), None)


@contextmanager
def open_exclusive(settings: Settings) -> Iterator[None]:
    """Hold the bot's lock, so that it cannot start meanwhile. Raises OpsError when it is running."""
    try:
        lock = lock_alone(settings.database)
    except Locked:
        who = running(settings)
        pid = f" (process {who.pid})" if who and who.pid else ""
        raise OpsError(f"the bot is running on {shown(settings.database)}{pid}; stop it first") from None
    except StorageUnavailable as exc:
        raise OpsError(f"the lock cannot be taken: {exc}") from exc
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def open_read_only(settings: Settings, *, older: bool = False) -> AsyncIterator[Workspace]:
    """Open for reading; safe beside a running bot. Raises OpsError and `StorageError`.

    `older` takes a database of an older schema too: to copy it, and for queries of tables that it has.
    """
    require_database(settings)
    _require_schema(settings, older=older)
    async with _open(settings, read_only=True) as workspace:
        yield workspace


@asynccontextmanager
async def work(settings: Settings) -> AsyncIterator[Workspace]:
    """Open for writing with the bot's lock held. Raises OpsError (it is running, an old schema) and `StorageError`."""
    require_database(settings)
    with open_exclusive(settings):
        _require_schema(settings)
        async with _open(settings, read_only=False) as workspace:
            yield workspace


def _require_schema(settings: Settings, *, older: bool = False) -> None:
    """Raise OpsError for a schema that this program does not work on as it is, `StorageError`."""
    found = migrate.status(settings.database, MIGRATIONS)
    migrate.require_known(found, settings.database)
    if not found.newest_applied:
        raise OpsError(
            f"{shown(settings.database)} is empty, there is no table in it; restore a backup, "
            "or let `continuity-bot migrate` make a new one of it"
        )
    if found.pending and not older:
        raise OpsError(f"{shown(settings.database)} has an older schema; run `continuity-bot migrate` first")


@asynccontextmanager
async def _open(settings: Settings, *, read_only: bool) -> AsyncIterator[Workspace]:
    memory = await ConversationMemory.open(
        settings.continuity_database_url,
        checkpoints=settings.checkpoint_dir,
        budget=settings.budget(),
        embedder=None,
        extensions=[BOT_TABLES],
        exclusive=False,
        recover=False,
        background=False,
        read_only=read_only,
    )
    try:
        yield Workspace(settings, memory)
    finally:
        await memory.close()
