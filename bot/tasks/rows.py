"""Reads tasks and their runs; each method raises `StorageUnavailable`."""

from __future__ import annotations

from typing import Final

from bot.tasks.task import Task, TaskRun, at_rest, run_of, task_of
from memory.ledger.types import Ledger
from memory.ports import Database

SHOWN_RUNS: Final = 10


class TaskRows:
    """The rows of tasks and runs."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of(self, conversation_id: str) -> dict[str, Task]:
        """The tasks of a conversation, by the id of their note."""
        rows = await self._db.read("tasks_of", conversation_id=conversation_id)
        return {row["note_id"]: task_of(row) for row in rows}

    async def at_rest(self, ledger: Ledger) -> Ledger:
        """The ledger as lists show it: work that is paused rings at no time."""
        return at_rest(ledger, await self.of(ledger.conversation_id))

    async def find(self, note_id: str) -> Task | None:
        """The task that a note is, None when it is none, or was forgotten."""
        row = await self._db.read_one("task_find", note_id=note_id)
        return task_of(row) if row else None

    async def run(self, run_id: str) -> TaskRun | None:
        """A run, None when it was forgotten."""
        row = await self._db.read_one("task_run_find", run_id=run_id)
        return run_of(row) if row else None

    async def runs(self, note_id: str, limit: int = SHOWN_RUNS) -> list[TaskRun]:
        """Runs of a task's dates, the latest first."""
        return [run_of(row) for row in await self._db.read("task_runs_of", note_id=note_id, limit=limit)]

    async def last_done(self, note_id: str) -> str | None:
        """The turn of the last run that was done, None for none."""
        row = await self._db.read_one("task_run_done", note_id=note_id)
        return row["turn_id"] if row else None

    async def latest(self, conversation_id: str) -> dict[str, TaskRun]:
        """The latest run of each task of a conversation, by the id of its note."""
        rows = await self._db.read("task_runs_latest", conversation_id=conversation_id)
        return {row["note_id"]: run_of(row) for row in rows}
