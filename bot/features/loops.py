"""/loops: what is unfinished in this conversation, with Done, Snooze and Drop for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, Literal

from bot import replies
from bot.answers.open_list import ListedLoop, open_matters
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.reminders.rules import is_late, tomorrow_ms, when_text
from bot.turns.feature import Action, Command, Tap
from bot.turns.listing import say_list
from bot.turns.services import Services
from memory.errors import UnknownSession
from memory.notes.types import SessionNotes
from memory.opening import ConversationMemory
from memory.ports import Statement
from memory.sessions.evidence import state_of_row
from memory.state.state_manager import adopt_loop, close_loop, snooze_loop
from memory.storage.store import SessionRow
from memory.types import ListedItem, SessionState

SESSIONS_READ = 12
LISTED = 8

Change = Callable[[SessionState], SessionState]
LoopChange = Callable[[SessionState, str], SessionState]
Ending = Literal["done", "dropped"]


# --- pure -----------------------------------------------------------------------------------------------------------


def loop_line(number: int, listed: ListedLoop, now_ms: int, zone: str) -> str:
    """Return one line: the matter, whose turn it is, and when it is due or sleeps until; of an event when it is."""
    loop = listed.loop
    remarks = [] if listed.is_event or not listed.whose else [listed.whose]
    if loop.due_at_ms is not None:
        when = when_text(loop.due_at_ms, now_ms, zone, exact=loop.due_exact)
        late = is_late(loop.due_at_ms, now_ms, zone, exact=loop.due_exact)
        due = replies.say("loop_overdue") if late else replies.say("loop_due", when=when)
        remarks.append(when if listed.is_event else due)
    if loop.snoozed_until_ms is not None and loop.snoozed_until_ms > now_ms:
        remarks.append(replies.say("loop_snoozed", when=when_text(loop.snoozed_until_ms, now_ms, zone)))
    return f"{number}. {listed.words}" + (f" ({', '.join(remarks)})" if remarks else "")


def loop_list(listed: Sequence[ListedLoop], now_ms: int, zone: str) -> OutgoingMessage:
    """Return the numbered list with its buttons, or that nothing is open."""
    if not listed:
        return OutgoingMessage(replies.say("loops_none"))
    lines, buttons = [replies.say("loops_head")], []
    for number, each in enumerate(listed[:LISTED], 1):
        lines.append(loop_line(number, each, now_ms, zone))
        payload = {"session_id": each.session_id, "loop_id": each.loop.loop_id}
        buttons.append(
            (
                Button(f"{number} {replies.say('loop_done')}", "loop_done", payload),
                Button(f"{number} {replies.say('loop_snooze')}", "loop_snooze", payload),
                Button(f"{number} {replies.say('loop_drop')}", "loop_drop", payload),
            )
        )
    if len(listed) > LISTED:
        lines.append(replies.say("loops_more", count=len(listed) - LISTED))
    return OutgoingMessage("\n".join(lines), buttons=tuple(buttons))


def changed_notes(matter_id: str, update: Mapping[str, Any]) -> Callable[[SessionNotes], SessionNotes]:
    """Return the change of one matter of a session's notes. It raises KeyError when the matter is not there."""

    def apply(notes: SessionNotes) -> SessionNotes:
        if all(matter.matter_id != matter_id for matter in notes.matters):
            raise KeyError(matter_id)
        matters = [m.model_copy(update=dict(update)) if m.matter_id == matter_id else m for m in notes.matters]
        return notes.model_copy(update={"matters": tuple(matters)})

    return apply


def readable(rows: Sequence[SessionRow]) -> list[SessionState]:
    """Return the states of these sessions; one that cannot be read is left out."""
    return [state for row in rows if (state := state_of_row(row)[0]) is not None]


# --- what is open, and ending it: for the chat, the console and the commands ------------------------------------------


async def read_open(memory: ConversationMemory, conversation_id: str) -> list[ListedLoop]:
    """Return what is open in a conversation. Raises `StorageUnavailable`."""
    states = readable(await memory.store.sessions(conversation_id, limit=SESSIONS_READ))
    current_id = await memory.store.current_session_id(conversation_id)
    if current_id is not None and all(state.session_id != current_id for state in states):
        states = [await memory.recorder.session(current_id), *states]  # opened, nothing said yet
    current = next((state for state in states if state.session_id == current_id), None)
    only = current_id if current is not None and current.isolated else None
    view = await memory.notes.view(conversation_id, only=only)
    return open_matters(view, states, current_id)


async def change_open(
    memory: ConversationMemory, listed: ListedLoop, change: LoopChange, update: Mapping[str, Any], *also: Statement
) -> None:
    """Store a change of an open matter with `also`: `change` of a loop of a session's state, `update` of its notes.

    Raises KeyError and `UnknownSession` when it is not there any more, `Conflict` of `also`, `StorageUnavailable`.
    """
    session_id, loop_id = listed.session_id, listed.loop.loop_id
    if listed.noted:
        await memory.notes.rows.change(session_id, changed_notes(loop_id, update), *also)
    else:
        await memory.recorder.edit(session_id, lambda state: change(state, loop_id), *also)


async def end_open(
    memory: ConversationMemory, listed: ListedLoop, status: Ending, now_ms: int, *also: Statement
) -> None:
    """Store the end of an open matter with `also`. Raises as `change_open`."""
    await change_open(memory, listed, *endings(status, now_ms), *also)


def endings(status: Ending, now_ms: int) -> tuple[LoopChange, Mapping[str, Any]]:
    """Return what ends a loop of a state, and what ends a matter of the notes."""
    ended = {"status": "dropped" if status == "dropped" else "settled"}
    return (lambda state, loop_id: close_loop(state, loop_id, status, now_ms)), ended


# --- feature --------------------------------------------------------------------------------------------------------


class Loops:
    """Lists open loops and ends them; the list, the change and the button's use are one transaction."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"loops": self.overview}
        self.actions: dict[str, Action] = {
            "loop_done": self._done,
            "loop_drop": self._drop,
            "loop_snooze": self._snooze,
        }

    async def overview(self, envelope: Envelope) -> None:
        """List what is open."""
        listed = await read_open(self._services.memory, envelope.conversation_id)
        message = await self._list(envelope, listed)
        items = [ListedItem(kind="loop", ref=each.loop.loop_id, text=each.loop.text) for each in listed[:LISTED]]
        noted = [each.loop for each in listed[:LISTED] if each.noted]
        await say_list(self._services, envelope, message, items, lambda state: reduce(adopt_loop, noted, state))

    async def _done(self, tap: Tap) -> bool:
        return await self._end(tap, "done")

    async def _drop(self, tap: Tap) -> bool:
        return await self._end(tap, "dropped")

    async def _end(self, tap: Tap, status: Ending) -> bool:
        return await self._change(tap, *endings(status, self._services.clock.now_ms()), {})

    async def _snooze(self, tap: Tap) -> bool:
        """Put a matter off until tomorrow morning."""
        services = self._services
        now_ms = services.clock.now_ms()
        until_ms = tomorrow_ms(now_ms, (await services.people.time_zone(tap.envelope.user_id)).name)
        later = {"snoozed_until_ms": until_ms}
        shown = {"snoozed_until_ms": until_ms, "status": "snoozed"}
        return await self._change(
            tap, lambda state, loop_id: snooze_loop(state, loop_id, until_ms, now_ms), later, shown
        )

    async def _change(self, tap: Tap, change: LoopChange, update: Mapping[str, Any], shown: Mapping[str, Any]) -> bool:
        """Store the change and show the list as it is then, in place of the old one.

        `change` is for a loop of a session's state, `update` for a matter of its notes; what ended has nothing `shown`.
        """
        services = self._services
        try:
            listed = await read_open(services.memory, tap.envelope.conversation_id)
            old = {each.loop.loop_id: each for each in listed}[tap.payload["loop_id"]]
            new = [replace(old, loop=old.loop.model_copy(update=dict(shown)))] if shown else []
            after = [one for each in listed for one in (new if each is old else [each])]
            message = await self._list(tap.envelope, after)
            message = replace(message, edits_message_id=tap.envelope.message_id)
            ends = (tap.use, services.inbox.done(tap.envelope))
            store = partial(change_open, services.memory, old, change, update, *ends)
            await services.committer.say(Target.of(tap.envelope), [message], store)
        except (KeyError, UnknownSession):
            gone = OutgoingMessage(replies.say("loop_gone"), edits_message_id=tap.envelope.message_id)
            await services.committer.done([tap.envelope], [gone], tap.use)
            return False
        return bool(message.buttons)

    async def _list(self, envelope: Envelope, listed: Sequence[ListedLoop]) -> OutgoingMessage:
        zone = (await self._services.people.time_zone(envelope.user_id)).name
        return loop_list(listed, self._services.clock.now_ms(), zone)
