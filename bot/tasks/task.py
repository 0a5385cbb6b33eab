"""A task's row, the rule for a date that was missed, and the hours in which nobody is written to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final, Literal

import orjson

from bot.intake.local import task_update_id
from memory.ledger.types import Ledger
from memory.ports import Row, Statement
from memory.zones import zone_of

RunState = Literal["waiting", "done", "unchanged", "skipped", "failed"]
ONCE: Final = "once"
SKIP: Final = "skip"
ON_TIME_MS: Final = 10 * 60_000
"""A run that begins within so long of its date is on time."""
SKIPPED_AFTER_MS: Final = 60 * 60_000
"""With `skip` a date is left out from then on: a restart, or a laptop that slept, costs none."""
MOST_FAILURES: Final = 3
"""After so many failures in a row a task rests until the person says go on."""
FAILED: Final = "failed"
"""The reason of a task's rest after its failures; that for which the person asked is in its note."""
_HOUR: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
MINUTES_OF_HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class Task:
    """Fields of a note that is work, beside its words and dates."""

    note_id: str
    conversation_id: str
    user_id: int | None
    turn_id: str
    missed: str = ONCE
    """The fate of a missed date: `once` it runs late, `skip` at most an hour late, `10:00` until that hour."""
    first_json: str = ""
    seen_digest: str = ""
    failures: int = 0
    paused_why: str = ""
    created_at_ms: int = 0

    @property
    def first(self) -> tuple[str, dict[str, Any]] | None:
        """The tool that is called before the model is asked, with its arguments; None for none."""
        found = orjson.loads(self.first_json) if self.first_json else {}
        return (found["tool"], found["arguments"]) if found else None

    def put(self) -> Statement:
        """The statement that writes it down; once more it changes nothing but how it is done."""
        return Statement("task_put", {name: getattr(self, name) for name in self.__dataclass_fields__})

    def marked(self, *, failures: int = 0, paused_why: str = "", seen_digest: str | None = None) -> Statement:
        """The statement that stores a task's state after a run."""
        seen = self.seen_digest if seen_digest is None else seen_digest
        values = {"note_id": self.note_id, "failures": failures, "paused_why": paused_why, "seen_digest": seen}
        return Statement("task_mark", values)


def at_rest(ledger: Ledger, tasks: Mapping[str, Task]) -> Ledger:
    """The ledger as lists show it: work that is paused rings at no time, and has no dates behind it."""
    paused = {note_id for note_id, task in tasks.items() if task.paused_why}
    update = {"rings_at_ms": None, "occurrences": ()}
    notes = {n: note.model_copy(update=update) if note.note_id in paused else note for n, note in ledger.notes.items()}
    return replace(ledger, notes=notes) if paused else ledger


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One date of a task, or one tap on [Try now]."""

    run_id: str
    note_id: str
    conversation_id: str
    occurrence: str
    due_at_ms: int
    state: RunState = "waiting"
    why: str = ""
    turn_id: str | None = None
    created_at_ms: int = 0
    ended_at_ms: int | None = None

    @property
    def is_asked_for(self) -> bool:
        """Somebody tapped for it: no clock, no quiet hours and no check before it."""
        return not self.occurrence[:1].isdigit()

    @property
    def update_id(self) -> int:
        """Its update in the inbox."""
        return task_update_id(self.run_id)

    def put(self) -> Statement:
        """The statement that writes it down; a second one of the same date is a `Conflict`."""
        return Statement("task_run_put", {name: getattr(self, name) for name in self.__dataclass_fields__})

    def end(self, state: RunState, at_ms: int, *, why: str = "", turn_id: str | None = None) -> Statement:
        """The statement that stores the end of a run."""
        return _ended(self.run_id, state, why, turn_id, at_ms)


def task_of(row: Row) -> Task:
    """The task that a row holds."""
    return Task(**{name: row[name] for name in Task.__dataclass_fields__})


def run_of(row: Row) -> TaskRun:
    """The run that a row holds."""
    return TaskRun(**{name: row[name] for name in TaskRun.__dataclass_fields__})


def given_up(run_id: str, at_ms: int) -> Statement:
    """The statement that writes down that a run was set aside, since the process died in its midst again and again."""
    return _ended(run_id, "failed", "died", None, at_ms)


def goes_on(note_id: str) -> Statement:
    """The statement that lets a task go on that rested after failures."""
    return Statement("task_goes_on", {"note_id": note_id})


def _ended(run_id: str, state: RunState, why: str, turn_id: str | None, at_ms: int) -> Statement:
    values = {"run_id": run_id, "state": state, "why": why, "turn_id": turn_id, "at_ms": at_ms}
    return Statement("task_run_end", values)


def run_id_of(note_id: str, occurrence: str) -> str:
    """The id of one date of a task: the same from every process."""
    return f"r_{blake2b(f'{note_id} {occurrence}'.encode(), digest_size=16).hexdigest()}"


# --- missed dates ---------------------------------------------------------------------------------------------------


def read_missed(given: str) -> str | None:
    """`once`, `skip` or `09:30`, however it was written; None for anything else."""
    text = given.strip().lower().removeprefix("until").strip()
    if text in {"", ONCE, SKIP}:
        return text or ONCE
    found = _HOUR.fullmatch(text)
    return f"{int(found[1]):02}:{found[2]}" if found else None


def is_missed(missed: str, due_at_ms: int, now_ms: int, zone: str) -> bool:
    """Whether a date is left out because it comes too late, by the clock of its note."""
    late_ms = now_ms - due_at_ms
    if missed in {ONCE, SKIP} or late_ms <= ON_TIME_MS:
        return missed == SKIP and late_ms > SKIPPED_AFTER_MS
    due, now = (datetime.fromtimestamp(each / 1000, zone_of(zone)) for each in (due_at_ms, now_ms))
    return now.date() != due.date() or f"{now:%H:%M}" > missed


# --- quiet hours ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one minute of the day to another, mostly over midnight."""

    begin: int
    end: int

    def until_ms(self, now_ms: int, zone: str) -> int | None:
        """The end of the quiet hours that run now, by this clock; None outside of them."""
        now = datetime.fromtimestamp(now_ms / 1000, zone_of(zone))
        minute = now.hour * MINUTES_OF_HOUR + now.minute
        over_midnight = self.begin > self.end
        inside = minute >= self.begin or minute < self.end if over_midnight else self.begin <= minute < self.end
        if not inside:
            return None
        day = now.date() + timedelta(days=1 if over_midnight and minute >= self.begin else 0)
        end = datetime(day.year, day.month, day.day, *divmod(self.end, MINUTES_OF_HOUR), tzinfo=now.tzinfo)
        return int(end.timestamp() * 1000)


def read_quiet_hours(given: str) -> QuietHours | None:
    """The hours in `22:00-07:00`, None for none. Raises ValueError for anything else."""
    if not given.strip():
        return None
    begin, end = (int(each[:2]) * MINUTES_OF_HOUR + int(each[3:]) for each in given.strip().split("-"))
    return QuietHours(begin, end)
