"""The buttons under a question about a call: [Once] [Always] [No] [Never], [Do it again] [Leave it]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.tools import questions
from bot.tools.call import CallRow, State, digest_of
from bot.tools.questions import AGAIN, ALWAYS, LEAVE, NEVER, ONCE
from bot.tools.tool import CallContext, Place, Tool, about_of, chosen_as
from bot.turns.feature import Action, Command, Tap
from bot.turns.lanes import Lanes
from bot.turns.services import Services
from bot.turns.steps.work import AskedAgain
from bot.turns.turn import Turns
from memory.errors import Conflict
from memory.ports import Statement
from memory.process import faults

TAKEN: Final = "tool_taken"


class ToolTaps:
    """Obeys the taps. A yes takes its turn in the lane like a message, so that a crash does not lose it."""

    def __init__(self, services: Services, turns: Turns, lanes: Lanes) -> None:
        self._services = services
        self._turns = turns
        self._lanes = lanes
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {
            ONCE: partial(self._yes, always=False),
            ALWAYS: partial(self._yes, always=True),
            AGAIN: partial(self._yes, always=False),
            NEVER: self._never,
            LEAVE: self._leave,
        }

    async def _yes(self, tap: Tap, *, always: bool) -> str:
        """Let the call take its turn; return the sentence for the tap, which does not claim that the call is made."""

        async def work(envelope: Envelope) -> None:
            await self._carry_out(envelope, tap, always=always)

        self._lanes.submit(tap.envelope, work)
        return TAKEN

    async def _never(self, tap: Tap) -> None:
        """Decline the call and the others of the tool that are asked about, and offer it no more."""
        calls, call = self._services.calls, await self._find(tap)
        if call is not None:
            place = _place(tap.envelope)
            tool = await self._tool(place, call)
            name = chosen_as(tool, call.arguments) if tool else call.tool
            beside = await calls.beside(call)
            same = [(each, at) for each, at in beside if not tool or chosen_as(tool, each.arguments) == name]
            others = [questions.edit(questions.outcome(replace(each, state="declined")), at) for each, at in same]
            messages = [questions.edit(questions.never(call, about_of(name)), tap.envelope.message_id), *others]
            effects = [calls.close(each, "declined") for each in (call, *(each for each, _ in same))]
            chosen = calls.choices.choose(place, "off", name=name)
            await self._services.committer.done(
                [tap.envelope], messages, tap.use, *effects, chosen, turn_id=call.turn_id
            )

    async def _leave(self, tap: Tap) -> None:
        """Do nothing more about the call."""
        call = await self._find(tap)
        if call is not None:
            state: State = "left" if call.state == "unknown" else "declined"
            await self._end(tap.envelope, tap, replace(call, state=state), self._services.calls.close(call, state))

    async def _find(self, tap: Tap) -> CallRow | None:
        """Return the call that is asked about; one that was forgotten is said to be gone."""
        call = await self._services.calls.find(tap.payload["call_id"])
        if call is None:
            message = OutgoingMessage(replies.say("tool_gone"), edits_message_id=tap.envelope.message_id)
            await self._services.committer.done([tap.envelope], [message], tap.use)
        elif call.state not in {"asked", "unknown"}:
            raise Conflict(f"call {call.call_id} is {call.state}")
        return call

    async def _tool(self, place: Place, call: CallRow) -> Tool | None:
        """Return the tool of a call as it is now, None when it's gone."""
        return next((each for each in await self._services.shelf.all(place) if each.name == call.tool), None)

    async def _end(self, envelope: Envelope, tap: Tap, call: CallRow, *effects: Statement) -> None:
        message = questions.edit(questions.outcome(call), tap.envelope.message_id)
        await self._services.committer.done([envelope], [message], tap.use, *effects, turn_id=call.turn_id)

    # --- a yes ------------------------------------------------------------------------------------------------------

    async def _carry_out(self, envelope: Envelope, tap: Tap, *, always: bool) -> None:
        """Make the call, show its result, and let the model answer it.

        After a crash the tap is `claimed` until the last commit, so it is worked on again; the call's row tells whether
        it was begun (`Calls.make`), and its end. Nothing is shown as done that is not stored as done.
        The last commit is that of the turn that answers, with the button's use and the end of the tap.
        """
        services = self._services
        call = await services.calls.find(tap.payload["call_id"])
        if call is None:
            message = OutgoingMessage(replies.say("tool_gone"), edits_message_id=tap.envelope.message_id)
            await services.committer.done([envelope], [message], tap.use)
            return
        again = call.state not in {"asked", "unknown"}
        call = await self._made(envelope, call, tap.payload["runs"], always=always)
        beside = await self._made_beside(envelope, call, again=again) if always else []
        if call.state == "unknown":  # it's asked about anew, by a message of its own
            message = questions.edit(questions.outcome(call), tap.envelope.message_id)
            await services.committer.done([envelope], [message], tap.use, turn_id=call.turn_id)
            return
        others = await services.calls.of_turns([call.turn_id])
        if call.state not in {"done", "failed"} or any(each.state == "asked" for each in others):
            await self._end(envelope, tap, call)
            return
        message = questions.edit(questions.outcome(call), tap.envelope.message_id)
        await services.committer.write(Target.of(envelope), [message], turn_id=call.turn_id)
        faults.point("tool_shown")
        decided = {each.call_id: each for each in (*others, *beside) if each.expires_at_ms and each.has_ended}
        await self._answer(envelope, tap, call, list(decided.values()))

    async def _made_beside(self, envelope: Envelope, call: CallRow, *, again: bool) -> list[CallRow]:
        """Make the calls whose questions this [Always] would have spared, and let their messages say so.

        When the tap is worked on `again`, those too that it had planned or made before the process died.
        """
        services, place = self._services, _place(envelope)
        tool = await self._tool(place, call)
        name = chosen_as(tool, call.arguments) if tool else ""
        if tool is None or not (await services.calls.choices.of(place)).always(tool, name):
            return []
        found = []
        for each, message_id in await services.calls.beside(call, spared=True, again=again):
            if chosen_as(tool, each.arguments) == name:
                made = await self._made(envelope, each, each.runs, always=False)
                message = questions.edit(questions.outcome(made), message_id)
                await services.committer.write(Target.of(envelope), [message], turn_id=made.turn_id)
                found.append(made)
        return found

    async def _made(self, envelope: Envelope, call: CallRow, runs: int, *, always: bool) -> CallRow:
        """Make the call, where it still may be made, and return its row."""
        services, place = self._services, _place(envelope)
        is_asked = call.state in {"asked", "unknown"}
        if call.has_ended or (is_asked and call.runs != runs):  # it's asked about anew
            return call
        tool = await self._tool(place, call)
        if tool is None or digest_of(tool) != call.digest:
            return await self._is_another(call, tool)
        if call.state == "running" and call.changes:
            return await services.calls.doubt(call) if services.calls.is_left(call) else call
        if is_asked:
            name = chosen_as(tool, call.arguments)
            chosen = [services.calls.choices.choose(place, "always", tool=tool, name=name)] if always else []
            await services.db.write(services.calls.plan(call), *chosen)
            call = replace(call, state="planned")
            faults.point("tool_allowed")
        zone = await services.people.time_zone(call.user_id)
        context = CallContext(call.call_id, call.turn_id, place, zone.name, services.clock.now_ms())
        return await services.calls.make(call, tool, context, is_new=False)

    async def _is_another(self, call: CallRow, tool: Tool | None) -> CallRow:
        """The tool is gone, or not the one that was asked about: nothing is done."""
        if call.state not in {"asked", "unknown", "planned"}:
            return call
        await self._services.db.write(self._services.calls.close(call, "declined"))
        return replace(call, state="declined", title=call.title if tool else f"{call.title} (?)")

    async def _answer(self, envelope: Envelope, tap: Tap, call: CallRow, decided: Sequence[CallRow]) -> None:
        said = replies.say("tool_yes_said", tool=questions.named(call))
        turn_id = envelope.turn_id or self._services.ids.new("t")
        asked = AskedAgain(said, calls=tuple(decided), by_tap=True)
        await self._turns.on_turn([envelope], turn_id, said=asked, effects=(tap.use,))


def _place(envelope: Envelope) -> Place:
    return Place(envelope.conversation_id, envelope.user_id, envelope.private)
