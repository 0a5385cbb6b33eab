"""The processes that share the work on a server: their chats, and whether they are alive."""

from __future__ import annotations

from dataclasses import dataclass

from bot.replies import plural
from bot.turns.sharing.holding import KEEPER
from memory.storage.engine import OpenDatabase, shared_database

SILENT_MS = 3000
"""Others take a worker for dead that has been silent for so long."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One process that works on the database."""

    number: int
    boot_id: str
    """The id of its start."""
    place: str
    """Host and process id."""
    started_at_ms: int
    silent_ms: int
    """Milliseconds since its last sign of life."""
    chats: int
    keeps: bool
    """Whether it polls, and keeps reminders and readings, which one process does for all."""


async def read_workers(db: OpenDatabase) -> tuple[Worker, ...]:
    """Return the workers, the oldest first; () where one process has the database. Raises `StorageUnavailable`."""
    shared = shared_database(db)
    if shared is None:
        return ()
    held = {row["worker"]: row["n"] for row in await db.read("leases_counted")}
    keeper = await db.read_one("lease_holder", name=KEEPER)
    return tuple(
        Worker(
            row["worker"],
            row["boot_id"],
            row["place"],
            row["started_at_ms"],
            max(0, row["silent_ms"]),
            held.get(row["worker"], 0),
            keeps=keeper is not None and keeper["worker"] == row["worker"],
        )
        for row in await shared.workers()
        if row["boot_id"]
    )


def in_words(worker: Worker) -> str:
    """Return one line about a worker."""
    keeps = ", polls and keeps time" if worker.keeps else ""
    silent = f", silent for {worker.silent_ms / 1000:.0f} s" if worker.silent_ms >= SILENT_MS else ""
    return f"{worker.place} holds {plural(worker.chats, 'chat')}{keeps}{silent}"
