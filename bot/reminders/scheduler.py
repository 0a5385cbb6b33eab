"""Reminders that ring: a note is its own alarm, woken by a timer in memory, delivered exactly once.

The table `notes` is the truth; the timer only knows when to look at it next: nothing is rebuilt, nothing pickled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

import structlog

from bot import replies
from bot.delivery.chats import REMINDERS, AllChats, Chats
from bot.delivery.commit import Committer
from bot.delivery.outbox import OutgoingMessage
from bot.intake.updates import Envelope
from bot.lines import is_group
from bot.people.choices import PersonalChoices
from bot.reminders.messages import Due, due_of, messages_for, target_of, whom
from bot.tasks.starts import Step, TaskStarts
from bot.tasks.task import Task
from memory.errors import Conflict, StorageError
from memory.ledger.ledgers import Ledgers, Writing
from memory.ledger.types import Actor, Operation, Refusal
from memory.ports import Clock, Database, Statement, unobserved
from memory.process import faults

LOOK_EVERY_S: Final = 60
"""The table is looked at so often anyway: after a clock was set, a machine slept, or a disk was full."""
LOOK_AGAIN_S: Final = 0.1
"""The shortest pause: a note that stays due because it cannot be delivered must not be looked at without one."""
AT_ONCE: Final = 200

log = structlog.get_logger(__name__)


async def nothing_besides() -> None:
    """Look at nothing else."""


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of a ring."""

    chats: Chats = field(default_factory=AllChats)
    """Another process may hold a chat, or deliver reminders."""
    run: Callable[[Envelope], None] = unobserved
    """Given the update of a run of a task that was written down."""
    besides: Callable[[], Awaitable[None]] = nothing_besides
    """Further work whenever the table is looked at."""


class ReminderScheduler:
    """Looks at the notes when one is due and delivers it; call `look()` after a commit that changed one."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        committer: Committer,
        ledgers: Ledgers,
        tasks: TaskStarts,
        *,
        people: PersonalChoices,
        bot_id: int,
        around: Around,
    ) -> None:
        self._db = db
        self._people = people
        self._clock = clock
        self._committer = committer
        self._ledgers = ledgers
        self._tasks = tasks
        self._here = {"prefix": f"tg:{bot_id}:%"}
        self._around = around
        self._watching: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._busy = asyncio.Lock()

    def start(self) -> None:
        """Begin to look; call it when unfinished work of an earlier process is in the lanes. Due notes come now."""
        self._watching = asyncio.create_task(self._watch(), name="reminders")

    async def stop(self) -> None:
        """Stop looking; a write under way is stored as a whole or not at all."""
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def look(self) -> None:
        """Look at the table soon: a reminder was made, moved or taken back. Before the start it does nothing."""
        self.look_here()
        self._around.chats.tell(REMINDERS)

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
        """Deliver the due notes; return in how many seconds to look again. A disk that refuses is tried again later."""
        async with self._busy:
            try:
                await self._deliver_due()
                await self._around.besides()
                row = await self._db.read_one("notes_next_ring", **self._here)
            except StorageError as exc:
                log.error("reminders wait for storage", error=str(exc))  # noqa: TRY400 - expected, it says what to do
                return LOOK_EVERY_S
        if row is None or row["rings_at_ms"] is None:
            return LOOK_EVERY_S
        wait_s: float = (row["rings_at_ms"] - self._clock.now_ms()) / 1000
        return min(max(LOOK_AGAIN_S, wait_s), LOOK_EVERY_S)

    async def _deliver_due(self) -> None:
        now_ms = self._clock.now_ms()
        rows = await self._db.read("notes_ringing", **self._here, now_ms=now_ms, limit=AT_ONCE)
        for conversation_id in dict.fromkeys(row["conversation_id"] for row in rows):
            await self._deliver_of(conversation_id, now_ms)

    async def _deliver_of(self, conversation_id: str, now_ms: int) -> None:
        """Deliver the due notes of one conversation, to each person their own."""
        ledger = await self._ledgers.read(conversation_id)
        due = [each for note in ledger if note.is_open and (each := due_of(note, now_ms))]
        if not due:  # what is at hand was changed by another process
            self._ledgers.evict(lambda each: each == conversation_id)
            return
        due = await self._begun(due, now_ms)
        if due and is_group(conversation_id):
            setters = {each.note.user_id for each in due if each.note.user_id is not None}
            names = await self._people.speakers(conversation_id, setters)
            due = [replace(each, who=whom(each.note, names)) for each in due]
        due.sort(key=lambda each: (each.note.user_id or 0, each.at_ms, each.note.number))
        for user_id, group in groupby(due, key=lambda each: each.note.user_id):
            with replies.speaking(await self._people.language(conversation_id, user_id)):
                messages = messages_for(list(group), now_ms)
            for message, dates in messages:
                await self._deliver(conversation_id, user_id, message, dates)

    async def _begun(self, due: Sequence[Due], now_ms: int) -> list[Due]:
        """Begin the runs of those that are tasks, and return the others."""
        tasks = await self._tasks.rows.of(due[0].note.conversation_id)
        for each in due:
            if (task := tasks.get(each.note.note_id)) is not None:
                await self._begin(task, each, now_ms)
        return [each for each in due if each.note.note_id not in tasks]

    async def _begin(self, task: Task, due: Due, now_ms: int) -> None:
        """Store a run, as an update in the inbox, together with the ring of its note.

        A crash before the commit: the date is due and comes at the next start. After it: the update is `received`, and
        the next start works on it like on a message. Never both, from however many processes.
        """
        faults.point("task_due")
        step = await self._tasks.step(task, due.note, (due.occurrence, due.at_ms), now_ms)
        if await self._stored(task.conversation_id, step, now_ms):
            faults.point("task_begun")

    async def _stored(self, conversation_id: str, step: Step, now_ms: int) -> bool:
        """Store the step of a date, and hand on its update; False when somebody else was first."""
        try:
            async with self._ledgers.writing(conversation_id) as writing:
                _ring(writing, step.operations, Actor("operator", now_ms, "ring"))
                results = await self._db.write(*step.statements, *writing.statements)
                writing.stored()
        except Conflict:
            self._ledgers.evict(lambda each: each == conversation_id)
            return False
        self._around.chats.tell_changed(conversation_id)
        if step.envelope is not None:
            behind = next((row["behind"] for row in results[0].rows), None)
            self._around.run(replace(step.envelope, behind=behind))
        return True

    async def _deliver(
        self, conversation_id: str, user_id: int | None, message: OutgoingMessage, due: Sequence[Due]
    ) -> None:
        """Store the message together with the rings of its notes.

        A crash before the commit: they are due and come at the next start, marked late. After it: they rang and the
        parts are `queued`, which the next start sends (P5). Never both.
        """
        numbers = [each.note.number for each in due]
        faults.point("job_due")
        try:
            operations = [each.ring for each in due]
            by = Actor("operator", self._clock.now_ms(), "ring")
            rang = await self.say_with(conversation_id, user_id, message, operations, by)
        except ValueError:
            log.exception("a reminder has no place to go", numbers=numbers)
            return
        if rang:
            faults.point("job_delivered")
            log.info("reminder delivered", numbers=numbers)
        else:
            log.info("a reminder was changed meanwhile", numbers=numbers)

    async def say_with(
        self,
        conversation_id: str,
        user_id: int | None,
        message: OutgoingMessage,
        operations: Sequence[Operation],
        by: Actor,
    ) -> bool:
        """Say something and change notes with it, all or nothing; False when one of them was changed meanwhile.

        Raises `StorageError`, and ValueError for a conversation that is none of Telegram's.
        """

        async def store(*rows: Statement) -> bool:
            async with self._ledgers.writing(conversation_id) as writing:
                _ring(writing, operations, by)
                await self._db.write(*rows, *writing.statements)
                writing.stored()
            return True

        try:
            await self._committer.say(target_of(conversation_id, user_id), [message], store)
        except Conflict:
            self._ledgers.evict(lambda each: each == conversation_id)
            return False
        self._around.chats.tell_changed(conversation_id)
        return True


def _ring(writing: Writing, operations: Sequence[Operation], by: Actor) -> None:
    """Apply all of them. Raises `Conflict` when somebody changed a note meanwhile."""
    if any(isinstance(outcome, Refusal) for outcome in writing.apply(operations, by)):
        raise Conflict("a note was changed meanwhile")
