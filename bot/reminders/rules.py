"""What becomes of a reminder: when it is due, what it says, what a tap makes of it, its rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Final, Literal

from bot import replies
from bot.delivery.outbox import Button, Message, Target
from bot.reminders.repeats import kind_of, next_at, rule_of
from bot.reminders.words import local, words_for
from memory.ports import Row, Statement
from memory.types import ListedItem

Status = Literal["scheduled", "delivered", "done", "cancelled"]
Event = Literal["deliver", "snooze", "finish", "cancel", "settle"]

FOLLOW_UP: Final = "follow_up"
"""What the assistant promised for a certain time, unlike what it was asked to remind of."""
LATE_MS: Final = 2 * 60 * 1000
"""A reminder this much behind its time says so."""
TOGETHER: Final = 3
"""More than so many that are due at once in one conversation (after a long downtime) come as one list."""
LISTED: Final = 8
MAX_TITLE_CHARS: Final = 200
MORNING_HOUR: Final = 9
HOUR_MS: Final = 3600 * 1000
MAX_AHEAD_MS: Final = 10 * 366 * 24 * HOUR_MS


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
    repeats: str = ""
    """The rule by which it comes again; "" = once."""


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
    return words_for("en").when(at_ms, now_ms, zone)


def tomorrow_ms(now_ms: int, zone: str) -> int:
    """Return tomorrow morning where the person is, at the hour that exists on that day."""
    now = local(now_ms, zone)
    day = (now + timedelta(days=1)).replace(hour=MORNING_HOUR, minute=0, second=0, microsecond=0)
    return int(day.timestamp() * 1000)


def snoozed_until(choice: str, now_ms: int, zone: str) -> int:
    """Return until when a reminder sleeps: "hour" or "tomorrow"."""
    return tomorrow_ms(now_ms, zone) if choice == "tomorrow" else now_ms + HOUR_MS


def reminder_text(job: Job, now_ms: int) -> str:
    """Return what a delivered reminder says."""
    late = late_text(job.due_at_ms or now_ms, now_ms)
    lead = replies.FOLLOW_UP if job.kind == FOLLOW_UP else replies.REMINDER
    return lead.format(title=job.title) + (f"\n({late})" if late else "")


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
    kind: str = "reminder",
    repeats: str = "",
) -> Statement:
    """Return the statement that makes a reminder; the same `call_key` makes no second one."""
    values = {
        "job_id": job_id_of(call_key),
        "conversation_id": conversation_id,
        "session_id": session_id,
        "user_id": user_id,
        "turn_id": turn_id,
        "call_key": call_key,
        "kind": kind,
        "title": title[:MAX_TITLE_CHARS],
        "due_at_ms": due_at_ms,
        "time_zone": time_zone,
        "now_ms": now_ms,
        "repeats": repeats,
    }
    return Statement("job_insert", values)


def move_job(
    job: Job, event: Event, now_ms: int, *, due_at_ms: int | None = None, repeats: str | None = None
) -> Statement:
    """Return the statement that moves a job on; it loses (`Conflict`) when the job is not what we saw any more.

    Raises ValueError for an event that has no meaning for the job.
    """
    to = next_status(job.status, event)
    if to is None:
        raise ValueError(f"job {job.job_id} is {job.status}: it cannot {event}")
    progress = {"snooze": "put off", "deliver": "not called done yet"}.get(event, "")
    values = {
        "job_id": job.job_id,
        "from_status": job.status,
        "from_due_at_ms": job.due_at_ms,
        "to_status": to,
        "progress": progress,
        "due_at_ms": job.due_at_ms if due_at_ms is None else due_at_ms,
        "repeats": "" if event == "deliver" else (job.repeats if repeats is None else repeats),
        "now_ms": now_ms,
    }
    return Statement("job_move", values, expect=1)


def move_to(job: Job, due_at_ms: int, now_ms: int) -> Statement:
    """Return the statement that gives a reminder another time, from which on it comes again if it does."""
    kind = kind_of(job.repeats)
    repeats = rule_of(kind, due_at_ms, job.time_zone) if kind else ""
    return move_job(job, "snooze", now_ms, due_at_ms=due_at_ms, repeats=repeats)


def next_job(job: Job, now_ms: int) -> Statement | None:
    """Return the statement that makes the next one of a reminder that comes again, None for one that does not.

    The one that is delivered does not come again itself; its successor is made once, in the same transaction.
    """
    due_at_ms = next_at(job.repeats, job.due_at_ms or now_ms, now_ms, job.time_zone)
    if due_at_ms is None:
        return None
    return insert_job(
        f"{job.job_id}:{job.due_at_ms}",
        conversation_id=job.conversation_id,
        session_id=job.session_id,
        user_id=job.user_id,
        turn_id=None,
        title=job.title,
        due_at_ms=due_at_ms,
        time_zone=job.time_zone,
        now_ms=now_ms,
        kind=job.kind,
        repeats=job.repeats,
    )


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


def listed_jobs(jobs: Sequence[Job]) -> list[ListedItem]:
    """Return the lines of such a list, so that "the first one" has a meaning."""
    return [ListedItem(kind="job", ref=job.job_id, text=job.title) for job in jobs[:LISTED]]


def _due_word(job: Job, now_ms: int, zone: str) -> str:
    due = job.due_at_ms or now_ms
    when = when_text(due, now_ms, zone) if due > now_ms else replies.WAS_DUE.format(ago=replies.ago(now_ms - due))
    kind = kind_of(job.repeats)
    return f"{when}, {words_for('en').say(kind)}" if kind else when


def messages_for(jobs: Sequence[Job], now_ms: int) -> list[tuple[Message, list[Job]]]:
    """Return what to say about jobs of one conversation and person that are due: one message each, or one list."""
    if len(jobs) > TOGETHER:
        pages = [jobs[start : start + LISTED] for start in range(0, len(jobs), LISTED)]
        return [(job_list(replies.JOBS_LATE, page, now_ms, page[0].time_zone), list(page)) for page in pages]
    return [(Message(reminder_text(job, now_ms), buttons=reminder_buttons(job)), [job]) for job in jobs]
