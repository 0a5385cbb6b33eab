"""Runs of tasks: each is a turn that nobody typed, worked on in its conversation's lane like a message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Final

import structlog

from bot import replies
from bot.answers.responder import NoAnswer
from bot.delivery.outbox import OutgoingMessage, Target
from bot.features.tasks.texts import failed_text, order, over, result_before, stop_row
from bot.intake.updates import Envelope
from bot.lines import name_of
from bot.people.choices import group_of
from bot.people.spending import Spending, booked, day_budget, day_of
from bot.tasks.task import FAILED, MOST_FAILURES, RunState, Task, TaskRun, is_missed
from bot.tools.call import CallRow, call_id_of, planned, written
from bot.tools.tool import CallContext, Place, chosen_as
from bot.turns.services import Services
from bot.turns.steps.work import AskedAgain, ByClock
from bot.turns.turn import Turns
from memory.ledger.types import Actor, Note
from memory.ports import Statement
from memory.process import faults

TOLD_OF: Final = {"no_model": "task_no_model", "budget": "task_no_budget"}
"""Reason that keeps a run from being made → the sentence about it; anything else passes in silence."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Work:
    """One run that is worked on."""

    envelope: Envelope
    run: TaskRun
    task: Task
    note: Note
    before: str | None = None
    """The turn of the last run that was done."""
    seen_digest: str | None = None
    """Digest of the result of the tool that is called first, when it was called."""

    @property
    def place(self) -> Place:
        return Place(self.task.conversation_id, self.task.user_id, self.envelope.private)

    @property
    def turn_id(self) -> str:
        return str(self.envelope.turn_id)


class TaskRunning:
    """Makes runs. Their limits are checked before a model is asked; a hindrance is stored and told."""

    def __init__(self, services: Services, turns: Turns) -> None:
        self._services = services
        self._turns = turns
        self._spending = Spending(services.db, day_budget(services.settings))

    async def run(self, envelope: Envelope) -> None:
        """Do the work of a claimed update and finish it.

        After a crash the update is `claimed` until the last commit, so that it is worked on again, as the same turn;
        calls of tools are rows of their own (`Calls.make`). The last commit is that of the turn: with it the run has
        ended, its date is over, and the answer is stored. An answer that can't be delivered is sent later and not made
        again. Raises as `Turns.on_turn` does.
        """
        work = await self._found(envelope)
        if work is None:  # forgotten, or finished
            await self._services.committer.done([envelope], [])
            return
        if why := await self._hindrance(work):
            await self._skipped(work, why)
            return
        await self._services.responder.warm()
        if work.task.first is not None and not work.run.is_asked_for:
            call = await self._called_first(work)
            if call is None or call.state != "done":
                await self._unanswered(work, NoAnswer("the tool that is called first", replies.say("task_why_first")))
                return
            digest = blake2b(call.result.encode(), digest_size=16).hexdigest()
            if digest == work.task.seen_digest:
                await self._unchanged(work)
                return
            work = replace(work, seen_digest=digest)
        await self._answered(work)

    async def _found(self, envelope: Envelope) -> _Work | None:
        """The run with its task and note; None when nothing is left to be done."""
        rows = self._services.tasks.rows
        run = await rows.run(envelope.run_id)
        task = await rows.find(run.note_id) if run else None
        if run is None or task is None or run.state != "waiting":
            return None
        ledger = await self._services.memory.ledgers.read(task.conversation_id)
        note = ledger.by_id(task.note_id)
        return _Work(envelope, run, task, note, await rows.last_done(task.note_id)) if note else None

    async def _hindrance(self, work: _Work) -> str:
        """Why a run is not made, by the name of its reason; "" when it is. Quick checks come first."""
        services, run, task, note = self._services, work.run, work.task, work.note
        late = not run.is_asked_for and is_missed(task.missed, run.due_at_ms, services.clock.now_ms(), note.time_zone)
        found = {
            "ended": not note.is_open,
            "no_model": not services.settings.by_model,
            "missed": late,
            "unreachable": work.envelope.chat_id in services.delivery.unreachable,
        }
        known = next((why for why, holds in found.items() if holds), "")
        return known or await self._cost_or_question(work)

    async def _cost_or_question(self, work: _Work) -> str:
        """Whether the budget is used up, or a run before waits for a tap, and this one would only ask again."""
        services, task = self._services, work.task
        zone = await services.people.time_zone(task.user_id)
        if await self._spending.used_up(task.user_id, day_of(services.clock.now_ms(), zone.name)):
            return "budget"
        calls = await services.calls.of_turns([work.before] if work.before else [])
        return "asks" if any(call.state == "asked" for call in calls) else ""

    # --- what comes of it -------------------------------------------------------------------------------------------

    async def _answered(self, work: _Work) -> None:
        """Let the model do it, as a turn."""
        services, note, run = self._services, work.note, work.run
        zone = (await services.people.clock(work.task.conversation_id, work.task.user_id)).name
        clock = ByClock(
            number=note.number,
            orders=(order(note, run, zone),),
            notices=result_before(await self._last_result(work)),
            unanswered=partial(self._unanswered, work),
            task_said=await self._said(note),
            buttons=stop_row(note),
            operations=over(note, run),
        )
        said = AskedAgain(replies.say("task_said", text=note.text), by_clock=clock)
        effects = (self._end(work, "done"), work.task.marked(seen_digest=work.seen_digest))
        await self._turns.on_turn([await self._named(work.envelope)], work.turn_id, said=said, effects=effects)
        faults.point("task_done")

    async def _named(self, envelope: Envelope) -> Envelope:
        """The update with the names of the person and their group, which a message would bring along."""
        people, group = self._services.people, group_of(envelope.conversation_id)
        names = await people.names([each for each in (envelope.user_id, group) if each is not None])
        return replace(envelope, user_name=names.get(envelope.user_id or 0, ""), title=names.get(group or 0, ""))

    async def _said(self, note: Note) -> str:
        """The person's words in the messages that a task rests on; its own text is a model's wording of it."""
        turns = await self._services.memory.store.turns(note.turn_ids)
        return "\n".join(turn.user_text for turn in turns if not turn.third_party)

    async def _last_result(self, work: _Work) -> str:
        """The answer of the run before; "" when there was none, or where it may tell what was forgotten (P13)."""
        turn = await self._services.memory.store.turn(work.before) if work.before else None
        if turn is None:
            return ""
        ledger = await self._services.memory.ledgers.read(work.task.conversation_id)
        return "" if any(note.is_forgotten or note.is_wordless for note in ledger) else turn.assistant_text

    async def _skipped(self, work: _Work, why: str) -> None:
        """Store that the run is not made; a reason that holds for all runs is told once."""
        runs = await self._services.tasks.rows.runs(work.task.note_id, 2)
        is_new = work.run.is_asked_for or all(each.why != why for each in runs)
        text = replies.say(TOLD_OF[why], title=name_of(work.note)) if why in TOLD_OF and is_new else ""
        messages = [OutgoingMessage(text, buttons=stop_row(work.note, again=True))] if text else []
        await self._finish(work, messages, self._end(work, "skipped", why))

    async def _unchanged(self, work: _Work) -> None:
        """Nothing is new: no model is asked, and nothing is said."""
        gone = Statement("erase_tool_calls", {"turn_id": work.turn_id})
        await self._finish(work, [], self._end(work, "unchanged"), work.task.marked(), gone, done=True)

    async def _unanswered(self, work: _Work, reason: NoAnswer, message_id: int | None = None) -> None:
        """Write down that it came to nothing. The first time in a row is told, and the third, after which it rests."""
        services, task = self._services, work.task
        log.warning("a run of a task came to nothing", reason=reason.reason)
        failures = task.failures + 1
        pauses = failures >= MOST_FAILURES and bool(work.note.repeats)
        told = failed_text(work.note, reason.apology, pauses=pauses)
        is_told = failures == 1 or pauses or not work.note.repeats or work.run.is_asked_for or message_id is not None
        messages = [replace(told, edits_message_id=message_id)] if is_told else []
        zone = await services.people.time_zone(task.user_id)
        used = booked(task.user_id, day_of(services.clock.now_ms(), zone.name), reason.uses)
        mark = task.marked(failures=failures, paused_why=FAILED if pauses else "")
        await self._finish(work, messages, self._end(work, "failed"), mark, *used)

    async def _finish(
        self, work: _Work, messages: list[OutgoingMessage], *effects: Statement, done: bool = False
    ) -> None:
        """End a run without an answer: its date is `done`, or nothing came of it; told of that, one can try again."""
        services, run = self._services, work.run
        operations = () if run.is_asked_for else over(work.note, run, done=done, again=bool(messages))
        by = Actor("operator", services.clock.now_ms(), run.run_id)

        async def store(*rows: Statement) -> None:
            ends = (services.inbox.done(work.envelope), *effects, *rows)
            await services.memory.change(work.task.conversation_id, operations, by, *ends)

        await services.committer.say(Target.of(work.envelope), messages, store, turn_id=work.turn_id)

    def _end(self, work: _Work, state: RunState, why: str = "") -> Statement:
        turn_id = work.turn_id if state == "done" else None
        return work.run.end(state, self._services.clock.now_ms(), why=why, turn_id=turn_id)

    # --- the tool that is called first ------------------------------------------------------------------------------

    async def _called_first(self, work: _Work) -> CallRow | None:
        """The ended call, made once for this turn; None when the tool is not offered any more."""
        services, place = self._services, work.place
        name, given = work.task.first or ("", {})
        offered = await services.shelf.offered(place, by_clock=True)
        tool = next((each for each in offered if each.name == name and each.runs_unasked), None)
        if tool is None or (await services.shelf.choices.of(place)).is_off(chosen_as(tool, given)):
            return None
        now_ms, arguments = services.clock.now_ms(), written(given)
        call_id = call_id_of(work.turn_id, name, arguments, 0)
        known = await services.calls.find(call_id)
        if known is not None and known.has_ended:
            return known
        call = known or planned(tool, place, work.turn_id, arguments, nth=0, now_ms=now_ms)
        zone = (await services.people.time_zone(work.task.user_id)).name
        context = CallContext(call_id, work.turn_id, place, zone, now_ms)
        ended = await services.calls.make(call, tool, context, is_new=known is None)
        faults.point("task_called_first")
        return ended
