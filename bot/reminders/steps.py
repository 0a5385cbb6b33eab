"""What a turn does to reminders, kept so that it can be taken back. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.reminders.repeats import kind_of
from bot.reminders.rules import Reminder
from bot.reminders.words import ReminderWords
from memory.ports import Statement
from memory.state.state_manager import keep_job_steps
from memory.types import JobStep, SessionState

Change = Callable[[SessionState], SessionState]


def made(turn_id: str, insert: Statement) -> JobStep:
    """Return the step of a turn that makes a reminder."""
    values = insert.params
    return JobStep(
        turn_id=turn_id,
        job_id=values["job_id"],
        status="scheduled",
        due_at_ms=values["due_at_ms"],
        repeats=values["repeats"],
    )


def taken(turn_id: str, reminder: Reminder, move: Statement) -> JobStep:
    """Return the step of a turn that moves, ends or repeats a reminder."""
    values = move.params
    return JobStep(
        turn_id=turn_id,
        job_id=reminder.job_id,
        status=values["to_status"],
        due_at_ms=values["due_at_ms"],
        repeats=values["repeats"],
        was_status=reminder.status,
        was_due_at_ms=reminder.due_at_ms,
        was_repeats=reminder.repeats,
    )


def keeping(steps: Sequence[JobStep], *others: Change | None) -> Change:
    """Return the change of a session that keeps these steps, behind its other changes."""

    def change(state: SessionState) -> SessionState:
        for other in others:
            state = other(state) if other else state
        return keep_job_steps(state, steps)

    return change


def back(step: JobStep, now_ms: int) -> Statement:
    """Return what takes a step back; it changes nothing where the reminder went on since."""
    values = {
        "job_id": step.job_id,
        "from_status": step.status,
        "from_due_at_ms": step.due_at_ms,
        "to_status": step.was_status or "cancelled",
        "progress": "",
        "due_at_ms": step.was_due_at_ms if step.was_status else step.due_at_ms,
        "repeats": step.was_repeats if step.was_status else step.repeats,
        "now_ms": now_ms,
    }
    return Statement("job_move", values)


def stands(step: JobStep, reminder: Reminder) -> bool:
    """Return whether a reminder is as the step left it."""
    return (reminder.status, reminder.due_at_ms) == (step.status, step.due_at_ms)


def told(step: JobStep, reminder: Reminder, now_ms: int, zone: str, words: ReminderWords) -> str:
    """Return what is said when a step is taken back."""
    if not step.was_status:
        return words.say("cancelled", title=reminder.title)
    if step.was_status == "delivered":
        return words.say("reopened", title=reminder.title)
    when, kind = words.when(step.was_due_at_ms or now_ms, now_ms, zone), kind_of(step.was_repeats)
    key, often = ("set_repeating", {"every": words.every(kind)}) if kind else ("set", {})
    return words.say(key, when=when, zone=zone, title=reminder.title, **often)
