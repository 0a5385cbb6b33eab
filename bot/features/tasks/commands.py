"""/tasks, and the buttons of tasks: open, try now, not next time, pause, go on, stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bot import replies
from bot.answers.answer_buttons import UNDO_NOTE
from bot.answers.tools.scheduling import TRY_TASK
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.shown import Made, View, change, find_note, show, turn_page
from bot.features.tasks.texts import GO_ON, OPEN, PAGE, PAUSE, SKIP_NEXT, STOP, Board, task_list, task_page
from bot.intake.updates import Envelope
from bot.lines import name_of
from bot.tasks.starts import new_run
from bot.tasks.task import Task
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.ledger import series
from memory.ledger.apply import apply
from memory.ledger.types import UNTIL_TOLD_MS, Actor, Applied, Change, End, Move, Note, Operation
from memory.ports import Statement


class Tasks:
    """Shows tasks and changes them; a tap's change is one transaction with its use and message."""

    def __init__(self, services: Services, submit: Callable[[Envelope], None]) -> None:
        """`submit` hands a stored run to the process that works on its chat."""
        self._services = services
        self._submit = submit
        self.commands: dict[str, Command] = {"tasks": self.show}
        self.actions: dict[str, Action] = {
            OPEN: self._open,
            PAGE: self._page,
            TRY_TASK: self._try,
            SKIP_NEXT: self._skip,
            PAUSE: partial(self._rest, UNTIL_TOLD_MS),
            GO_ON: partial(self._rest, None),
            STOP: self._stop,
        }

    async def show(self, envelope: Envelope) -> None:
        """List the tasks of this chat; without a model, say that they need one."""
        made = await self._made(envelope.conversation_id)
        await show(self._services, envelope, View("job", made))

    async def _made(self, conversation_id: str) -> Made:
        rows = self._services.tasks.rows
        board = Board(await rows.of(conversation_id), await rows.latest(conversation_id))
        if not self._services.settings.by_model and not board.tasks:
            return lambda _ledger, _zone: OutgoingMessage(replies.say("tasks_no_model"))
        return lambda ledger, zone: task_list(board, ledger, self._services.clock.now_ms(), zone)

    # --- buttons ----------------------------------------------------------------------------------------------------

    async def _page(self, tap: Tap) -> bool:
        made = await self._made(tap.envelope.conversation_id)
        return await turn_page(self._services, tap, View("job", made))

    async def _open(self, tap: Tap) -> bool:
        found = await self._found(tap)
        if found is not None:
            await self._shown(tap, await self._task_page(tap, *found))
        return found is not None

    async def _try(self, tap: Tap) -> bool:
        """Begin a run now, as an update of its own: after any crash it is worked on once."""
        found = await self._found(tap)
        if found is None:
            return False
        services, (_, task) = self._services, found
        now_ms = services.clock.now_ms()
        run = new_run(task, f"tap {tap.envelope.button_id}", now_ms, now_ms)
        step = services.tasks.begin(task, run, now_ms)
        await services.committer.done([tap.envelope], [], *step.statements)
        if step.envelope is not None:
            self._submit(step.envelope)
        return True

    async def _skip(self, tap: Tap) -> bool:
        """Leave the next date out."""
        found = await self._found(tap)
        coming = series.next_ring(found[0]) if found else None
        if found is None or coming is None:
            return False
        note, task = found
        operation = Move(number=note.number, occurrence=coming[0])
        after = await self._after(tap, operation)
        message = await self._task_page(tap, after or note, task)
        await change(self._services, tap, [operation], replace(message, edits_message_id=tap.envelope.message_id))
        return True

    async def _rest(self, until_ms: int | None, tap: Tap) -> bool:
        """Pause it, or let it go on, also after failures."""
        found = await self._found(tap)
        if found is None:
            return False
        note, task = found
        operation = Change(number=note.number, fields={"snoozed_until_ms": until_ms})
        after = await self._after(tap, operation) or note
        message = await self._task_page(tap, after, replace(task, paused_why="", failures=0))
        edit = replace(message, edits_message_id=tap.envelope.message_id)
        operations = [operation] if after.snoozed_until_ms != note.snoozed_until_ms else []
        await change(self._services, tap, operations, edit, task.marked())
        return True

    async def _stop(self, tap: Tap) -> bool:
        """End it for good; [Undo] lets it stand again."""
        found = await self._found(tap)
        if found is None:
            return False
        note, _ = found
        undo = Button(replies.say("undo"), UNDO_NOTE, {"cause": tap.envelope.button_id})
        message = OutgoingMessage(replies.say("task_stopped", title=name_of(note)), buttons=((undo,),))
        await change(self._services, tap, [End(number=note.number, how="dropped")], message)
        return False

    # --- how --------------------------------------------------------------------------------------------------------

    async def _found(self, tap: Tap) -> tuple[Note, Task] | None:
        """The note behind a button and its task; when one is gone, that is said."""
        note = await find_note(self._services, tap)
        task = await self._services.tasks.rows.find(note.note_id) if note else None
        if note is not None and task is None:
            gone = OutgoingMessage(replies.say("loop_gone"), edits_message_id=tap.envelope.message_id)
            await self._services.committer.done([tap.envelope], [gone], tap.use)
        return (note, task) if note and task else None

    async def _after(self, tap: Tap, operation: Operation) -> Note | None:
        services = self._services
        ledger = await services.memory.ledgers.read(tap.envelope.conversation_id)
        outcome = apply(ledger, operation, Actor("person", services.clock.now_ms(), tap.envelope.button_id))
        return outcome.note if isinstance(outcome, Applied) else None

    async def _task_page(self, tap: Tap, note: Note, task: Task) -> OutgoingMessage:
        services, envelope = self._services, tap.envelope
        zone = (await services.people.clock(envelope.conversation_id, envelope.user_id)).name
        runs = await services.tasks.rows.runs(note.note_id)
        return task_page(note, task, runs, services.clock.now_ms(), zone)

    async def _shown(self, tap: Tap, message: OutgoingMessage, *effects: Statement) -> None:
        edit = replace(message, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [edit], tap.use, *effects)
