"""The date of a task comes: a run is begun, put off behind the quiet hours, or passed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog

from bot.intake.inbox import Inbox, NewRow
from bot.intake.raw.reader import read_update
from bot.intake.raw_json import write_json
from bot.intake.updates import Envelope, Me
from bot.tasks.rows import TaskRows
from bot.tasks.task import QuietHours, Task, TaskRun, is_missed, run_id_of
from memory.ledger import series
from memory.ledger.types import End, Move, Note, Operation, Ring
from memory.ports import Statement

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """The statements for a date, and the update that is worked on then."""

    operations: tuple[Operation, ...]
    statements: tuple[Statement, ...] = ()
    """The first of them is the update's, when there is one."""
    envelope: Envelope | None = None


class TaskStarts:
    """Decides about dates that came; each step is committed together with the ring of the note."""

    def __init__(self, rows: TaskRows, inbox: Inbox, me: Me, quiet: QuietHours | None = None) -> None:
        self.rows = rows
        self._inbox = inbox
        self._me = me
        self._quiet = quiet

    async def step(self, task: Task, note: Note, date: tuple[str, int], now_ms: int) -> Step:
        """The step for a date, given as its occurrence and when it was due. Raises `StorageUnavailable`."""
        occurrence, due_at_ms = date
        until_ms = self._quiet.until_ms(now_ms, note.time_zone) if self._quiet else None
        known = await self.rows.run(run_id_of(note.note_id, occurrence))
        if known is not None or task.paused_why:
            return Step(passed(note, occurrence, due_at_ms, now_ms))
        if is_missed(task.missed, due_at_ms, now_ms, note.time_zone):
            run = replace(new_run(task, occurrence, due_at_ms, now_ms), state="skipped", why="missed")
            return Step(passed(note, occurrence, due_at_ms, now_ms), (replace(run, ended_at_ms=now_ms).put(),))
        if until_ms is not None:
            return Step((put_off(note, occurrence, until_ms),))
        ring = Ring(number=note.number, occurrence=occurrence, rings_at_ms=due_at_ms)
        try:
            begun = self.begin(task, new_run(task, occurrence, due_at_ms, now_ms), now_ms)
        except ValueError:
            log.exception("a task has no place to report", note_id=note.note_id)
            return Step(passed(note, occurrence, due_at_ms, now_ms))
        return replace(begun, operations=(ring,))

    def begin(self, task: Task, run: TaskRun, now_ms: int) -> Step:
        """A run, stored with its update. The update holds ids alone: the work's text is read when it runs.

        Raises ValueError for a conversation that is none of Telegram's.
        """
        raw = _update(task, run)
        envelope = read_update(raw, self._me)
        if envelope is None:
            raise ValueError(f"{task.conversation_id} is no place for a task")
        row = NewRow(run.update_id, task.conversation_id, write_json(raw))
        insert = replace(self._inbox.insert(self._me, row, now_ms), expect=1)
        return Step((), (insert, run.put()), replace(envelope, received_at_ms=now_ms))


def new_run(task: Task, occurrence: str, due_at_ms: int, now_ms: int) -> TaskRun:
    """A run that waits for its turn."""
    run_id = run_id_of(task.note_id, occurrence)
    return TaskRun(run_id, task.note_id, task.conversation_id, occurrence, due_at_ms, created_at_ms=now_ms)


def passed(note: Note, occurrence: str, due_at_ms: int, now_ms: int) -> tuple[Operation, ...]:
    """Operations by which a date passes without a run, and those missed with it; a note that comes once stays open."""
    ring = Ring(number=note.number, occurrence=occurrence, rings_at_ms=due_at_ms)
    return (ring, let_go(note, series.skip_missed(note, occurrence, now_ms)))


def let_go(note: Note, occurrence: str, *, again: bool = False) -> Operation:
    """The operation by which nothing came of a date; the last ends its series, unless it may be tried `again`."""
    if note.repeats and not again:
        return End(number=note.number, how="dropped", occurrence=occurrence)
    return Move(number=note.number, occurrence=occurrence)


def put_off(note: Note, occurrence: str, until_ms: int) -> Move:
    """The move of a date behind the quiet hours; of a series the first alone, further ones of these hours go."""
    others = [each for each in note.occurrences if each.original_local != occurrence]
    is_there = any(each.moved_to_ms == until_ms and each.state in series.TO_COME for each in others)
    return Move(number=note.number, occurrence=occurrence, to_ms=None if is_there else until_ms)


def _update(task: Task, run: TaskRun) -> Mapping[str, Any]:
    _, _, chat_id, thread_id = task.conversation_id.split(":")
    where = {"chat_id": int(chat_id), "thread_id": int(thread_id) or None, "user_id": task.user_id}
    return {"update_id": run.update_id, "task": {"run_id": run.run_id, **where}}
