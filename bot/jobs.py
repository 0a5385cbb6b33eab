"""What the assistant does later: reminders, kept as rows, woken by a scheduler in memory, delivered exactly once.

The table `jobs` is the truth; the scheduler only knows when to look at it next: nothing is rebuilt, nothing pickled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from itertools import groupby
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog

from bot import replies
from bot.closing import Closing
from bot.outbox import Button, Message, Target
from memory import faults
from memory.errors import Conflict, StorageError, UnknownSession
from memory.ports import Clock, Database, Row, Statement
from memory.recorder import Recorder
from memory.state_manager import end_job
from memory.types import SessionState

Status = Literal["scheduled", "delivered", "done", "cancelled"]
Event = Literal["deliver", "snooze", "finish", "cancel", "settle"]

LOOK_EVERY_S: Final = 60
"""The table is looked at so often anyway: a clock that was set, a machine that slept, a disk that was full."""
LATE_MS: Final = 2 * 60 * 1000
"""A reminder this much behind its time says so."""
SETTLE_AFTER_MS: Final = 24 * 3600 * 1000
"""A delivered reminder that nobody touched for so long counts as done."""
TOGETHER: Final = 3
"""More than so many that are due at once in one conversation (after a long downtime) come as one list."""
AT_ONCE: Final = 200
LISTED: Final = 8
MAX_TITLE_CHARS: Final = 200
MORNING_HOUR: Final = 9
HOUR_MS: Final = 3600 * 1000
MAX_AHEAD_MS: Final = 10 * 366 * 24 * HOUR_MS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """One row of the table."""

    job_id: str
    conversation_id: str
    session_id: str | None
    user_id: int | None
    kind: str
    title: str
    status: Status
    due_at_ms: int | None
    time_zone: str


# --- pure -----------------------------------------------------------------------------------------------------------

_MOVES: Final[dict[tuple[Status, Event], Status]] = {
    ("scheduled", "deliver"): "delivered",
    ("scheduled", "snooze"): "scheduled",
    ("scheduled", "finish"): "done",
    ("scheduled", "cancel"): "cancelled",
    ("delivered", "snooze"): "scheduled",
    ("delivered", "finish"): "done",
    ("delivered", "cancel"): "cancelled",
    ("delivered", "settle"): "done",
}


def next_status(status: Status, event: Event) -> Status | None:
    """Return what an event makes of a job, None when it has no meaning for it: a job that ended stays ended."""
    return _MOVES.get((status, event))


def due_jobs(jobs: Sequence[Job], now_ms: int) -> list[Job]:
    """Return the scheduled jobs whose time has come, the earliest first."""
    due = [j for j in jobs if j.status == "scheduled" and j.due_at_ms is not None and j.due_at_ms <= now_ms]
    return sorted(due, key=lambda job: (job.due_at_ms or 0, job.job_id))


def late_text(due_at_ms: int, now_ms: int) -> str:
    """Return "was due 3 hours ago", nothing for what comes in time."""
    late_ms = now_ms - due_at_ms
    return replies.WAS_DUE.format(ago=replies.ago(late_ms)) if late_ms >= LATE_MS else ""


def when_text(at_ms: int, now_ms: int, zone: str) -> str:
    """Return "today at 14:05", "tomorrow at 09:00", "on Sat 12 Dec at 09:00", with the year when it is another."""
    at, now = _local(at_ms, zone), _local(now_ms, zone)
    days = (at.date() - now.date()).days
    if days in (0, 1):
        return f"{'tomorrow' if days else 'today'} at {at:%H:%M}"
    year = f" {at.year}" if at.year != now.year else ""
    return f"on {at:%a} {at.day} {at:%b}{year} at {at:%H:%M}"


def tomorrow_ms(now_ms: int, zone: str) -> int:
    """Return tomorrow morning where the person is, at the hour that exists on that day."""
    now = _local(now_ms, zone)
    day = (now + timedelta(days=1)).replace(hour=MORNING_HOUR, minute=0, second=0, microsecond=0)
    return int(day.timestamp() * 1000)


def snoozed_until(choice: str, now_ms: int, zone: str) -> int:
    """Return until when a reminder sleeps: "hour" or "tomorrow"."""
    return tomorrow_ms(now_ms, zone) if choice == "tomorrow" else now_ms + HOUR_MS


def reminder_text(job: Job, now_ms: int) -> str:
    """Return what a delivered reminder says."""
    late = late_text(job.due_at_ms or now_ms, now_ms)
    return replies.REMINDER.format(title=job.title) + (f"\n({late})" if late else "")


def target_of(job: Job) -> Target:
    """Return where a job reports. Raises ValueError for a conversation that is none of Telegram's."""
    _, bot_id, chat_id, thread_id = job.conversation_id.split(":")
    return Target(int(bot_id), job.conversation_id, int(chat_id), int(thread_id) or None, job.user_id)


def job_id_of(call_key: str) -> str:
    """Return the id of the job that a call makes: the same call makes the same job."""
    return "j_" + blake2b(call_key.encode(), digest_size=16).hexdigest()


def insert_job(
    call_key: str,
    *,
    conversation_id: str,
    session_id: str | None,
    user_id: int | None,
    turn_id: str | None,
    title: str,
    due_at_ms: int,
    time_zone: str,
    now_ms: int,
) -> Statement:
    """Return the statement that makes a reminder; the same `call_key` makes no second one."""
    values = {
        "job_id": job_id_of(call_key),
        "conversation_id": conversation_id,
        "session_id": session_id,
        "user_id": user_id,
        "turn_id": turn_id,
        "call_key": call_key,
        "kind": "reminder",
        "title": title[:MAX_TITLE_CHARS],
        "due_at_ms": due_at_ms,
        "time_zone": time_zone,
        "now_ms": now_ms,
    }
    return Statement("job_insert", values)


def move_job(job: Job, event: Event, now_ms: int, *, due_at_ms: int | None = None) -> Statement:
    """Return the statement that moves a job on; it loses (`Conflict`) when the job is not what we saw any more.

    Raises ValueError for an event that has no meaning for the job.
    """
    to = next_status(job.status, event)
    if to is None:
        raise ValueError(f"job {job.job_id} is {job.status}: it cannot {event}")
    progress = "snoozed" if event == "snooze" else ""
    values = {
        "job_id": job.job_id,
        "from_status": job.status,
        "from_due_at_ms": job.due_at_ms,
        "to_status": to,
        "progress": progress,
        "due_at_ms": job.due_at_ms if due_at_ms is None else due_at_ms,
        "now_ms": now_ms,
    }
    return Statement("job_move", values, expect=1)


def read_job(row: Row) -> Job:
    """Return the job in a row."""
    return Job(**{name: row[name] for name in Job.__slots__})


def reminder_buttons(job: Job) -> tuple[tuple[Button, ...], ...]:
    """Return what can be done about a delivered reminder."""
    payload = {"job_id": job.job_id}
    return (
        (
            Button(replies.JOB_DONE, "job_done", payload),
            Button(replies.JOB_HOUR, "job_snooze", {**payload, "until": "hour"}),
            Button(replies.JOB_TOMORROW, "job_snooze", {**payload, "until": "tomorrow"}),
        ),
    )


def job_list(head: str, jobs: Sequence[Job], now_ms: int, zone: str) -> Message:
    """Return a numbered list of jobs with Done, Snooze and Cancel for each of the first eight."""
    lines, buttons = [head], []
    for number, job in enumerate(jobs[:LISTED], 1):
        lines.append(f"{number}. {job.title} ({_due_word(job, now_ms, zone)})")
        payload = {"job_id": job.job_id, "listed": True}
        buttons.append(
            (
                Button(f"{number} {replies.JOB_DONE}", "job_done", payload),
                Button(f"{number} {replies.JOB_HOUR}", "job_snooze", {**payload, "until": "hour"}),
                Button(f"{number} {replies.JOB_CANCEL}", "job_cancel", payload),
            )
        )
    if len(jobs) > LISTED:
        lines.append(replies.JOBS_MORE.format(count=len(jobs) - LISTED))
    return Message("\n".join(lines), buttons=tuple(buttons))


def _due_word(job: Job, now_ms: int, zone: str) -> str:
    due = job.due_at_ms or now_ms
    return when_text(due, now_ms, zone) if due > now_ms else replies.WAS_DUE.format(ago=replies.ago(now_ms - due))


def _local(at_ms: int, zone: str) -> datetime:
    place: tzinfo = UTC
    with suppress(ZoneInfoNotFoundError, ValueError, OSError):
        place = ZoneInfo(zone)
    return datetime.fromtimestamp(at_ms / 1000, place)


def messages_for(jobs: Sequence[Job], now_ms: int) -> list[tuple[Message, list[Job]]]:
    """Return what to say about jobs of one conversation and person that are due: one message each, or one list."""
    if len(jobs) > TOGETHER:
        pages = [jobs[start : start + LISTED] for start in range(0, len(jobs), LISTED)]
        return [(job_list(replies.JOBS_LATE, page, now_ms, page[0].time_zone), list(page)) for page in pages]
    return [(Message(reminder_text(job, now_ms), buttons=reminder_buttons(job)), [job]) for job in jobs]


# --- doing ----------------------------------------------------------------------------------------------------------


class Jobs:
    """Looks at the table when something is due and delivers it; call `look()` after a commit that changed a job."""

    def __init__(self, db: Database, clock: Clock, closing: Closing, recorder: Recorder, bot_id: int) -> None:
        self._db = db
        self._clock = clock
        self._closing = closing
        self._recorder = recorder
        self._here = {"prefix": f"tg:{bot_id}:%"}
        self._scheduler: Any = None
        self._busy = asyncio.Lock()
        self._runs: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Begin to look; call it when unfinished work of an earlier process is in the lanes. What is due comes now."""
        scheduler = await asyncio.to_thread(_make_scheduler)
        scheduler.add_job(self.run, "interval", seconds=LOOK_EVERY_S, id="every", next_run_time=datetime.now(UTC))
        scheduler.start()
        self._scheduler = scheduler

    async def stop(self) -> None:
        """Stop looking; what is being written down just now is stored as a whole or not at all."""
        scheduler, self._scheduler = self._scheduler, None
        if scheduler is None:
            return
        scheduler.shutdown(wait=False)
        runs = list(self._runs)
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)

    def look(self) -> None:
        """Look at the table soon: a job was made, moved or taken back. Before the start it does nothing."""
        if self._scheduler is not None:
            self._scheduler.add_job(self.run, id="now", replace_existing=True)

    async def run(self) -> None:
        """Deliver what is due, then set the alarm for what is due next; a disk that refuses is tried again later."""
        task = asyncio.current_task()
        if task is not None:
            self._runs.add(task)
            task.add_done_callback(self._runs.discard)
        async with self._busy:
            try:
                await self._deliver_due()
                await self._settle_old()
                await self._arm()
            except StorageError as exc:
                log.error("jobs wait for storage", error=str(exc))  # noqa: TRY400 - expected, it says what to do

    async def _arm(self) -> None:
        row = await self._db.read_one("job_next_due", **self._here)
        if row is None or row["due_at_ms"] is None:
            return
        wait_s = min(max(0, row["due_at_ms"] - self._clock.now_ms()) / 1000, LOOK_EVERY_S)
        if wait_s < LOOK_EVERY_S and self._scheduler is not None:
            run_at = datetime.now(UTC) + timedelta(seconds=wait_s)
            self._scheduler.add_job(self.run, "date", run_date=run_at, id="due", replace_existing=True)

    async def _deliver_due(self) -> None:
        now_ms = self._clock.now_ms()
        rows = await self._db.read("jobs_due", **self._here, now_ms=now_ms, limit=AT_ONCE)
        due = due_jobs([read_job(row) for row in rows], now_ms)
        due.sort(key=lambda job: (job.conversation_id, job.user_id or 0))  # stable: by time within each
        for _, group in groupby(due, key=lambda job: (job.conversation_id, job.user_id)):
            for message, jobs in messages_for(list(group), now_ms):
                await self._deliver(message, jobs)

    async def _deliver(self, message: Message, jobs: Sequence[Job]) -> None:
        """Write the message down and move its jobs on, as one.

        What a crash leaves behind: before the commit, the jobs are `scheduled` and come at the next start, marked late;
        after it, they are `delivered` and the parts are `queued`, which the next start sends (P5). Never both.
        """
        now_ms = self._clock.now_ms()
        faults.point("job_due")
        try:
            moves = [move_job(job, "deliver", now_ms) for job in jobs]
            await self._closing.write(target_of(jobs[0]), [message], *moves)
        except Conflict:
            log.info("reminder was changed meanwhile", job_ids=[job.job_id for job in jobs])
        except ValueError:
            log.exception("reminder has no place to go", job_ids=[job.job_id for job in jobs])
        else:
            faults.point("job_delivered")
            log.info("reminder delivered", job_ids=[job.job_id for job in jobs])

    async def _settle_old(self) -> None:
        """Count as done what was delivered long ago and never touched, so that it leaves the packet."""
        before_ms = self._clock.now_ms() - SETTLE_AFTER_MS
        for row in await self._db.read("jobs_untouched", **self._here, before_ms=before_ms, limit=AT_ONCE):
            job = read_job(row)
            with suppress(Conflict):
                await self.end(job, move_job(job, "settle", self._clock.now_ms()))

    async def find(self, job_id: str, conversation_id: str) -> Job | None:
        """Return a job of this conversation, None when there is none. Raises `StorageUnavailable`."""
        row = await self._db.read_one("job_find", job_id=job_id, conversation_id=conversation_id)
        return read_job(row) if row else None

    async def upcoming(self, conversation_id: str, user_id: int | None) -> list[Job]:
        """Return what somebody still has to come here or has not called done, the earliest first."""
        rows = await self._db.read("jobs_upcoming", conversation_id=conversation_id, user_id=user_id)
        return [read_job(row) for row in rows]

    async def end(self, job: Job, *statements: Statement) -> None:
        """Commit these statements and, with them, take the ended job out of the session that made it.

        Raises `Conflict` and `StorageUnavailable` with nothing changed.
        """
        await self.change(job.session_id, lambda state: end_job(state, job.job_id), *statements)

    async def change(
        self, session_id: str | None, change: Callable[[SessionState], SessionState], *statements: Statement
    ) -> None:
        """Commit statements together with a change of a session; without it when the session is gone."""
        if session_id is not None:
            with suppress(UnknownSession):
                await self._recorder.edit(session_id, change, *statements)
                return
        await self._db.write(*statements)


def _make_scheduler() -> Any:
    """Import late: it takes 0.1 s that a start need not wait for. Only in memory: nothing is pickled."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415

    defaults = {"coalesce": True, "misfire_grace_time": None, "max_instances": 1}
    return AsyncIOScheduler(timezone=UTC, job_defaults=defaults)
