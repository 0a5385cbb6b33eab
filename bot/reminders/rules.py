"""What becomes of a reminder: when it is due, what it says, what a tap makes of it, its rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Final, Literal, Protocol, TypeVar

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage, Target
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
"""When more than this many are due at once in one conversation (after a long downtime), they come as one list."""
LISTED: Final = 8
MAX_TITLE_CHARS: Final = 200
MORNING_HOUR: Final = 9
HOUR_MS: Final = 3600 * 1000
MAX_AHEAD_MS: Final = 10 * 366 * 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class Reminder:
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


class InSeries(Protocol):
    """What may be one of a series: a reminder, or what the context tells of one."""

    @property
    def job_id(self) -> str:
        """Which one it is."""
        ...

    @property
    def status(self) -> str:
        """How far it is."""
        ...

    @property
    def due_at_ms(self) -> int | None:
        """When it is due, in UTC."""
        ...


Series = TypeVar("Series", bound=InSeries)

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
    """Return what an event makes of a reminder, None when it has no meaning for it: what ended stays ended."""
    return _MOVES.get((status, event))


def due_reminders(reminders: Sequence[Reminder], now_ms: int) -> list[Reminder]:
    """Return the scheduled reminders whose time has come, the earliest first."""
    due = [j for j in reminders if j.status == "scheduled" and j.due_at_ms is not None and j.due_at_ms <= now_ms]
    return sorted(due, key=lambda reminder: (reminder.due_at_ms or 0, reminder.job_id))


def upcoming_reminders(conversation_id: str, user_id: int | None) -> Statement:
    """Return the query for what somebody still has to come here or has not called done, the earliest first."""
    return Statement("jobs_upcoming", {"conversation_id": conversation_id, "user_id": user_id})


def late_text(due_at_ms: int, now_ms: int) -> str:
    """Return "was due 3 hours ago", nothing for what comes in time."""
    late_ms = now_ms - due_at_ms
    return replies.say("was_due", ago=replies.ago(late_ms)) if late_ms >= LATE_MS else ""


def when_text(at_ms: int, now_ms: int, zone: str, *, exact: bool = True) -> str:
    """Return "today at 14:05", "tomorrow at 09:00", "on Sat 12 Dec", with the year when it is another."""
    return words_for(replies.spoken()).when(at_ms, now_ms, zone, exact=exact)


def is_late(due_at_ms: int, now_ms: int, zone: str, *, exact: bool) -> bool:
    """Return whether it is over: the moment, or where no hour was said, the day."""
    return due_at_ms <= now_ms and (exact or local(due_at_ms, zone).date() < local(now_ms, zone).date())


def tomorrow_ms(now_ms: int, zone: str) -> int:
    """Return tomorrow morning where the person is, at the hour that exists on that day."""
    now = local(now_ms, zone)
    day = (now + timedelta(days=1)).replace(hour=MORNING_HOUR, minute=0, second=0, microsecond=0)
    return int(day.timestamp() * 1000)


def snoozed_until(choice: str, now_ms: int, zone: str) -> int:
    """Return until when a reminder sleeps: "hour" or "tomorrow"."""
    return tomorrow_ms(now_ms, zone) if choice == "tomorrow" else now_ms + HOUR_MS


def reminder_text(reminder: Reminder, now_ms: int) -> str:
    """Return what a delivered reminder says."""
    late = late_text(reminder.due_at_ms or now_ms, now_ms)
    lead = "follow_up" if reminder.kind == FOLLOW_UP else "reminder"
    return replies.say(lead, title=reminder.title) + (f"\n({late})" if late else "")


def target_of(reminder: Reminder) -> Target:
    """Return where a reminder reports. Raises ValueError for a conversation that is none of Telegram's."""
    _, bot_id, chat_id, thread_id = reminder.conversation_id.split(":")
    return Target(int(bot_id), reminder.conversation_id, int(chat_id), int(thread_id) or None, reminder.user_id)


def job_id_of(call_key: str) -> str:
    """Return the id of the reminder that a call makes: the same call makes the same reminder."""
    return "j_" + blake2b(call_key.encode(), digest_size=16).hexdigest()


def insert_reminder(
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


def advance_reminder(
    reminder: Reminder, event: Event, now_ms: int, *, due_at_ms: int | None = None, repeats: str | None = None
) -> Statement:
    """Return the statement that moves a reminder on; it loses (`Conflict`) when that is not what we saw any more.

    Raises ValueError for an event that has no meaning for the reminder.
    """
    to = next_status(reminder.status, event)
    if to is None:
        raise ValueError(f"reminder {reminder.job_id} is {reminder.status}: it cannot {event}")
    progress = {"snooze": "put off", "deliver": "not called done yet"}.get(event, "")
    values = {
        "job_id": reminder.job_id,
        "from_status": reminder.status,
        "from_due_at_ms": reminder.due_at_ms,
        "to_status": to,
        "progress": progress,
        "due_at_ms": reminder.due_at_ms if due_at_ms is None else due_at_ms,
        "repeats": "" if event == "deliver" else (reminder.repeats if repeats is None else repeats),
        "now_ms": now_ms,
    }
    return Statement("job_move", values, expect=1)


def move_to(reminder: Reminder, due_at_ms: int, now_ms: int) -> Statement:
    """Return the statement that gives a reminder another time, from which on it comes again if it does."""
    kind = kind_of(reminder.repeats)
    repeats = rule_of(kind, due_at_ms, reminder.time_zone) if kind else ""
    return advance_reminder(reminder, "snooze", now_ms, due_at_ms=due_at_ms, repeats=repeats)


def next_reminder(reminder: Reminder, now_ms: int) -> Statement | None:
    """Return the statement that makes the next one of a reminder that comes again, None for one that does not.

    The one that is delivered does not come again itself; its successor is made once, in the same transaction.
    """
    due_at_ms = next_at(reminder.repeats, reminder.due_at_ms or now_ms, now_ms, reminder.time_zone)
    if due_at_ms is None:
        return None
    return insert_reminder(
        _next_key(reminder),
        conversation_id=reminder.conversation_id,
        session_id=reminder.session_id,
        user_id=reminder.user_id,
        turn_id=None,
        title=reminder.title,
        due_at_ms=due_at_ms,
        time_zone=reminder.time_zone,
        now_ms=now_ms,
        kind=reminder.kind,
        repeats=reminder.repeats,
    )


def _next_key(each: InSeries) -> str:
    return f"{each.job_id}:{each.due_at_ms}"


def next_id_of(each: InSeries) -> str:
    """Return the id of the one that comes next of a series, when there is one."""
    return job_id_of(_next_key(each))


def missed_before(reminders: Sequence[Series]) -> dict[str, Series]:
    """Return, by the id of the one that comes next, what rang of a series and was not called done."""
    ids = {each.job_id for each in reminders}
    rang = {next_id_of(each): each for each in reminders if each.status == "delivered"}
    return {job_id: each for job_id, each in rang.items() if job_id in ids}


def one_per_series(reminders: Sequence[Series]) -> list[Series]:
    """Return the reminders without what was missed of a series of which the next is among them."""
    missed = {each.job_id for each in missed_before(reminders).values()}
    return [each for each in reminders if each.job_id not in missed]


def read_reminder(row: Row) -> Reminder:
    """Return the reminder in a row."""
    return Reminder(**{name: row[name] for name in Reminder.__slots__})


def reminder_buttons(reminder: Reminder) -> tuple[tuple[Button, ...], ...]:
    """Return what can be done about a delivered reminder."""
    payload = {"job_id": reminder.job_id}
    return (
        (
            Button(replies.say("reminder_done"), "job_done", payload),
            Button(replies.say("reminder_hour"), "job_snooze", {**payload, "until": "hour"}),
            Button(replies.say("reminder_tomorrow"), "job_snooze", {**payload, "until": "tomorrow"}),
        ),
    )


def reminder_list(head: str, reminders: Sequence[Reminder], now_ms: int, zone: str) -> OutgoingMessage:
    """Return a numbered list of reminders with Done, Snooze and Cancel for each of the first eight.

    A series is one line: what rang of it is done or put off there, and what comes next is cancelled.
    """
    lines, buttons = [head], []
    missed, reminders = missed_before(reminders), one_per_series(reminders)
    for number, reminder in enumerate(reminders[:LISTED], 1):
        lines.append(f"{number}. {reminder.title} ({_due_word(reminder, now_ms, zone)})")
        payload = {"job_id": reminder.job_id, "listed": True}
        rang = {**payload, "job_id": missed.get(reminder.job_id, reminder).job_id}
        buttons.append(
            (
                Button(f"{number} {replies.say('reminder_done')}", "job_done", rang),
                Button(f"{number} {replies.say('reminder_hour')}", "job_snooze", {**rang, "until": "hour"}),
                Button(f"{number} {replies.say('reminder_cancel')}", "job_cancel", payload),
            )
        )
    if len(reminders) > LISTED:
        lines.append(replies.say("reminders_more", count=len(reminders) - LISTED))
    return OutgoingMessage("\n".join(lines), buttons=tuple(buttons))


def listed_reminders(reminders: Sequence[Reminder]) -> list[ListedItem]:
    """Return the lines of such a list, so that "the first one" has a meaning."""
    shown = one_per_series(reminders)[:LISTED]
    return [ListedItem(kind="job", ref=reminder.job_id, text=reminder.title) for reminder in shown]


def _due_word(reminder: Reminder, now_ms: int, zone: str) -> str:
    due = reminder.due_at_ms or now_ms
    when = when_text(due, now_ms, zone) if due > now_ms else replies.say("was_due", ago=replies.ago(now_ms - due))
    kind = kind_of(reminder.repeats)
    return f"{when}, {words_for(replies.spoken()).every(kind)}" if kind else when


def messages_for(reminders: Sequence[Reminder], now_ms: int) -> list[tuple[OutgoingMessage, list[Reminder]]]:
    """Return what to say about reminders of one conversation and person that are due: one message each, or one list."""
    if len(reminders) > TOGETHER:
        pages = [reminders[start : start + LISTED] for start in range(0, len(reminders), LISTED)]
        return [
            (reminder_list(replies.say("reminders_late"), page, now_ms, page[0].time_zone), list(page))
            for page in pages
        ]
    return [
        (OutgoingMessage(reminder_text(reminder, now_ms), buttons=reminder_buttons(reminder)), [reminder])
        for reminder in reminders
    ]
