"""What the assistant does later: reminders, kept as rows, woken by a timer in memory, delivered exactly once.

The table `reminders` is the truth; the timer only knows when to look at it next: nothing is rebuilt, nothing pickled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final

import structlog

from bot import replies
from bot.delivery.commit import Committer
from bot.delivery.outbox import OutgoingMessage
from bot.people.choices import PersonalChoices
from bot.reminders.rules import (
    Reminder,
    advance_reminder,
    due_reminders,
    messages_for,
    next_reminder,
    read_reminder,
    target_of,
    tomorrow_ms,
    upcoming_reminders,
    when_text,
)
from memory import faults
from memory.errors import Conflict, StorageError, UnknownSession
from memory.ports import Clock, Database, Statement, unobserved
from memory.sessions.recorder import Recorder
from memory.state.state_manager import end_job
from memory.types import SessionState

__all__ = ["ReminderScheduler", "tomorrow_ms", "when_text"]

LOOK_EVERY_S: Final = 60
"""How often the table is looked at anyway: a clock that was set, a machine that slept, a disk that was full."""
LOOK_AGAIN_S: Final = 0.1
"""How soon at the earliest: what stays due because it cannot be delivered must not be looked at without a pause."""
SETTLE_AFTER_MS: Final = 24 * 3600 * 1000
"""A delivered reminder that nobody touched for so long counts as done."""
AT_ONCE: Final = 200

log = structlog.get_logger(__name__)


class ReminderScheduler:
    """Looks at the table when something is due and delivers it; call `look()` after a commit that changed one."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        committer: Committer,
        recorder: Recorder,
        *,
        people: PersonalChoices,
        bot_id: int,
    ) -> None:
        self._db = db
        self._people = people
        self._clock = clock
        self._committer = committer
        self._recorder = recorder
        self._here = {"prefix": f"tg:{bot_id}:%"}
        self.besides: Callable[[], Awaitable[None]] | None = None
        """What else is looked at whenever the table is."""
        self._watching: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._busy = asyncio.Lock()
        self.on_look: Callable[[], None] = unobserved
        """Told when a reminder was made, moved or taken back: the process that delivers them may be another one."""

    def start(self) -> None:
        """Begin to look; call it when unfinished work of an earlier process is in the lanes. What is due comes now."""
        self._watching = asyncio.create_task(self._watch(), name="reminders")

    async def stop(self) -> None:
        """Stop looking; what is being written down just now is stored as a whole or not at all."""
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def look(self) -> None:
        """Look at the table soon: a reminder was made, moved or taken back. Before the start it does nothing."""
        self.look_here()
        self.on_look()

    def look_here(self) -> None:
        """Look soon, as somebody else said."""
        self._wanted.set()

    async def _watch(self) -> None:
        """Look now, then whenever something is due or was asked for; nothing but the stop ends it."""
        while True:
            self._wanted.clear()
            wait_s: float = LOOK_EVERY_S
            try:
                wait_s = await self.run()
            except Exception:
                log.exception("reminders could not be looked at")
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):  # wait_for loses a cancel that comes with the event
                    await self._wanted.wait()

    async def run(self) -> float:
        """Deliver what is due; return in how many seconds to look again. A disk that refuses is tried again later."""
        async with self._busy:
            try:
                await self._deliver_due()
                await self._settle_old()
                if self.besides is not None:
                    await self.besides()
                row = await self._db.read_one("job_next_due", **self._here)
            except StorageError as exc:
                log.error("reminders wait for storage", error=str(exc))  # noqa: TRY400 - expected, it says what to do
                return LOOK_EVERY_S
        if row is None or row["due_at_ms"] is None:
            return LOOK_EVERY_S
        wait_s: float = (row["due_at_ms"] - self._clock.now_ms()) / 1000
        return min(max(LOOK_AGAIN_S, wait_s), LOOK_EVERY_S)

    async def _deliver_due(self) -> None:
        now_ms = self._clock.now_ms()
        rows = await self._db.read("jobs_due", **self._here, now_ms=now_ms, limit=AT_ONCE)
        due = due_reminders([read_reminder(row) for row in rows], now_ms)
        due.sort(key=lambda reminder: (reminder.conversation_id, reminder.user_id or 0))  # stable: by time within each
        for whose, group in groupby(due, key=lambda reminder: (reminder.conversation_id, reminder.user_id)):
            with replies.speaking(await self._people.language(*whose)):
                messages = messages_for(list(group), now_ms)
            for message, reminders in messages:
                await self._deliver(message, reminders)

    async def _deliver(self, message: OutgoingMessage, reminders: Sequence[Reminder]) -> None:
        """Write the message down and move its reminders on, as one.

        What a crash leaves behind: before the commit, they are `scheduled` and come at the next start, marked late;
        after it, they are `delivered` and the parts are `queued`, which the next start sends (P5). Never both.
        """
        now_ms = self._clock.now_ms()
        faults.point("job_due")
        try:
            moves = [advance_reminder(reminder, "deliver", now_ms) for reminder in reminders]
            moves += [again for reminder in reminders if (again := next_reminder(reminder, now_ms))]
            await self._committer.write(target_of(reminders[0]), [message], *moves)
        except Conflict:
            log.info("reminder was changed meanwhile", job_ids=[reminder.job_id for reminder in reminders])
        except ValueError:
            log.exception("reminder has no place to go", job_ids=[reminder.job_id for reminder in reminders])
        else:
            faults.point("job_delivered")
            log.info("reminder delivered", job_ids=[reminder.job_id for reminder in reminders])

    async def _settle_old(self) -> None:
        """Count as done what was delivered long ago and never touched, so that it leaves the packet."""
        before_ms = self._clock.now_ms() - SETTLE_AFTER_MS
        for row in await self._db.read("jobs_untouched", **self._here, before_ms=before_ms, limit=AT_ONCE):
            reminder = read_reminder(row)
            with suppress(Conflict):
                await self.end(reminder, advance_reminder(reminder, "settle", self._clock.now_ms()))

    async def find(self, job_id: str, conversation_id: str) -> Reminder | None:
        """Return a reminder of this conversation, None when there is none. Raises `StorageUnavailable`."""
        row = await self._db.read_one("job_find", job_id=job_id, conversation_id=conversation_id)
        return read_reminder(row) if row else None

    async def upcoming(self, conversation_id: str, user_id: int | None) -> list[Reminder]:
        """Return what somebody still has to come here or has not called done, the earliest first."""
        asked = upcoming_reminders(conversation_id, user_id)
        rows = await self._db.read(asked.name, **asked.params)
        return [read_reminder(row) for row in rows]

    async def end(self, reminder: Reminder, *statements: Statement) -> None:
        """Commit these statements and, with them, take the ended reminder out of the session that made it.

        Raises `Conflict` and `StorageUnavailable` with nothing changed.
        """
        await self.change(reminder.session_id, lambda state: end_job(state, reminder.job_id), *statements)

    async def change(
        self, session_id: str | None, change: Callable[[SessionState], SessionState], *statements: Statement
    ) -> None:
        """Commit statements together with a change of a session; without it when the session is gone."""
        await change_session(self._recorder, self._db, session_id, change, *statements)


async def change_session(
    recorder: Recorder,
    db: Database,
    session_id: str | None,
    change: Callable[[SessionState], SessionState],
    *statements: Statement,
) -> None:
    """Commit statements about a reminder with a change of its session; without it when the session is gone."""
    if session_id is not None:
        with suppress(UnknownSession):
            await recorder.edit(session_id, change, *statements)
            return
    await db.write(*statements)
